"""The package as it is shipped: built once as sdist and as wheel from it, installed in a clean environment, run from there."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # Where packages come from is the machine's business, even in an otherwise clean environment.
    **{name: value for name, value in os.environ.items() if name.startswith(("PIP_INDEX", "PIP_CONFIG", "PIP_CERT"))},
}
pytestmark = pytest.mark.slow


def run(*words, home, **more):
    return subprocess.run(
        words, check=False, env={**CLEAN, "HOME": str(home), "TMPDIR": str(home), **more}, cwd=home, capture_output=True
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="module")
def built(place):
    """The wheel, built from the sdist as an index would build it."""
    if not has_build():
        pytest.skip("needs the `dev` extra: build and hatchling")
    ended = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place / "dist"), str(ROOT), home=place)
    assert ended.returncode == 0, ended.stderr.decode() + ended.stdout.decode()
    return place / "dist"


def has_build():
    from importlib.util import find_spec

    return find_spec("build") is not None and find_spec("hatchling") is not None


@pytest.fixture(scope="module")
def names(built):
    (wheel,) = built.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def installed(built, place):
    """A fresh environment that sees the dependencies of this one, and of Outfitter only the wheel."""
    (wheel,) = built.glob("*.whl")
    target = place / "venv"
    assert run(sys.executable, "-m", "venv", str(target), home=place).returncode == 0
    ended = run(str(target / "bin/pip"), "install", "--quiet", "--no-deps", str(wheel), home=place)
    assert ended.returncode == 0, ended.stderr.decode()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    link_dependencies(target / f"lib/{version}/site-packages")
    return target / "bin"


def link_dependencies(site):
    import attrs

    here = Path(attrs.__file__).resolve().parents[1]
    for entry in here.iterdir():
        if (
            "outfitter" not in entry.name.lower()
            and not entry.name.endswith(".pth")
            and not (site / entry.name).exists()
        ):
            (site / entry.name).symlink_to(entry)


def test_types_schemas_and_data_are_in_the_wheel(names):
    data = {
        path.relative_to(ROOT).as_posix()
        for folder in ("outfitter", "stages")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts
    }
    assert {"outfitter/py.typed", "stages/py.typed"} <= data
    assert any(name.startswith("outfitter/schemas/") for name in data)
    assert sorted(data - names) == []
    assert sorted(name for name in names if name.split("/")[0] in ("tests", "benchmarks", "docs")) == []
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_can_be_tested(built):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "tests/conftest.py", "docs/index.md"} <= inside
    assert not [name for name in inside if "__pycache__" in name or name.startswith((".venv", ".git/"))]


def test_the_installed_command_and_the_module_run(installed, place):
    for words in ([str(installed / "outfitter")], [str(installed / "python"), "-m", "outfitter"]):
        ended = run(*words, "--version", home=place)
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert ended.stdout.startswith(b"outfitter ")
    where = run(
        str(installed / "python"),
        "-c",
        "import outfitter, stages; print(outfitter.__file__, stages.__file__)",
        home=place,
    )
    assert str(ROOT) not in where.stdout.decode()


SHADOWED = ("json", "os", "re", "returns", "sitecustomize", "types", "yaml", "outfitter/__init__", "stages/__init__")


@pytest.mark.parametrize("way", ["direct", "link"])
def test_the_installed_command_runs_no_module_that_pythonpath_names(installed, place, tmp_path, way):
    for name in SHADOWED:
        module = tmp_path / "project" / f"{name}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text("raise SystemExit('project code ran')\n")
    command = installed / "outfitter"
    if way == "link":
        command = tmp_path / "outfitter"
        command.symlink_to(installed / "outfitter")
    for pythonpath in (str(tmp_path / "project"), "."):
        ended = subprocess.run(
            [str(command), "demo", "--harness", "stand-in"],
            env={**CLEAN, "HOME": str(place), "TMPDIR": str(place), "PYTHONPATH": pythonpath},
            cwd=tmp_path / "project",
            check=False,
            capture_output=True,
        )
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_it_reads_its_schemas_and_launches_from_there(installed, place):
    for words in (
        ["schema", "settings"],
        ["schema", "agent"],
        ["demo", "--harness", "stand-in"],
        ["completion", "bash"],
    ):
        ended = run(str(installed / "outfitter"), *words, home=place)
        assert (ended.returncode, ended.stderr) == (0, b""), ended.stderr.decode()


def test_a_type_checker_finds_the_types(installed, place):
    (place / "use.py").write_text("from outfitter.main import main\n\ncode: int = main([])\nwrong: str = main([])\n")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(installed / "python"), "use.py"]
    try:
        import mypy as _  # noqa: F401
    except ImportError:
        pytest.skip("mypy is not installed")
    ended = run(*mypy, home=place)
    assert "use.py:4" in ended.stdout.decode()
    assert "untyped" not in ended.stdout.decode()
    assert "py.typed" not in ended.stdout.decode()
