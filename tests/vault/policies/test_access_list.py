"""Access lists: recorded decisions, which rule decides, and the same decisions as a judge who tries every rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.vault.policies import CAPABILITIES, CREATE, DELETE, DENY, LIST, PATCH, READ, SUDO, UPDATE
from labkit.vault.policies.access_list import MAX_CACHED_CHARACTERS, MAX_CACHED_CHOICES, Acl, _shorter
from labkit.vault.policies.policy_text import parse_policy
from labkit.vault.policies.rules import Rule
from tests.examples import examples

SECOND = 1_000_000_000


def acl_of(*texts: str) -> Acl:
    return Acl([parse_policy(text) for text in texts])


def reading(*patterns: str) -> Acl:
    """An access list with a rule for each pattern."""
    return Acl([tuple([Rule(pattern, READ | LIST) for pattern in patterns])])


def decides(path: str, *patterns: str, listing: bool = False) -> str | None:
    """The pattern that decides about a path."""
    rule = reading(*patterns).rule_for(path, listing)
    return None if rule is None else rule.pattern


# Recorded: policies, then requests and whether they were allowed.


def test_reading_only() -> None:
    acl = acl_of('path "kv/data/*" { capabilities = ["read"] }\npath "kv/metadata/*" { capabilities = ["list"] }')

    assert acl.allows(READ, "kv/data/a")
    assert not acl.allows(CREATE, "kv/data/a")
    assert not acl.allows(UPDATE, "kv/data/a")
    assert acl.allows(LIST, "kv/metadata/", listing=True)
    assert not acl.allows(DELETE, "kv/data/a")
    assert not acl.allows(READ, "kv/metadata/a")
    assert not acl.allows(READ, "kv/config")


def test_create_is_not_update_and_patch_is_neither() -> None:
    creating, updating, patching = (
        acl_of(f'path "kv/data/*" {{ capabilities = ["{name}"] }}') for name in ("create", "update", "patch")
    )

    assert creating.allows(CREATE, "kv/data/a")
    assert not creating.allows(UPDATE, "kv/data/a")
    assert updating.allows(UPDATE, "kv/data/a")
    assert not updating.allows(CREATE, "kv/data/a")
    assert patching.allows(PATCH, "kv/data/a")
    assert not patching.allows(CREATE | UPDATE, "kv/data/a")


def test_the_rule_that_says_most_decides() -> None:
    acl = acl_of(
        'path "kv/data/*" { capabilities = ["read"] }\npath "kv/data/secret/*" { capabilities = ["deny"] }\n'
        'path "kv/data/+/open" { capabilities = ["read"] }\npath "kv/data/secret/exact" { capabilities = ["read"] }'
    )

    assert acl.allows(READ, "kv/data/a")
    assert not acl.allows(READ, "kv/data/secret/b")
    assert not acl.allows(READ, "kv/data/secret/open")
    assert acl.allows(READ, "kv/data/secret/exact")
    assert acl.allows(READ, "kv/data/other/open")


PARAMETERS = """
path "tr/keys/*" {
  capabilities = ["create","update"]
  allowed_parameters = { "type" = ["aes256-gcm96", "ed*"], "derived" = [] }
}
path "tr/random" { capabilities = ["update"] denied_parameters = { "format" = ["hex"] } }
path "tr/hash" { capabilities = ["update"] required_parameters = ["format"] }
"""


@pytest.mark.parametrize(
    ("path", "body", "allowed"),
    [
        ("tr/keys/a", {"type": "aes256-gcm96"}, True),
        ("tr/keys/b", {"type": "ed25519", "derived": True}, True),
        ("tr/keys/c", {"type": "rsa-2048"}, False),
        ("tr/keys/d", {"exportable": True}, False),
        ("tr/keys/e", {}, True),
        ("tr/random", {"format": "hex"}, False),
        ("tr/random", {"format": "base64"}, True),
        ("tr/hash", {"input": "aGk="}, False),
        ("tr/hash", {"input": "aGk=", "format": "hex"}, True),
        ("tr/hash", {}, False),
        ("tr/hash", {"format": None}, True),
        ("tr/hash", None, False),
    ],
)
def test_parameters_are_judged(path, body, allowed) -> None:
    assert acl_of(PARAMETERS).allows(UPDATE, path, parameters=body) is allowed


def test_capabilities_are_listed() -> None:
    acl = acl_of('path "s/data/a" { capabilities = ["read","list"] }\npath "s/data/b" { capabilities = ["deny"] }')

    assert acl.capabilities("s/data/a") == acl.capabilities("/s/data/a") == ["list", "read"]
    assert acl.capabilities("s/data/b") == acl.capabilities("s/data/c") == ["deny"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('capabilities = ["read", "deny"]', ["deny"]),
        ("capabilities = []", ["deny"]),
        ('policy = "write"', ["create", "delete", "list", "read", "update"]),
        ('policy = "sudo" capabilities = ["patch"]', ["create", "delete", "list", "patch", "read", "sudo", "update"]),
    ],
)
def test_capabilities_of_a_rule(text, names) -> None:
    assert acl_of(f'path "x" {{ {text} }}').capabilities("x") == names


def test_two_blocks_for_the_same_pattern_unite() -> None:
    acl = acl_of('path "x" { capabilities = ["read"] }\npath "/x" { capabilities = ["update"] }')

    assert acl.capabilities("x") == ["read", "update"]


# Which rule decides.


@pytest.mark.parametrize(
    ("path", "patterns", "decisive"),
    [
        ("a", ("a", "*", "+"), "a"),
        ("a/b", ("a/*", "a/b", "a/+"), "a/b"),
        ("foobar/baz", ("foo*",), "foo*"),
        ("x", ("*",), "*"),
        ("", ("*",), "*"),
        ("a*b", ("a*b",), "a*b"),
        ("axb", ("a*b",), None),
        ("a/b/c", ("a/*", "a/b/*", "a/b*", "*"), "a/b/*"),
        ("a/bc", ("a/*", "a/b/*", "a/b*", "*"), "a/b*"),
        ("a/", ("a",), None),
        ("a", ("a/*",), None),
        ("a", ("+",), "+"),
        ("a/b", ("+",), None),
        ("a/b", ("+/b",), "+/b"),
        ("a/b", ("a/+",), "a/+"),
        ("a/", ("a/+",), "a/+"),
        ("a", ("a/+",), None),
        ("a/b/c", ("a/+",), None),
        ("a/b/c", ("a/+/*",), "a/+/*"),
        ("a/b/c/d", ("a/+/*",), "a/+/*"),
        ("a/b/", ("a/+/*",), "a/+/*"),
        ("a/b", ("a/+/*",), None),
        ("a/b/cd/e", ("a/+/c*",), "a/+/c*"),
        ("a/b/dc", ("a/+/c*",), None),
        ("a/b/c", ("a/+/c", "+/b/c"), "a/+/c"),
        ("a/b/c", ("a/+/c", "a/b/*"), "a/b/*"),
        ("a/b/c", ("a/+/c", "a/*"), "a/+/c"),
        ("a/b", ("a/+", "a/b*"), "a/b*"),
        ("a/b", ("a/+", "a/*"), "a/+"),
        ("a/b/c", ("a/+/c", "a/+/*"), "a/+/c"),
        ("a/b/c", ("a/+/+", "a/+/c"), "a/+/c"),
        ("a/b/c", ("a/+/+", "a/+/c*"), "a/+/+"),
        ("a/b/cd", ("a/+/c*", "a/+/cd*"), "a/+/cd*"),
        ("a/b/c/d", ("+/+/c/*", "+/b/*"), "+/b/*"),
        ("a/+b", ("a/+b",), "a/+b"),
        ("a/xb", ("a/+b",), None),
        ("a+/b/c", ("a+/+/c", "a+/*"), "a+/*"),
        ("", (), None),
    ],
)
def test_which_rule_decides(path, patterns, decisive) -> None:
    assert decides(path, *patterns) == decides(path, *reversed(patterns)) == decisive


@pytest.mark.parametrize(
    ("path", "patterns", "decisive"),
    [
        ("m/metadata/", ("m/metadata",), "m/metadata"),
        ("m/metadata/", ("m/metadata/", "m/metadata"), "m/metadata/"),
        ("m/metadata/", ("m/metadata", "m/metadata/*"), "m/metadata"),
        ("m/metadata/", ("m/metadata*", "m/metadata/*"), "m/metadata/*"),
        ("m/metadata/", ("m/metadata*",), "m/metadata*"),
        ("m/a/", ("m/+",), "m/+"),
        ("m/a/", ("m/+", "m/+/+"), "m/+/+"),
        ("m/a/", ("m/+", "*"), "*"),
    ],
)
def test_which_rule_decides_about_a_list(path, patterns, decisive) -> None:
    assert decides(path, *patterns, listing=True) == decisive


def test_only_lists_do_without_the_slash() -> None:
    assert decides("m/metadata/", "m/metadata") is None
    assert reading("m/metadata").capabilities("m/metadata/") == ["list", "read"]


SEGMENTS = st.sampled_from(["", "a", "b", "ab", "+", "c+", "+a"])
PATTERNS = st.builds(
    lambda segments, end: "/".join(segments) + end,
    st.lists(SEGMENTS, min_size=1, max_size=4),
    st.sampled_from(["", "", "*", "/*", "/"]),
).filter(lambda pattern: "+*" not in pattern)
PATHS = st.builds("/".join, st.lists(st.sampled_from(["", "a", "b", "ab", "abc", "c+", "+a"]), min_size=1, max_size=5))
BITS = st.integers(0, 2 * SUDO - 1) | st.just(DENY)
RULES = st.tuples(PATTERNS, BITS).map(lambda drawn: Rule(*drawn))
POLICIES = st.lists(st.lists(RULES, max_size=5).map(tuple), max_size=3)


def is_wild(pattern: str) -> bool:
    """Whether a segment begins with ``+`` so that the pattern is taken segment by segment."""
    return pattern == "+" or pattern.startswith("+/") or "/+" in pattern


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches, taken literally from what it means."""
    wanted, given = pattern.removesuffix("*").split("/"), path.split("/")
    if not is_wild(pattern):
        return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
    if not pattern.endswith("*"):
        return len(given) == len(wanted) and all(w in ("+", g) for w, g in zip(wanted, given, strict=True))
    begun = len(given) >= len(wanted) and all(w in ("+", g) for w, g in zip(wanted[:-1], given, strict=False))
    return begun and given[len(wanted) - 1].startswith(wanted[-1])


