"""The language of policies: HCL (version 1) or JSON, read into plain items with their lines.

1. A body is a list of items: one or more keys, then ``= value`` or a block; order and repeated keys are kept.
2. Comments are ``#``, ``//`` and ``/* */``; strings are quoted or heredocs; commas may trail.
3. A JSON text is read into the same items, so that everything after this knows one form only.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

DEEPEST = 32


class PolicyError(ValueError):
    """A text that is no policy; the message is what follows ``failed to parse policy:``."""


class Item(NamedTuple):
    """One entry of a body: its keys, its value (text, number, flag, list, or a Body) and its line."""

    keys: tuple[str, ...]
    value: Any
    line: int


class Body(tuple[Item, ...]):
    """The items between two braces, in order."""


class Token(NamedTuple):
    """One token: its kind, its value, and where it begins."""

    kind: str
    value: Any
    line: int
    column: int


_TOKENS = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
    |(?P<heredoc><<-?(?P<mark>[A-Za-z_]\w*)\r?\n(?P<lines>.*?)^[ \t]*(?P=mark)[ \t]*$)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<word>[A-Za-z_][\w.-]*)
    |(?P<mark_sign>[{}\[\]=,:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_NAMES = {"{": "LBRACE", "}": "RBRACE", "[": "LBRACK", "]": "RBRACK", "=": "ASSIGN", ",": "COMMA", ":": "COLON"}


def parse(text: str) -> Body:
    """Read a policy's text; raise PolicyError that names line and column."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    tokens = _tokenize(text)
    body, position = _body(tokens, 0, 0)
    if tokens[position].kind != "EOF":
        raise _unexpected(tokens[position], "a key")
    return body


def _tokenize(text: str) -> list[Token]:
    tokens, position, line, begin = [], 0, 1, 0
    while position < len(text):
        found = _TOKENS.match(text, position)
        column = position - begin + 1
        if found is None:
            if text.startswith("/*", position):
                raise PolicyError(f"At {line}:{column}: comment not terminated")
            if text[position] == '"':
                raise PolicyError(f"At {line}:{column}: literal not terminated")
            raise PolicyError(f"At {line}:{column}: illegal character {text[position]!r}")
        kind = found.lastgroup
        if found["heredoc"] is not None:
            tokens.append(Token("STRING", found["lines"], line, column))
        elif kind == "string":
            tokens.append(Token("STRING", _unquote(found["string"], line, column), line, column))
        elif kind == "number":
            digits = found["number"]
            value = int(digits) if re.fullmatch(r"-?\d+", digits) else float(digits)
            tokens.append(Token("NUMBER", value, line, column))
        elif kind == "word":
            word = found["word"]
            boolean = {"true": True, "false": False}.get(word)
            tokens.append(
                Token("IDENT" if boolean is None else "BOOL", word if boolean is None else boolean, line, column)
            )
        elif kind == "mark_sign":
            tokens.append(Token(_NAMES[found[0]], found[0], line, column))
        line += found[0].count("\n")
        if "\n" in found[0]:
            begin = position + found[0].rindex("\n") + 1
        position = found.end()
    tokens.append(Token("EOF", "", line, position - begin + 1))
    return tokens


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def _unquote(quoted: str, line: int, column: int) -> str:
    def escaped(found: re.Match[str]) -> str:
        if found[1] is not None:
            return chr(int(found[1], 16))
        if found[2] not in _ESCAPES:
            raise PolicyError(f"At {line}:{column}: illegal escape \\{found[2]}")
        return _ESCAPES[found[2]]

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", escaped, quoted[1:-1], flags=re.DOTALL)


def _body(tokens: list[Token], position: int, depth: int) -> tuple[Body, int]:
    """Read items up to a closing brace or the end."""
    if depth > DEEPEST:
        raise PolicyError(f"At {tokens[position].line}:{tokens[position].column}: nested deeper than {DEEPEST} levels")
    items = []
    while tokens[position].kind not in ("RBRACE", "EOF"):
        if tokens[position].kind == "COMMA":
            position += 1
            continue
        item, position = _item(tokens, position, depth)
        items.append(item)
    return Body(items), position


def _item(tokens: list[Token], position: int, depth: int) -> tuple[Item, int]:
    keys, line = [], tokens[position].line
    while tokens[position].kind in ("IDENT", "STRING", "BOOL", "NUMBER"):
        keys.append(str(tokens[position].value))
        position += 1
    token = tokens[position]
    if not keys:
        raise _unexpected(token, "a key")
    if token.kind in ("ASSIGN", "COLON"):
        if len(keys) > 1:
            raise PolicyError(f"At {token.line}:{token.column}: nested object expected: LBRACE got: ASSIGN")
        value, position = _value(tokens, position + 1, depth)
        return Item(tuple(keys), value, line), position
    if token.kind == "LBRACE":
        value, position = _block(tokens, position, depth)
        return Item(tuple(keys), value, line), position
    raise PolicyError(
        f"At {token.line}:{token.column}: key '{keys[-1]}' expected start of object ('{{') or assignment ('=')"
    )


def _block(tokens: list[Token], position: int, depth: int) -> tuple[Body, int]:
    body, position = _body(tokens, position + 1, depth + 1)
    token = tokens[position]
    if token.kind != "RBRACE":
        raise PolicyError(f"At {token.line}:{token.column}: object expected closing RBRACE got: {token.kind}")
    return body, position + 1


def _value(tokens: list[Token], position: int, depth: int) -> tuple[Any, int]:
    token = tokens[position]
    if token.kind in ("STRING", "NUMBER", "BOOL"):
        return token.value, position + 1
    if token.kind == "LBRACE":
        return _block(tokens, position, depth)
    if token.kind == "LBRACK":
        return _list(tokens, position + 1, depth)
    raise _unexpected(token, "a value")


def _list(tokens: list[Token], position: int, depth: int) -> tuple[list[Any], int]:
    if depth > DEEPEST:
        raise PolicyError(f"At {tokens[position].line}:{tokens[position].column}: nested deeper than {DEEPEST} levels")
    values: list[Any] = []
    while tokens[position].kind != "RBRACK":
        value, position = _value(tokens, position, depth + 1)
        values.append(value)
        if tokens[position].kind == "COMMA":
            position += 1
        elif tokens[position].kind != "RBRACK":
            raise _unexpected(tokens[position], "a comma or the end of the list")
    return values, position + 1


def _unexpected(token: Token, wanted: str) -> PolicyError:
    return PolicyError(f"At {token.line}:{token.column}: {wanted} expected, got: {token.kind}")


def _from_json(text: str) -> Body:
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"the text begins like JSON, but is none: {error}") from None
    return _json_body(value, 0)


def _json_body(value: Any, depth: int) -> Body:
    if depth > DEEPEST:
        raise PolicyError(f"nested deeper than {DEEPEST} levels")
    items = []
    for key, member in value.items():
        parts = (
            member
            if isinstance(member, list) and all(isinstance(part, dict) for part in member) and member
            else [member]
        )
        for part in parts:
            if isinstance(part, dict) and key == "path" and depth == 0:
                items += [Item((key, name), _json_value(rule, depth + 1), 1) for name, rule in part.items()]
            else:
                items.append(Item((key,), _json_value(part, depth), 1))
    return Body(items)


def _json_value(value: Any, depth: int) -> Any:
    return _json_body(value, depth + 1) if isinstance(value, dict) else value
