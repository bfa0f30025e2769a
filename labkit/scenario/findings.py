"""Findings: what is wrong with a scenario file, each with its place, in words that a reader can act on.

1. Everything that is wrong is told at once, in the order of the file; each finding is one line and an excerpt.
2. What is shown of a file cannot steer a terminal: control characters are replaced, long lines are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from unicodedata import east_asian_width

EXCERPT_COLUMNS = 100
SHOWN_FINDINGS = 20


class Mark(NamedTuple):
    """A place in a file: line and column from 1, and how many characters it covers."""

    line: int
    column: int
    length: int = 1


NOWHERE = Mark(0, 0)


class Finding(NamedTuple):
    """One thing that is wrong: where, and what was wanted, what came, what to do."""

    mark: Mark
    text: str


class ScenarioError(ValueError):
    """A scenario file that cannot be used; ``findings`` holds all that is wrong with it, in the order of the file."""

    def __init__(self, name: str, findings: Iterable[Finding], lines: Sequence[str] = ()) -> None:
        self.name, self.lines = printable(name), tuple(lines)
        self.findings = tuple(sorted(findings))
        super().__init__(name, self.findings)

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[Any, ...]]:
        return ScenarioError, (self.name, self.findings, self.lines)

    def __str__(self) -> str:
        told = [self._tell(finding) for finding in self.findings[:SHOWN_FINDINGS]]
        left = len(self.findings) - SHOWN_FINDINGS
        if left > 0:
            told.append(f"{self.name}: and {left} more")
        return "\n".join(told)

    def _tell(self, finding: Finding) -> str:
        mark, text = finding
        if mark == NOWHERE:
            return f"{self.name}: {text}"
        return "\n".join([f"{self.name}:{mark.line}:{mark.column}: {text}", *excerpt(self.lines, mark)])


def excerpt(lines: Sequence[str], mark: Mark) -> list[str]:
    """Return the line of a mark and carets under what it covers; nothing for a line that does not exist."""
    if not 1 <= mark.line <= len(lines):
        return []
    line, start = lines[mark.line - 1], mark.column - 1
    skipped = max(0, min(start - EXCERPT_COLUMNS // 2, len(line) - EXCERPT_COLUMNS))
    shown = printable(line[skipped : skipped + EXCERPT_COLUMNS])
    before, covered = shown[: start - skipped], shown[start - skipped : start - skipped + mark.length]
    gutter = f"{mark.line:>5} | "
    return [
        f"{gutter}{shown}".rstrip(),
        f"{'|':>7} {' ' * _width(before)}{'^' * max(1, _width(covered))}",
    ]


def printable(text: str) -> str:
    """Replace what would steer a terminal or shift the carets, one character for one."""
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "·" for sign in text)


def shown(value: Any) -> str:
    """How a value that came is named in a finding; never more than a few words of it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = printable(str(value))
    text = text if len(text) <= 40 else text[:39] + "…"
    return text if isinstance(value, int | float) else f"'{text}'"


def wanted(what: str, value: Any, known: Iterable[str] = ()) -> str:
    """The text of a finding: what was wanted, what came, and the nearest of the known names or all of them."""
    names = list(known)
    told = f"wanted {what}, came {shown(value)}"
    near = nearest(value, names) if isinstance(value, str) else None
    if near is not None:
        return f"{told} — did you mean '{near}'?"
    return f"{told}; there are: {', '.join(names)}" if names else told


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name with the fewest slips of the hand from a word; None when none is near."""
    folded = _folded(word)
    ranked = sorted((slips(folded, _folded(name)), -_shared(folded, _folded(name)), name) for name in known)
    if not ranked:
        return None
    count, _, name = ranked[0]
    return name if count <= max(1, (min(len(word), 32) + 1) // 3) else None


def slips(a: str, b: str) -> int:
    """Count the letters added, left out, mistaken or swapped with their neighbour between two words."""
    a, b = a[:32], b[:32]
    above, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, above, row = above, row, [i]
        for j, right in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _folded(word: str) -> str:
    return word[:64].casefold().replace("_", "-").replace(" ", "-")


def _shared(a: str, b: str) -> int:
    """Count the letters that two words begin with alike: of two equally near names the likelier."""
    return next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _width(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)