def preference(pattern: str) -> tuple[Any, ...]:
    """The order among patterns that match: where the first ``+`` or ``*`` is, no ``*``, fewer ``+``, longer, larger."""
    body = pattern.removesuffix("*")
    first, pluses = (body.index("+"), body.split("/").count("+")) if is_wild(pattern) else (len(body), 0)
    return first, not pattern.endswith("*"), -pluses, len(body), body


def judge(rules: list[Rule], path: str, listing: bool) -> Rule | None:
    """Find the decisive rule by trying every one."""
    short = path.removesuffix("/") if listing else path
    wild = [rule for rule in rules if rule.pattern.endswith("*") or is_wild(rule.pattern)]
    for candidate in (path, short):
        for rule in rules:
            if rule not in wild and rule.pattern == candidate:
                return rule
    for candidate in (path, short):
        fitting = [rule for rule in wild if matches(rule.pattern, candidate)]
        if fitting:
            return max(fitting, key=lambda rule: preference(rule.pattern))
    return None


@settings(max_examples=examples(400))
@given(POLICIES, PATHS, st.booleans())
@example([(Rule("a*", READ), Rule("ab*", LIST), Rule("aba*", DENY))], "abc", False)
@example([(Rule("*", READ), Rule("+/*", LIST), Rule("c+/+", DENY))], "c+/a", False)
@pytest.mark.slow
def test_the_same_rule_decides_as_when_every_rule_is_tried(policies, path, listing) -> None:
    acl = Acl(policies)
    expected = judge(acl.rules(), path, listing)

    assert acl.rule_for(path, listing) == expected
    for bit in CAPABILITIES.values():
        allowed = expected is not None and bool(expected.capabilities & bit & ~DENY)
        assert bit == DENY or acl.allows(bit, path, listing=listing) is allowed
        assert bit == DENY or acl.answer(bit, path, listing) is allowed


