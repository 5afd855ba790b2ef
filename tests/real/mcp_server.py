"""A whole MCP server over stdio with one tool, named on its command line, that says its own name back."""

import json
import sys


def reply(message, tool):
    """The result for one request."""
    method = message["method"]
    if method == "initialize":
        version = message.get("params", {}).get("protocolVersion", "2025-03-26")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": tool, "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        return {"tools": [{"name": tool, "description": f"The tool {tool}", "inputSchema": schema}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{tool} answered"}]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": reply(asked, sys.argv[1])}) + "\n")
        sys.stdout.flush()
