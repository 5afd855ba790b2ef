"""The corpus under `trees/`: one text file a tree, with what it must come to beside it.

A file begins with `#` lines that say what it shows. Then sections: `-- PATH --` and the content, `-- PATH (755) --` with a
mode, `-- PATH -> TARGET --` for a link. Paths are below a directory that holds `home/` and `project/`. `-- expect --` is YAML:

  agent: which to compose (a)      run: facts of its summary, by key (see `world.summary`); `warnings` is exact, [] where absent
  says: words among the messages   error: words of the error that is to come instead    findings: codes that `validate` adds
  without: words that no message may hold
"""

import re
from pathlib import Path

import yaml

TREES = Path(__file__).parent / "trees"
_SECTION = re.compile(r"^-- (?P<path>[^\n]+?)(?: -> (?P<target>[^\n]+?))?(?: \((?P<mode>\d+)\))? --\n", re.MULTILINE)


def names():
    return sorted(path.stem for path in TREES.glob("*.txt"))


def load(name):
    """(sections as (path, target, mode, content), expectation)."""
    text = (TREES / f"{name}.txt").read_text()
    marks = list(_SECTION.finditer(text))
    sections = []
    expected = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        content = text[mark.end() : after.start() if after else len(text)]
        if mark["path"] == "expect":
            expected = yaml.safe_load(content)
        else:
            sections.append((mark["path"], mark["target"], int(mark["mode"] or "644", 8), content))
    return sections, expected


def build(world, sections):
    for path, target, mode, content in sections:
        place = world.top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if target:
            place.symlink_to(target)
        else:
            place.write_text(content)
            place.chmod(mode)