@settings(max_examples=examples(150))
@given(st.lists(RULES, max_size=8), st.data())
def test_it_does_not_matter_which_policy_says_what_first(rules, data) -> None:
    shuffled = data.draw(st.permutations(rules))
    cut = data.draw(st.integers(0, len(rules)))

    assert Acl([tuple(rules)]).rules() == Acl([tuple(shuffled[:cut]), tuple(shuffled[cut:])]).rules()


@given(st.lists(RULES, max_size=8))
def test_rules_with_the_same_pattern_unite(rules) -> None:
    merged = {rule.pattern: rule.capabilities for rule in Acl([(rule,) for rule in rules]).rules()}

    assert list(merged) == sorted({rule.pattern for rule in rules})
    for pattern, capabilities in merged.items():
        said = [rule.capabilities for rule in rules if rule.pattern == pattern]
        united = 0
        for bits in said:
            united |= bits
        assert capabilities == (DENY if DENY in said else united)


def test_a_remembered_choice_is_the_same_choice() -> None:
    acl = acl_of('path "a/*" { capabilities = ["read"] }\npath "m" { capabilities = ["list"] }')

    for _ in range(2):
        for number in range(MAX_CACHED_CHOICES + 10):
            assert acl.allows(READ, f"a/{number}")
            assert not acl.allows(UPDATE, f"a/{number}")
        assert acl.allows(LIST, "m/", listing=True)
        assert not acl.allows(LIST, "m/")
        assert acl.allows(READ, "a/" + "b" * 4_000)


