"""Matrix: the combinations of values that a file is played with, and a document with one of them put in.

1. ``$(matrix.latency)`` is a whole value.  What it stands for is put in before any model sees the document, at the same
   position, so a problem with it points at the line that uses it.
2. Combinations stand in the order in which they are written, the last name changing fastest; ``exclude`` takes some
   away, then ``include`` adds some.
3. Values are plain: texts, numbers, true and false.  What is kept is secret and is none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, NamedTuple

from labkit.scenario.documents.combination import NO_COMBINATION, Combination, value_text
from labkit.scenario.documents.yaml_positions import Document, Path
from labkit.scenario.problems import FilePosition, FileProblem, describe_value, expected
from labkit.scenario.value_types import is_name

MATRIX, EXCLUDE, INCLUDE = "matrix", "exclude", "include"
NOT_PUT_IN = (MATRIX, "seeds")
"""The keys of a file whose values are the same for all combinations."""

MAX_COMBINATIONS = 256
MAX_PRODUCT = 10_000

_USE = re.compile(r"\$\(matrix\.([^()]*)\)")
_MISTAKEN = re.compile(r"\$\{matrix\.([^{}]*)\}")
_EITHER = re.compile(rf"{_USE.pattern}|{_MISTAKEN.pattern}")


class Combinations(NamedTuple):
    """The combinations of a document, and what is wrong with its matrix: then the only one may be empty."""

    found: tuple[Combination, ...]
    problems: tuple[FileProblem, ...] = ()


ONLY_ONE = Combinations((NO_COMBINATION,))


def combinations_of(document: Document) -> Combinations:
    """Return what a document is played with: one empty combination unless it has a matrix."""
    data = document.data
    if not isinstance(data, dict) or data.get(MATRIX) is None:
        return ONLY_ONE._replace(problems=tuple(_uses_without_a_matrix(document)))
    matrix = _Matrix(document)
    found = matrix.combinations()
    matrix.check_uses()
    return Combinations(found or ONLY_ONE.found, tuple(matrix.problems))


def checked(document: Document) -> tuple[Document, tuple[Combination, ...]]:
    """Return a document with the problems of its matrix, and its combinations; without any, each use is unusable."""
    found, problems = combinations_of(document)
    document = document.with_problems(problems)
    if problems and not found[0].values:
        document = replace(document, unusable=document.unusable | uses_of(document))
    return document, found


def put_in(document: Document, combination: Combination) -> Document:
    """Return a document with the values of a combination; the matrix itself stays as it is written."""
    if not combination.values:
        return document
    known = dict(combination.values)
    data = {key: value if key in NOT_PUT_IN else _filled(value, known) for key, value in document.data.items()}
    return replace(document, data=data)


def named(
    problems: Mapping[FileProblem, Sequence[Combination]], count: int, document: Document
) -> Iterator[FileProblem]:
    """Name in each problem the first combination that has it, unless all of several have it and it is at no use."""
    uses = uses_of(document)
    for problem, having in problems.items():
        everywhere = len(having) == count > 1 and problem.position not in uses
        if everywhere or not having[0].values or problem in document.problems:
            yield problem
            continue
        others = len(having) - 1
        more = f" and {others} other combination{'s' if others > 1 else ''}" if others else ""
        yield problem._replace(text=f"{problem.text} (with {having[0].text}{more})")


class _Matrix:
    """Reads the matrix of one document; has its names with their values, and the problems so far."""

    def __init__(self, document: Document) -> None:
        self.document, self.written = document, document.data[MATRIX]
        self.problems: list[FileProblem] = []
        self.values: dict[str, list[Any]] = {}

    def add(self, path: Path, text: str, *, key: bool = False) -> None:
        """Add a problem with a value of the matrix, or with its key."""
        position = self.document.key_position(path) if key else self.document.position(path)
        where = ".".join(f"{part}" for part in path if not isinstance(part, int))
        self.problems.append(FileProblem(position, f"{where}: {text}"))

    def combinations(self) -> tuple[Combination, ...]:
        """Read names and values, leave out and add; none when something is wrong."""
        if not isinstance(self.written, dict):
            self.add((MATRIX,), expected("a mapping of names to lists such as {latency: [20ms, 80ms]}", self.written))
            return ()
        for name, values in self.written.items():
            if name not in (EXCLUDE, INCLUDE):
                self._read_values(name, values)
        if not self.values and not self.problems:
            self.add((MATRIX,), "expected a name with values such as latency: [20ms, 80ms], got none", key=True)
            return ()
        excluded, included = self._rows(EXCLUDE), self._rows(INCLUDE)
        if self.problems:
            return ()
        return self._combined(excluded, included)

    def _read_values(self, name: str, values: Any) -> None:
        path: Path = (MATRIX, name)
        if not is_name(name):
            self.add(path, expected("a name of lower-case letters, digits and hyphens, at most 32", name), key=True)
        if not isinstance(values, list) or not values:
            got = "an empty one" if values == [] else describe_value(values)
            self.add(path, f"expected a list of values such as [20ms, 80ms], got {got}")
            return
        for number, value in enumerate(values):
            self._check_value((*path, number), value)
            if any(value_text(value) == value_text(other) for other in values[:number]):
                self.add((*path, number), f"expected each value once, got {describe_value(value)} again")
        self.values[name] = values

    def _check_value(self, path: Path, value: Any) -> bool:
        if value is None or isinstance(value, dict | list):
            self.add(path, expected("a text, a number, true or false", value))
        elif isinstance(value, str) and "$(" in value:
            self.add(
                path, f"{expected('a value that is written here', value)}; what is kept is secret, and not for a matrix"
            )
        else:
            return True
        return False

    def _rows(self, key: str) -> list[dict[str, Any]]:
        """Read what is left out or added, a list of mappings of the names above to values."""
        rows = self.written.get(key, [])
        if not isinstance(rows, list):
            self.add((MATRIX, key), expected("a list such as [{latency: 20ms, nodes: 1}]", rows))
            return []
        for number, row in enumerate(rows):
            path: Path = (MATRIX, key, number)
            if not isinstance(row, dict) or not row:
                self.add(path, expected("a mapping of names to values such as {latency: 20ms, nodes: 1}", row))
                continue
            for name, value in row.items():
                if name not in self.values:
                    self.add((*path, name), expected("a name of the matrix", name, self.values), key=True)
                elif self._check_value((*path, name), value) and key == EXCLUDE and not _has(self.values[name], value):
                    self.add((*path, name), expected(f"a value of {name}", value, map(value_text, self.values[name])))
            missing = [name for name in self.values if name not in row]
            if key == INCLUDE and missing:
                self.add(path, f"expected a value for each name of the matrix, got none for {', '.join(missing)}")
        return rows

    def _combined(self, excluded: list[dict[str, Any]], included: list[dict[str, Any]]) -> tuple[Combination, ...]:
        count = prod(map(len, self.values.values()))
        if count <= MAX_PRODUCT:
            rows = [dict(zip(self.values, row, strict=True)) for row in product(*self.values.values())]
            kept = [row for row in rows if not any(_covers(row, left_out) for left_out in excluded)]
            for number, row in enumerate(included):
                if any(_covers(row, other) for other in kept):
                    text = "expected a combination that is not there yet, got one that is; leave it out"
                    self.add((MATRIX, INCLUDE, number), text)
                kept.append(row)
            count = len(kept)
        if not 1 <= count <= MAX_COMBINATIONS:
            got = f"{count:,}" if count else "none, since all are excluded"
            self.add((MATRIX,), f"expected 1 to {MAX_COMBINATIONS} combinations, got {got}", key=True)
            return ()
        return tuple([Combination(tuple([(name, row[name]) for name in self.values])) for row in kept])

    def check_uses(self) -> None:
        """Each use names something of the matrix, as a whole value, in the file itself; no cluster has its name."""
        written = self.written if isinstance(self.written, dict) else None
        names = None if written is None else [name for name in written if name not in (EXCLUDE, INCLUDE)]
        for use in _uses(self.document):
            text = _misuse(use, names)
            if text is not None and use.position not in self.document.unusable:
                self.problems.append(FileProblem(use.position, text))
        lab = self.document.data.get("lab")
        clusters = lab.get("clusters") if isinstance(lab, dict) else None
        if isinstance(clusters, dict) and MATRIX in clusters:
            text = "expected another name, since $(matrix.…) stands for what the key matrix lists, got 'matrix'"
            position = self.document.key_position(("lab", "clusters", MATRIX))
            self.problems.append(FileProblem(position, f"lab.clusters: {text}"))


class _Use(NamedTuple):
    """One place where a value of the matrix is asked for: the text there, the names in it, and whether it is a key."""

    position: FilePosition
    text: str
    names: tuple[str, ...]
    is_key: bool


def is_use(value: Any) -> bool:
    """Whether a value is one of the matrix, to be put in."""
    return isinstance(value, str) and _USE.fullmatch(value) is not None


def uses_of(document: Document) -> frozenset[FilePosition]:
    """Return where values of the matrix are put in."""
    return frozenset([use.position for use in _uses(document)])


def _misuse(use: _Use, names: Sequence[str] | None) -> str | None:
    """What is wrong with one use, where the names are known; None for a good one."""
    unknown = next((name for name in use.names if names is not None and name not in names), None)
    if use.position.file:
        return f"expected a value in a lab that is shared, got {use.text}; a matrix is of one file"
    if unknown is not None:
        return expected("a name of the matrix", unknown, names or ())
    if found := _MISTAKEN.search(use.text):
        return f"expected $(matrix.{found[1]}) for a value of the matrix, got {describe_value(found[0])}"
    if use.is_key:
        return f"expected a key, got {describe_value(use.text)}; only values come from a matrix"
    if _USE.fullmatch(use.text) is None:
        return f"expected $(matrix.{use.names[0]}) as the whole value, got text beside it"
    return None


def _uses(document: Document) -> Iterator[_Use]:
    members = document.data.items() if isinstance(document.data, dict) else ()
    for key, value in members:
        if key not in NOT_PUT_IN:
            yield from _uses_below(document, (key,), value)


def _uses_below(document: Document, path: Path, value: Any) -> Iterator[_Use]:
    key = path[-1]
    for text, is_key in ((key, True), (value, False)):
        if isinstance(text, str) and (found := _EITHER.findall(text)):
            position = document.key_position(path) if is_key else document.position(path)
            yield _Use(position, text, tuple([one or other for one, other in found]), is_key)
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for inner, below in members:
        yield from _uses_below(document, (*path, inner), below)


def _uses_without_a_matrix(document: Document) -> Iterator[FileProblem]:
    """Uses in a file that has no matrix, unless a cluster is called so: its root token is ``$(matrix.root)``."""
    if "(matrix." not in "".join((*document.lines, *document.shared_lines)):
        return
    lab = document.data.get("lab") if isinstance(document.data, dict) else None
    clusters = lab.get("clusters") if isinstance(lab, dict) else None
    if isinstance(clusters, dict) and MATRIX in clusters:
        return
    for use in _uses(document):
        if use.position.file:
            text = _misuse(use, ()) or ""
        else:
            text = f"expected the key matrix with values for {use.names[0]}, got none"
        yield FileProblem(use.position, text)


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        found = _USE.fullmatch(value)
        return known.get(found[1], value) if found else value
    if isinstance(value, dict):
        return {key: _filled(inner, known) for key, inner in value.items()}
    return [_filled(inner, known) for inner in value] if isinstance(value, list) else value


def _has(values: Sequence[Any], value: Any) -> bool:
    return any(value_text(value) == value_text(other) for other in values)


def _covers(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a combination has all values that are wanted."""
    return all(value_text(row[name]) == value_text(value) for name, value in wanted.items())
