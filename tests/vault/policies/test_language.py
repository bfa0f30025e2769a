"""The language of policies: what texts mean, what is refused and in which words, and that nothing else ever happens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.vault.policies.language import MAX_DEPTH, Block, Item, Listing, Literal, PolicyError, Source, Value, parse
from tests.examples import examples

NAMES = st.from_regex(r"[a-z_][a-z0-9_.-]{0,8}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)


def read(text: str) -> list[tuple[tuple[str, ...], Any]]:
    """The items of a text as plain values: text, flag, ("number", text), list, or items again."""
    return members(parse(Source(text)))


def members(block: Block) -> list[tuple[tuple[str, ...], Any]]:
    return [(item.keys, plain(item.value)) for item in block.items]


def plain(value: Value) -> Any:
    if isinstance(value, Block):
        return members(value)
    if isinstance(value, Listing):
        return [plain(part) for part in value.values]
    if value.kind == "BOOL":
        return value.text == "true"
    return ("number", value.text) if value.kind in ("NUMBER", "FLOAT") else value.text


def numbers(**written: str) -> list[tuple[tuple[str, ...], Any]]:
    return [((name,), ("number", text)) for name, text in written.items()]


def refusal(text: str) -> str:
    """The words that a text is refused with; empty when it is read."""
    try:
        parse(Source(text))
    except PolicyError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        (" \t\r\n", []),
        ("# nothing\n// nothing\n/* nothing\n * at all **/", []),
        ("a = 1", [(("a",), ("number", "1"))]),
        ("a=-1 b = 0x1F c = 1.5 d = 1e3 e = .5", numbers(a="-1", b="0x1F", c="1.5", d="1e3", e=".5")),
        ("a = true\nb = false", [(("a",), True), (("b",), False)]),
        ('a = "x"', [(("a",), "x")]),
        ('"a b" = "x"', [(("a b",), "x")]),
        ("a-b.c_d = 1", [(("a-b.c_d",), ("number", "1"))]),
        ("ü = 1", [(("ü",), ("number", "1"))]),
        ("a {}", [(("a",), [])]),
        ('path "x" { a = 1 }', [(("path", "x"), [(("a",), ("number", "1"))])]),
        ('"path" "x" {}', [(("path", "x"), [])]),
        ("a b c {}", [(("a", "b", "c"), [])]),
        ("a = { b = 1 }", [(("a",), [(("b",), ("number", "1"))])]),
        ("a { b = 1 c = 2, d = 3, }", [(("a",), numbers(b="1", c="2", d="3"))]),
        ("a = 1, b = 2", numbers(a="1", b="2")),
        ("a = 1 a = 2", [(("a",), ("number", "1")), (("a",), ("number", "2"))]),
        ('a = ["x", "y",]', [(("a",), ["x", "y"])]),
        ("a = []", [(("a",), [])]),
        ('a = [\n# one\n"x", // two\n"y" /* three */\n]', [(("a",), ["x", "y"])]),
        ('a = [1, true, ["x"], { b = "y" }]', [(("a",), [("number", "1"), True, ["x"], [(("b",), "y")]])]),
        (r'a = "q\"b\\s\n\t\r\a\b\f\v"', [(("a",), 'q"b\\s\n\t\r\a\b\f\v')]),
        (r'a = "\101\x41A\U0001F600"', [(("a",), "AAA\U0001f600")]),
        (r'a = "\ud800"', [(("a",), "\ufffd")]),
        ('a = "${b("c", {d})} e"', [(("a",), '${b("c", {d})} e')]),
        (r'a = "$x \\${y \" z}"', [(("a",), r"$x \${y \" z}")]),
        ('a = "$"', [(("a",), "$")]),
        ("a = <<E\none\n  two\nE\n", [(("a",), "one\n  two\n")]),
        ("a = <<E\nE\nb = 1", [(("a",), ""), (("b",), ("number", "1"))]),
        ("a = <<-E\n    one\n      two\n    E\n", [(("a",), "one\n  two\n")]),
        ("a = <<-E\n  one\n    E\n", [(("a",), "  one\n")]),
        ("a = [<<E\nread\nE\n]", [(("a",), ["read\n"])]),
        ("a = 1\r\nb = <<E\r\nx\r\nE\r\n", [(("a",), ("number", "1")), (("b",), "x\n")]),
    ],
)
def test_hcl_is_read(text, items) -> None:
    assert read(text) == items


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # recorded: an answer to a policy of this text
        ("nonsense {", "At 1:12: object expected closing RBRACE got: EOF"),
        # made with HCL 1 (hashicorp/hcl v1.0.1-vault-7)
        ('path "x" {', "At 1:12: object expected closing RBRACE got: EOF"),
        ("foo", "At 1:5: key 'foo' expected start of object ('{') or assignment ('=')"),
        ('path "x"', "At 1:9: key 'path \"x\"' expected start of object ('{') or assignment ('=')"),
        ("a { b }", "At 1:7: key 'b' expected start of object ('{') or assignment ('=')"),
        ("a b = 1", "At 1:5: nested object expected: LBRACE got: ASSIGN"),
        ("= 1", "At 1:1: no object keys found!"),
        ("a {}\n{}", "At 2:1: expected: IDENT | STRING got: LBRACE"),
        ("}", "At 1:1: expected: IDENT | STRING | ASSIGN | LBRACE got: RBRACE"),
        ("a 1", "At 1:3: expected: IDENT | STRING | ASSIGN | LBRACE got: NUMBER"),
        ("true = 1", "At 1:1: expected: IDENT | STRING | ASSIGN | LBRACE got: BOOL"),
        ("a = b", "At 1:5: Unknown token: 1:5 IDENT b"),
        ("a = ]", "At 1:5: Unknown token: 1:5 RBRACK ]"),
        ('a = [\n  "b" "c"]', "At 2:7: error parsing list, expected comma or list end, got: STRING"),
        ('a = ["b" }', "At 1:10: error parsing list, expected comma or list end, got: RBRACE"),
        ('path "x" { capabilities = ["read"', "At 1:34: error parsing list, expected comma or list end, got: EOF"),
        ("a = [b]", "At 1:6: unexpected token while parsing list: IDENT"),
        ('path "a\\qb" {}', "At 1:9: illegal char escape"),
        ('"', "At 1:2: literal not terminated"),
        ("/* x", "At 1:5: comment not terminated"),
        ("/ x", "At 1:1: expected '/' for comment"),
        ("a = <x", "At 1:6: heredoc expected second '<', didn't see it"),
        ("a = 1;", "At 1:6: illegal char"),
    ],
)
def test_what_is_no_hcl_is_refused_with_its_place(text, message) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a = "b\n"', "At 1:7: literal not terminated"),
        ('a = "${b', "literal not terminated"),
        (r'a = "\x4"', "illegal char escape"),
        (r'a = "\400"', "illegal char escape"),
        (r'a = "\U00110000"', "illegal char escape"),
        ("a = <<E\nb\n", "heredoc not terminated"),
        ("a = <<E", "heredoc not terminated"),
        ("a = <<\nb\n", "zero-length heredoc anchor"),
        ("a = <<-\nb\n", "zero-length heredoc anchor"),
        ("a = <<E F\nb\nE F\n", "invalid characters in heredoc anchor"),
        ("a =", "Unknown token"),
        ("a\0b", "At 1:2: unexpected null character (0x00)"),
        ("a = '\ud800'", "illegal UTF-8 encoding"),
        ("a = " + "[" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ("a {" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ("a = [" + "[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a": ' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a":' + "[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
        ('{"a": 1,}', "the text begins like JSON, but is not JSON"),
        ('{\n"a": b}', "the text begins like JSON, but is not JSON"),
        ('{"a": "\\ud800"}', "At 1:7: illegal UTF-8 encoding"),
        ('{"\\ud800": 1}', "At 1:2: illegal UTF-8 encoding"),
        ("{", "the text begins like JSON, but is not JSON"),
        ("{}}", "the text begins like JSON, but is not JSON"),
        ("{} a", "the text begins like JSON, but is not JSON"),
    ],
)
def test_what_cannot_be_is_refused(text, message) -> None:
    assert message in refusal(text)


def test_as_deep_as_allowed_is_read() -> None:
    assert refusal("a {" * MAX_DEPTH + "}" * MAX_DEPTH) == ""
    assert refusal("a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH) == ""


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("{}", []),
        (' \n{"a": 1}', [(("a",), ("number", "1"))]),
        ('{"a": -1.5e3, "b": 12345678901234567890123}', numbers(a="-1.5e3", b="12345678901234567890123")),
        ('{"a": "x\\n\\u00fc\\/", "b": true, "c": null}', [(("a",), "x\nü/"), (("b",), True), (("c",), "")]),
        ('{"a": ["x", ["y"], {"b": "z"}]}', [(("a",), ["x", ["y"], [(("b",), "z")]])]),
        ('{"a": [{"b": 1}, {"c": 2}]}', [(("a",), [(("b",), ("number", "1"))]), (("a",), [(("c",), ("number", "2"))])]),
        ('{"a": {"b": {}}}', [(("a",), [(("b",), [])])]),
        ('{"path": {"x": {}, "y": {"a": []}}}', [(("path", "x"), []), (("path", "y"), [(("a",), [])])]),
        ('{"path": [{"x": {}}, {"x": {}}]}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": {"x": [{}, {}]}}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": {"x": {}}, "path": {"x": {}}}', [(("path", "x"), []), (("path", "x"), [])]),
        ('{"path": "x"}', [(("path",), "x")]),
        ('{"path": []}', [(("path",), [])]),
        ('{"a": NaN}', [(("a",), ("number", "NaN"))]),
    ],
)
def test_json_is_read(text, items) -> None:
    assert read(text) == items


def test_places_are_where_keys_begin() -> None:
    hcl = Source('# é\npath "x" {\n  a = 1\n  "b" = [2]\n}\nname = "a"')
    same = Source('{\n"path": {"x": {\n  "a": "a \\" a",\n  "b": ["a"]\n}},\n"name": "a"}')

    for source, lines in ((hcl, (2, 3, 4, 6)), (same, (2, 3, 4, 6))):
        path, name = parse(source).items
        assert isinstance(path.value, Block)
        a, b = path.value.items
        assert tuple(source.line(item.at) for item in (path, a, b, name)) == lines
    assert [hcl.place(item.at) for item in parse(hcl).items] == ["2:1", "6:1"]


def shown(value: Any) -> str:
    """Write a plain value as HCL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return "{ " + "\n".join(f"{quoted(key)} = {shown(part)}" for key, part in value.items()) + " }"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("${", "\\x24{")
    return f'"{escaped}"'