def test_what_is_remembered_of_paths_is_bounded_in_characters() -> None:
    acl = acl_of('path "a/*" { capabilities = ["read"] }')
    for number in range(1_000):
        assert acl.allows(READ, f"a/{number}" + "b" * 4_000)
        assert acl.allows(READ, f"a/{number}" + "b" * 4_000, listing=True)
        assert sum(map(len, (*acl._plain, *acl._listed))) <= MAX_CACHED_CHARACTERS


@pytest.mark.parametrize("listing", [False, True])
def test_as_many_choices_are_remembered_as_the_limit_says(monkeypatch, listing) -> None:
    monkeypatch.setattr("labkit.vault.policies.access_list.MAX_CACHED_CHOICES", 3)
    acl, remembered = reading("*"), []
    for number in range(5):
        acl.rule_for(str(number))
        acl.allows(READ, str(number), listing=listing)
        remembered.append(len(acl._listed if listing else acl._plain))

    assert remembered == [1, 2, 3, 1, 2]


def test_as_many_characters_are_remembered_as_the_limit_says(monkeypatch) -> None:
    monkeypatch.setattr("labkit.vault.policies.access_list.MAX_CACHED_CHARACTERS", 6)
    acl, remembered = reading("*"), []
    for path in ("aaa", "bbb", "c", "dddd", "e", "f"):
        acl.allows(READ, path)
        remembered.append(sorted(acl._plain))

    assert remembered == [["aaa"], ["aaa", "bbb"], ["c"], ["c", "dddd"], ["c", "dddd", "e"], ["f"]]


def test_what_a_text_begins_with_is_found_from_its_place_among_the_sorted() -> None:
    assert _shorter(["a", "ab", "abc", "abd", "ac", "b", "ba"]) == [-1, 0, 1, 1, 0, -1, 5]
    assert _shorter(["", "b", "c"]) == [-1, 0, 0]


# What the rules of several policies add up to.


def test_parameters_merge() -> None:
    one = 'path "x" { capabilities = ["update"] allowed_parameters = { a = ["1"] b = ["1"] c = [] } }'
    two = 'path "x" { capabilities = ["update"] allowed_parameters = { a = ["2"] b = [] d = ["1"] } }'
    (rule,) = acl_of(one, two).rules()

    assert rule.allowed == {"a": ("1", "2"), "b": (), "c": (), "d": ("1",)}
    (denied,) = acl_of(one.replace("allowed", "denied"), two.replace("allowed", "denied")).rules()
    assert denied.denied == rule.allowed


def test_a_rule_without_parameters_leaves_those_of_the_other() -> None:
    judging = 'path "x" { capabilities = ["update"] allowed_parameters = { a = [] } required_parameters = ["a"] }'
    plain = 'path "x" { capabilities = ["read"] }'

    for acl in (acl_of(judging, plain), acl_of(plain, judging)):
        assert acl.capabilities("x") == ["read", "update"]
        assert acl.allows(UPDATE, "x", parameters={"a": 1})
        assert not acl.allows(UPDATE, "x", parameters={"b": 1})
        assert not acl.allows(READ, "x", parameters={})


