"""How `gather_facts` asks an adapter what else it wants, until that is nothing new (spec/40)."""

from typing import Any, cast

from attrs import evolve
from returns.result import Success

from outfitter.adapters import FactsRequest
from outfitter.adapters.claude.plan import ADAPTER
from outfitter.host import Runs, Sources
from outfitter.model.settings import SettingsFiles
from outfitter.railway import fold, perform
from stages.gather_facts import ROUNDS, gather_facts
from tests.adapters.claude_case import HELP, HOME, request, settings
from tests.effects import fake


class Asked(list[str]):
    """Fake sources that note what is asked for; what lies below `/secret` cannot be read."""

    def sources(self) -> Sources:
        return cast(
            Sources,
            fake(
                Sources,
                read=self.read,
                names=lambda path: self.noted(path, ("n",)),
                real=lambda path: self.noted(path, path),
                newest_head=lambda path: self.noted(path, b"head"),
                project_root=lambda cwd, _home: (cwd, cwd, ()),
                find_harness=lambda *_: Success("/usr/bin/claude"),
                probe=lambda *_: HELP,
            ),
        )

    def read(self, path: str) -> bytes:
        if path.startswith("/secret"):
            raise PermissionError(13, "Permission denied", path)
        return bytes(self.noted(path, path.encode()))

    def noted(self, path: str, answer: Any) -> Any:
        self.append(path)
        return answer


def facts_of(adapter: Any, asked: Asked) -> Any:
    runs = cast(Runs, fake(Runs, name=lambda *_: ("r1", "/tmp/run")))
    outcome = perform(gather_facts(asked.sources(), runs, adapter, SettingsFiles("/p"), settings(), request()))

    def bug(error: Any) -> Any:
        raise AssertionError(error)

    return fold(outcome, lambda site: site.facts, bug)


def test_each_answer_may_lead_to_another_question_and_none_is_asked_twice():
    asked = Asked()

    def more_facts(_request: Any, _settings: Any, facts: Any) -> FactsRequest:
        deeper = tuple(path + "/x" for path in facts.files)
        return FactsRequest(files=("/a", *deeper)[:3], listings=("/d",), real=("/l",), heads=("/t",))

    facts = facts_of(evolve(ADAPTER, more_facts=more_facts), asked)
    assert set(facts.files) == {"/a", "/a/x", "/a/x/x"}
    assert (facts.listings, facts.real, facts.heads) == ({"/d": ("n",)}, {"/l": "/l"}, {"/t": b"head"})
    assert len(asked) == len(set(asked))


def test_what_cannot_be_read_is_said_and_ends_no_launch():
    facts = facts_of(evolve(ADAPTER, more_facts=lambda *_: FactsRequest(files=("/secret/a", "/b"))), Asked())
    assert facts.files == {"/secret/a": None, "/b": b"/b"}
    assert facts.unreadable == {"/secret/a": "Permission denied"}


def test_an_adapter_that_never_has_enough_is_stopped():
    count = iter(range(1000))
    facts = facts_of(evolve(ADAPTER, more_facts=lambda *_: FactsRequest(files=(f"/{next(count)}",))), Asked())
    assert len(facts.files) == ROUNDS


def test_an_inherited_claude_asks_for_no_durable_state():
    asked = Asked()
    facts_of(ADAPTER, asked)
    assert not [path for path in asked if path.startswith((HOME + "/.claude.json", HOME + "/.claude/projects"))]
