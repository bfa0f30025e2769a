"""YAML mistakes: what a reader did wrong where a text is not YAML, on the line of the mistake, in words to act on.

A parser notices a mistake where the text stops making sense, often a line below it, and names its own parts.  From
that position, the lines and the value read last, the usual mistakes are recognised; any other keeps the parser's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from labkit.scenario.problems import FilePosition, FileProblem, describe_value

MAX_QUOTED_CHARACTERS = 60

# What a parser says of a mistake that needs no more than other words.
KNOWN_WORDS = {
    "sequence entries are not allowed": "expected '- ' as the first thing on a line, got it after something else; "
    "begin a list on the line below its key",
    "scanning a block scalar": "expected the end of the line, got more; a text after > or | begins on the next line",
    "node content": "expected a value, got none; a text that begins with one of YAML's signs is put into quotes",
    "mapping keys are not allowed": "expected a key, got '?'; put a text that begins with it into quotes",
    "scanning an anchor": "expected a value, got '&'; put a text that begins with it into quotes",
    "scanning an alias": "expected a value, got '*'; put a text that begins with it into quotes",
}
CLOSING = {"[": "]", "{": "}"}

_KEY_AND_VALUE = re.compile(r"\s*(?:- +)*([\w -]+): +(?=\S)")
_NO_SPACE_AFTER_COLON = re.compile(r"\s*(?:- +)*([A-Za-z][\w-]*):(?=[^\s:/])")
_NO_SPACE_AFTER_DASH = re.compile(r"\s*-(?=[\w{\[\"'])")
_ITEM = re.compile(r" *- +(?=\S)")
_WORD = re.compile(r"[^\s,:\[\]{}]+")


class Mistake(NamedTuple):
    """Where a parser stopped: its words, the lines, line and column from 0, and what it was inside of or read last."""

    reason: str
    lines: Sequence[str]
    line: int
    column: int
    opened: tuple[int, int] | None = None
    last_value: Any = None

    @property
    def text(self) -> str:
        """The line at which it stopped."""
        return self.lines[self.line] if self.line < len(self.lines) else ""

    @property
    def character(self) -> str:
        """The character at which it stopped; empty at the end of a line."""
        return self.text[self.column : self.column + 1]

    @property
    def above(self) -> int | None:
        """The number of the line above that is neither empty nor a comment."""
        numbers = range(self.line - 1, -1, -1)
        return next((number for number in numbers if self.lines[number].split("#")[0].strip()), None)

    @property
    def opening(self) -> str:
        """The bracket or quote that it was inside of; empty for none."""
        line, column = self.opened or (len(self.lines), 0)
        return self.lines[line][column : column + 1] if line < len(self.lines) else ""

    def here(self, text: str, length: int = 1) -> FileProblem:
        """A problem where the parser stopped."""
        return _problem(self.line, self.column, text, length)


def explain(mistake: Mistake) -> FileProblem:
    """Return the problem that a reader can act on."""
    for recognise in _MISTAKES:
        problem = recognise(mistake)
        if problem is not None:
            return problem
    return mistake.here(f"expected YAML, but {mistake.reason}")


def _problem(line: int, column: int, text: str, length: int = 1) -> FileProblem:
    return FileProblem(FilePosition(line + 1, column + 1, max(1, length)), text)


def _tab(mistake: Mistake) -> FileProblem | None:
    column = mistake.text.find("\t", 0, mistake.column + 1)
    if column < 0 or mistake.text[:column].strip(" -"):
        return None
    text = "expected spaces, got a tab; YAML indents by spaces only, two for each level"
    return _problem(mistake.line, column, text)


def _quote(mistake: Mistake) -> FileProblem | None:
    """A quoted text that is not closed, is closed too early, or holds what its quotes do not allow."""
    if "unexpected end of stream" in mistake.reason and mistake.opened and mistake.opening:
        return _problem(
            *mistake.opened, f"expected a second {mistake.opening} that closes this text, got the end of the file"
        )
    if "unknown escape character" in mistake.reason or "character escape code" in mistake.reason:
        return mistake.here("expected a known escape after \\, got another; put the text into single quotes instead")
    if (value := mistake.last_value) is None or getattr(value, "style", None) not in ("'", '"'):
        return None
    start, end, quote = value.start_mark, value.end_mark, value.style
    if start.line < end.line:
        return _problem(
            start.line, start.column, f"expected a second {quote} on this line, got it on line {end.line + 1}"
        )
    if end.line == mistake.line and not mistake.text[end.column : mistake.column].strip():
        other = '"' if quote == "'" else "'"
        return mistake.here(
            f"expected nothing after the closing {quote}, got more text; put all of it into {other} quotes"
        )
    return None


def _first_character(mistake: Mistake) -> FileProblem | None:
    if "cannot start any token" not in mistake.reason or not mistake.character:
        return None
    if mistake.character == "\t":
        return mistake.here("expected a space, got a tab")
    sign = describe_value(mistake.character)
    return mistake.here(f"expected a value, got {sign} as its first character; put the text into quotes")


def _colon(mistake: Mistake) -> FileProblem | None:
    """A colon in a text, a key that is indented below a value, or a line above that is not a key and a value."""
    if "mapping values are not allowed" not in mistake.reason:
        return None
    found = _KEY_AND_VALUE.match(mistake.text)
    if found and found.end() <= mistake.column:
        value = mistake.text[found.end() :].split(" #")[0].strip()
        example = f': "{value}"' if len(value) <= MAX_QUOTED_CHARACTERS and '"' not in value else ""
        return mistake.here(
            f"expected one value after '{found[1]}:', got a colon in it; "
            f"put a text into quotes{example}, or a second key on a line of its own"
        )
    above = mistake.above
    if above is None:
        return None
    text = mistake.lines[above]
    if (problem := _missing_space(above, text)) is not None:
        return problem
    if not _KEY_AND_VALUE.match(text):
        start = len(text) - len(text.lstrip())
        return _problem(
            above, start, f"expected a key and a value such as 'seed: 7', got {describe_value(text.strip())}"
        )
    if (problem := _first_of_its_block(mistake._replace(column=_indent(mistake.text)))) is not None:
        return problem
    wanted = _indent(text)
    start = _indent(mistake.text)
    word = _word_at(mistake.text, start)
    return _problem(
        mistake.line,
        start,
        f"expected {word} below the key of line {above + 1}, after {_spaces(wanted)}, got {_spaces(start)}; "
        f"or put the text of both lines into quotes",
        len(word) - 2,
    )


def _missing_space(number: int, text: str) -> FileProblem | None:
    if found := _NO_SPACE_AFTER_COLON.match(text):
        return _problem(number, found.end() - 1, f"expected a space after '{found[1]}:', got none")
    if found := _NO_SPACE_AFTER_DASH.match(text):
        return _problem(number, found.end() - 1, "expected a space after '-', got none")
    return None


def _bracket(mistake: Mistake) -> FileProblem | None:
    """A bracket that is not closed, is closed twice, or a comma that is missing between two values."""
    if mistake.character in ("]", "}") and "block" in mistake.reason:
        return mistake.here(f"expected no further {mistake.character}, got one more than were opened")
    closing = CLOSING.get(mistake.opening)
    if "while parsing a flow" not in mistake.reason or mistake.opened is None or closing is None:
        return None
    line, column = mistake.opened
    rest = mistake.lines[line][column + 1 :].split(" #")[0].strip()
    if line != mistake.line and rest and not rest.endswith(","):
        return _problem(line, column, f"expected '{closing}' on this line, got none; close the bracket that opens here")
    if not mistake.text.strip():
        text = f"expected '{closing}', got the end of the file; close the bracket that opens here"
        return _problem(line, column, text)
    text = f"expected ',' or '{closing}', got {_word_at(mistake.text, mistake.column)}"
    if mistake.character == ":" and line == mistake.line:
        return mistake.here(f"{text}; put a comma between two keys, or quotes around a text with a colon in it")
    return mistake.here(f"{text}; close the bracket of line {line + 1}, or put a comma between two values")


def _indentation(mistake: Mistake) -> FileProblem | None:
    """A line that begins in no column where one of the lines above it began."""
    if "while parsing a block" not in mistake.reason or mistake.above is None:
        return None
    if (problem := _missing_space(mistake.above, mistake.lines[mistake.above])) is not None:
        return problem
    word, above = _word_at(mistake.text, mistake.column), mistake.above
    item = _ITEM.match(mistake.lines[above])
    if item and mistake.character != "-" and item.end() == mistake.column:
        return mistake.here(f"expected '- ' before {word} as on line {above + 1}, got none", len(word) - 2)
    if (problem := _first_of_its_block(mistake)) is not None:
        return problem
    known = _columns_above(mistake)
    if mistake.column in known:
        wanted = "a key" if mistake.character == "-" else "'- ' and an item"
        text = f"expected {wanted} as on line {known[mistake.column] + 1}, got {word}; items and keys do not mix"
        return mistake.here(text, len(word) - 2)
    places = " or ".join(f"{_spaces(column)} as on line {number + 1}" for column, number in known.items())
    return mistake.here(f"expected {places} before {word}, got {_spaces(mistake.column)}", len(word) - 2)


def _first_of_its_block(mistake: Mistake) -> FileProblem | None:
    """The line above, where it is the first below its key and has another indentation than the file's own."""
    above = mistake.above
    parent = None if above is None else mistake._replace(line=above).above
    if above is None or parent is None:
        return None
    outer, inner, step = (_indent(mistake.lines[parent]), _indent(mistake.lines[above]), _usual_step(mistake.lines))
    opens = mistake.lines[parent].split(" #")[0].rstrip().endswith(":")
    if not opens or inner - outer == step or mistake.column - outer != step:
        return None
    word = _word_at(mistake.lines[above], inner)
    wanted = f"{_spaces(outer + step)} before {word}, below the key of line {parent + 1}"
    return _problem(above, inner, f"expected {wanted}, got {_spaces(inner)}", len(word) - 2)


