"""YAML with positions: a document as plain data, with the line and column of each value.

1. Plain values are read by the rules of YAML 1.2: ``no``, ``1:30`` and ``2030-01-01`` are text, ``010`` is ten.
2. Anchors, aliases, tags and further documents are refused, so data is a tree no larger than its text.
3. A key that comes twice is a problem; the last one does not silently replace the first.
4. Size, number of values and depth are limited and checked while reading: reading stops at the first excess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, NoReturn, TypeAlias

import yaml

from labkit.scenario.documents.yaml_mistakes import Mistake, explain
from labkit.scenario.problems import WHOLE_FILE, FilePosition, FileProblem, ScenarioError, describe_value

MAX_FILE_BYTES = 262_144
MAX_FILE_VALUES = 20_000
MAX_FILE_DEPTH = 24
MAX_NUMBER_DIGITS = 18

Path: TypeAlias = tuple[str | int, ...]

# The C parser where PyYAML was built with it; both give the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SCALAR, _SEQUENCE, _MAPPING = yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent
_SEQUENCE_END, _MAPPING_END = yaml.SequenceEndEvent, yaml.MappingEndEvent

_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d{1,3})?", re.ASCII)
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BEGINS_OTHER = frozenset("+-.0123456789~nNtTfF")
"""How a plain value begins that may be something else than a text."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """Plain data, and for the path of each value its position and that of its key.

    Of a key that comes twice the first value is in ``data``, the second is among ``problems``.  ``unusable`` are the
    positions of values with such a problem: what else is wrong with them follows from it.  ``has_empty`` says that
    some key or item has no value.
    """

    name: str
    lines: tuple[str, ...]
    data: Any
    key_positions: Mapping[Path, FilePosition]
    value_positions: Mapping[Path, FilePosition]
    problems: tuple[FileProblem, ...] = ()
    shared_lines: tuple[str, ...] = ()
    has_empty: bool = False
    unusable: frozenset[FilePosition] = frozenset()

    def position(self, path: Path) -> FilePosition:
        """Where a value is; for a missing one its nearest parent, by its key when it has one."""
        if path in self.value_positions:
            return self.value_positions[path]
        while path and path not in self.value_positions:
            path = path[:-1]
        return self.key_positions.get(path) or self.value_positions[path]

    def key_position(self, path: Path) -> FilePosition:
        """Where the key of a value is, or else the value."""
        return self.key_positions.get(path) or self.position(path)

    def error(self, problems: Iterable[FileProblem]) -> ScenarioError:
        """The error that reports these problems."""
        return ScenarioError(self.name, problems, self.lines, self.shared_lines)

    def with_problems(self, problems: Iterable[FileProblem]) -> Document:
        """The same document with more problems, each of a value that cannot be used."""
        found = tuple(problems)
        unusable = self.unusable | {problem.position for problem in found}
        return replace(self, problems=(*self.problems, *found), unusable=unusable) if found else self


def read(path: str | PathLike[str]) -> Document:
    """Read a file; raise ScenarioError when it cannot be read or is not such a document."""
    name = fspath(path)
    try:
        with open(path, "rb") as file:
            source = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioError(name, [FileProblem(WHOLE_FILE, f"cannot be read: {reason}")]) from None
    return parse(source, name)


def parse(source: bytes, name: str) -> Document:
    """Read a text in UTF-8; raise ScenarioError when it is not such a document."""
    if len(source) > MAX_FILE_BYTES:
        raise ScenarioError(name, [FileProblem(WHOLE_FILE, f"expected at most {MAX_FILE_BYTES:,} bytes, got more")])
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        column = error.start - source.rfind(b"\n", 0, error.start)
        text = f"expected text in UTF-8, got the byte 0x{source[error.start]:02x}"
        raise ScenarioError(name, [FileProblem(FilePosition(line, column), text)]) from None
    reader = _Reader(text, name)
    data = reader.document()
    marks = _Marks(text, reader.lines)
    return Document(
        name=name,
        lines=reader.lines,
        data=data,
        key_positions=_Positions(marks, "keys"),
        value_positions=_Positions(marks, "values"),
        problems=tuple(reader.problems),
        has_empty=reader.has_empty,
    )


def is_text_when_plain(text: str) -> bool:
    """Whether a text without quotes is read as that text, and not as a number, true, false or nothing."""
    return not (text in _CONSTANTS or any(kind.fullmatch(text) for kind in (_INTEGER, _BASED, _DECIMAL)))


class _Marks:
    """Where the keys and values of a text stand that was read without a mistake; it is walked again for them, once.

    Of a file without a problem nobody asks, and reading is quicker without.
    """

    def __init__(self, text: str, lines: tuple[str, ...]) -> None:
        self._text, self._lines = text, lines
        self.keys: dict[Path, Any] = {}
        self.values: dict[Path, Any] = {}
        self._get_event: Callable[[], Any] = _no_event

    def found(self, kind: str) -> Mapping[Path, Any]:
        """The events of ``keys`` or ``values`` by their paths; of a key that comes again the path ends with -1."""
        if not self.values:
            self._get_event = _LOADER(self._text).get_event
            self._get_event()
            first = self._get_event()
            self._walk(first if isinstance(first, yaml.StreamEndEvent) else self._get_event(), ())
        return self.keys if kind == "keys" else self.values

    def position(self, event: Any) -> FilePosition:
        """Where an event is."""
        return _position(event, self._text, self._lines)

    def _walk(self, event: Any, path: Path) -> None:
        self.values[path] = event
        following, number = self._get_event, 0
        if type(event) is _SEQUENCE:
            while type(event := following()) is not _SEQUENCE_END:
                self._walk(event, (*path, number))
                number += 1
        elif type(event) is _MAPPING:
            while type(event := following()) is not _MAPPING_END:
                inner: Path = (*path, event.value)
                if inner in self.keys:
                    inner = (*inner, -1)
                self.keys[inner] = event
                self._walk(following(), inner)


class _Positions(Mapping[Path, FilePosition]):
    """The positions of keys or of values, each made when it is asked for."""

    def __init__(self, marks: _Marks, kind: str) -> None:
        self._marks, self._kind = marks, kind

    def __getitem__(self, path: Path) -> FilePosition:
        return self._marks.position(self._marks.found(self._kind)[path])

    def __contains__(self, path: object) -> bool:
        return path in self._marks.found(self._kind)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._marks.found(self._kind))

    def __len__(self) -> int:
        return len(self._marks.found(self._kind))


class _Reader:
    """Walks the events of one text once."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.lines = text, name, tuple(_lines(text))
        self.has_empty = False
        self.problems: list[FileProblem] = []
        self._values = 0
        self._get_event: Callable[[], Any] = _no_event

    def document(self) -> Any:
        """Return the data of the one document; None for an empty text."""
        try:
            loader = _LOADER(self.text)
            self._get_event = loader.get_event
            return self._whole()
        except yaml.reader.ReaderError as error:
            before = self.text[: error.position]
            line = len(_BREAK.findall(before)) + 1
            position = FilePosition(
                line, error.position - max((found.end() for found in _BREAK.finditer(before)), default=0) + 1
            )
            self._stop(position, f"expected printable text, got the character {_code(error.character)}")
        except yaml.MarkedYAMLError as error:
            self._refuse(error)
        except yaml.YAMLError:
            self._stop(FilePosition(1, 1), "expected YAML, got something else")

    def _whole(self) -> Any:
        self._get_event()
        first = self._get_event()
        if isinstance(first, yaml.StreamEndEvent):
            return None
        data = self._value(self._get_event(), 0)
        self._get_event()
        more = self._get_event()
        if not isinstance(more, yaml.StreamEndEvent):
            self._stop_at(more, "expected one document in a file, got a second; put it into its own file")
        return data

    def _refuse(self, error: yaml.MarkedYAMLError) -> NoReturn:
        """Stop where the text is not YAML, with what a reader did wrong."""
        opened = error.context_mark or error.problem_mark
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        if opened is None or mark is None:
            self._stop(_last_of(self.text), f"expected YAML, but {reason}")
        last = _last_event(self.text)
        value = last if isinstance(last, yaml.ScalarEvent) else None
        mistake = Mistake(reason, self.lines, mark.line, mark.column, (opened.line, opened.column), value)
        position, text = explain(mistake)
        self._stop(position if position.line <= len(self.lines) else _last_of(self.text), text)

    def _value(self, event: Any, depth: int) -> Any:
        self._values += 1
        kind = type(event)
        if event.anchor is not None or event.tag is not None:
            self._refuse_mark(event)
        if self._values > MAX_FILE_VALUES:
            self._stop_at(event, f"expected at most {MAX_FILE_VALUES:,} values, got more")
        if depth > MAX_FILE_DEPTH:
            self._stop_at(event, f"expected values at most {MAX_FILE_DEPTH} levels deep, got deeper")
        if kind is _SCALAR:
            text: str = event.value
            if not text.isascii() and (lone := _SURROGATE.search(text)):
                self._stop_at(event, f"expected text, got the character {_code(lone[0])}, half of one")
            if event.style or (text and text[0] not in _BEGINS_OTHER):
                return text
            return self._plain(event)
        return self._items(depth + 1) if kind is _SEQUENCE else self._members(depth + 1)

    def _refuse_mark(self, event: Any) -> NoReturn:
        """Refuse an alias, an anchor or a tag."""
        if isinstance(event, yaml.AliasEvent):
            self._stop_at(event, f"expected a value, got the alias {_named('*', event)}; write the value here")
        if event.anchor is not None:
            self._stop_at(
                event,
                f"expected a value, got the anchor {_named('&', event)}; leave it out, aliases are not supported",
            )
        self._stop_at(event, f"expected a plain value, got the tag {describe_value(event.tag)}; leave it out")

    def _items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        following = self._get_event
        while type(event := following()) is not _SEQUENCE_END:
            items.append(self._value(event, depth))
        return items

    def _members(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        keys: dict[str, Any] = {}
        following = self._get_event
        while type(event := following()) is not _MAPPING_END:
            if type(event) is not _SCALAR or event.anchor is not None or event.tag is not None:
                self._stop_at(event, "expected a key that is a plain word, got something else")
            key: str = event.value
            if key[:1].isspace() and not event.style:
                self._stop_at(event, f"expected a space before the key, got the character {_code(key[0])}")
            if key in keys:
                first = self._position(keys[key]).line
                text = f"expected each key once, got {describe_value(key)} again after line {first}"
                self.problems.append(FileProblem(self._position(event), text))
                self._value(following(), depth)
            else:
                keys[key] = event
                members[key] = self._value(following(), depth)
        return members

    def _plain(self, event: Any) -> Any:
        """What a value without quotes is."""
        text: str = event.value
        if text in _CONSTANTS:
            found = _CONSTANTS[text]
            self.has_empty = self.has_empty or found is None
            return found
        if _INTEGER.fullmatch(text) or _BASED.fullmatch(text):
            if len(text.lstrip("+-")) > MAX_NUMBER_DIGITS:
                wanted = f"a number of at most {MAX_NUMBER_DIGITS} digits"
                self._stop_at(event, f"expected {wanted}, got {describe_value(text)}")
            return int(text, 10 if _INTEGER.fullmatch(text) else 0)
        return float(text) if _DECIMAL.fullmatch(text) else text

    def _position(self, event: Any) -> FilePosition:
        return _position(event, self.text, self.lines)

    def _stop_at(self, event: Any, text: str) -> NoReturn:
        self._stop(self._position(event), text)

    def _stop(self, position: FilePosition, text: str) -> NoReturn:
        raise ScenarioError(self.name, [*self.problems, FileProblem(position, text)], self.lines) from None


def _position(event: Any, text: str, lines: tuple[str, ...]) -> FilePosition:
    """Where an event of a text is; of an empty text the first character."""
    start, end = event.start_mark, event.end_mark
    line, column = start.line, start.column
    if isinstance(event, yaml.StreamEndEvent):
        return FilePosition(1, 1)
    if line >= len(lines):
        return _last_of(text)
    return FilePosition(line + 1, column + 1, (end.column - column or 1) if line == end.line else 1)


def _last_of(text: str) -> FilePosition:
    """The last character of a text that is not a space."""
    lines = _lines(text.rstrip())
    return FilePosition(len(lines), max(1, len(lines[-1])))


def _lines(text: str) -> list[str]:
    """The lines of a text; nearly every file breaks them with line feeds only."""
    return text.split("\n") if text.isascii() and "\r" not in text else _BREAK.split(text)


def _last_event(text: str) -> Any:
    """What was read last of a text that is not YAML, before the place where it is not."""
    loader, event = _LOADER(text), None
    try:
        while not isinstance(event, yaml.StreamEndEvent):
            event = loader.get_event()
    except yaml.YAMLError:
        return event
    return event


def _no_event() -> Any:
    """Nothing is read yet."""
    return None


def _named(sign: str, event: Any) -> str:
    return describe_value(sign + event.anchor)


def _code(character: str | int) -> str:
    code = character if isinstance(character, int) else ord(character)
    return f"U+{code:04X}"
