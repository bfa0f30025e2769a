"""Shortening: a script of the house without comments and spaces, and with short names for what it declares.

1. Names of properties stay, and so does what is not declared in the script.
2. What all statements of the outermost level know has one short name, in capitals; a name that is declared within one
   of them has one short name there.  No name comes to stand for two things where it stood for one.
3. A statement ends with a semicolon or a brace, so that lines may be joined.  A brace after ``)``, ``=>``, ``;``,
   another brace or a word such as ``else`` holds statements, any other is an object or a pattern.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

LISTED = (
    "async await break catch const continue delete do else false finally for function if in instanceof let new null of "
    "return this throw true try typeof undefined void while"
)
WORDS = frozenset(LISTED.split())
"""What names nothing."""
RESERVED = WORDS | frozenset(["as", "get", "set", "var", "with"])
SMALL, CAPITAL = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME, TEXT, SPACE, SIGN = "name", "text", "space", "sign"
VARIABLE, BOTH, OTHER = "variable", "both", "other"
BEFORE_BLOCK = frozenset([")", "=>", ";", "{", "}", "else", "try", "finally", "do"])
BEFORE_BOUND = frozenset(["(", ",", "[", "{", ":", "...", "const", "let"])
BEFORE_PATTERN = frozenset("(,=:[!&|?{};")
DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
PARTS = re.compile(
    r"(?P<space>\s+|//[^\n]*)|(?P<name>[A-Za-z_$][\w$]*)|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\d[\w.]*)"
    r"|(?P<sign>=>|\?\.(?!\d)|\.\.\.|.)"
)
PATTERN = re.compile(r"/(?![/*\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*")


class ScriptPart(NamedTuple):
    """A part of a script: what kind it is, and how it is written."""

    kind: str
    text: str


def shortened(source: str, kept: Iterable[str] = ()) -> str:
    """Return a script that does the same, with short names but for those that are kept."""
    parts = [part for part in parts_of(source) if part.kind != SPACE]
    uses, depths = list(_uses(parts)), list(_depths(parts))
    bound = [(place, by) for place, by in _bound_places(parts) if uses[place] != OTHER]
    common = {parts[place].text for place, by in bound if by >= 0 and depths[by] == 0} - set(kept)
    statements = list(_statements(parts, depths))
    own = [
        {parts[place].text for place, _ in bound if place in statement} - common - set(kept) for statement in statements
    ]
    used = [Counter(parts[place].text for place in statement if uses[place] != OTHER) for statement in statements]
    taken = {name for names, mine in zip(used, own, strict=True) for name in set(names) - mine} - common | RESERVED
    short = _short_names(common, sum(used, Counter()), CAPITAL, taken)
    texts: list[str] = []
    for statement, mine, names in zip(statements, own, used, strict=True):
        here = short | _short_names(mine, names, SMALL, taken)
        for place in statement:
            text = parts[place].text
            texts += [text, ":"] if uses[place] == BOTH and text in here else []
            texts.append(here.get(text, text) if uses[place] != OTHER else text)
    return _joined(texts)


def parts_of(source: str) -> Iterator[ScriptPart]:
    """Yield the parts of a script: of a template the texts between the expressions, and the parts of these."""
    place, last, open_braces = 0, ";", [0]  # of each template that is open, the braces within its expression
    while place < len(source):
        sign = source[place]
        ends_expression = sign == "}" and len(open_braces) > 1 and open_braces[-1] == 0
        if sign == "`" or ends_expression:
            part = _template(source, place)
            open_braces = open_braces[:-1] if ends_expression else open_braces
            open_braces += [0] if part.text.endswith("${") else []
        else:
            pattern = PATTERN.match(source, place) if last in BEFORE_PATTERN else None
            found = pattern or PARTS.match(source, place)
            assert found is not None
            part = ScriptPart(TEXT if pattern else str(found.lastgroup), found[0])
            open_braces[-1] += {"{": 1, "}": -1}.get(part.text, 0)
        yield part
        place += len(part.text)
        last = last if part.kind == SPACE else part.text[-1]


def _template(source: str, place: int) -> ScriptPart:
    """Return the text of a template from a place up to its end, or up to where its next expression begins."""
    found = TEMPLATE.match(source, place + 1)
    assert found is not None
    return ScriptPart(TEXT, source[place : found.end() + (1 if source[found.end()] == "`" else 2)])


def _uses(parts: Sequence[ScriptPart]) -> Iterator[str]:
    """Yield what each part is: a variable, the name of a property and a variable as in ``{ name }``, or neither."""
    brackets: list[str] = []
    for place, (kind, text) in enumerate(parts):
        before, after = parts[place - 1].text if place else ";", parts[min(place + 1, len(parts) - 1)].text
        use = VARIABLE if kind == NAME and text not in WORDS and before not in (".", "?.") else OTHER
        if kind == SIGN and text in "([{":
            brackets.append("block" if text == "{" and before in BEFORE_BLOCK else text)
        elif kind == SIGN and text in ")]}":
            brackets.pop()
        elif use == VARIABLE and brackets[-1:] == ["{"] and before in ("{", ",", "get"):
            use = OTHER if after in (":", "(") or before == "get" else BOTH
        yield use


def _depths(parts: Iterable[ScriptPart]) -> Iterator[int]:
    """Yield in how many brackets each part is; a bracket is outside of itself."""
    depth = 0
    for kind, text in parts:
        change = DEPTHS.get(text, 0) if kind == SIGN else 0
        depth += min(change, 0)
        yield depth
        depth += max(change, 0)


def _statements(parts: Sequence[ScriptPart], depths: Sequence[int]) -> Iterator[range]:
    """Yield the places of each statement of the outermost level."""
    start = 0
    for place, part in enumerate(parts):
        if depths[place] == 0 and part.text in (";", "}") and part.kind == SIGN:
            yield range(start, place + 1)
            start = place + 1
    yield range(start, len(parts))


def _bound_places(parts: Sequence[ScriptPart]) -> Iterator[tuple[int, int]]:
    """Yield where names are declared, with the place of the word that declares them; -1 for parameters."""
    for place, part in enumerate(parts):
        following = parts[place + 1].text if place + 1 < len(parts) else ""
        if part.text in ("const", "let"):
            yield from ((found, place) for found in _bound(parts, place + 1, ("of", ";")))
        elif part.text == "function":
            yield place + 1, place
            yield from ((found, -1) for found in _bound(parts, place + 3, (")",)))
        elif part.kind == NAME and following == "=>":
            yield place, -1
        elif part.text == "(" and _is_before_arrow(parts, place):
            yield from ((found, -1) for found in _bound(parts, place + 1, (")",)))


def _bound(parts: Sequence[ScriptPart], place: int, ends: tuple[str, ...]) -> Iterator[int]:
    """Yield where patterns bind names, up to a sign outside of their brackets; what they are set to is passed over."""
    depth, set_at = 0, -1
    while depth or parts[place].text not in ends:
        text = parts[place].text
        depth += DEPTHS.get(text, 0)
        if set_at < 0 and parts[place].kind == NAME and parts[place - 1].text in BEFORE_BOUND:
            yield place
        elif set_at < 0 and text == "=":
            set_at = depth
        elif depth < set_at or (depth == set_at and text == ","):
            set_at = -1
        place += 1


def _is_before_arrow(parts: Sequence[ScriptPart], place: int) -> bool:
    """Whether the bracket that begins at a place holds the parameters of an arrow function."""
    depth = 0
    for end in range(place, len(parts) - 1):
        depth += DEPTHS.get(parts[end].text, 0)
        if depth == 0:
            return parts[end + 1].text == "=>"
    return False


def _short_names(names: Iterable[str], times: Counter[str], letters: str, taken: set[str]) -> dict[str, str]:
    """Return a short name for each, beginning with one of some letters; the one that is used most has the shortest."""
    free = (name for name in _made_of(letters) if name not in taken)
    return {name: next(free) for name in sorted(names, key=lambda name: (-times[name], name))}


def _made_of(letters: str) -> Iterator[str]:
    for length in count(0):
        for first in letters:
            for number in range(len(SMALL) ** length):
                yield first + "".join(SMALL[number // len(SMALL) ** place % len(SMALL)] for place in range(length))


def _joined(texts: Iterable[str]) -> str:
    """Return parts as one text, with a space only where two would be read as one, and no semicolon before a brace."""
    found: list[str] = []
    for text in texts:
        if text == "}" and found[-1] == ";":
            found.pop()
        last = found[-1][-1] if found else ";"
        is_one = re.match(r"[\w$]", last) and re.match(r"[\w$]", text)
        if is_one or (last in "+-" and text[0] == last):
            found.append(" ")
        found.append(text)
    return "".join(found)