def _usual_step(lines: Sequence[str]) -> int:
    """By how many spaces most lines are indented more than the line above them."""
    indents = [_indent(line) for line in lines if line.split("#")[0].strip()]
    deeper = Counter(inner - outer for outer, inner in pairwise(indents) if inner > outer)
    return min(deeper, key=lambda step: (-deeper[step], step), default=2)


def _columns_above(mistake: Mistake) -> dict[int, int]:
    """The indentations that the lines above allow, each with the nearest line that has it; the nearest two of them."""
    found: dict[int, int] = {}
    for number in range(mistake.line - 1, -1, -1):
        text = mistake.lines[number]
        if text.split("#")[0].strip() and _indent(text) < min(found, default=len(text)):
            found[_indent(text)] = number
    nearest = sorted(found, key=lambda column: abs(column - mistake.column))[:2]
    return {column: found[column] for column in sorted(nearest)}


def _not_a_key(mistake: Mistake) -> FileProblem | None:
    if "could not find expected ':'" not in mistake.reason or mistake.opened is None or not mistake.opening:
        return None
    line, column = mistake.opened
    if (problem := _missing_space(line, mistake.lines[line])) is not None:
        return problem
    text = mistake.lines[line][column:].split(" #")[0].strip()
    above = mistake._replace(line=line).above
    if above is not None and mistake.lines[above].startswith("- ", column) and _indent(mistake.lines[above]) == column:
        word = _word_at(mistake.lines[line], column)
        return _problem(line, column, f"expected '- ' before {word} as on line {above + 1}, got none", len(word) - 2)
    return _problem(
        line,
        column,
        f"expected a key and a colon, got {describe_value(text)}; indent a text that belongs to the line above by two "
        "spaces",
        len(text),
    )