def test_required_parameters_and_wrapping_times_merge() -> None:
    (rule,) = acl_of(
        'path "x" { required_parameters = ["a", "b"] min_wrapping_ttl = 10 max_wrapping_ttl = "1h" }',
        'path "x" { required_parameters = ["b", "c"] min_wrapping_ttl = 20 }',
        'path "x" { max_wrapping_ttl = "2h" }',
    ).rules()

    assert rule.required == ("a", "b", "c")
    assert (rule.min_wrapping_ttl_ns, rule.max_wrapping_ttl_ns) == (10 * SECOND, 3_600 * SECOND)


def test_deny_drops_what_was_said_besides() -> None:
    judging = 'path "x" { capabilities = ["update"] allowed_parameters = { a = [] } min_wrapping_ttl = 10 }'
    deny = 'path "x" { capabilities = ["deny"] }'

    assert acl_of(judging, deny).rules() == acl_of(deny, judging).rules() == [Rule("x", DENY)]
    assert acl_of(deny, 'path "x*" { capabilities = ["read"] }').capabilities("x") == ["deny"]


@pytest.mark.parametrize("text", ["a/{{identity.entity.id}}/*", "{{identity.groups.ids.x.name}}", "a/+/{{ x }}"])
def test_a_rule_with_a_template_is_skipped(text) -> None:
    acl = acl_of(f'path "{text}" {{ capabilities = ["read"] }}\npath "b" {{ capabilities = ["read"] }}')

    assert [rule.pattern for rule in acl.rules()] == ["b"]
    assert not acl.allows(READ, text)
    assert not acl.allows(READ, "a//x")


def test_without_policies_nothing_is_allowed() -> None:
    acl = Acl(())

    assert not any(acl.allows(bit, "any/path") for bit in CAPABILITIES.values())
    assert acl.answer(READ, "any/path") is False
    assert acl.capabilities("any/path") == ["deny"]


# What else of a request is judged.


@pytest.mark.parametrize(
    ("entries", "ttl_s", "allowed"),
    [
        ("", 0, True),
        ("", 5, True),
        ("min_wrapping_ttl = 10", 0, False),
        ("min_wrapping_ttl = 10", 9, False),
        ("min_wrapping_ttl = 10", 10, True),
        ("max_wrapping_ttl = 20", 0, False),
        ("max_wrapping_ttl = 20", 20, True),
        ("max_wrapping_ttl = 20", 21, False),
        ("min_wrapping_ttl = 10 max_wrapping_ttl = 20", 15, True),
    ],
)
def test_wrapping_is_judged(entries, ttl_s, allowed) -> None:
    acl = acl_of(f'path "x" {{ capabilities = ["read", "list", "delete", "sudo"] {entries} }}')

    for bit in (READ, LIST, DELETE):
        assert acl.allows(bit, "x", wrap_ttl_ns=ttl_s * SECOND) is allowed
    assert acl.allows(SUDO, "x", wrap_ttl_ns=ttl_s * SECOND)
    assert acl.answer(READ, "x") is (None if entries else True)
    assert acl.answer(SUDO, "x") is True
    assert acl.answer(UPDATE, "x") is False


def test_when_rules_merge_to_what_cannot_be_nothing_is_allowed() -> None:
    acl = acl_of('path "x" { capabilities = ["read"] min_wrapping_ttl = 30 }', 'path "x" { max_wrapping_ttl = 20 }')

    assert not any(acl.allows(READ, "x", wrap_ttl_ns=seconds * SECOND) for seconds in (0, 10, 20, 25, 30, 40))


