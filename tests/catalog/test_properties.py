"""What must hold for every stack of layers and every inheritance graph (the whole tree's "Must hold")."""

import os
import tempfile
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from outfitter.catalog.dump_files import write_dump
from outfitter.catalog.dump_tree import dump_agent, dump_tree
from outfitter.model.composition import Composition
from tests.catalog.strategies import AGENTS, LAYERS, graphs, stacks
from tests.catalog.world import World, summary

# Each example reads and writes whole trees: half of what the profile asks for is much.
HALF = settings(max_examples=settings().max_examples // 2)

names = st.sampled_from(AGENTS)


@contextmanager
def world_of(files):
    """A world in a temporary directory of its own, with these files."""
    with tempfile.TemporaryDirectory(prefix="of-catalog-") as top:
        world = World(top)
        for path, text in files.items():
            world.put(f"../{path}", text)
        yield world


def winner(files, path):
    return next((files[f"{layer}/{path}"] for layer in LAYERS if f"{layer}/{path}" in files), None)


@HALF
@given(stacks(), names)
def test_the_highest_layer_decides_and_composing_twice_is_equal(files, name):
    with world_of(files) as world:
        made = world.compose(name)
        assert made == world.compose(name)
        if not isinstance(made, Composition):
            return
        context = winner(files, "agents.md")
        got = [f.content for f in made.fragments if f.kind == "context"]
        assert got == ([context.strip("\r\n").rstrip() + "\n"] if context and context.strip() else [])
        body = winner(files, f"agents/{name}/agent.md").split("---\n", 2)[2].strip("\r\n").rstrip()
        assert [f.content for f in made.fragments if f.kind == "body" and f.agent == name] == (
            [body + "\n"] if body else []
        )
        assert len(set(made.chain)) == len(made.chain)


@HALF
@given(stacks(), st.sampled_from(LAYERS), names)
def test_what_a_lower_layer_adds_changes_nothing_above(files, top, name):
    """Without the layers below `top`, every fragment, skill and command that `top` and above gave is the same."""
    above = LAYERS[: LAYERS.index(top) + 1]
    kept = {
        path: text
        for path, text in files.items()
        if path.startswith((*above, "project/")) or path.endswith("settings.yml")
    }
    with world_of(files) as whole, world_of(kept) as part:
        small, large = part.compose(name), whole.compose(name)
        if isinstance(small, Composition) and isinstance(large, Composition) and small.chain == large.chain:
            assert _by_kind(small) <= _by_kind(large)
            bodies = [f.content for f in small.fragments if f.kind in ("body", "append")]
            assert bodies == [f.content for f in large.fragments if f.kind in ("body", "append")]
            assert small.tools == large.tools
            assert small.extensions == large.extensions
            for key, value in small.controls.environment.items():
                assert large.controls.environment[key] == value


def _by_kind(made):
    return {(f.kind, f.content) for f in made.fragments} | {(c.id, c.text) for c in made.commands}


@HALF
@given(graphs())
def test_inheritance_ends_and_says_why(graph):
    files = {
        f"project/.agents/agents/{name}/agent.md": f"---\ninherits: [{', '.join(parents)}]\n---\n{name}\n"
        for name, parents in graph.items()
    }
    with world_of(files) as world:
        for name in graph:
            made = world.compose(name)
            if not isinstance(made, Composition):
                chain = made.problems[0].message.partition("(")[2].rstrip(")").split(" → ")
                assert chain[0] == name
                assert all(after in graph[before] for before, after in pairwise(chain))
                assert chain[-1] == "gone" or chain[-1] in chain[:-1]
            else:
                order = {one: number for number, one in enumerate(made.chain)}
                assert made.chain[-1] == name
                assert all(order[parent] < order[one] for one in made.chain for parent in graph[one])
                assert [f.content.strip() for f in made.fragments] == list(made.chain)


# A prompt file without a word still takes the place of the one that is inherited.
EMPTY_OVER_INHERITED = {
    "home/.agents/settings.yml": "sources: [{path: ../../one}, {path: ../../two}]\n",
    "one/prompts/p.md": "words\n",
    "one/agents/b/agent.md": "---\nsystem_prompt: {file: prompts/p.md}\n---\n",
    "two/prompts/p.md": "",
    "two/agents/a/agent.md": "---\ninherits: [b]\nsystem_prompt: {file: prompts/p.md}\n---\n",
}


@HALF
@example(EMPTY_OVER_INHERITED, "a")
@given(stacks(), names)
def test_a_dumped_closure_composes_to_the_same_digest(files, name):
    with world_of(files) as world:
        made = world.compose(name)
        if not isinstance(made, Composition):
            return
        request = world.request(name)
        layers = world.layers(request, "all")
        dump = dump_agent(layers, world.settings(request), made)
        with tempfile.TemporaryDirectory() as other:
            again = World(other)
            write_dump(str(again.project / ".agents"), dump.files)
            copied = again.compose(name)
            assert isinstance(copied, Composition), copied
            assert _told_apart(made, copied) == []
            assert copied.digest == made.digest
            assert not _links_and_machine_paths(again.project / ".agents", world.top)


def _told_apart(one, two):
    """The facts in which two compositions differ: a better message than two digests."""
    left, right = summary(one), summary(two)
    right["chain"] = [name for name in right["chain"] if "-below-" not in name]
    skipped = ("warnings", "notices", "messages", "visible", "knowledge")
    return [(key, left[key], right[key]) for key in left if key not in skipped and left[key] != right[key]]


def _links_and_machine_paths(root, top):
    return [
        str(path)
        for path in Path(root).rglob("*")
        if path.is_symlink() or (path.is_file() and os.fsencode(top) in path.read_bytes())
    ]


@HALF
@given(stacks(), names)
def test_a_dumped_tree_is_the_effective_one_and_always_the_same_bytes(files, name):
    with world_of(files) as world:
        request = world.request()
        layers = world.layers(request, "all")
        dump = dump_tree(layers, world.settings(request))
        assert dump == dump_tree(world.layers(request, "all"), world.settings(request))
        with tempfile.TemporaryDirectory() as other:
            again = World(other)
            write_dump(str(again.project / ".agents"), dump.files)
            made, copied = world.compose(name), again.compose(name)
            if isinstance(made, Composition):
                assert isinstance(copied, Composition), copied
                assert _told_apart(made, copied) == []
                assert copied.digest == made.digest