def _after_the_end(mistake: Mistake) -> FileProblem | None:
    if "<document start>" not in mistake.reason:
        return None
    return mistake.here(f"expected the end of the file, got {_word_at(mistake.text, mistake.column)} after its mapping")


def _known_words(mistake: Mistake) -> FileProblem | None:
    """Mistakes that the parser names where they are, only not in words for a reader."""
    text = next((text for words, text in KNOWN_WORDS.items() if words in mistake.reason), None)
    return None if text is None else mistake.here(text)


def _dollar(mistake: Mistake) -> FileProblem | None:
    """``${name}`` without quotes, where ``$(name)`` is meant."""
    found = re.match(r"\$\{([\w.-]*)\}?", mistake.text[mistake.column - 1 :]) if mistake.column else None
    if found is None:
        return None
    text = f"expected $({found[1]}) for a value that is kept, got {found[0]}"
    return _problem(mistake.line, mistake.column - 1, text, len(found[0]))


_MISTAKES: tuple[Callable[[Mistake], FileProblem | None], ...] = (
    _tab,
    _quote,
    _first_character,
    _colon,
    _dollar,
    _bracket,
    _indentation,
    _not_a_key,
    _after_the_end,
    _known_words,
)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _spaces(count: int) -> str:
    return "no space" if count == 0 else f"{count} space{'s' if count != 1 else ''}"


def _word_at(text: str, column: int) -> str:
    found = _WORD.match(text, column)
    return describe_value(found[0] if found else text[column : column + 1])
