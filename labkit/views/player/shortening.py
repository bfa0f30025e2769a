"""Shortening: a script of the house without comments and spaces, and with short names for what it declares.

1. Names of properties stay but for those that are handed in, and so does what is not declared in the script.
2. A name is declared in a function or outside of all.  In a function it has one short name, other than those of what
   the function uses from outside; what is declared outside of all has capitals.
3. A statement ends with a semicolon or a brace, so that lines may be joined: a test holds the scripts to it.  A brace
   after ``)``, ``=>``, ``;``, another brace or a word such as ``else`` holds statements, any other is an object or a
   pattern.
4. What is declared by ``const`` is declared by ``let``: nothing sets it, and one word packs better than two.
5. A stroke after a sign that asks for a value, or after a word such as ``return``, begins a pattern.

Without short names a page of a minute at 5 writes a second takes 22 KB packed, where 20 are allowed.
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
SMALL, CAPITAL = "etaoinsrlcdmupfhgbvwykxjqz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters; the small ones as often as texts have them: so the script packs better."""
NAME, TEXT, SPACE, SIGN = "name", "text", "space", "sign"
VARIABLE, BOTH, OTHER = "variable", "both", "other"
OUTSIDE = -1
ENDS = frozenset([",", ";", ")", "]", "}"])
BEFORE_BLOCK = frozenset([")", "=>", ";", "{", "}", "else", "try", "finally", "do"])
BEFORE_BOUND = frozenset(["(", ",", "[", "{", ":", "...", "const", "let"])
BEFORE_PATTERN = frozenset(
    [*"(,=:[!&|?{};<>+-*%", "=>", "...", "${", *(WORDS - {"this", "null", "true", "false", "undefined"})]
)
DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
PARTS = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*[\s\S]*?\*/)|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\d[\w.]*)"
    r"|(?P<sign>=>|\?\.(?!\d)|\.\.\.|.)"
)
PATTERN = re.compile(r"/(?![/*\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*")


class ScriptPart(NamedTuple):
    """A part of a script: what kind it is, and how it is written."""

    kind: str
    text: str


CONST, LET = ScriptPart(NAME, "const"), ScriptPart(NAME, "let")


class ScriptFunction(NamedTuple):
    """A function: its parameters and its body, from one place to before another, and the function around it, if any."""

    start: int
    end: int
    outer: int


def shortened(source: str, kept: Iterable[str] = (), properties: Sequence[str] = ()) -> str:
    """Return a script that does the same, with short names but for those that are kept.

    ``properties`` are names of properties that nothing but the script reads or writes: they become short too.
    """
    parts = [LET if part == CONST else part for part in parts_of(source) if part.kind != SPACE]
    uses = list(_uses(parts))
    names = _renamed(parts, uses, frozenset(kept))
    own = short_properties(source, properties)
    texts: list[str] = []
    for place, (part, use) in enumerate(zip(parts, uses, strict=True)):
        name = names.get(place, part.text)
        is_property = use == OTHER and part.kind == NAME
        said = own.get(part.text, part.text)
        texts += [said, ":"] if use == BOTH and said != name else []
        texts.append(said if is_property else name)
    return _joined(texts)


def short_properties(source: str, properties: Sequence[str]) -> dict[str, str]:
    """Return the short names of properties: none that the script has for anything."""
    there = {part.text for part in parts_of(source)}
    free = (name for name in _made_of(SMALL) if name not in there and name not in RESERVED)
    return dict(zip(properties, free, strict=False))


def _renamed(parts: Sequence[ScriptPart], uses: Sequence[str], kept: frozenset[str]) -> dict[int, str]:
    """Return the short name of each variable, by its place; those that stay are left out."""
    scopes = _scopes(parts)
    inside = _innermost(scopes, len(parts))
    declared = {(inside[by], parts[place].text) for place, by in _bound_places(parts) if uses[place] != OTHER}
    found: dict[int, tuple[int, str]] = {}  # by place: the scope that declares the name, and the name
    used: dict[int, set[tuple[int, str]]] = {}  # by scope: what it uses, its own and that of scopes around it
    taken = set(RESERVED | kept)
    for place, part in enumerate(parts):
        if uses[place] == OTHER:
            continue
        around = list(_around(scopes, inside[place]))
        owner = next((scope for scope in around if (scope, part.text) in declared), None)
        if owner is None or (owner == OUTSIDE and part.text in kept):
            taken.add(part.text)
            continue
        found[place] = (owner, part.text)
        for scope in around[: around.index(owner) + 1]:
            used.setdefault(scope, set()).add(found[place])
    short: dict[tuple[int, str], str] = {}
    first = {one: place for place, one in reversed(found.items())}
    times = Counter(found.values())
    for scope in (OUTSIDE, *range(len(scopes))):  # a function comes after the one around it
        mine = [one for one in used.get(scope, ()) if one[0] == scope]
        mine.sort(key=lambda one: (-times[one], one[1]) if scope == OUTSIDE else (first[one], ""))
        there = taken | {short[one] for one in used.get(scope, ()) if one[0] != scope}
        free = (name for name in _made_of(CAPITAL if scope == OUTSIDE else SMALL) if name not in there)
        short.update(zip(mine, free, strict=False))
    return {place: short[one] for place, one in found.items()}


