"""Tool limits in a harness's own spelling: one table of names for all adapters.

See spec/10, "Tools" and spec/15 V12. Pure.

Trees name tools in the words of whichever program they were written for. Words are compared without case, `_` and
`-`. A word that a harness has natively is that tool; any other is looked up among the words for the nine portable
names. Nothing here ever widens: what cannot be expressed is left out of an allow list, and denied whole in a deny
list.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.model.composition import Tools
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple

PORTABLE: tuple[str, ...] = ("read", "write", "edit", "bash", "grep", "find", "ls", "web_fetch", "web_search")

# Portable name → the words other programs use for it, squeezed (see `squeezed`); the portable names are their own words.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "read": ("viewfile", "view", "readfile", "openfile", "readmanyfiles"),
    "write": ("writetofile", "writefile", "createfile", "savefile"),
    "edit": (
        "replacefilecontent",
        "multireplacefilecontent",
        "multiedit",
        "editfile",
        "editfiles",
        "applypatch",
        "strreplace",
        "strreplaceeditor",
        "searchreplace",
        "replace",
    ),
    "bash": (
        "runcommand",
        "runcommands",
        "runshellcommand",
        "runterminalcmd",
        "runinterminal",
        "executecommand",
        "execute",
        "exec",
        "shell",
        "localshell",
        "terminal",
    ),
    "grep": ("grepsearch", "searchfilecontent", "searchfiles", "textsearch", "ripgrep", "codebasesearch"),
    "find": ("findbyname", "glob", "globsearch", "globfilesearch", "filesearch", "findfiles"),
    "ls": ("listdir", "listdirectory", "listfiles", "list"),
    "web_fetch": ("readurlcontent", "fetch", "fetchurl", "fetchwebpage", "urlfetch"),
    "web_search": ("searchweb", "googlewebsearch"),
}

# Harness → portable name → native spelling. Claude Code lists directories with its pattern tool.
NATIVE: Mapping[str, Mapping[str, str]] = {
    "pi": {name: name for name in ("read", "write", "edit", "bash", "grep", "find", "ls")},
    "claude": {
        "read": "Read",
        "write": "Write",
        "edit": "Edit",
        "bash": "Bash",
        "grep": "Grep",
        "find": "Glob",
        "ls": "Glob",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
    },
    "codex": {},
}

# Harness → native tools beyond the portable nine, in their own spelling.
OTHERS: Mapping[str, tuple[str, ...]] = {
    "pi": ("powershell", "codemode"),
    "claude": (
        "Agent",
        "AskUserQuestion",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "DesignSync",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "KillShell",
        "ListAgents",
        "ListMcpResourcesTool",
        "LSP",
        "Monitor",
        "NotebookEdit",
        "ReadMcpResourceTool",
        "RemoteTrigger",
        "ReportFindings",
        "ScheduleWakeup",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoWrite",
        "ToolSearch",
        "Workflow",
    ),
    "codex": (),
}


class ToolLimits(NamedTuple):
    """Tool limits as a harness spells them.

    `allow` None: no allow list; (): no tools at all, never all tools.

    `allow` is already without what `deny` names. `mcp__…` names are as written; `mcp` became `mcp__<server id>` each.
    `unknown` are the words that the table lacks; they are in `allow` and `deny` as the tree wrote them.
    `patterns` are denied words with an argument pattern (`Bash(rm:*)`), which the harness may or may not understand;
    their whole tool is not in `deny`. `narrower` are allowed words with such a pattern: no harness allows a part of a
    tool, so they are in no list.
    """

    allow: tuple[str, ...] | None
    deny: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    narrower: tuple[str, ...] = ()


def squeezed(word: str) -> str:
    """A tool's word without case, `_` and `-`, as words are compared."""
    return word.lower().replace("_", "").replace("-", "")


_PORTABLE_OF: Mapping[str, str] = {
    **{word: name for name, words in _WORDS.items() for word in words},
    **{squeezed(name): name for name in PORTABLE},
}


def is_every_server(word: str) -> bool:
    """Whether a word stands for all selected MCP servers: `mcp`, `mcp__*`."""
    return squeezed(word) in ("mcp", "mcp*")


