"""The HTTP server: 127.0.0.1 only, one thread per request; requests are recorded without credentials."""

import gzip
import json
import secrets
import threading
import zlib
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, NamedTuple, Self

from outfitter.demo.modelserver.conversation import Reply, answer, check
from outfitter.demo.modelserver.dialects import DIALECTS, Dialect, Events

BODY_BYTES = 256 << 20
# Header names that carry a credential. Their values are never recorded, only whether they held the expected token.
CREDENTIALS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie")
MODELS = ("scripted-model",)
FIXED = "This is the scripted model on your own machine."


class RecordedRequest(NamedTuple):
    """A request: header names in lower case, `body` parsed or None.

    `credentials` maps a header to whether it held the expected token. `step` is the script's, `calls` are the names of the tools
    that the reply calls, `text` is its text.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    credentials: Mapping[str, bool]
    body: Any
    step: int | None = None
    calls: tuple[str, ...] = ()
    text: str = ""


class ModelServer:
    """A scripted model service; as a context manager it listens until the end of the block.

    `script` is the list that `conversation` describes, `fixed` the answer outside the script. With a `token`, a request for a
    model without any credential header is refused (401), and a wrong credential is only recorded. `log` names a JSONL file.
    Raises `ScriptError` for an invalid script, `OSError` if it cannot listen.
    """

    def __init__(
        self, script: Sequence[Any] = (), *, fixed: str = FIXED, token: str = "", log: str = "", port: int = 0
    ) -> None:
        """Bind, so that the port is known; requests are not answered yet."""
        self.script = check(list(script))
        self.fixed, self.token = fixed, token
        self.seen: list[RecordedRequest] = []
        self._name = "c" + secrets.token_hex(4)
        self._log, self._lock = log, threading.Lock()
        self._http = _Loopback(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """The address without `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Answer requests in a thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering; return when the thread has ended."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def models_asked(self) -> tuple[RecordedRequest, ...]:
        """Return the requests for a model's turn, in order."""
        return tuple(request for request in self.seen if request.path in DIALECTS)

    def reply(self, dialect: Dialect, body: Mapping[str, Any]) -> tuple[Reply, str, bool]:
        """Return the reply to a request, its model's name, and whether to stream it."""
        asked = dialect.read(body)
        return answer(self.script, asked, self.fixed, self._name), asked.model or MODELS[0], asked.stream

    def record(self, request: RecordedRequest) -> None:
        """Store a request, and append it to the log."""
        with self._lock:
            self.seen.append(request)
            if self._log:
                with open(self._log, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"n": len(self.seen), **request._asdict()}) + "\n")


class _Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without looking up a host name, which can hang on a machine without a network."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hung up."""


def _handler(model: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_model = model

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_model: ModelServer

    def do_HEAD(self) -> None:
        self._get()

    def do_GET(self) -> None:
        self._get()

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            return
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        path = self._path()
        dialect = DIALECTS.get(path)
        if path == "/v1/messages/count_tokens" and isinstance(body, dict):
            self._record(path, body)
            self._document({"input_tokens": 12})
        elif dialect is None or not isinstance(body, dict):
            self._record(path, body)
            self._refuse(404 if dialect is None else 400, f"no route for {path}")
        elif self.server_model.token and not self._credentials():
            self._record(path, body)
            self._refuse(401, "no credential was sent")
        else:
            self._turn(dialect, path, body)

    def log_message(self, *_: object) -> None:
        """Print nothing: requests are recorded."""

    def _turn(self, dialect: Dialect, path: str, body: dict[str, Any]) -> None:
        reply, name, stream = self.server_model.reply(dialect, body)
        calls = tuple(call.tool.name for call in reply.calls)
        self._record(path, body, step=reply.step, calls=calls, text=reply.text)
        whole = dialect.whole(name, reply)
        if stream:
            self._stream(dialect.events(whole))
        else:
            self._document(whole)

    def _get(self) -> None:
        path = self._path()
        self._record(path, None)
        if path == "/v1/models":
            models = [
                {"id": name, "object": "model", "type": "model", "display_name": name, "owned_by": "outfitter"}
                for name in MODELS
            ]
            self._document({"object": "list", "data": models, "has_more": False})
        elif path in ("/", "/v1/api/hello"):
            self._document({})
        else:
            self._refuse(404, f"no route for {path}")

    def _path(self) -> str:
        """Return the path without its query, with `/v1` in front; clients ask with and without it."""
        path = self.path.split("?")[0]
        return path if path.startswith("/v1/") or path == "/" else "/v1" + path

    def _credentials(self) -> dict[str, bool]:
        token = self.server_model.token
        return {
            name.lower(): bool(token) and value.split()[-1:] == [token]
            for name, value in self.headers.items()
            if name.lower() in CREDENTIALS
        }

    def _record(self, path: str, body: Any, **answered: Any) -> None:
        headers = {
            name.lower(): "<credential>" if name.lower() in CREDENTIALS else value
            for name, value in self.headers.items()
        }
        self.server_model.record(RecordedRequest(self.command, path, headers, self._credentials(), body, **answered))

    def _body(self) -> bytes | None:
        """Return the whole body, decompressed, or None if it was refused."""
        try:
            raw = self._chunks() if "chunked" in self.headers.get("Transfer-Encoding", "") else self._sized()
            coding = self.headers.get("Content-Encoding", "identity").lower()
            if coding in ("gzip", "deflate"):
                return gzip.decompress(raw) if coding == "gzip" else zlib.decompress(raw)
        except (ValueError, OSError, EOFError, zlib.error) as error:
            self._refuse(400, f"cannot read the body: {error}")
            return None
        if coding == "identity":
            return raw
        self._refuse(415, f"unsupported content encoding {coding}")
        return None

    def _sized(self) -> bytes:
        size = int(self.headers.get("Content-Length") or 0)
        if not 0 <= size <= BODY_BYTES:
            raise ValueError("too large")
        return self.rfile.read(size)

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(self.rfile.readline(64).split(b";")[0], 16):
            parts.append(self._chunk(size, sum(map(len, parts))))
        while self.rfile.readline(1024).strip():
            continue
        return b"".join(parts)

    def _chunk(self, size: int, before: int) -> bytes:
        if size < 0 or before + size > BODY_BYTES:
            raise ValueError("too large")
        data = self.rfile.read(size)
        self.rfile.readline(8)
        return data

    def _refuse(self, status: int, message: str) -> None:
        self.close_connection = True
        kind = {401: "authentication_error", 404: "not_found_error"}.get(status, "invalid_request_error")
        self._document({"type": "error", "error": {"type": kind, "message": message}}, status)

    def _document(self, value: Mapping[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Events) -> None:
        """Send server-sent events; the length is unknown, so closing the connection ends the reply."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        for kind, data in events:
            name = f"event: {kind}\n" if kind else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{name}data: {text}\n\n".encode())
            self.wfile.flush()
