"""Problems: what is wrong with a scenario file, each with its position, in words that a reader can act on.

1. All problems of a file are reported at once, in the order of the file; each is one line and an excerpt.
2. What is shown of a file cannot control a terminal: control characters are replaced, long lines are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from unicodedata import east_asian_width

from labkit.service.did_you_mean import nearest

EXCERPT_COLUMNS = 100
MAX_SHOWN_PROBLEMS = 20
MAX_SHOWN_CHARACTERS = 40
NO_OTHERS: Mapping[str, str] = MappingProxyType({})


class FilePosition(NamedTuple):
    """A position in a file: line and column from 1, how many characters it covers, and which file if it is another."""

    line: int
    column: int
    length: int = 1
    file: str = ""


WHOLE_FILE = FilePosition(0, 0)


class FileProblem(NamedTuple):
    """One thing that is wrong: where, and what was expected, what was there, what to do."""

    position: FilePosition
    text: str


class FieldError(ValueError):
    """What is wrong between the keys of one mapping; ``key`` is the one that the reader should look at.

    ``of_key``: it is the key that is wrong, not its value.
    """

    def __init__(self, text: str, key: str, *, of_key: bool = False) -> None:
        super().__init__(text)
        self.key, self.of_key = key, of_key


class ScenarioError(ValueError):
    """A scenario file that cannot be used; ``problems`` holds all that is wrong with it, in the order of the file.

    Problems of a file that it shares come after its own; ``shared_lines`` are the lines of that file.
    """

    def __init__(
        self, name: str, problems: Iterable[FileProblem], lines: Sequence[str] = (), shared_lines: Sequence[str] = ()
    ) -> None:
        self.name, self.lines, self.shared_lines = printable(name), tuple(lines), tuple(shared_lines)
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.position.file, problem)))
        super().__init__(name, self.problems)

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[Any, ...]]:
        return ScenarioError, (self.name, self.problems, self.lines, self.shared_lines)

    def __str__(self) -> str:
        texts = [self._text_of(problem) for problem in self.problems[:MAX_SHOWN_PROBLEMS]]
        left = len(self.problems) - MAX_SHOWN_PROBLEMS
        if left > 0:
            texts.append(f"{self.name}: and {left} more")
        return "\n".join(texts)

    def _text_of(self, problem: FileProblem) -> str:
        position, text = problem
        if position == WHOLE_FILE:
            return f"{self.name}: {text}"
        name, lines = (printable(position.file), self.shared_lines) if position.file else (self.name, self.lines)
        return "\n".join([f"{name}:{position.line}:{position.column}: {text}", *excerpt(lines, position)])


def excerpt(lines: Sequence[str], position: FilePosition) -> list[str]:
    """Return the line of a position and carets under what it covers; nothing for a line that does not exist."""
    if not 1 <= position.line <= len(lines):
        return []
    line, start = lines[position.line - 1], position.column - 1
    skipped = max(0, min(start - EXCERPT_COLUMNS // 2, len(line) - EXCERPT_COLUMNS))
    visible = printable(line[skipped : skipped + EXCERPT_COLUMNS])
    before, covered = visible[: start - skipped], visible[start - skipped : start - skipped + position.length]
    gutter = f"{position.line:>5} | "
    return [
        f"{gutter}{visible}".rstrip(),
        f"{'|':>7} {' ' * _width(before)}{'^' * max(1, _width(covered))}",
    ]


def printable(text: str) -> str:
    """Replace each character that would control a terminal or shift the carets by one that does not."""
    return "".join(character if character.isprintable() else " " if character.isspace() else "·" for character in text)


def describe_value(value: Any) -> str:
    """How a problem names a value of the file; a long text is cut."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = printable(str(value))
    text = text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 1] + "…"
    return text if isinstance(value, int | float) else f"'{text}'"


def expected(what: str, value: Any, known: Iterable[str] = (), other_words: Mapping[str, str] = NO_OTHERS) -> str:
    """The text of a problem: what was expected, what was there, and the most similar of the known names or all.

    ``other_words`` are what a reader may call a known name.
    """
    names = list(known)
    text = f"expected {what}, got {describe_value(value)}"
    near = (other_words.get(value.casefold()) or nearest(value, names)) if isinstance(value, str) else None
    if near is not None:
        return f"{text} — did you mean '{near}'?"
    return f"{text}; there are: {', '.join(names)}" if names else text


def space_hint(key: str, known: Iterable[str]) -> str:
    """The problem of ``do:crash``, which is one word; empty for any other key."""
    head, colon, value = key.partition(":")
    return f"expected a space after '{head}:', got {describe_value(value)}" if colon and head in known else ""


def dash_hint(kind: str, value: Any) -> str:
    """What to do where a list was written for a mapping, or a mapping for a list."""
    if kind == "list_type" and isinstance(value, dict):
        return "; begin each item of a list with '- '"
    return (
        "; leave out the '- ' or the brackets"
        if kind in ("dict_type", "model_type") and isinstance(value, list)
        else ""
    )


def path_text(path: tuple[str | int, ...]) -> str:
    """Write a path for a reader: ``step 3, cluster`` or ``lab.links[1].latency``."""
    parts = list(path)
    if len(parts) > 1 and parts[0] == "timeline" and isinstance(parts[1], int):
        inner = path_text(tuple(parts[2:]))
        return f"step {parts[1] + 1}" + (f", {inner}" if inner else "")
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{describe_value(part)[1:-1]}" for part in parts)
    return text.removeprefix(".")


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
