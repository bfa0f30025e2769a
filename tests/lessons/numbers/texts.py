"""Texts: what a reader of a lesson reads, piece by piece, and the numbers in it.

1. Read are the Markdown cells, the sentences and comments of code cells, and every sentence of the lesson's modules:
   questions, choices, replies, explanations, conditions, hints, recalls, and what its ways say of themselves.
   Code is not: what ways, traps and starts do, names of traps, and the text that an exercise begins with.
2. A number is digits or a word for them.  Digits within a name (paris-1, orders/6, v2) are a name.
3. *One* is a number where it stands before a thing that some lesson counts by another number; elsewhere it is a
   pronoun.  *One way* is a direction, except in *more than one way*.  *None*, *both* and *once* are not counted.
4. *A second*, *an hour*, *each minute* are one of them.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import labkit
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.plan import Act
from labkit.places import notebooks

PACKAGE = Path(labkit.__file__).parent / "lessons"
UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS: dict[str, float] = {word: number for number, word in enumerate((*UNITS, *TEENS))}
WORDS |= {word: 10 * number for number, word in enumerate(TENS, 2)}
WORDS |= {"hundred": 100, "thousand": 1_000, "twice": 2, "half": 1 / 2, "third": 3, "quarter": 1 / 4}
WORDS |= {"fifth": 1 / 5, "tenth": 1 / 10, "thrice": 3, "dozen": 12}
DIGITS = r"(?<![\w./-])\d+(?:,\d{3})*(?:\.\d+)?(?:e\d+)?"
WORD = rf"(?<![\w/-])(?:{'|'.join(WORDS)})\b(?!\.\w)"
TIME = r"(?:millisecond|minute|hour|day|month|year|second(?= (?:later|earlier|apart|passes|after|at|to|and)\b|[.,;]|$))"
SPAN = rf"(?<!half )(?<!of )(?<!times )\b(?:an?|each)(?= {TIME}\b)"
NUMBER = re.compile(f"{DIGITS}|{WORD}|{SPAN}", re.IGNORECASE)
PLURAL = re.compile(r" (?:more |other |key |different |acknowledged )*([a-z]{3,}s)\b")
SINGULAR = re.compile(r" ([a-z]+)")


class Text(NamedTuple):
    """A piece of what is read, without line breaks, and where it stands."""

    place: str
    text: str


class Number(NamedTuple):
    """A number in a text: what it is, and from where to where it stands."""

    value: float
    begins: int
    ends: int


def texts_of(number: str) -> list[Text]:
    """Return all that is read of a lesson."""
    return list(_kept(number))


@cache
def _kept(number: str) -> tuple[Text, ...]:
    return tuple([Text(place, " ".join(text.split())) for place, text in (*_of_notebook(number), *_of_modules(number))])


def numbers_in(text: str) -> list[Number]:
    """Return the numbers of a text, in order."""
    found = []
    for match in NUMBER.finditer(text):
        word = match[0].lower()
        if word == "one" and not _counts(text, *match.span()):
            continue
        value = float(word.replace(",", "")) if word[0].isdigit() else WORDS.get(word, 1)
        found.append(Number(value, *match.span()))
    return found


def _counts(text: str, begins: int, ends: int) -> bool:
    """Whether *one* at a place of a text is a number."""
    after = SINGULAR.match(text, ends)
    if after is None or after[1] not in counted_things():
        return False
    return after[1] != "way" or text[:begins].endswith("than ")


@cache
def counted_things() -> frozenset[str]:
    """Return what is counted in some lesson by a number other than one, in the singular."""
    found = set()
    for lesson in LESSONS:
        for _, text in texts_of(lesson):
            for match in NUMBER.finditer(text):
                plural = PLURAL.match(text, match.end())
                if plural and match[0].lower() != "one":
                    found.add(re.sub("ie$", "y", plural[1][:-1]))
    return frozenset(found)


def _of_notebook(number: str) -> Iterator[tuple[str, str]]:
    cells = json.loads((notebooks() / plan(number).file).read_text(encoding="utf-8"))["cells"]
    for place, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield f"cell {place}", source
        else:
            yield from ((f"cell {place}", text) for text in (*_sentences(ast.parse(source)), *_comments(source)))


def _of_modules(number: str) -> Iterator[tuple[str, str]]:
    acts = _acts(number)
    given = {exercise.begins_with for exercise in plan(number).exercises} - {""}
    for path in sorted((PACKAGE / LESSONS[number]).glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for text in _sentences(tree, acts):
            if text not in given:
                yield path.name, text
    for exercise in plan(number).exercises:
        for way in exercise.ways.values():
            yield f"the way {way.__name__}", way.__doc__ or ""


def _acts(number: str) -> frozenset[str]:
    """Return the names of the functions that are code to a reader: ways, traps, and what begins an exercise."""
    acts: list[Act] = [act for exercise in plan(number).exercises for act in exercise.ways.values()]
    acts += [trap.act for exercise in plan(number).exercises for trap in exercise.traps]
    return frozenset({act.__qualname__.partition(".")[0] for act in acts} | {"start"})


def _sentences(tree: ast.AST, acts: frozenset[str] = frozenset()) -> Iterator[str]:
    """Give the texts in a piece of Python that are for readers: what has a space in it, and choices."""
    if isinstance(tree, ast.FunctionDef) and tree.name in acts:
        return
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):  # a docstring
        return
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "Trap":
        return
    if isinstance(tree, ast.keyword) and tree.arg in ("name", "of", "number", "file", "answer"):
        return
    if isinstance(tree, ast.keyword) and tree.arg == "choices":
        yield " / ".join([str(one.value) for one in ast.walk(tree) if isinstance(one, ast.Constant)])
        return
    if isinstance(tree, ast.JoinedStr):
        said = "".join([str(part.value) if isinstance(part, ast.Constant) else "{}" for part in tree.values])
        yield from [said] if " " in said else []
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str) and " " in tree.value:
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _sentences(child, acts)


def _comments(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
