"""Environment names that only the home may set. Pure.

They choose the programs, libraries, hosts and directories of a launch. A project, a local source and a catalog never set one, whether or not anybody trusts them.
"""

from __future__ import annotations

import re

# Which program, library or start-up file is run.
_PROGRAMS = """
    PATH PATHEXT SHELL IFS ENV BASH_ENV ZDOTDIR FPATH CDPATH SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS2 PS4 INPUTRC
    EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE LESSKEY VIMINIT EXINIT SUDO_ASKPASS
    NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE NODE_COMPILE_CACHE
    CLASSPATH JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_HOME MAVEN_OPTS GRADLE_OPTS SBT_OPTS JVM_OPTS
    LUA_INIT LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR R_HOME R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER
    ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ELIXIR_ERL_OPTIONS GOFLAGS GOROOT RUSTC RUSTC_WRAPPER
    RUSTC_WORKSPACE_WRAPPER IPYTHONDIR VIRTUAL_ENV CONDA_PREFIX MAKEFLAGS GNUMAKEFLAGS PKG_CONFIG_PATH
    CLAUDE_ENV_FILE CLAUDE_CODE_SHELL CLAUDE_CODE_SHELL_PREFIX CLAUDE_CODE_GIT_BASH_PATH CLAUDE_CODE_EXECPATH
    GCONV_PATH GETCONF_DIR LOCPATH NLSPATH MALLOC_TRACE GLIBC_TUNABLES TERMCAP
"""
_PROGRAM_PREFIXES = (
    "LD_", "DYLD_", "_RLD", "GIT_", "SSH_", "BASH_FUNC_", "PYTHON", "PERL5", "PERL_", "PERLLIB", "RUBY", "GEM_", "BUNDLE_",
    "_JAVA_", "NPM_CONFIG_", "YARN_", "PNPM_", "BUN_", "DENO_", "DOTNET_", "CORECLR_", "COMPLUS_", "COR_", "MONO_",
    "LUA_INIT", "LUA_PATH", "LUA_CPATH", "CARGO_", "PIP_", "UV_", "TERMINFO", "CLAUDE_CODE_PLUGIN", "__COMPAT_",
)  # fmt: skip
_PROGRAM_SUFFIXES = ("_ASKPASS", "_EDITOR", "_PAGER", "_RSH", "_SSH", "_PRELOAD")

# Which host is talked to, with whose certificate or login.
_HOSTS = """
    HOSTALIASES LOCALDOMAIN RESOLV_HOST_CONF RES_OPTIONS NIS_PATH SSLKEYLOGFILE NODE_EXTRA_CA_CERTS
    NODE_TLS_REJECT_UNAUTHORIZED NETRC WGETRC KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
    AWS_WEB_IDENTITY_TOKEN_FILE GOOGLE_APPLICATION_CREDENTIALS OLLAMA_HOST OPENAI_HOST DOCKER_HOST
    ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_UNIX_SOCKET
"""
_HOST_PREFIXES = ("SSL_", "OPENSSL_", "OTEL_", "AWS_ENDPOINT", "AWS_CONTAINER_", "CLAUDE_CODE_USE_")
_HOST_SUFFIXES = (
    "_PROXY", "_BASE_URL", "_BASE_URI", "_BASEURL", "_API_BASE", "_API_URL", "_API_URI", "_API_HOST", "_API_ENDPOINT",
    "_ENDPOINT", "_ENDPOINTS", "_ENDPOINT_URL", "_GATEWAY_URL", "_SERVER_URL", "_CA_BUNDLE", "_CA_CERTIFICATE",
    "_CUSTOM_HEADERS",
)  # fmt: skip

# Where state, settings and temporary files are.
_PLACES = """
    HOME USERPROFILE TMPDIR TMP TEMP TEMPDIR CODEX_HOME CODEX_SQLITE_HOME CURL_HOME GNUPGHOME DOCKER_CONFIG CLOUDSDK_CONFIG
    CLAUDE_CODE_TMPDIR
"""
_PLACE_PREFIXES = ("XDG_", "OUTFITTER_", "PI_CODING_AGENT_", "PI_PACKAGE_")
_PLACE_SUFFIXES = ("_CONFIG_DIR", "_CONFIG_HOME", "_CONFIG_FILE", "_CONFIG_PATH")

_KINDS = (
    ("chooses which program or library runs", frozenset(_PROGRAMS.split()), _PROGRAM_PREFIXES, _PROGRAM_SUFFIXES),
    ("chooses which host is talked to, and how", frozenset(_HOSTS.split()), _HOST_PREFIXES, _HOST_SUFFIXES),
    ("chooses where state, settings or temporary files are", frozenset(_PLACES.split()), _PLACE_PREFIXES, _PLACE_SUFFIXES),
)  # fmt: skip
# `all_proxy` and its likes have no word before the underscore that could be left out, but `no_proxy` alone has a short form.
_WHOLE_SUFFIXES = frozenset(("PROXY", "BASE_URL", "ENDPOINT_URL"))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def refused(name: str) -> str:
    """What a variable decides that only the home may decide, "" where any layer may set it.

    Case does not count: some programs and some systems read a name in either case. A name that a shell could not have written is
    refused, too.
    """
    plain = name.strip().upper()
    if not _NAME.match(name):
        return "is not a plain environment name"
    for why, names, prefixes, suffixes in _KINDS:
        if plain in names or plain.startswith(prefixes) or plain.endswith(suffixes):
            return why
    return _KINDS[1][0] if plain in _WHOLE_SUFFIXES else ""


def is_host_name(name: str) -> bool:
    """Whether a variable is refused because it names a host or an address."""
    return refused(name) == _KINDS[1][0]
