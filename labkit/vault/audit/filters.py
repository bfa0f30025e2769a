"""Filters: which records an audit device has, as an expression over the request's properties.

``mount_type == "kv" and not (operation == "read" or path contains "public")``

1. The properties are ``mount_point``, ``mount_type``, ``namespace``, ``operation`` and ``path``; comparisons are ``==``
   and ``!=``, ``PROPERTY contains "TEXT"``, ``"TEXT" in PROPERTY``, ``PROPERTY matches "PATTERN"`` and their ``not``
   forms, ``is empty`` and ``is not empty``.
2. ``not`` binds closest, then ``and``, then ``or``; parentheses group.
3. A filter is a nested tuple, so that a device is a plain immutable record.
4. A pattern matches any part of the property, in one pass (``patterns``).  Between backquotes nothing is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.service.errors import BadRequest
from labkit.vault.audit import patterns

Filter = tuple[Any, ...]
"""``("or" | "and", left, right)``, ``("not", inner)``, or ``(comparison, property, text)``."""

PROPERTIES = ("mount_point", "mount_type", "namespace", "operation", "path")
MAX_CHARACTERS, MAX_DEPTH = 4_096, 50

_TOKEN = re.compile(r'\s*(?:(==|!=|\(|\))|"((?:[^"\\]|\\.)*)"|`([^`]*)`|([\w./-]+))', re.ASCII)


def parse(text: str) -> Filter:
    """Read an expression; raise BadRequest that says what was expected and what came."""
    if len(text) > MAX_CHARACTERS:
        raise BadRequest(f"option filter: at most {MAX_CHARACTERS} characters, not {len(text)}")
    parser = _Parser(_split(text))
    found = parser.either(0)
    if parser.next is not None:
        raise parser.wanted("and, or, or the end")
    return found


def passes(expression: Filter, properties: Mapping[str, str]) -> bool:
    """Whether a record with such properties is one that the filter lets through."""
    kind = expression[0]
    if kind == "or":
        return passes(expression[1], properties) or passes(expression[2], properties)
    if kind == "and":
        return passes(expression[1], properties) and passes(expression[2], properties)
    if kind == "not":
        return not passes(expression[1], properties)
    value, text = properties[expression[1]], expression[2]
    if kind == "matches":
        return patterns.compiled(text).found_in(value)
    return value == text if kind == "equals" else text in value


def _split(text: str) -> list[tuple[str, bool]]:
    """Return the expression's tokens, each with whether it was quoted."""
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadRequest(f"option filter: cannot read on from {text[at : at + 20].strip()!r}")
        mark, quoted, raw, word = found.groups()
        if quoted is not None:
            tokens.append((re.sub(r"\\(.)", r"\1", quoted), True))
        elif raw is not None:
            tokens.append((raw, True))
        else:
            tokens.append((mark or word, False))
        at = found.end()
    return tokens


class _Parser:
    """Reads tokens from left to right: one method per level of binding."""

    def __init__(self, tokens: list[tuple[str, bool]]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def next(self) -> str | None:
        """The next token where it is a word or mark; an empty text for a quoted one, None at the end."""
        if self.at >= len(self.tokens):
            return None
        text, is_quoted = self.tokens[self.at]
        return "" if is_quoted else text

    def take(self, *words: str) -> bool:
        """Take the next tokens if they are these words."""
        found = self.tokens[self.at : self.at + len(words)] == [(word, False) for word in words]
        self.at += len(words) if found else 0
        return found

    def wanted(self, what: str) -> BadRequest:
        """Return the refusal that names what should have come here."""
        came = repr(self.tokens[self.at][0]) if self.at < len(self.tokens) else "the end"
        return BadRequest(f"option filter: expected {what}, not {came}")

    def either(self, depth: int) -> Filter:
        """Read what ``or`` connects."""
        found = self.both(depth)
        while self.take("or"):
            found = ("or", found, self.both(depth))
        return found

    def both(self, depth: int) -> Filter:
        """Read what ``and`` connects."""
        found = self.one(depth)
        while self.take("and"):
            found = ("and", found, self.one(depth))
        return found

    def one(self, depth: int) -> Filter:
        """Read a comparison, its negation, or a group."""
        if depth > MAX_DEPTH:
            raise BadRequest(f"option filter: at most {MAX_DEPTH} levels")
        if self.take("not"):
            return ("not", self.one(depth + 1))
        if not self.take("("):
            return self.comparison()
        found = self.either(depth + 1)
        if not self.take(")"):
            raise self.wanted("a closing parenthesis")
        return found

    def comparison(self) -> Filter:
        """Read one comparison."""
        if self.next == "":  # a quoted text
            text = self.value()
            negated = self.take("not", "in")
            if not negated and not self.take("in"):
                raise self.wanted("in or not in")
            return _negated(negated, ("contains", self.property(), text))
        name = self.property()
        if self.take("==") or self.take("!="):
            negated = self.tokens[self.at - 1][0] == "!="
            return _negated(negated, ("equals", name, self.value()))
        if self.take("is", "empty") or self.take("is", "not", "empty"):
            return _negated(self.tokens[self.at - 2][0] == "not", ("equals", name, ""))
        negated = self.take("not")
        if self.take("contains"):
            return _negated(negated, ("contains", name, self.value()))
        if self.take("matches"):
            return _negated(negated, ("matches", name, self.pattern()))
        raise self.wanted("==, !=, contains, not contains, matches, not matches or is empty")

    def property(self) -> str:
        """Read the name of a property."""
        if self.next not in PROPERTIES:
            raise self.wanted(f"one of {', '.join(PROPERTIES)}")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def pattern(self) -> str:
        """Read a pattern."""
        text = self.value()
        try:
            patterns.compiled(text)
        except ValueError as error:
            raise BadRequest(f"option filter: not a pattern: {error}") from None
        return text

    def value(self) -> str:
        """Read a text, quoted or a bare word."""
        if self.next is None or self.next in ("==", "!=", "(", ")"):
            raise self.wanted("a text")
        self.at += 1
        return self.tokens[self.at - 1][0]


def _negated(negated: bool, comparison: Filter) -> Filter:
    return ("not", comparison) if negated else comparison