def _scopes(parts: Sequence[ScriptPart]) -> list[ScriptFunction]:
    """Return every function, each after the one that it is in."""
    found: list[ScriptFunction] = []
    around: list[int] = []
    for place, part in enumerate(parts):
        while around and found[around[-1]].end <= place:
            around.pop()
        end = _function_end(parts, place, part)
        if end:
            found.append(ScriptFunction(place, end, around[-1] if around else OUTSIDE))
            around.append(len(found) - 1)
    return found


def _function_end(parts: Sequence[ScriptPart], place: int, part: ScriptPart) -> int:
    """Return where a function ends whose parameters begin at a place; 0 where none do."""
    if part.kind == NAME and part.text not in WORDS and parts[min(place + 1, len(parts) - 1)].text == "=>":
        return _body_end(parts, place + 2)
    if part.text != "(" or part.kind != SIGN:
        return 0
    close = _close_of(parts, place)
    after = parts[close + 1].text if close + 1 < len(parts) else ""
    if after == "=>":
        return _body_end(parts, close + 2)
    before = parts[place - 1] if place else part
    is_method = before.kind == NAME and before.text not in WORDS
    return _close_of(parts, close + 1) + 1 if after == "{" and is_method else 0


def _body_end(parts: Sequence[ScriptPart], place: int) -> int:
    """Return where the body of an arrow function ends: a block, or what comes before a comma or a bracket's end."""
    if parts[place].text == "{":
        return _close_of(parts, place) + 1
    depth = 0
    for end in range(place, len(parts)):
        kind, text = parts[end]
        is_end = (kind == SIGN and text in ENDS) or (kind == TEXT and text[0] == "}")
        if depth == 0 and is_end:
            return end
        depth += _change(parts[end])
    return len(parts)


def _close_of(parts: Sequence[ScriptPart], place: int) -> int:
    """Return where the bracket that begins at a place ends."""
    depth = 0
    for end in range(place, len(parts)):
        depth += _change(parts[end])
        if depth == 0:
            break
    return end


def _change(part: ScriptPart) -> int:
    """Return by how much a part goes deeper into brackets; a template's expression is one."""
    if part.kind == TEXT:
        return (part.text[-2:] == "${" and part.text[0] in "`}") - (part.text[0] == "}")
    return DEPTHS.get(part.text, 0) if part.kind == SIGN else 0


def _innermost(scopes: Sequence[ScriptFunction], length: int) -> list[int]:
    """Return the number of the innermost function at each place."""
    found = [OUTSIDE] * length
    for number, scope in enumerate(scopes):
        found[scope.start : scope.end] = [number] * (scope.end - scope.start)
    return found


def _around(scopes: Sequence[ScriptFunction], number: int) -> Iterator[int]:
    """Yield a function and those around it, and last what is outside of all."""
    while number != OUTSIDE:
        yield number
        number = scopes[number].outer
    yield OUTSIDE


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
        last = last if part.kind == SPACE else "${" if part.text.endswith("${") else part.text


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


def _bound_places(parts: Sequence[ScriptPart]) -> Iterator[tuple[int, int]]:
    """Yield where names are declared, and a place in the function that declares them."""
    for place, part in enumerate(parts):
        if part.text in ("const", "let"):
            yield from ((found, place) for found in _bound(parts, place + 1, ("of", ";")))
        elif part.text == "function":
            yield place + 1, place
        end = _function_end(parts, place, part)
        if end and part.kind == NAME:
            yield place, place
        elif end:
            yield from ((found, place) for found in _bound(parts, place + 1, (")",)))


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


def _made_of(letters: str) -> Iterator[str]:
    for length in count(0):
        for first in letters:
            for number in range(len(SMALL) ** length):
                yield first + "".join(SMALL[number // len(SMALL) ** place % len(SMALL)] for place in range(length))


def _joined(texts: Sequence[str]) -> str:
    """Return parts as one text.

    A space is only where two parts would be read as one; no semicolon or comma stands before the end of a bracket, no
    brackets around a single parameter, and names that are declared one after the other are declared together.
    """
    found: list[str] = []
    begins = [""]  # in each open bracket: the first part of the statement
    place = 0
    while place < len(texts):
        text, here, last = texts[place], texts[place : place + 4], found[-1] if found else ";"
        if last in (";", "{", "}", ""):
            begins[-1] = text
        if text == ";" and here[1:2] == [begins[-1]] and begins[-1] == "let":
            text, place = ",", place + 1
        elif here[0] == "(" and here[2:] == [")", "=>"] and re.match(r"[\w$]", here[1]):
            text, place = here[1], place + 2
        if (text == "}" and last == ";") or (text in (")", "]", "}") and last == ","):
            found.pop()
        elif _is_one(last, text):
            found.append(" ")
        begins += [""] if text in ("(", "[", "{") else []
        begins = begins[:-1] if text in (")", "]", "}") else begins
        found.append(text)
        place += 1
    return "".join(found)


def _is_one(last: str, text: str) -> bool:
    """Whether two parts would be read as one."""
    are_words = re.match(r"[\w$]", last[-1]) and re.match(r"[\w$]", text)
    return bool(are_words) or (last[-1] in "+-" and text[0] == last[-1])
