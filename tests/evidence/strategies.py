"""Launch outcomes, as `policy` and the trace see them."""

from hypothesis import strategies as st

from outfitter.host import StepNote
from outfitter.model.composition import Composition, Controls, ModelTarget, Tools
from outfitter.model.errors import Crashed, EffectFailed, Interrupted
from outfitter.model.outcome import Change, ChildExit, Settlement
from outfitter.model.projection import Facts, LaunchPlan, LaunchSite, Prepared, ProjectionPlan, Record, Report, State
from outfitter.model.request import Ambient, Notice, Request
from outfitter.model.settings import Origin, Resolution, Settings, StatePath, Strategies

SECRET = "sk-planted-0123456789"

hexes = st.text("0123456789abcdef", min_size=64, max_size=64)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
names = st.text("abcdefgh./-_ é", min_size=1, max_size=12)
sizes = st.none() | st.integers(0, 1 << 40)
notices = st.builds(Notice, st.sampled_from(["notice", "warning"]), st.sampled_from(["a-code", "b-code"]), words)
changes = st.builds(
    Change,
    names,
    st.sampled_from(["added", "modified", "deleted", "mode", "kind", "replaced-link", "relinked"]),
    st.sampled_from(["generated", "declared", "unknown"]),
    names,
    st.sampled_from(["symlink", "discard", "warn", "error", "prompt"]),
    st.sampled_from(
        ["durable", "adopted", "conflict", "bridged", "discarded", "warned", "failed", "persisted", "unreadable"]
    ),
    sizes,
    sizes,
)
settlements = st.builds(
    Settlement,
    st.lists(changes, max_size=5).map(tuple),
    st.lists(notices, max_size=2).map(tuple),
    st.booleans(),
    hexes,
    st.booleans(),
    st.integers(5, 50),
    st.integers(0, 5),
)
endings = st.one_of(
    st.integers(0, 255).map(ChildExit),
    st.sampled_from([2, 9, 15]).map(lambda n: ChildExit(128 + n, n)),
)
failures = st.one_of(
    st.just(EffectFailed("start", "/x", "no")),
    st.just(Interrupted(15)),
    st.just(Crashed(ValueError("bug"), "project")),
)


def _target(drawn):
    return ModelTarget(*drawn, "http://127.0.0.1:1", "A_KEY", layer="project")


models = st.none() | st.tuples(st.sampled_from(["native", "registry", "split"]), names, words, words).map(_target)
stage_names = st.sampled_from(
    ["load layers", "merge settings", "compose", "project", "run", "diff", "bridge", "cleanup"]
)
steps = st.lists(
    st.builds(StepNote, stage_names, st.sampled_from(["ok", "effect-failed"]), st.integers(1, 10), st.integers(10, 99)),
    max_size=6,
).map(tuple)


def ambient(**more):
    plain = {
        "cwd": "/p",
        "home": "/h",
        "temp_root": "/t",
        "state_root": "/s",
        "env": {"A_KEY": SECRET},
        "now_ns": 1,
        "uid": 0,
    }
    return Ambient(
        **{**plain, "stdin_tty": False, "stdout_tty": False, "stderr_tty": False, "platform": "linux", **more}
    )


def prepared(model=None, agent="a", harness="pi", strict=False, passthrough=(SECRET,)):
    """A plan whose every place for text holds the planted secret."""
    request = Request(ambient(), agent, harness, passthrough=passthrough, strict=strict)
    composition = Composition(
        agent,
        agent,
        SECRET,
        (agent,),
        (),
        (),
        (),
        (),
        (),
        (),
        model,
        {},
        "",
        Tools(),
        (),
        (),
        None,
        Controls(),
        {},
        (),
        (),
        (),
        "a" * 64,
    )
    unknown = Resolution(StatePath("unknown", "warn", ("warn",)), "warn", Origin("default"))
    launch = LaunchPlan("/bin/pi", (SECRET,), {"A_TOKEN": SECRET}, ("B",))
    plan = ProjectionPlan(harness, (), (), (), (), Strategies((), unknown), launch, "/t/r/projection")
    site = LaunchSite("run-1", "/t/r", Facts("/bin/pi", "/h/.pi", "/c", "/t/r/projection", "/p", {}))
    return Prepared(
        request,
        Settings({"custom_settings": {"s": SECRET}}, {}, {}, ()),
        composition,
        site,
        plan,
        (("project", "/p/.agents"),),
    )


@st.composite
def reports(draw, ended=endings):
    """A launch of any outcome; `ended` may be told to include failures before the harness started."""
    strict = draw(st.booleans())
    ready = prepared(draw(models), strict=strict)
    settlement = draw(settlements)
    keys = draw(st.sampled_from([(), ("settings.json",), ("settings.json", "sessions/", "npm/")]))
    states = tuple(State(key, "symlink", "/h/.pi/" + key, "default", "", "default", ("symlink",)) for key in keys)
    record = Record(
        "run-1", "a", "pi", "/t/r", 1, 2, 0, 5, "a" * 64, strict, False, "/p", "/h", "/h/.pi", "/c", states, "warn", (), (),
        baseline_digest=draw(hexes), changes=settlement.changes,
    )  # fmt: skip
    return Report(ready, record, draw(ended), settlement, draw(st.lists(notices, max_size=2).map(tuple)))
