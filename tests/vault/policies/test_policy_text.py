"""Reader: recorded refusals word for word, what each entry of a block means, and that any text is rules or refused."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from labkit.vault.policies import CAPABILITIES, CREATE, DELETE, DENY, LIST, PATCH, READ, SUDO, UPDATE
from labkit.vault.policies.blocks import PolicyError
from labkit.vault.policies.policy_text import RULE_KEYS, parse_policy
from labkit.vault.policies.rules import Number, Rule
from tests.examples import examples

SECOND, HOUR = 1_000_000_000, 3_600 * 1_000_000_000


def one(entries: str, pattern: str = "x") -> Rule:
    """The one rule of a policy with these entries."""
    (rule,) = parse_policy(f'path "{pattern}" {{ {entries} }}')
    return rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # recorded: answers to policies of these texts
        ("nonsense {", "At 1:12: object expected closing RBRACE got: EOF"),
        ('path "x" { capabilities = ["fly"] }', 'path "x": invalid capability "fly"'),
        ('path "x" { colour = "red" }', '1 error occurred:\n\t* path "x": invalid key "colour" on line 1\n\n'),
        # made with OpenBao 2.6.2 and HCL 1
        ("foo = 1", '1 error occurred:\n\t* invalid key "foo" on line 1\n\n'),
        ("a = 1\nb = 1", '2 errors occurred:\n\t* invalid key "a" on line 1\n\t* invalid key "b" on line 2\n\n'),
        (
            'path "x" {\n capabilites = []\n\n colour = 1\n}',
            '2 errors occurred:\n\t* path "x": invalid key "capabilites" on line 2\n'
            '\t* path "x": invalid key "colour" on line 4\n\n',
        ),
        ('path "foo/+*" {}', "path \"foo/+*\": invalid use of wildcards ('+*' is forbidden)"),
        ('path "/foo/+*" {}', "path \"foo/+*\": invalid use of wildcards ('+*' is forbidden)"),
        ('path "x" { policy = "banana" }', 'path "x": invalid policy "banana"'),
        ('path "x" { capabilities = ["read", "Read"] }', 'path "x": invalid capability "Read"'),
        ('path "x" { capabilities = [5] }', 'path "x": invalid capability "5"'),
        ('path "a\\"b\\n" { capabilities = ["fly"] }', 'path "a\\"b\\n": invalid capability "fly"'),
        ('path "{{x" {}', "failed to validate policy templating: unbalanced templating characters"),
        ('path "x}}" {}', "failed to validate policy templating: unbalanced templating characters"),
        ('path "{{x}}}}" {}', "failed to validate policy templating: unbalanced templating characters"),
        (
            'path "x" { min_wrapping_ttl = "2h" max_wrapping_ttl = "1h" }',
            "max_wrapping_ttl cannot be less than min_wrapping_ttl",
        ),
        (
            'path "x" { min_wrapping_ttl = "2ns" max_wrapping_ttl = "1ns" }',
            "max_wrapping_ttl cannot be less than min_wrapping_ttl",
        ),
        ('path "x" { min_wrapping_ttl = "x" }', 'error parsing min_wrapping_ttl: time: invalid duration "x"'),
        (
            'path "x" { max_wrapping_ttl = ["1h"] }',
            "error parsing max_wrapping_ttl: could not parse duration from input",
        ),
        ('path "x" { max_wrapping_ttl = true }', "error parsing max_wrapping_ttl: could not parse duration from input"),
    ],
)
def test_the_words_of_a_refusal(text, message) -> None:
    with pytest.raises(PolicyError, match=f"^{re.escape(message)}$"):
        parse_policy(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('path "x" {\n capabilities = "read" }', 'path "x": At 2:17: capabilities wants a list of texts'),
        ('path "x" { capabilities = [true] }', 'path "x": At 1:28: capabilities wants text'),
        ('path "x" { capabilities "read" {} }', 'path "x": At 1:12: capabilities takes no name of its own'),
        ('path "x" { policy = ["read"] }', 'path "x": At 1:21: policy wants text'),
        ('path "x" { allowed_parameters = ["a"] }', 'path "x": At 1:33: allowed_parameters wants a block'),
        ('path "x" { denied_parameters = { a = "b" } }', 'path "x": At 1:38: denied_parameters wants lists of values'),
        ('path "x" { required_parameters = "a" }', 'path "x": At 1:34: required_parameters wants a list of texts'),
        ('path "x" { mfa_methods = 3 }', 'path "x": At 1:26: mfa_methods wants a list of texts'),
        ('path "x" { min_wrapping_ttl = "-5s" }', "min_wrapping_ttl: cannot provide negative value '-5s'"),
        ('path = "x"', 'path "path": At 1:8: a block in braces is wanted'),
        ('{"path": {"x": 5}}', 'path "x": At 1:11: a block in braces is wanted'),
        ('{\n"path": {"x": {\n"colour": 5}}}', 'path "x": invalid key "colour" on line 3'),
        ("name = true", "At 1:8: name wants text"),
    ],
)
def test_a_refusal_says_what_is_wanted_and_where(text, message) -> None:
    with pytest.raises(PolicyError, match=re.escape(message)):
        parse_policy(text)


@pytest.mark.parametrize(
    "text",
    [
        'path "x" { capabilities = ["read"] }',
        'name = "mine"\npath "x" { capabilities = ["read"] }',
        "# mine\npath 'x'".replace("'", '"') + ' { capabilities = ["read",], } // done',
        'path "/x" { capabilities = ["read"] }',
        '{"path": {"x": {"capabilities": ["read"]}}}',
        '{"name": 5, "path": [{"x": {"capabilities": ["read"]}}]}',
        'path "x" { capabilities = ["read"] mfa_methods = ["a"] control_group { factor "a" { identity { } } } }',
        'path "x" "y" { capabilities = ["read"] }',
    ],
)
def test_forms_of_the_same_rule(text) -> None:
    assert parse_policy(text) == (Rule("x", READ),)


def test_rules_keep_their_order_and_repeat() -> None:
    text = 'path "b" { capabilities = ["read"] }\npath "a" {}\npath "b" { capabilities = ["list"] }'

    assert parse_policy(text) == (Rule("b", READ), Rule("a", 0), Rule("b", LIST))
    assert parse_policy("") == ()


def test_a_block_without_a_pattern_is_for_the_path_of_that_name() -> None:
    assert parse_policy('path { capabilities = ["read"] }') == (Rule("path", READ),)


@pytest.mark.parametrize(
    ("entries", "capabilities"),
    [
        ("", 0),
        ("capabilities = []", 0),
        ('capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo"]', 2 * SUDO - 1),
        ('capabilities = ["read", "deny"]', DENY),
        ('capabilities = ["deny", "fly"]', DENY),
        ('capabilities = ["read"] capabilities = ["list"]', READ | LIST),
        ('policy = "deny"', DENY),
        ('policy = "read"', READ | LIST),
        ('policy = "write"', CREATE | READ | UPDATE | DELETE | LIST),
        ('policy = "sudo"', CREATE | READ | UPDATE | DELETE | LIST | SUDO),
        ('policy = "read" capabilities = ["patch"]', READ | LIST | PATCH),
        ('policy = "write" capabilities = ["deny"]', DENY),
        ('policy = "deny" capabilities = ["read"]', DENY),
        ('policy = "deny" policy = "read"', READ | LIST),
        ('policy = ""', 0),
    ],
)
def test_capabilities(entries, capabilities) -> None:
    assert one(entries) == Rule("x", capabilities)


def test_each_capability_has_a_bit_of_its_own() -> None:
    assert len(CAPABILITIES) == 8
    assert sum(CAPABILITIES.values()) == 255


@pytest.mark.parametrize("name", ["allowed_parameters", "denied_parameters"])
def test_values_of_parameters(name) -> None:
    values = '["a", true, 5, 1.5, ["b"], { c = "d" }, "e*"]'
    rule = one(f'capabilities = ["read"] {name} = {{ "Type" = {values} any = [] }}')

    read = rule.allowed if name == "allowed_parameters" else rule.denied
    assert read == {"type": ("a", True, Number("5"), Number("1.5"), ["b"], {"c": "d"}, "e*"), "any": ()}


def test_parameters_add_up() -> None:
    rule = one(
        'allowed_parameters = { a = ["1"] A = ["2"] }\nallowed_parameters { a = ["3"], b = { c = "d" } }\n'
        'required_parameters = ["A", "b"] required_parameters = ["a", "c"]'
    )

    assert rule.allowed == {"a": ("1", "2", "3"), "b": ({"c": "d"},)}
    assert rule.required == ("a", "b", "c")


@pytest.mark.parametrize(
    ("entries", "shortest", "longest"),
    [
        ("min_wrapping_ttl = 5", 5 * SECOND, 0),
        ('max_wrapping_ttl = "1h"', 0, HOUR),
        ('min_wrapping_ttl = "90s" max_wrapping_ttl = "90s"', 90 * SECOND, 90 * SECOND),
        ('min_wrapping_ttl = "2h" max_wrapping_ttl = 0', 2 * HOUR, 0),
        ('max_wrapping_ttl = "1h" max_wrapping_ttl = "2h"', 0, 2 * HOUR),
    ],
)
def test_wrapping_times(entries, shortest, longest) -> None:
    rule = one(entries)

    assert (rule.min_wrapping_ttl_ns, rule.max_wrapping_ttl_ns) == (shortest, longest)


def test_deny_keeps_nothing_else() -> None:
    rule = one(
        'capabilities = ["deny"] allowed_parameters = { a = [] } required_parameters = ["a"] min_wrapping_ttl = "x"'
    )

    assert rule == Rule("x", DENY)


@pytest.mark.parametrize(
    ("entries", "needed"),
    [
        ("", False),
        ('capabilities = ["read"]', False),
        ("allowed_parameters = {}", False),
        ("allowed_parameters = { a = [] }", True),
        ("denied_parameters = { a = [] }", True),
        ('required_parameters = ["a"]', True),
        ("min_wrapping_ttl = 1", True),
        ("max_wrapping_ttl = 1", True),
    ],
)
def test_whether_a_rule_needs_more_than_the_path(entries, needed) -> None:
    assert one(entries).needs_parameters is needed


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = st.lists(st.sampled_from(sorted(CAPABILITIES)), unique=True, max_size=8)
VALUES = st.dictionaries(TEXTS, st.lists(TEXTS | st.booleans(), max_size=3), max_size=3)


@settings(max_examples=examples(150))
@given(st.lists(st.tuples(TEXTS, NAMES, VALUES, st.integers(0, 10**6)), max_size=4))
def test_hcl_and_json_say_the_same(blocks) -> None:
    blocks = [block for block in blocks if "{{" not in block[0] and "}}" not in block[0] and "+*" not in block[0]]
    assume(blocks)
    bodies = [
        (pattern, {"capabilities": names, "allowed_parameters": values, "max_wrapping_ttl": f"{ttl}s"})
        for pattern, names, values, ttl in blocks
    ]

    rules = parse_policy("".join([f"path {quoted(pattern)} {hcl(body)}\n" for pattern, body in bodies]))

    assert rules == parse_policy(json.dumps({"path": [{pattern: body} for pattern, body in bodies]}))
    for rule, (pattern, names, values, ttl) in zip(rules, blocks, strict=True):
        assert rule.pattern == pattern.removeprefix("/")
        assert rule.capabilities == (DENY if "deny" in names else sum(CAPABILITIES[name] for name in names))
        assert "deny" in names or rule.max_wrapping_ttl_ns == ttl * SECOND
        assert "deny" in names or rule.allowed.keys() == {name.lower() for name in values}


def hcl(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + "\n".join([f"{quoted(key)} = {hcl(part)}" for key, part in value.items()]) + " }"
    if isinstance(value, list):
        return "[" + ", ".join([hcl(part) for part in value]) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    return '"' + "".join([f"\\U{ord(c):08x}" if c in '"\\\r\n$' else c for c in text]) + '"'


PIECES = st.sampled_from(
    [
        *('path "x" {', 'path "+/*" {', "path", '"x"', "{", "}", "} ", "[", "]", " = ", ", ", ": ", "\n", " ", "# c\n"),
        *RULE_KEYS,
        *('["read"]', '["deny"]', '["fly"]', '"read"', "{ a = [] }", '"1h"', "5", "-5", "1.5", "true", '"{{a}}"'),
        *("{{", "}}", "+*", '{"path": {', '"capabilities": ', "name", "null", "<<E\nread\nE\n"),
    ]
)

WHOLE = st.lists(PIECES, max_size=15).map("".join)


@settings(max_examples=examples(400))
@given(st.text() | WHOLE | WHOLE.map(lambda entries: f'path "x" {{ {entries} }}'))
@example('path "x" { allowed_parameters = { a = {} } }')
@example('{"path": {"x": null}}')
def test_any_text_is_rules_or_a_policy_error(text) -> None:
    rules, refusal = outcome(text)

    assert rules is None or all(0 <= rule.capabilities <= DENY and "+*" not in rule.pattern for rule in rules)
    assert rules is not None or refusal


def outcome(text: str) -> tuple[tuple[Rule, ...] | None, str]:
    try:
        return parse_policy(text), ""
    except PolicyError as error:
        return None, str(error)
