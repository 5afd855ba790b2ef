"""Files as documents: forms, places, hostile input, and the cache by content (spec/10, spec/15 V13, spec/95 YML and CMP)."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.edges.documents import documents
from outfitter.fs import READ_LIMIT
from outfitter.model.request import Position
from outfitter.syntax.parse import parse
from tests.settings.reading import read_file


@pytest.fixture
def read(tmp_path):
    """Write bytes and read them back as a document, without a cache."""

    def reader(content, form="yaml"):
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_file(path, form)

    return reader


def problem(document):
    assert len(document.problems) == 1, document
    assert document.problems[0].path == document.path
    return document.problems[0]


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"---\n", b"  \n\n", b"{}", b"\xef\xbb\xbf"])
def test_yml_01_a_file_without_content_is_an_empty_mapping(read, content):
    assert read(content, "settings").value == {}
    assert not read(content, "settings").problems


@pytest.mark.parametrize(
    ("content", "kind"), [("- a\n", "a list"), ("just words", "text"), ("5", "a number"), ("true", "a boolean")]
)
@pytest.mark.parametrize("form", ["yaml", "settings"])
def test_yml_02_a_root_that_is_no_mapping_is_named(read, content, kind, form):
    assert kind in problem(read(content, form)).message


def test_yml_04_words_of_yaml_1_1_are_text(read):
    document = read("cache/: no\ndefault_agent: on\nisolation: off\ny: Yes\non: x\ntrue: 1\n1: one\n")
    expected = {"cache/": "no", "default_agent": "on", "isolation": "off", "y": "Yes", "on": "x", "true": 1, "1": "one"}
    assert document.value == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0o17", 15), ("0x1f", 31), ("-3", -3), ("1.5", 1.5), ("1e3", 1000.0), ("~", None), ("null", None), ("True", True),
        ("2020-01-01", "2020-01-01"), ("12:30:00", "12:30:00"), ("1_000", "1_000"), ("'no'", "no"), ('"1"', "1"),
        ("!!str 1", "1"), ("!!int 1", 1), ("! 1", "1"), ("", None),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(read, text, value):
    found = read(f"a: {text}\n").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_yml_06_a_tab_is_called_a_tab(read):
    found = problem(read("a:\n\tb: 1\n"))
    assert found.at == Position(2, 1)
    assert "tab" in found.message


def test_yml_06_a_legal_trailing_tab_loads(read):
    assert read("a: 1\t# why\n").value == {"a": 1}


def test_yml_08_mark_crlf_and_no_final_newline(read):
    plain = read("default_agent: x\nisolation: inherit\n", "settings")
    edited = read(b"\xef\xbb\xbfdefault_agent: x\r\nisolation: inherit", "settings")
    assert (edited.value, edited.positions) == (plain.value, plain.positions)


@pytest.mark.parametrize(
    ("content", "word", "offset"),
    [
        ("a: b\n".encode("utf-16"), "UTF-16", 0),
        (b"# caf\xe9\na: 1\n", "UTF-8", 5),
        (b"a: b\0\n", "NUL", 4),
        ("é: \0".encode(), "NUL", 4),
    ],
)
@pytest.mark.parametrize("form", ["yaml", "json", "markdown", "text"])
def test_yml_09_other_encodings_are_refused_with_the_offset(read, content, word, offset, form):
    found = problem(read(content, form))
    assert word in found.message
    assert f"offset {offset}" in found.message


def test_yml_11_a_section_left_empty_is_null(read):
    assert read("state_persistence:\nsources:\n", "settings").value == {"state_persistence": None, "sources": None}


def test_yml_12_a_second_document_is_an_error(read):
    assert "second document" in problem(read("a: 1\n---\nb: 2\n")).message


def test_yml_12_tags_build_nothing(read, tmp_path):
    found = problem(read(f"a: !!python/object/apply:os.system ['touch {tmp_path}/made']\n"))
    assert "!!python/object/apply:os.system" in found.message
    assert found.at == Position(1, 4)
    assert not (tmp_path / "made").exists()


def test_yml_15_what_is_no_regular_file_is_named_and_never_waited_for(tmp_path):
    read = documents(None)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "device").symlink_to("/dev/zero")
    words = {
        "fifo": "a fifo",
        "folder": "a directory",
        "gone": "dangling symlink",
        "device": "a device",
        "loop": "cannot",
    }
    for name, word in words.items():
        assert word in problem(read(str(tmp_path / name), "settings")).message
    assert read(str(tmp_path / "absent"), "settings") is None
    assert read(str(tmp_path / "absent/inner"), "settings") is None
    (tmp_path / "file").touch()
    assert read(str(tmp_path / "file/inner"), "settings") is None


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_yml_15_an_unreadable_file_is_named(tmp_path):
    path = tmp_path / "locked"
    path.write_text("a: 1")
    path.chmod(0)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    child = os.fork()
    if not child:
        os.setuid(65534)
        found = read_file(path, "yaml")
        os._exit(0 if found and "Permission denied" in found.problems[0].message else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_of_ten_megabytes_is_refused_and_one_below_is_read(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(b"x" * READ_LIMIT)
    assert len(read_file(path, "text").body) == READ_LIMIT
    path.write_bytes(b"x" * (READ_LIMIT + 1))
    assert "10 MB" in problem(read_file(path, "text")).message


HOSTILE = {
    "alias bomb": ("yaml", "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )),
    "merge bomb": ("yaml", "a: &a {k: [x,x,x,x,x,x,x,x,x]}\n" + "".join(
        f"{new}: &{new} {{p: {{<<: *{old}}}, q: [{','.join([f'*{old}'] * 9)}]}}\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )),
    "alias to itself": ("yaml", "a: &a [*a]\n"),
    "deep flow": ("yaml", "a: " + "[" * 100_000),
    "deep block": ("yaml", "".join(" " * n + "a:\n" for n in range(500))),
    "deep json": ("json", '{"a":' * 100_000),
    "wide json": ("json", '{"a": [' + "1," * 2_000_000 + "1]}"),
    "wide yaml": ("yaml", "a: [" + "1," * 1_000_000 + "1]"),
    "long number": ("json", '{"a": ' + "9" * 1_000_000 + "}"),
    "long yaml number": ("yaml", "a: " + "9" * 1_000_000),
    "long hexadecimal number": ("yaml", "a: 0x" + "f" * 4000),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_ends_in_one_problem(read, case):
    form, text = HOSTILE[case]
    started = time.process_time()
    assert "\n" not in problem(read(text, form)).message
    assert time.process_time() - started < 30


@pytest.mark.parametrize(
    ("form", "text", "key", "at"),
    [
        ("yaml", "a: 1\nb:\n  c: 1\n  c: 2\n", "c", Position(4, 3)),
        ("json", '{"a": 1,\n "a": 2}', "a", Position(2, 2)),
        ("markdown", "---\na: 1\na: 2\n---\n", "a", Position(3, 1)),
        ("markdown", "---\nname: a\nname: b: c\n---\n", "name", Position(3, 1)),
    ],
)
def test_a_duplicate_key_is_an_error_with_its_line(read, form, text, key, at):
    found = problem(read(text, form))
    assert found.message.startswith("duplicate key")
    assert (found.key, found.at) == (key, at)


def test_every_key_path_has_its_place(read):
    document = read("a:\n  b: 1\n  c: [x, {d: 2}]\n# note\ne: 3\n")
    assert document.positions == {
        ("a",): Position(1, 1),
        ("e",): Position(5, 1),
        ("a", "b"): Position(2, 3),
        ("a", "c"): Position(3, 3),
        ("a", "c", "0"): Position(3, 7),
        ("a", "c", "1"): Position(3, 10),
        ("a", "c", "1", "d"): Position(3, 11),
    }
    assert read('{"a": {\n  "b": [1,\n 2]}}', "json").positions == {
        ("a",): Position(1, 2),
        ("a", "b"): Position(2, 3),
        ("a", "b", "0"): Position(2, 9),
        ("a", "b", "1"): Position(3, 2),
    }


def test_merge_keys_bring_in_what_is_not_written(read):
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz:\n  c: 3\n  <<: [*x, *y]\n"
    assert read(text).value["z"] == {"c": 3, "a": 1, "b": 1}
    assert "<<" in problem(read("a: {<<: 1}\n")).message


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_json_is_an_empty_mapping(read, text):
    assert read(text, "json").value == {}


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"a":1,}', '{"a": NaN}', "// c\n{}", "{'a':1}", '{"a":tru}', '{"a":1} x', '{"a":1e999}', '{"a":"\\ud800"}',
     '{"a":"\\u0000"}', '{"a" 1}', '{"a":"x', '{"a":01}', '{"a":"\t"}'],
)  # fmt: skip
def test_json_is_strict(read, text):
    assert problem(read(text, "json")).message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), inner, max_size=4),
        max_leaves=20,
    ).map(lambda value: {"root": value}),
    st.sampled_from([None, 2]),
)  # fmt: skip
def test_json_reads_what_the_standard_library_writes(value, indent):
    import json

    parsed = parse(json.dumps(value, indent=indent).encode(), "json")
    assert parsed.value == value
    assert not parsed.flaws


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_no_bytes_make_a_reader_raise(content):
    for form in ("yaml", "json", "markdown", "text"):
        parse(content, form)
        parse(b"---\n" + content + b"\n---\nx", form)


@pytest.mark.parametrize(
    ("text", "value", "body"),
    [
        ("# Title\n\nWords.\n", None, "# Title\n\nWords.\n"),
        ("---\nname: a\n---\nbody", {"name": "a"}, "body"),
        ("\ufeff---  \r\nname: a\r\n--- \t\r\nbody\r\n", {"name": "a"}, "body\r\n"),
        ("---\n---\n", {}, ""),
        ("---\n# only a comment\n---\nx", {}, "x"),
        ("---\nname: a\u2028b\n---\n---\nx", {"name": "a\u2028b"}, "---\nx"),
        ("", None, ""),
    ],
)
def test_cmp_03_front_matter_and_body(read, text, value, body):
    document = read(text, "markdown")
    assert (document.value, document.body, document.problems) == (value, body, ())


def test_cmp_03_an_unclosed_fence_is_reported(read):
    assert "not closed" in problem(read("---\nname: a\n", "markdown")).message


def test_text_is_the_body(read):
    assert read(b"\xef\xbb\xbf---\nx\r\n", "text").body == "---\nx\r\n"


@pytest.mark.parametrize(
    ("line", "value", "quoted"),
    [
        ("description: Use when: a change is ready", "Use when: a change is ready", '"Use when: a change is ready"'),
        ('description: "Say "yes" first"', 'Say "yes" first', '"Say \\"yes\\" first"'),
        ("description: `code` first", "`code` first", '"`code` first"'),
        ("description: @all of you", "@all of you", '"@all of you"'),
        ("description: *star* words", "*star* words", '"*star* words"'),
        ("description: [one] word", "[one] word", '"[one] word"'),
        ("description: &mark", None, None),
        ("description: !wow", "!wow", '"!wow"'),
        ("description: %x", "%x", '"%x"'),
        ("description: Use when: a\n  and then: b", "Use when: a and then: b", '"Use when: a and then: b"'),
        ("label: vor: über", "vor: über", '"vor: über"'),
    ],
)
def test_v13_near_yaml_is_read_line_by_line(read, line, value, quoted):
    document = read(f"---\nname: x\n{line}\ntools:\n- a\n- b\n---\nBody.\n", "markdown")
    key = line.partition(":")[0]
    assert document.value == {"name": "x", key: value, "tools": ["a", "b"]}
    assert (document.body, document.problems) == ("Body.\n", ())
    if quoted is None:
        return
    (notice,) = document.notices
    assert (notice.level, notice.code) == ("warning", "near-yaml")
    assert f"{document.path}:3:" in notice.message
    assert notice.hint == f"write {key}: {quoted}"
    mended = read(f"---\nname: x\n{key}: {quoted}\ntools:\n- a\n- b\n---\nBody.\n", "markdown")
    assert (mended.value, mended.notices) == (document.value, ())


ABOVE = [
    "\n",
    "\r\n \n",
    "<!-- a -->\n",
    "<!-- a\nb -->\n\n<!-- c -->\n",
    "# SPDX-License-Identifier: MIT\n",
    "// generated\n% and more\n",
    "\u200b\n\ufeff \n",
    "```yaml\n",
]


@pytest.mark.parametrize("above", ABOVE)
def test_front_matter_below_lines_without_content_is_read_and_said(read, above):
    """A limit on tools in it is never lost."""
    document = read(f"{above}---\nname: x\ntools: [read]\n---\nBody.\n", "markdown")
    assert document.value == {"name": "x", "tools": ["read"]}
    assert document.body == "Body.\n"
    (notice,) = document.notices
    assert (notice.level, notice.code) == ("warning", "front-matter-late")
    line = above.count(chr(10)) + 1
    assert f"{document.path}:{line}:" in notice.message
    assert document.positions[("tools",)].line == line + 2


def test_late_front_matter_that_is_not_valid_is_an_error_with_its_line(read):
    document = read("# SPDX\n---\nname: x\ntools: [read\n---\nBody.\n", "markdown")
    assert problem(document).at.line > 3


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("argument-hint: [file] [mode]", "[file] [mode]"),
        ("argument-hint: [path] | --all", "[path] | --all"),
        ("license: MIT: see LICENSE", "MIT: see LICENSE"),
        ("metadata: {a: b} c", "{a: b} c"),
    ],
)
def test_prose_in_a_key_that_decides_nothing_is_text(read, line, value):
    document = read(f"---\nname: x\n{line}\ntools: Read\n---\nBody.\n", "markdown")
    assert document.value == {"name": "x", line.partition(":")[0]: value, "tools": "Read"}
    assert [notice.code for notice in document.notices] == ["near-yaml"]


@pytest.mark.parametrize(
    "key", ["tools", "allowed-tools", "disallowedTools", "permission", "skills", "hooks", "sandbox_mode", "mcpServers"]
)
def test_prose_in_a_key_that_decides_something_is_an_error(read, key):
    assert problem(read(f"---\nname: x\n{key}: [a] [b]\n---\n", "markdown")).at.line == 3


def test_the_hint_for_a_long_line_is_short(read):
    document = read(f"---\ndescription: Use when: {'long ' * 500}\n---\n", "markdown")
    assert len(document.notices[0].hint) < 150
    assert len(document.value["description"]) > 2000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Body.\n---\na: b\n---\n",
        "\n---\nwords\n---\n",
        "\n---\na: b\n",
        "<!-- ---\na: b\n---\n",
        "---\na: b\n---\n",
    ],
)
def test_a_rule_between_paragraphs_is_no_front_matter(read, text):
    assert read(text, "markdown").notices == ()


@pytest.mark.parametrize("text", ["tools: [a", "name: x: y\ntools: [a", "name: x: y\nnot a key", "- a: b: c"])
def test_v13_what_fails_both_readings_is_an_error(read, text):
    assert problem(read(f"---\n{text}\n---\n", "markdown")).at.line > 1


SETTINGS_FLAWS = [
    ("isolation: off\n", "isolation", 1, "inherit, isolated"),
    ("\ndefault_harness: claud\n", "default_harness", 2, "pi, claude, codex"),
    ("sources: {path: a}\n", "sources", 1, "a list"),
    ("sources:\n  - pth: a\n", "sources.0.pth", 2, "unknown key"),
    ("sources:\n  - {uri: a, github: a/b}\n", "sources.0", 2, "not valid here"),
    ("sources: [words]\n", "sources.0", 1, "a mapping"),
    ("remote_settings: [{uri: a}]\n", "remote_settings.0", 1, "path"),
    ("agent_defaults: {skill: []}\n", "agent_defaults.skill", 1, "unknown key"),
    ("state_persistence: [a]\n", "state_persistence", 1, "a mapping"),
    ("trusted_hosts: [1]\n", "trusted_hosts.0", 1, "text"),
    ("cache_directory: ''\n", "cache_directory", 1, "fit"),
    ("default_harness: .nan\n", "default_harness", 1, "a number"),
    ("trusted_hosts: 0x1\n", "trusted_hosts", 1, "a number"),
]


@pytest.mark.parametrize(("text", "key", "line", "word"), SETTINGS_FLAWS)
def test_settings_are_checked_against_their_schema(read, text, key, line, word):
    (found,) = [one for one in read(text, "settings").problems if one.key == key]
    assert found.at.line == line
    assert word in found.message


def test_every_flaw_of_a_file_is_reported_at_once_in_order(read):
    problems = read("".join(text.lstrip() for text, *_ in SETTINGS_FLAWS[:2]) + "sources: 1\n", "settings").problems
    assert [one.key for one in problems] == ["isolation", "default_harness", "sources"]


def test_strategies_are_left_to_their_resolution(read):
    text = "state_persistence: {cache/: no, x: 5, unknown: symlink, claude: {a/: maybe}, pi: 3, sessions/: [a]}\n"
    assert read(text, "settings").problems == ()


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def cached(home):
    return sorted((home / ".agents/cache/documents/v1").glob("*"))


FORMS = {
    "settings": "custom_settings: {a: [1, {b: no}], f: .inf}\n",
    "markdown": "---\nname: a: b\n---\nBody ü\r\n",
    "yaml": "a: {b: 1.5}\n",
}


# A tree's JSON may hold literal credentials: it is read anew each time (spec/80).
REMEMBERED = {"settings": 1, "json": 0, "markdown": 1, "yaml": 1}


@pytest.mark.parametrize("form", FORMS)
def test_the_cache_answers_as_the_reader_does(home, form):
    read = documents(str(home / ".agents/cache"))
    path = home / "file"
    path.write_text(FORMS[form])
    fresh = read_file(path, form)
    assert read(str(path), form) == fresh
    assert len(cached(home)) == REMEMBERED[form]
    assert read(str(path), form) == fresh
    other = home / "other"
    other.write_text(FORMS[form])
    assert read(str(other), form) == read_file(other, form)
    assert len(cached(home)) == REMEMBERED[form]


def test_a_warm_read_imports_no_parser(home):
    (home / "s.yml").write_text("default_agent: a\n")
    code = (
        "import sys; from outfitter.edges.documents import documents;"
        f"r = documents({str(home / '.agents/cache')!r})({str(home / 's.yml')!r}, 'settings');"
        "print(r.value, sorted({'yaml', 'jsonschema_rs'} & set(sys.modules)))"
    )
    cold, warm = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"HOME": str(home)}
        )
        for _ in range(2)
    )
    assert "yaml" in cold.stdout
    assert warm.stdout == "{'default_agent': 'a'} []\n"


@given(st.data())
def test_a_damaged_cache_entry_counts_as_absent(data):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        read = documents(str(home / ".agents/cache"))
        (home / "f").write_text(FORMS["yaml"])
        first = read(str(home / "f"), "yaml")
        (entry,) = cached(home)
        content = entry.read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        junk = data.draw(st.binary(max_size=3))
        entry.write_bytes(content[:cut] + junk + content[cut + len(junk) :][: data.draw(st.integers(0, 400))])
        assert read(str(home / "f"), "yaml") == first


def test_flaws_are_not_remembered_and_text_needs_no_cache(home):
    (home / "f").write_text("a: [")
    assert read_file(home / "f", "yaml", home / ".agents/cache").problems
    assert read_file(home / "f", "text", home / ".agents/cache").body == "a: ["
    assert cached(home) == []


def test_json_is_not_remembered_for_it_may_hold_a_credential(home):
    (home / "f").write_text('{"mcpServers": {"s": {"env": {"KEY": "literal"}}}}')
    assert read_file(home / "f", "json", home / ".agents/cache").value["mcpServers"]
    assert cached(home) == []


def test_the_cache_is_private(home):
    os.umask(0o022)
    (home / "f").write_text("a: 1")
    read_file(home / "f", "yaml", str(home / ".agents/cache"))
    (entry,) = cached(home)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700


def test_a_home_that_is_not_there_is_not_made(tmp_path):
    (tmp_path / "f").write_text("a: 1")
    assert read_file(tmp_path / "f", "yaml", str(tmp_path / "no/home/.agents/cache")).value == {"a": 1}
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("blocked", [".agents", ".agents/cache", ".agents/cache/documents"])
def test_a_cache_that_cannot_be_written_is_no_trouble(home, blocked):
    (home / blocked).parent.mkdir(parents=True, exist_ok=True)
    (home / blocked).write_text("in the way")
    (home / "f").write_text("a: 1")
    assert read_file(home / "f", "yaml", str(home / ".agents/cache")).value == {"a": 1}
    assert (home / blocked).read_text() == "in the way"


def test_pye_01_an_ascii_locale_reads_utf_8(home):
    (home / "sü.yml").write_text("default_agent: a # a — b\n", encoding="utf-8")
    code = f"from outfitter.edges.documents import documents; print(documents(None)({str(home / 'sü.yml')!r}, 'settings').value)"
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii", "HOME": str(home)}
    done = subprocess.run(  # noqa: PLW1510 - the assertion below shows what it said
        [sys.executable, "-c", code.encode("unicode_escape").decode()], capture_output=True, text=True, env=env
    )
    assert done.stdout == "{'default_agent': 'a'}\n", done.stderr
