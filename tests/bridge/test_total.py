"""The bridge is total: whatever effect refuses, every other change gets its ending, and nothing is lost (spec/50, 006.5.19)."""

import pytest
from attrs import evolve
from returns.result import Success

from outfitter.host import Durable, Sources
from tests.effects import fake, wrapped

LOGIN = '{"claudeAiOauth": {"accessToken": "b"}}'


def prepared(bench):
    b = bench(interactive=True, handlings={"settings.json": "prompt"})
    b.put(".claude.json", '{"oauthAccount": {"id": 1}}')
    b.put(".claude/.credentials.json", '{"claudeAiOauth": {"accessToken": "a"}}')
    b.put(".claude/settings.json", "{}")
    b.history()
    b.age().launch()
    b.answers = ["always"] * 3
    b.replace(".claude.json", '{"oauthAccount": {"id": 2}}')
    b.replace(".credentials.json", LOGIN)
    b.write("settings.json", '{"a": 1}')
    b.write(f"projects/{b.slug}/s1.jsonl", "more\n", append=True)
    b.write(f"projects/{b.slug}/new.jsonl", "new\n")
    b.write("plugins/known_marketplaces.json", f'{{"m": "{b.projection}/plugins/m"}}')
    b.delete("commands")
    b.write("commands/mine.md", "mine")
    b.write("odd", "x")
    return b


def refused(number, calls):
    def rule(name, call):
        calls.append(name)
        if len(calls) - 1 == number:
            raise OSError(5, "Input/output error", "/somewhere")
        return call()

    return rule


def around(host, rule):
    return evolve(
        host, durable=wrapped(Durable, host.durable, rule), sources=wrapped(Sources, host.sources, rule)
    ).settling()


def carried(b):
    """What of the run is durable or kept or still in a projection that stays."""
    native, kept = b.durable_tree(), b.kept()
    everywhere = {content for _, content in native.values()} | set(kept)
    return {
        "login": LOGIN.encode() in everywhere,
        "settings": b'{"a": 1}' in everywhere,
        "s1": b'{"n":1}\nmore\n' in everywhere,
        "new": b"new\n" in everywhere,
        "command": b"mine" in everywhere,
        "account": b'"id": 2' in (b.home / ".claude.json").read_bytes() or any(b'"id": 2' in c for c in kept),
    }


def test_every_effect_in_turn(tmp_path):
    from tests.bridge.bench import Bench

    calls = [""] * 1000
    number = 0
    while number < len(calls):
        b = prepared(lambda number=number, **more: Bench(tmp_path / str(number), **more))
        host = b.host()
        # What comes before the bridge has tests of its own: only the bridge's effects are refused.
        from outfitter.railway import perform
        from stages.bridge import bridge
        from stages.diff import diff
        from stages.fingerprint_again import fingerprint_again

        actual = perform(fingerprint_again(host.trees, host.durable, b.record, b.baseline)).unwrap()
        changes = diff(b.record, b.baseline, actual).unwrap()
        calls = []
        outcome = perform(
            bridge(around(host, refused(number, calls)), b.settings(), b.record, b.baseline, actual, changes)
        )
        assert isinstance(outcome, Success), (calls[-1], outcome)
        settlement = outcome.unwrap()
        assert len(settlement.changes) == len(changes)
        lost = [what for what, there in carried(b).items() if not there]
        assert lost == [] or not settlement.saved, (calls[number], lost)
        assert b.temporaries() == []
        assert not (b.home / ".claude.json.lock").exists()
        number += 1
    assert number > 30
    print(f"{number} effects of the bridge were refused in turn")


def test_all_is_carried_where_nothing_refuses(bench):
    b = prepared(bench)
    b.settle(b.settings())
    assert all(carried(b).values())
    assert b.kept() == {}
    assert not b.warnings(".claude.json")
    assert b.warnings("odd")


@pytest.mark.parametrize(
    "name", ["look", "replace", "write", "read", "keep", "flush", "tidy", "kept", "locked", "prefix"]
)
def test_an_effect_that_never_works(bench, name):
    b = prepared(bench)

    def refuse(*_):
        raise OSError(5, "Input/output error", "/somewhere")

    host = b.host()
    broken = evolve(host, durable=fake(Durable, host.durable, **{name: refuse}))
    if name == "look":
        broken = evolve(broken, trees=host.trees)
    b.settle(b.settings(), host=broken)
    lost = [what for what, there in carried(b).items() if not there]
    assert lost == [] or not b.settlement.saved
