"""HCL: what texts mean, and what is refused, in which words."""

from __future__ import annotations

import pytest

from labkit.vault.policies.blocks import MAX_DEPTH
from tests.vault.policies.plain_blocks import numbers, read, refusal


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
        ("a = " + "[" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ("a {" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        ("a = [" + "[" * 100_000, f"nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_cannot_be_hcl_is_refused(text, message) -> None:
    assert message in refusal(text)


def test_as_deep_as_allowed_is_read() -> None:
    assert refusal("a {" * MAX_DEPTH + "}" * MAX_DEPTH) == ""
    assert refusal("a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH) == ""
