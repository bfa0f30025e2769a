"""Blocks: what the text of a policy says, whichever language it is in, and where in the text it says so.

Lines and columns count from 1, in characters.
"""

from __future__ import annotations

from labkit.service.record import NamedTuple

MAX_DEPTH = 64


class PolicyError(ValueError):
    """A text that is not a policy; the message is what follows ``failed to parse policy:`` in an answer."""


class Literal(NamedTuple):
    """A value of one token; ``kind`` is STRING, HEREDOC, NUMBER, FLOAT or BOOL, and null is an empty STRING."""

    kind: str
    text: str
    at: int


class Listing(NamedTuple):
    """The values between two brackets."""

    values: tuple[Value, ...]
    at: int


class Block(NamedTuple):
    """The items between two braces, or those of the whole text."""

    items: tuple[Item, ...]
    at: int


class Item(NamedTuple):
    """Keys and their value; ``at`` is where the first key begins."""

    keys: tuple[str, ...]
    value: Value
    at: int


Value = Literal | Listing | Block


class Source:
    """A policy's text, and where in it something is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")

    def line(self, at: int) -> int:
        """Return the number of the line that a place lies in."""
        return self.text.count("\n", 0, at) + 1

    def place(self, at: int) -> str:
        """Return line and column of a place; behind the end, columns of the last line go on."""
        return f"{self.line(at)}:{at - self.text.rfind(chr(10), 0, at)}"

    def error(self, at: int, message: str) -> PolicyError:
        """Make the error that names a place."""
        return PolicyError(f"At {self.place(at)}: {message}")


def check_surrogates(source: Source, text: str, at: int) -> None:
    """Raise PolicyError for half a surrogate pair: it has no UTF-8 form."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise source.error(at, "illegal UTF-8 encoding")
