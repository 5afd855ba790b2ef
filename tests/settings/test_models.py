"""Model registries: merging, refusals, exposures, and what a model word means (spec/10, "Models", spec/15 V15 and V16, 006.9)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.catalog.model_rules import host, is_loopback
from outfitter.catalog.models import registry, select, withheld
from outfitter.model.errors import CompositionFailed
from outfitter.model.layers import Document, Layer
from outfitter.model.settings import Settings
from outfitter.syntax.parse import parse

ENV = {"KEY": "sk-live", "OTHER": "x"}


def layer(text, kind="home", label="home"):
    content = text if isinstance(text, str) else json.dumps(text)
    parsed = parse(content.encode(), "json")
    document = Document(f"/{label}/models.json", parsed.value, parsed.positions)
    return Layer(kind, label, f"/{label}", "", {}, {"models.json": document})


def provider(**more):
    return {
        "api": "openai-responses",
        "baseUrl": "https://api.example/v1",
        "apiKey": "$KEY",
        "models": [{"id": "m"}],
        **more,
    }


def one(**more):
    return registry([layer({"providers": {"p": provider(**more)}})])


def settings(**values):
    return Settings(values, {}, {}, ())


def chosen(word, made, env=ENV):
    return select(word, made, env, "a")


def test_a_selection_resolves_to_one_neutral_target():
    made = one(
        headers={"X-Org": "o", "X-Key": "${env:OTHER}"},
        models=[{"id": "m/1", "contextWindow": 9, "headers": {"X-M": "1"}}],
    )
    target = chosen("p/m/1", made).unwrap().target
    assert target._asdict() == {
        "kind": "registry",
        "model": "m/1",
        "provider": "p",
        "api": "openai-responses",
        "base_url": "https://api.example/v1",
        "variable": "KEY",
        "headers": {"X-Org": "o", "X-Key": "$OTHER", "X-M": "1"},
        "definition": {"id": "m/1", "contextWindow": 9, "headers": {"X-M": "1"}},
        "layer": "home",
    }


def test_providers_merge_by_id_and_models_by_id_with_the_highest_layer_first():
    high = layer(
        {"providers": {"p": {"baseUrl": "https://high.example", "models": [{"id": "m", "name": "high"}]}}},
        "project",
        "high",
    )
    low = layer(
        {
            "providers": {
                "p": provider(extra=1, models=[{"id": "m", "name": "low", "x": 1}, {"id": "n"}]),
                "q": provider(),
            }
        },
        label="low",
    )
    made = registry([high, low])
    assert made.providers["p"] == {
        "baseUrl": "https://high.example",
        "api": "openai-responses",
        "apiKey": "$KEY",
        "extra": 1,
        "models": [{"id": "m", "name": "high"}, {"id": "n"}],
    }
    assert made.layers == {"p": "high", "p/m": "high", "p/n": "low", "q": "low", "q/m": "low"}
    assert chosen("p/n", made).unwrap().target.layer == "low"


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("pq"), st.dictionaries(st.sampled_from(["name", "x", "api"]), st.integers(0, 3))
        ),
        max_size=3,
    )
)
def test_each_key_of_a_provider_is_the_highest_layers(trees):
    made = registry([layer({"providers": tree}, label=str(n)) for n, tree in enumerate(trees)])
    for name in {name for tree in trees for name in tree}:
        expected = {}
        for tree in reversed(trees):
            expected.update(tree.get(name, {}))
        assert made.providers[name] == {**expected, "models": []}


@pytest.mark.parametrize(
    "text",
    [
        {"tiers": {"fast": {"model": "vendor/small"}}},
        {"presets": {}, "defaultPreset": "fast"},
        {"providers": [{"name": "x"}]},
        {"providers": "x"},
        {},
    ],
)
def test_v15_another_shape_is_a_warning_and_no_registry(text):
    made = registry([layer(text)])
    assert [notice.code for notice in made.notices] == ["models-shape"]
    assert not made.configured
    assert chosen("p/m", made).unwrap().target.kind == "split"


def test_v15_a_list_of_providers_with_ids_is_a_mapping():
    made = registry([layer({"providers": [{"id": "p", **provider()}]})])
    assert chosen("p/m", made).unwrap().target.provider == "p"
    assert "id" not in made.providers["p"]


@pytest.mark.parametrize("key", ["$KEY", "${KEY}", "${env:KEY}", " $KEY "])
def test_v15_a_key_may_be_named_in_three_ways(key):
    made = one(apiKey=key)
    assert not made.problems
    assert made.providers["p"]["apiKey"] == "$KEY"
    assert chosen("p/m", made).unwrap().target.variable == "KEY"


def test_a_models_id_is_not_taken_for_a_key():
    overrides = {"cohere/command-r": {"contextWindow": 9}, "token": {"maxTokens": 5}}
    assert not one(modelOverrides=overrides, models={"exec-1": {}, "m": {}}).problems


SECRET = "sk-very-secret"
REFUSED = [
    ({"apiKey": SECRET}, "providers.p.apiKey"),
    ({"apiKey": f"$KEY{SECRET}-"}, "providers.p.apiKey"),
    ({"apiKey": f"!cat {SECRET}"}, "providers.p.apiKey"),
    ({"apiKey": {"command": SECRET}}, "providers.p.apiKey"),
    ({"apiKey": ""}, "providers.p.apiKey"),
    ({"apiKeyCommand": SECRET}, "providers.p.apiKeyCommand"),
    ({"credentialHelper": SECRET}, "providers.p.credentialHelper"),
    ({"headers": {"X-N": 5}}, "providers.p.headers.X-N"),
    ({"headers": {"X-N": None}}, "providers.p.headers.X-N"),
    ({"headers": [SECRET]}, "providers.p.headers"),
    ({"headers": {"Authorization": f"Bearer {SECRET}"}}, "providers.p.headers.Authorization"),
    ({"headers": {"authorization": f"Bearer ${{KEY}} {SECRET}"}}, "providers.p.headers.authorization"),
    ({"headers": {"X-Api-Key": SECRET}}, "providers.p.headers.X-Api-Key"),
    ({"headers": {"X-A": f"a\r\nX-B: {SECRET}"}}, "providers.p.headers.X-A"),
    ({"headers": {"X-A\nX-B": SECRET}}, "providers.p.headers.X-A\nX-B"),
    ({"headers": {"X A": SECRET}}, "providers.p.headers.X A"),
    ({"headers": {"X-A": f"!echo {SECRET}"}}, "providers.p.headers.X-A"),
    ({"baseUrl": f"https://u:{SECRET}@h.example/"}, "providers.p.baseUrl"),
    ({"models": [{"id": "m", "apiKey": SECRET}]}, "providers.p.models.0.apiKey"),
    ({"models": [{"id": "m", "headers": {"Authorization": SECRET}}]}, "providers.p.models.0.headers.Authorization"),
    ({"models": [{"name": SECRET}]}, "providers.p.models.0"),
    ({"auth": {"command": SECRET}}, "providers.p.auth.command"),
    ({"credential_process": SECRET}, "providers.p.credential_process"),
    ({"exec_args": [SECRET]}, "providers.p.exec_args"),
    ({"deep": [{"er": {"Cmd": SECRET}}]}, "providers.p.deep.0.er.Cmd"),
    ({"deep": {"value": f" !cat {SECRET}"}}, "providers.p.deep.value"),
    ({"auth": {"accessToken": SECRET}}, "providers.p.auth.accessToken"),
    ({"modelOverrides": {"m": {"headers": {"Authorization": SECRET}}}}, "providers.p.modelOverrides.m.headers.Authorization"),
    ({"modelOverrides": {"m": {"headers": {"X": f"!echo {SECRET}"}}}}, "providers.p.modelOverrides.m.headers.X"),
    ({"modelOverrides": {"m": {"headers": {"X": 5}}}}, "providers.p.modelOverrides.m.headers.X"),
    ({"modelOverrides": {"m": {"headers": [SECRET]}}}, "providers.p.modelOverrides.m.headers"),
    ({"modelOverrides": {"m": {"apiKey": SECRET}}}, "providers.p.modelOverrides.m.apiKey"),
    ({"modelOverrides": {"m": {"baseUrl": f"https://u:{SECRET}@h.example/"}}}, "providers.p.modelOverrides.m.baseUrl"),
    ({"models": SECRET}, "providers.p.models"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "key"), REFUSED)
def test_a_registry_refuses_by_key_path_without_the_value(more, key):
    (problem,) = one(**more).problems
    assert problem.key == key
    assert problem.at.line == 1
    assert SECRET not in problem.message + problem.hint


@pytest.mark.parametrize("value", ["Bearer ${KEY}", "Bearer $KEY", "$KEY", "${env:KEY}", "Token ${KEY}"])
def test_an_authorization_header_by_reference_is_fine(value):
    assert not one(headers={"Authorization": value}).problems


def test_a_refused_value_that_a_higher_layer_replaces_is_not_effective():
    low = layer({"providers": {"p": provider(apiKey=SECRET)}}, label="low")
    assert registry([low]).problems
    assert not registry([layer({"providers": {"p": {"apiKey": "$KEY"}}}), low]).problems


@pytest.mark.parametrize(
    ("word", "expected"),
    [(None, None), ("", None), ("inherit", None), ("Default", None), ("sonnet", "sonnet"), ("pro", "pro"),
     ("Vendor Large 4 (Thinking)", "Vendor Large 4 (Thinking)"), ("Vendor / Large 4", "Vendor / Large 4")],
)  # fmt: skip
@pytest.mark.parametrize("made", [registry([]), one()])
def test_v16_words_without_a_provider_are_native_or_nothing(word, expected, made):
    target = chosen(word, made).unwrap().target
    assert (target and (target.kind, target.model)) == (expected and ("native", expected))


def test_without_a_registry_the_word_is_split():
    target = chosen("anthropic/some/model", registry([])).unwrap().target
    assert (target.kind, target.provider, target.model) == ("split", "anthropic", "some/model")


@pytest.mark.parametrize(
    ("word", "more", "said"),
    [
        ("q/m", {}, "provider 'q'"),
        ("p/x", {}, "no model 'x'"),
        ("p/", {}, "not of the form provider/model"),
        ("/m", {}, "not of the form provider/model"),
        ("p/m", {"api": None}, "'api'"),
        ("p/m", {"baseUrl": 5}, "'baseUrl'"),
        ("p/m", {"api": ""}, "'api'"),
        ("p/m", {"models": []}, "no model 'm'"),
    ],
)
def test_what_the_registry_lacks_fails_before_launch(word, more, said):
    error = chosen(word, one(**more)).failure()
    assert isinstance(error, CompositionFailed)
    assert said in error.message


def test_a_missing_provider_lists_those_that_exist():
    error = chosen("anthropic/m", one()).failure()
    assert "providers: p" in error.hint
    assert "built into the harness" in error.hint


@pytest.mark.parametrize("env", [{}, {"KEY": ""}])
def test_a_target_without_its_credential_is_refused_by_the_variable(env):
    error = chosen("p/m", one(), env).failure()
    assert "KEY" in error.message
    assert chosen("p/m", one(apiKey=None), env).unwrap().target.variable == ""


def held(*layers, **values):
    """The registry of these layers, without what may not be sent."""
    return withheld(registry(layers), layers, settings(**values))


def hosts(*layers, **values):
    return [notice.message for notice in held(*layers, **values).notices]


@pytest.mark.parametrize("kind", ["project", "source"])
def test_a_foreign_provider_that_sends_a_variable_is_left_out_until_its_host_is_trusted(kind):
    foreign = layer({"providers": {"p": provider(headers={"X": "${OTHER}"})}}, kind, "repo")
    said = hosts(foreign)
    assert len(said) == 2
    assert all("/repo/models.json" in line and "api.example" in line for line in said)
    assert ["$KEY" in said[0], "$OTHER" in said[1]] == [True, True]
    assert held(foreign).providers == {}
    selected = chosen("p/m", held(foreign)).unwrap()
    assert (selected.target, [notice.code for notice in selected.notices]) == (None, ["model-withheld"])
    assert not hosts(foreign, trusted_hosts=["API.example"])
    assert chosen("p/m", held(foreign, trusted_hosts=["API.example"])).unwrap().target.variable == "KEY"
    assert not hosts(layer({"providers": {"p": provider()}}, "home"))


REDIRECTED = [
    {"baseUrl": "https://evil.example"},
    {"models": [{"id": "m", "baseUrl": "https://evil.example"}]},
    {"modelOverrides": {"m": {"baseUrl": "https://evil.example"}}},
    {"modelOverrides": {"m": {"deep": [{"endpoint": "https://evil.example"}]}}},
]


@pytest.mark.parametrize("change", REDIRECTED)
def test_a_project_that_redirects_a_provider_of_the_home_leaves_it_as_the_home_wrote_it(change):
    high = layer({"providers": {"p": change}}, "project", "repo")
    home = layer({"providers": {"p": provider()}})
    assert any("evil.example" in line for line in hosts(high, home))
    assert held(high, home).providers["p"] == registry([home]).providers["p"]
    assert chosen("p/m", held(high, home)).unwrap().target.base_url == "https://api.example/v1"


@pytest.mark.parametrize(
    "change",
    [
        {"headers": {"X": "$OTHER"}},
        {"models": [{"id": "m", "headers": {"X": "$OTHER"}}]},
        {"modelOverrides": {"m": {"headers": {"X": "${OTHER}"}}}},
        {"compat": {"more": [{"value": "${env:OTHER}"}]}},
    ],
)
def test_a_variable_at_any_depth_is_one_that_is_sent(change):
    high = layer({"providers": {"p": change}}, "project", "repo")
    home = layer({"providers": {"p": provider()}})
    assert any("$OTHER to api.example" in line for line in hosts(high, home))
    assert "OTHER" not in json.dumps(held(high, home).providers)


def test_a_provider_without_a_credential_stays_and_its_host_is_named():
    made = held(layer({"providers": {"anthropic": {"baseUrl": "https://evil.example"}}}, "project", "repo"))
    assert (made.notices, dict(made.hosts)) == ((), {"anthropic": "evil.example"})
    trusted = layer({"providers": {"anthropic": {"baseUrl": "https://evil.example"}}}, "project", "repo")
    assert held(trusted, trusted_hosts=["evil.example"]).hosts == {}
    here = layer({"providers": {"anthropic": {"baseUrl": "http://127.0.0.1:9"}}}, "project", "repo")
    assert held(here).hosts == {}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://A.Example:8443/v1?x", "a.example"),
        ("http://localhost:1/v1", "localhost"),
        ("http://127.0.0.1", "127.0.0.1"),
        ("http://[::1]:80/", "[::1]"),
        ("http://localhost@evil.example/", "evil.example"),
    ],
)
def test_the_host_of_an_address(url, name):
    assert host(url) == name
    assert is_loopback(name) == (name in ("localhost", "127.0.0.1", "[::1]"))


@pytest.mark.parametrize(
    "url",
    ["http://evil.example\\@localhost/", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://${HOST}/",
     "http://evil.example#@localhost", "http://evil.example?@localhost", "http:///localhost", "http://localhost evil"],
)  # fmt: skip
def test_no_odd_address_passes_for_loopback(url):
    assert not is_loopback(host(url))
    assert hosts(layer({"providers": {"p": provider(baseUrl=url)}}, "project", "r"))


def test_a_file_that_cannot_be_read_is_a_problem_and_no_warning():
    from outfitter.model.request import Problem

    broken = Document("/x/models.json", {}, {}, problems=(Problem("/x/models.json", "is not valid JSON"),))
    made = registry([Layer("home", "home", "/x", "", {}, {"models.json": broken})])
    assert (len(made.problems), made.notices) == (1, ())


JSONISH = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda i: st.lists(i, max_size=2) | st.dictionaries(st.sampled_from(["id", "models", "headers", "apiKey", "baseUrl", "api"]), i, max_size=4), max_leaves=12)  # fmt: skip


@given(JSONISH, st.sampled_from(["p/m", "m", None]))
def test_no_file_makes_it_raise(value, word):
    made = registry([layer({"providers": value}, "project", "r"), layer({"providers": {"p": value}})])
    chosen(word, made)