def expected(value: Any) -> Any:
    if isinstance(value, dict):
        return [((key,), expected(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [expected(part) for part in value]
    return ("number", str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


# Lists of objects alone are left out: in JSON they are their key once for each (rule 3).
SCALARS = st.booleans() | st.integers(-(10**20), 10**20) | TEXTS
LISTS = st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    NAMES, st.deferred(lambda: SCALARS | LISTS | OBJECTS), max_size=3
)


@settings(max_examples=examples(150))
@given(OBJECTS.filter(lambda value: "path" not in value))
@example({"a": "\r\n", "b": "\r"})
def test_what_is_written_is_read_as_the_same_in_both_forms(value) -> None:
    hcl = "\n".join(f"{quoted(key)} = {shown(part)}" for key, part in value.items())

    assert read(hcl.replace("\r\n", "\\r\n")) == expected(value)
    assert read(json.dumps(value)) == expected(value)
    assert read(json.dumps(value, indent=2, ensure_ascii=False)) == expected(value)


PIECES = st.sampled_from(
    [
        *("path", '"x"', "{", "}", "[", "]", "=", ",", ":", "\n", " ", "# c\n", "// c\n", "/* c */", "/*", "*/"),
        *(
            '"',
            "\\",
            "${",
            "$",
            "<<E\n",
            "<<-E\n",
            "E\n",
            "  E\n",
            "-",
            "+",
            ".",
            "1",
            "0x",
            "1.5",
            "1e",
            "true",
            "null",
        ),
        *('a "b" {\n', "c = 1\n", 'd = ["e"]\n', "}\n"),
        *("capabilities", '"read"', '"\\u00"', "\r\n", "\0", "é", "\ud800", "\u2028"),
    ]
)


@settings(max_examples=examples(400))
@given(
    st.text()
    | st.lists(PIECES, max_size=25).map("".join)
    | st.lists(PIECES, max_size=25).map(lambda p: "{" + "".join(p))
)
@example('path "a" { capabilities = ["read"] }\nb = 1\nc = [d, {}]\n')
@example("/*" * 5_000)
@example("/***" * 5_000)
@example('"${' * 5_000)
@example("<<E\n" * 2_000)
def test_any_text_gives_a_block_or_a_policy_error(text) -> None:
    try:
        block = parse(Source(text))
    except PolicyError as error:
        said = str(error)
        assert said
    else:
        assert all(isinstance(item, Item) and item.keys for item in block.items)
        assert all(isinstance(item.value, (Block, Listing, Literal)) for item in block.items)
