"""MCP servers in one normal form (spec/15 V2, V20 to V26; spec/10)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.catalog.mcp import machine_paths, servers
from outfitter.model.layers import Document, Layer
from outfitter.syntax.parse import parse


def document(value, path):
    parsed = parse((value if isinstance(value, str) else json.dumps(value)).encode(), "json")
    return Document(path, parsed.value, parsed.positions)


def layer(label="home", **files):
    names = {name.replace("__", "/").replace("_json", ".json"): value for name, value in files.items()}
    documents = {name: document(value, f"/{label}/{name}") for name, value in names.items()}
    return Layer("home", label, f"/{label}", "", {}, documents)


def read(definition):
    """One server through the whole reading: (definition or None, what is said of it)."""
    found = servers([layer(mcp_json={"mcpServers": {"s": definition}})], ())
    server = found.by_id.get("s")
    return server and dict(server.definition), [notice.message for notice in found.about.get("s", ())]


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ({"command": "tool"}, {"type": "stdio", "command": "tool"}),
        ({"url": "https://x.example/mcp"}, {"type": "http", "url": "https://x.example/mcp"}),
        ({"serverUrl": "https://x.example"}, {"type": "http", "url": "https://x.example"}),
        ({"httpUrl": "https://x.example"}, {"type": "http", "url": "https://x.example"}),
        ({"url": "https://x.example/sse"}, {"type": "sse", "url": "https://x.example/sse"}),
        ({"url": "https://x.example/sse/?a=1"}, {"type": "sse", "url": "https://x.example/sse/?a=1"}),
        ({"url": "https://x.example/sse", "type": "http"}, {"type": "http", "url": "https://x.example/sse"}),
        ({"url": "u", "transport": "streamable-http"}, {"type": "http", "url": "u"}),
        ({"url": "u", "type": "streamableHttp"}, {"type": "http", "url": "u"}),
        ({"url": "u", "type": "http-stream"}, {"type": "http", "url": "u"}),
        ({"url": "u", "type": "SSE", "transport": "http"}, {"type": "sse", "url": "u"}),
        ({"command": "c", "enabled": True, "timeout": 5}, {"type": "stdio", "command": "c", "timeout": 5}),
        ({"command": "c", "disabled": False}, {"type": "stdio", "command": "c"}),
        ({"command": "c", "env": None, "args": None}, {"type": "stdio", "command": "c"}),
        (
            {"command": "c", "args": ["${env:A}", "${B:-x}"], "env": {"K": "${env:C}"}},
            {"type": "stdio", "command": "c", "args": ["${A}", "${B:-x}"], "env": {"K": "${C}"}},
        ),
        (
            {"url": "${env:U}/x", "deep": {"a": ["${env:V}"]}},
            {"type": "http", "url": "${U}/x", "deep": {"a": ["${V}"]}},
        ),
    ],
)
def test_v20_v21_v24_one_normal_form(written, normal):
    assert read(written) == (normal, [])
    assert read(normal) == (normal, [])


@pytest.mark.parametrize(
    "definition",
    [
        {},
        {"url": ""},
        {"command": ""},
        {"type": "stdio", "url": "u"},
        {"type": "http", "command": "c"},
        {"url": "u", "type": "websocket"},
        {"url": "u", "headers": "none"},
        {"url": "u", "headers": {"X": 5}},
        {"command": "c", "env": ["A=1"]},
        {"command": "c", "args": "one two"},
        {"command": "c", "args": [1]},
        {"command": ["c"]},
        {"url": 5},
        {"url": "u", "headers": {"X": "a\r\nY: b"}},
        {"url": "u", "headers": {"X\nY": "b"}},
        "tool",
        None,
        [],
    ],
)
def test_a_server_that_no_harness_could_take_is_left_out_by_name(definition):
    found = servers([layer(mcp_json={"mcpServers": {"s": definition}})], ())
    assert found.by_id == {}
    (notice,) = found.about["s"]
    assert (notice.level, notice.code) == ("warning", "server-invalid")
    assert "'s'" in notice.message
    assert "/home/mcp.json:1" in notice.message


@pytest.mark.parametrize(
    ("key", "written", "kept"),
    [
        ("timeout", "30000", 30000),
        ("timeout", 1.5, 1.5),
        ("timeout", "30s", None),
        ("timeout", 0, None),
        ("timeout", True, None),
        ("timeout", "9" * 5000, None),
        ("alwaysLoad", "yes", True),
        ("alwaysLoad", "maybe", None),
        ("oauth", True, None),
        ("oauth", {"clientId": "c"}, {"clientId": "c"}),
        ("headersHelper", [], None),
        ("headersHelper", "/bin/token", "/bin/token"),
    ],
)
def test_an_optional_key_of_the_wrong_shape_does_not_take_the_server_with_it(key, written, kept):
    definition, said = read({"command": "c", key: written})
    assert definition == {"type": "stdio", "command": "c", **({key: kept} if kept is not None else {})}
    assert [key in message for message in said] == ([] if kept is not None else [True])


@pytest.mark.parametrize(
    ("written", "dialect"),
    [
        ({"type": "local", "command": "c"}, "stdio"),
        ({"type": "remote", "url": "https://x.example/mcp"}, "http"),
        ({"type": "remote", "url": "https://x.example/sse"}, "sse"),
    ],
)
def test_local_and_remote_are_types_by_what_they_hold(written, dialect):
    assert read(written) == ({**written, "type": dialect}, [])


@pytest.mark.parametrize("command", ["npx -y some-server", "python3 server.py", "/bin/x --flag", "~/bin/server"])
def test_a_command_that_no_harness_can_start_is_a_warning(command):
    definition, (said,) = read({"command": command})
    assert definition == {"type": "stdio", "command": command}
    assert "mcpServers.s.command" in said


@pytest.mark.parametrize("command", ["npx", "/opt/My App/server", "${HOME}/bin/server", "./server"])
def test_a_plain_command_is_none(command):
    assert read({"command": command})[1] == []


def test_a_number_in_a_mapping_of_text_is_named():
    found = servers([layer(mcp_json={"mcpServers": {"s": {"command": "c", "env": {"PORT": 3000}}}})], ())
    assert "(PORT)" in found.about["s"][0].message


def test_both_an_address_and_a_command_is_said():
    definition, said = read({"command": "c", "url": "https://x.example"})
    assert definition == {"type": "stdio", "command": "c"}
    assert len(said) == 1
    definition, said = read({"command": "c", "url": "https://x.example", "type": "http"})
    assert definition == {"type": "http", "url": "https://x.example"}


@pytest.mark.parametrize(
    "off",
    [
        {"enabled": False},
        {"disabled": True},
        {"enabled": "no"},
        {"enabled": "OFF"},
        {"enabled": 0},
        {"disabled": "true"},
    ],
)
def test_v23_a_server_switched_off_hides_lower_ones(off):
    low = layer("low", mcp_json={"mcpServers": {"s": {"command": "low"}}})
    found = servers([layer(mcp_json={"mcpServers": {"s": {"command": "c", **off}}}), low], ())
    assert not found.by_id
    assert found.hidden == {"s"}


@pytest.mark.parametrize(
    "root",
    [
        {"mcpServers": {"s": {"command": "c"}}},
        {"servers": {"s": {"command": "c"}}},
        {"mcp_servers": [{"name": "s", "command": "c"}]},
        {"servers": [{"name": "s", "command": "c"}], "version": 1},
        {"mcpServers": {"s": {"command": "c"}}, "servers": {"s": {"command": "other"}}, "$schema": "x"},
    ],
)
def test_v22_root_keys(root):
    found = servers([layer(mcp_json=root)], ())
    assert dict(found.by_id["s"].definition) == {"type": "stdio", "command": "c"}
    assert not found.notices


@pytest.mark.parametrize(
    "root", [{"mcp": {"servers": {}}}, {"version": 1}, {"mcpServers": None, "x": 1}, {"servers": "x"}]
)
def test_v22_another_root_is_a_warning(root):
    (notice,) = servers([layer(mcp_json=root)], ()).notices
    assert "no `mcpServers`" in notice.message


@pytest.mark.parametrize("text", ["", "{}", '{"mcpServers": {}}'])
def test_an_empty_file_has_no_servers_and_no_warning(text):
    found = servers([layer(mcp_json=text)], ())
    assert (dict(found.by_id), found.notices, found.problems) == ({}, (), ())


def test_a_list_item_without_a_name_is_said():
    (notice,) = servers([layer(mcp_json={"servers": [{"command": "c"}, "x"]})], ()).notices[:1]
    assert "needs a `name`" in notice.message


def test_v2_both_files_merge_and_mcp_json_wins():
    both = layer(
        mcp_json={"mcpServers": {"a": {"command": "mine"}}},
        mcp_config_json={"mcpServers": {"a": {"command": "theirs"}, "b": {"serverUrl": "https://x.example"}}},
    )
    found = servers([both], ())
    assert found.by_id["a"].definition["command"] == "mine"
    assert found.by_id["b"].path == "/home/mcp_config.json"
    assert [notice.code for notice in found.notices] == ["server-files"]
    alone = layer(mcp_config_json={"mcpServers": {"b": {"command": "c"}}})
    assert not servers([alone], ()).notices


def test_an_agents_own_servers_win_over_any_trees_and_higher_layers_over_lower_ones():
    high = layer("high", mcp_json={"mcpServers": {"s": {"command": "tree-high"}, "t": {"command": "t-high"}}})
    low = layer(
        "low",
        mcp_json={"mcpServers": {"t": {"command": "t-low"}, "u": {"command": "u"}}},
        agents__a__mcp_json={"mcpServers": {"s": {"command": "a-low"}}},
        agents__b__mcp_json={"mcpServers": {"s": {"command": "b-low"}, "p": {"command": "private"}}},
    )

    def commands(*agents):
        return {name: server.definition["command"] for name, server in servers([high, low], agents).by_id.items()}

    assert commands() == {"s": "tree-high", "t": "t-high", "u": "u"}
    assert commands("a") == {"s": "a-low", "t": "t-high", "u": "u"}
    assert commands("a", "b") == {"s": "b-low", "p": "private", "t": "t-high", "u": "u"}
    assert servers([high, low], ("a",)).by_id["s"].layer == "low"


SECRET = "ghp-0123456789"


@pytest.mark.parametrize(
    ("definition", "key"),
    [
        ({"url": "u", "headers": {"Authorization": f"Bearer {SECRET}"}}, "headers.Authorization"),
        ({"url": "u", "headers": {"X-Api-Key": SECRET}}, "headers.X-Api-Key"),
        ({"command": "c", "env": {"GITHUB_TOKEN": SECRET}}, "env.GITHUB_TOKEN"),
        ({"command": "c", "env": {"DB_PASSWORD": SECRET}}, "env.DB_PASSWORD"),
        ({"command": "c", "env": {"APIKEY": SECRET}}, "env.APIKEY"),
        ({"url": f"https://u:{SECRET}@h.example/"}, "url"),
        ({"command": "c", "args": ["--db", f"postgres://u:{SECRET}@h/d"]}, "args.1"),
    ],
)
def test_v25_a_literal_credential_is_a_warning_by_key_path(definition, key):
    kept, (said,) = read(definition)
    assert kept
    assert f"mcpServers.s.{key}" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "definition",
    [
        {"url": "https://${USER}:${PASS}@h.example", "headers": {"Authorization": "Bearer ${T}"}},
        {"command": "c", "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "KEY_FILE": "x", "PATH": "/bin", "A_KEY": ""}},
        {"command": "bash", "args": ["-c", "echo $HOME"]},
        {"command": "/bin/sh", "args": ["-c", "$X"]},
        {"command": "c", "args": ["cost: 5$", "$$x", "${A:-b}"]},
    ],
)
def test_references_and_shells_are_no_warning(definition):
    assert read(definition)[1] == []


@pytest.mark.parametrize(
    "definition", [{"command": "c", "args": ["$HOME/x"]}, {"command": "$TOOL"}, {"command": "c", "env": {"A": "$B"}}]
)
def test_v24_a_bare_reference_stays_and_is_said(definition):
    kept, (said,) = read(definition)
    assert kept == {"type": "stdio", **definition}
    assert "$NAME" in said


def test_v26_paths_of_this_machine():
    found = servers(
        [
            layer(
                mcp_json={
                    "mcpServers": {"s": {"command": "/opt/x", "args": ["/a b", "--f=/c", "-x", "/${V}", "y/z", "/"]}}
                }
            )
        ],
        (),
    )
    assert machine_paths(found.by_id["s"]) == ("/opt/x", "/a b", "/c")
    assert machine_paths(servers([layer(mcp_json={"mcpServers": {"s": {"url": "u"}}})], ()).by_id["s"]) == ()


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["mcpServers", "servers", "name", "command", "url", "env", "headers", "args", "type", "s"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSONISH, JSONISH)
def test_no_file_makes_it_raise_and_every_server_is_in_normal_form(value, definition):
    found = servers(
        [layer(mcp_json={"servers": value, "mcpServers": {"s": definition}}), layer(mcp_json={"mcpServers": value})], ()
    )
    for server in found.by_id.values():
        assert server.definition["type"] in ("stdio", "http", "sse")
        assert server.definition["command" if server.definition["type"] == "stdio" else "url"]
