"""Document: a YAML text as plain data in which every value still knows its line and column.

1. Plain values are read by the rules of YAML 1.2: ``no``, ``1:30`` and ``2030-01-01`` are text, ``010`` is ten.
2. Anchors, aliases, tags and further documents are refused, so data is a tree no larger than its text.
3. A key that comes twice is a finding, never the last one's silent victory.
4. Size, number of values and depth are limited, and judged while reading: no text costs more than its first excess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, NoReturn, TypeAlias

import yaml

from labkit.scenario.findings import NOWHERE, Finding, Mark, ScenarioError, shown

MOST_BYTES = 262_144
MOST_VALUES = 20_000
MOST_DEPTH = 24
MOST_DIGITS = 18

Path: TypeAlias = tuple[str | int, ...]

# The C parser where PyYAML was built with it; both give the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d{1,3})?", re.ASCII)
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, kw_only=True)
class Document:
    """Plain data, and for the path of each value where it stands; ``keys`` has where its key stands.

    Of a key that came twice the first value is in ``data``, the other in ``findings``.
    """

    name: str
    lines: tuple[str, ...]
    data: Any
    keys: dict[Path, Mark]
    values: dict[Path, Mark]
    findings: tuple[Finding, ...] = ()

    def mark(self, path: Path) -> Mark:
        """Where a value stands; for one that is not there, its nearest parent, by its key when it has one."""
        if path in self.values:
            return self.values[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.keys.get(path) or self.values[path]

    def key_mark(self, path: Path) -> Mark:
        """Where the key of a value stands, or else the value."""
        return self.keys.get(path) or self.mark(path)

    def error(self, findings: Iterable[Finding]) -> ScenarioError:
        """The error that tells of these findings."""
        return ScenarioError(self.name, findings, self.lines)


def read(path: str | PathLike[str]) -> Document:
    """Read a file; raise ScenarioError when it cannot be read or is no such document."""
    name = fspath(path)
    try:
        with open(path, "rb") as file:
            source = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioError(name, [Finding(NOWHERE, f"cannot be read: {said}")]) from None
    return parse(source, name)


def parse(source: bytes, name: str) -> Document:
    """Read a text in UTF-8; raise ScenarioError when it is no such document."""
    if len(source) > MOST_BYTES:
        raise ScenarioError(name, [Finding(NOWHERE, f"wanted at most {MOST_BYTES:,} bytes, came more")])
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        column = error.start - source.rfind(b"\n", 0, error.start)
        said = f"wanted text in UTF-8, came the byte 0x{source[error.start]:02x}"
        raise ScenarioError(name, [Finding(Mark(line, column), said)]) from None
    reader = _Reader(text, name)
    data = reader.document()
    return Document(
        name=name,
        lines=reader.lines,
        data=data,
        keys=reader.keys,
        values=reader.values,
        findings=tuple(reader.findings),
    )


class _Reader:
    """Walks the events of one text once."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.lines = text, name, tuple(_BREAK.split(text))
        self.keys: dict[Path, Mark] = {}
        self.values: dict[Path, Mark] = {}
        self.findings: list[Finding] = []
        self._events = self._checked()

    def document(self) -> Any:
        """Return the data of the one document; None for an empty text."""
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            self.values[()] = Mark(1, 1)
            return None
        data = self._value(next(self._events), ())
        next(self._events)
        more = next(self._events)
        if not isinstance(more, yaml.StreamEndEvent):
            self._stop(self._mark(more), "wanted one document in a file, came a second; put it into a file of its own")
        return data

    def _checked(self) -> Iterator[Any]:
        try:
            yield from yaml.parse(self.text, Loader=_LOADER)
        except yaml.reader.ReaderError as error:
            before = self.text[: error.position]
            line = len(_BREAK.findall(before)) + 1
            mark = Mark(line, error.position - max((found.end() for found in _BREAK.finditer(before)), default=0) + 1)
            self._stop(mark, f"wanted printable text, came the character {_code(error.character)}")
        except yaml.MarkedYAMLError as error:
            places = [place for place in (error.problem_mark, error.context_mark) if place is not None]
            # What was left open is found missing at the end of the text; where it was opened says more.
            place = next((place for place in places if place.index < len(self.text.rstrip())), None)
            mark = Mark(place.line + 1, place.column + 1) if place else self._last()
            told = ", ".join(part for part in (error.context, error.problem) if part)
            self._stop(mark, f"wanted YAML, but {told}")
        except yaml.YAMLError:
            self._stop(Mark(1, 1), "wanted YAML, came something else")

    def _mark(self, event: Any) -> Mark:
        start, end = event.start_mark, event.end_mark
        if start.line >= len(self.lines):
            return self._last()
        length = end.column - start.column if start.line == end.line else 1
        return Mark(start.line + 1, start.column + 1, max(1, length))

    def _last(self) -> Mark:
        """The last character that is no space."""
        ended = self.text.rstrip()
        lines = _BREAK.split(ended)
        return Mark(len(lines), max(1, len(lines[-1])))

    def _value(self, event: Any, path: Path) -> Any:
        mark = self.values[path] = self._mark(event)
        if isinstance(event, yaml.AliasEvent):
            self._stop(mark, f"wanted a value, came the alias {_named('*', event)}; write the value out here")
        if event.anchor is not None:
            self._stop(
                mark, f"wanted a value, came the anchor {_named('&', event)}; leave it out, aliases are not read"
            )
        if event.tag is not None:
            self._stop(mark, f"wanted a plain value, came the tag {shown(event.tag)}; leave it out")
        if len(self.values) > MOST_VALUES:
            self._stop(mark, f"wanted at most {MOST_VALUES:,} values, came more")
        if len(path) > MOST_DEPTH:
            self._stop(mark, f"wanted values at most {MOST_DEPTH} levels deep, came deeper")
        if isinstance(event, yaml.ScalarEvent):
            return event.value if event.style else self._plain(event.value, mark)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._items(path)
        return self._members(path)

    def _items(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _members(self, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            mark = self._mark(event)
            if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None or event.tag is not None:
                self._stop(mark, "wanted a key that is a plain word, came something else")
            key, inner = event.value, (*path, event.value)
            if key in members:
                first = self.keys[inner].line
                self.findings.append(Finding(mark, f"wanted each key once, came {shown(key)} again after line {first}"))
                inner = (*inner, -1)
            self.keys[inner] = mark
            value = self._value(next(self._events), inner)
            members.setdefault(key, value)
        return members

    def _plain(self, text: str, mark: Mark) -> Any:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INTEGER.fullmatch(text) or _BASED.fullmatch(text):
            if len(text.lstrip("+-")) > MOST_DIGITS:
                self._stop(mark, f"wanted a number of at most {MOST_DIGITS} digits, came {shown(text)}")
            return int(text, 10 if _INTEGER.fullmatch(text) else 0)
        return float(text) if _DECIMAL.fullmatch(text) else text

    def _stop(self, mark: Mark, text: str) -> NoReturn:
        raise ScenarioError(self.name, [*self.findings, Finding(mark, text)], self.lines) from None


def _named(sign: str, event: Any) -> str:
    return shown(sign + event.anchor)


def _code(character: Any) -> str:
    code = character if isinstance(character, int) else ord(character[:1] or "\0")
    return f"U+{code:04X}"