@pytest.mark.parametrize(
    ("entries", "body", "allowed"),
    [
        # recorded: values of policies are compared as text with text and flags with flags
        ("allowed_parameters = { bits = [256] }", {"bits": 256}, False),
        ("allowed_parameters = { bits = [256] }", {"bits": "256"}, False),
        ('allowed_parameters = { bits = ["256"] }', {"bits": 256}, False),
        ('allowed_parameters = { bits = ["256"] }', {"bits": "256"}, True),
        ("allowed_parameters = { a = [true] }", {"a": True}, True),
        ("allowed_parameters = { a = [true] }", {"a": False}, False),
        ("allowed_parameters = { a = [true] }", {"a": 1}, False),
        ("allowed_parameters = { a = [true] }", {"a": "true"}, False),
        ('allowed_parameters = { a = ["true"] }', {"a": True}, False),
        ('allowed_parameters = { a = ["X"] }', {"a": "x"}, False),
        ('allowed_parameters = { A = ["x"] }', {"a": "x"}, True),
        ('allowed_parameters = { a = ["x"] }', {"A": "x"}, True),
        ('allowed_parameters = { a = ["x"] }', {"a": "x", "A": "y"}, False),
        ('required_parameters = ["A"]', {"a": None}, True),
        ('required_parameters = ["a"]', {"A": None}, True),
        ('required_parameters = ["a", "b"]', {"a": 1}, False),
        ('allowed_parameters = { "*" = [] type = ["a"] }', {"type": "b"}, False),
        ('allowed_parameters = { "*" = [] type = ["a"] }', {"type": "a", "other": 1}, True),
        ('allowed_parameters = { "*" = [] }', {"other": 1}, True),
        ('allowed_parameters = { "*" = ["x"] }', {"other": 1}, True),
        ("allowed_parameters = {}", {"other": 1}, True),
        ('allowed_parameters = { a = ["x"] } denied_parameters = { a = ["x"] }', {"a": "x"}, False),
        ("allowed_parameters = { a = [] } denied_parameters = { a = [] }", {"a": "x"}, False),
        ('denied_parameters = { "*" = [] }', {"a": "x"}, False),
        ('denied_parameters = { "*" = ["y"] }', {"a": "x"}, False),
        ('denied_parameters = { "*" = [] }', {}, True),
        ("denied_parameters = { a = [] }", {"a": None}, False),
        ("denied_parameters = { a = [] }", {"b": None}, True),
        ('denied_parameters = { a = ["x"] }', {"a": "y", "A": "x"}, False),
        ('allowed_parameters = { a = ["x"] }', {"a": None}, False),
        ('allowed_parameters = { a = ["x*"] }', {"a": "xyz"}, True),
        ('allowed_parameters = { a = ["*z"] }', {"a": "xyz"}, True),
        ('allowed_parameters = { a = ["*y*"] }', {"a": "xyz"}, True),
        ('allowed_parameters = { a = ["x*z"] }', {"a": "xyz"}, False),
        ('allowed_parameters = { a = ["x*z"] }', {"a": "x*z"}, True),
        ('allowed_parameters = { a = ["*"] }', {"a": "x"}, False),
        ('allowed_parameters = { a = ["*"] }', {"a": "*"}, True),
        ('allowed_parameters = { a = ["**"] }', {"a": "x"}, True),
        ('allowed_parameters = { a = [["x"]] }', {"a": ["x"]}, True),
        ('allowed_parameters = { a = [["x"]] }', {"a": ["x", "x"]}, False),
        ('allowed_parameters = { a = [["x*"]] }', {"a": ["xy"]}, False),
        ('allowed_parameters = { a = [{ b = "x" }] }', {"a": {"b": "x"}}, True),
        ('allowed_parameters = { a = [{ b = "x" }] }', {"a": {"b": "x", "c": 1}}, False),
        ("allowed_parameters = { a = [{ b = true }] }", {"a": {"b": 1}}, False),
    ],
)
def test_values_of_parameters_are_judged(entries, body, allowed) -> None:
    acl = acl_of(f'path "x" {{ capabilities = ["create", "read", "update", "patch"] {entries} }}')

    assert [acl.allows(bit, "x", parameters=body) for bit in (CREATE, READ, UPDATE, PATCH)] == [allowed] * 4


def test_parameters_of_lists_and_deletions_are_not_judged() -> None:
    acl = acl_of(
        'path "x" { capabilities = ["list", "delete", "read", "sudo"] required_parameters = ["a"] '
        'denied_parameters = { "*" = [] } }'
    )

    assert all(acl.allows(bit, "x", parameters={"b": 1}) for bit in (LIST, DELETE, SUDO))
    assert not acl.allows(READ, "x", parameters={"b": 1})