def portable_name(word: str) -> str:
    """The portable name that a word of any program stands for, "" for none."""
    return _PORTABLE_OF.get(squeezed(word), "")


def native_name(harness: str, word: str) -> str:
    """Return the native spelling of a word, "" if the harness has no such tool.

    `mcp__server__tool` is returned as it is.
    """
    if word.startswith("mcp__"):
        return word
    own = {squeezed(name): name for name in (*NATIVE[harness].values(), *OTHERS[harness])}
    key = squeezed(word)
    return own.get(key) or NATIVE[harness].get(portable_name(word), "")


def limits(tools: Tools, harness: str, servers: tuple[str, ...] = ()) -> ToolLimits:
    """Return both lists in native spelling, each name once, in the order written.

    `servers` are the ids of the selected servers.
    """
    narrower = tuple(word for word in tools.allow or () if "(" in word)
    allow, new = _spelled(tuple(word for word in tools.allow or () if "(" not in word), harness, servers)
    patterns = tuple(word for word in tools.deny if "(" in word)
    whole = (word for word in tools.deny if "(" not in word)
    deny, more = _spelled(tuple(name for word in whole for name in _expanded(word, harness)), harness, servers)
    left = None if tools.allow is None else tuple(name for name in allow if not _denied(name, deny))
    return ToolLimits(left, deny, tuple(dict.fromkeys(new + more)), patterns, narrower)


def unknown_notices(found: ToolLimits, agent: str, harness: str) -> tuple[Notice, ...]:
    """One warning for the words that the table lacks, one for allowed words with a pattern (V12)."""
    notices: list[Notice] = []
    if found.unknown:
        words = ", ".join(map(repr, found.unknown))
        text = f"agent {agent}: {harness}: tools not known to Outfitter, passed on as written: {words}"
        notices.append(Notice("warning", "tool-unknown", text))
    if found.narrower:
        words = ", ".join(map(repr, found.narrower))
        text = f"agent {agent}: {harness} cannot allow a part of a tool; skipped: {words}"
        notices.append(Notice("warning", "tool-pattern", text))
    return tuple(notices)


def unnamed_servers(allow: tuple[str, ...] | None, servers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the selected servers of which an allow list names no tool; their tools are denied.

    `allow` is spelled as `limits` does.
    """
    if allow is None:
        return ()
    return tuple(
        server
        for server in servers
        if not any(name == f"mcp__{server}" or name.startswith(f"mcp__{server}__") for name in allow)
    )


def shut_notices(agent: str, servers: tuple[str, ...]) -> tuple[Notice, ...]:
    """One warning a selected server that an allow list shuts out."""
    hint = "add mcp__<server> to tools.allow (or mcp, for every selected server)"
    return tuple(
        Notice(
            "warning",
            "tools-exclude-server",
            f"agent {agent}: server {server} is selected, but tools.allow names none of its tools; they are denied",
            hint,
        )
        for server in servers
    )


def _expanded(word: str, harness: str) -> tuple[str, ...]:
    """Return the harness's own tools that a denied `Web*` names, or the word itself."""
    if "*" not in word or word.startswith("mcp"):
        return (word,)
    from fnmatch import fnmatchcase

    own = (*NATIVE[harness].values(), *OTHERS[harness])
    return tuple(name for name in own if fnmatchcase(squeezed(name), squeezed(word))) or (word,)


def _spelled(words: tuple[str, ...], harness: str, servers: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: list[str] = []
    unknown: list[str] = []
    for word in words:
        if is_every_server(word):
            names += [f"mcp__{server}" for server in servers]
        elif word.removesuffix("_*") != word and word.removesuffix("_*") in servers:
            names.append(f"mcp__{word.removesuffix('_*')}")
        else:
            name = native_name(harness, word)
            names.append(name or word)
            unknown += [] if name else [word]
    return tuple(dict.fromkeys(names)), tuple(unknown)


def _denied(name: str, deny: tuple[str, ...]) -> bool:
    """Whether a deny list names this tool, or the whole server it belongs to."""
    return name in deny or any(name.startswith(other + "__") for other in deny if other.startswith("mcp__"))
