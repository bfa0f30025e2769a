"""Patterns: regular expressions that are matched in one pass over a text, whatever the expression and the text.

1. There are characters, ``.``, sets (``[a-z]``, ``[^/]``, ``\\d \\w \\s`` and their capitals), groups, ``|``, ``^``,
   ``$``, and repetitions ``* + ? {3} {3,} {3,5}``.  What needs trying again (references, looking ahead) is refused.
2. A pattern is a program of states; all states that the text so far can lead to are followed at once.  So the time is
   at most characters times states, whatever the text.
3. What a set of states becomes with a character is kept, up to a number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

Ranges = tuple[tuple[str, str], ...]
Tree = tuple[Any, ...]
"""``("set", negated, ranges)``, ``("start" | "end",)``, ``("all" | "any", trees)``, ``("times", tree, min, max)``."""

MAX_STATES, MAX_DEPTH, MAX_KEPT = 200, 50, 2_000

_LAST = "\U0010ffff"
_CLASSES: dict[str, Ranges] = {
    "d": (("0", "9"),),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "s": ((" ", " "), ("\t", "\n"), ("\f", "\r")),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


@lru_cache(maxsize=64)
def compiled(text: str) -> Pattern:
    """Read a pattern; raise ValueError that says what is wrong with it."""
    reader = _Reader(text)
    tree = reader.either(0)
    if reader.next:
        raise ValueError("a closing parenthesis without an opening one")
    return Pattern(tree)


class Pattern:
    """A pattern as a program: a list of states, each with what leads on from it."""

    __slots__ = ("_kept", "_states")

    def __init__(self, tree: Tree) -> None:
        self._states: list[tuple[Any, ...]] = []
        self._kept: dict[Any, frozenset[int]] = {}
        self._emit(tree)
        self._add("match")

    def __repr__(self) -> str:
        return f"Pattern({len(self._states)} states)"

    def found_in(self, text: str) -> bool:
        """Whether any part of a text matches."""
        accepting, size = len(self._states) - 1, len(text)
        reached: frozenset[int] = frozenset()
        for place in range(size + 1):
            reached = self._follow(reached | {0}, place == 0, place == size)
            if accepting in reached:
                return True
            if place < size:
                reached = self._after(reached, text[place])
        return False

    def _follow(self, states: frozenset[int], first: bool, last: bool) -> frozenset[int]:
        """Return the states that can be reached without a character, at the first or last place of a text or not."""
        key = (states, first, last)
        if key not in self._kept:
            seen, waiting = set(states), list(states)
            while waiting:
                kind, *rest = self._states[waiting.pop()]
                leads = kind == "go" or (kind == "start" and first) or (kind == "end" and last)
                fresh = [state for state in rest if state not in seen] if leads else []
                seen.update(fresh)
                waiting += fresh
            self._keep(key, frozenset(seen))
        return self._kept[key]

    def _after(self, states: frozenset[int], character: str) -> frozenset[int]:
        """Return the states that a character leads to."""
        key = (states, character)
        if key not in self._kept:
            sets = [state for state in states if self._states[state][0] == "set"]
            self._keep(key, frozenset([state + 1 for state in sets if _has(self._states[state], character)]))
        return self._kept[key]

    def _keep(self, key: Any, states: frozenset[int]) -> None:
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[key] = states

    def _add(self, *state: Any) -> int:
        if len(self._states) > MAX_STATES:
            raise ValueError(f"repetitions and characters come to more than {MAX_STATES} states")
        self._states.append(state)
        return len(self._states) - 1

    def _emit(self, tree: Tree) -> None:
        kind, *rest = tree
        if kind == "set":
            self._add(*tree)
        elif kind in ("start", "end"):
            self._add(kind, len(self._states) + 1)
        elif kind == "all":
            for part in rest[0]:
                self._emit(part)
        elif kind == "any":
            self._emit_any(rest[0])
        else:
            self._emit_times(*rest)

    def _emit_any(self, parts: tuple[Tree, ...]) -> None:
        ends = []
        for part in parts[:-1]:
            fork = self._add()
            self._emit(part)
            ends.append(self._add())
            self._states[fork] = ("go", fork + 1, len(self._states))
        self._emit(parts[-1])
        for end in ends:
            self._states[end] = ("go", len(self._states))

    def _emit_times(self, part: Tree, least: int, most: int | None) -> None:
        for _ in range(least):
            before = len(self._states)
            self._emit(part)
            if len(self._states) == before:
                return  # nothing, however often
        if most is None:
            fork = self._add()
            self._emit(part)
            self._add("go", fork)
            self._states[fork] = ("go", fork + 1, len(self._states))
            return
        forks = []
        for _ in range(most - least):
            forks.append(self._add())
            self._emit(part)
        for fork in forks:
            self._states[fork] = ("go", fork + 1, len(self._states))


def _has(state: tuple[Any, ...], character: str) -> bool:
    _, negated, ranges = state
    return any(first <= character <= last for first, last in ranges) is not negated


class _Reader:
    """Reads a pattern from left to right: one method per level of binding."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    @property
    def next(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, text: str) -> bool:
        """Take the next characters if they are these."""
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def either(self, depth: int) -> Tree:
        """Read what ``|`` parts."""
        if depth > MAX_DEPTH:
            raise ValueError(f"groups are nested deeper than {MAX_DEPTH}")
        parts = [self.sequence(depth)]
        while self.take("|"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else ("any", tuple(parts))

    def sequence(self, depth: int) -> Tree:
        """Read what follows one another."""
        parts: list[Tree] = []
        while self.next and self.next not in "|)":
            parts.append(self.repeated(self.one(depth)))
        return ("all", tuple(parts))

    def repeated(self, part: Tree) -> Tree:
        """Read how often a part comes."""
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.next)
        if counts is not None:
            self.at += 1
        elif self.next == "{":
            counts = self.counts()
        if counts is None:
            return part
        self.take("?")  # as few as possible: no other texts match
        if self.next and self.next in "*+?{":
            raise ValueError(f"a repetition of a repetition: {self.next}")
        return ("times", part, *counts)

    def counts(self) -> tuple[int, int | None]:
        """Read ``{3}``, ``{3,}`` or ``{3,5}``."""
        inside, closed, _ = self.text[self.at + 1 :].partition("}")
        least, comma, most = inside.partition(",")
        numbers = [number for number in (least, most) if number]
        if not closed or not least or not all(number.isdecimal() and len(number) < 4 for number in numbers):
            raise ValueError("a repetition is {3}, {3,} or {3,5}; a brace of its own is written \\{")
        self.at += len(inside) + 2
        last = int(most) if most else (None if comma else int(least))
        if last is not None and last < int(least):
            raise ValueError(f"a repetition from {least} to {last}")
        return int(least), last

    def one(self, depth: int) -> Tree:
        """Read a character, a set, an anchor or a group."""
        character = self.next
        self.at += 1
        if character in "^$":
            return ("start",) if character == "^" else ("end",)
        if character == ".":
            return ("set", True, (("\n", "\n"),))
        if character == "[":
            return self.set()
        if character == "\\":
            ranges, negated = self.escaped()
            return ("set", negated, ranges)
        if character in "*+?{":
            raise ValueError(f"nothing before {character}")
        if character != "(":
            return ("set", False, ((character, character),))
        if self.next == "?" and not self.take("?:"):
            raise ValueError("a group begins with ( or (?:")
        found = self.either(depth + 1)
        if not self.take(")"):
            raise ValueError("a group that is not closed")
        return found

    def escaped(self) -> tuple[Ranges, bool]:
        """Read what follows a backslash: characters, and whether all others are meant."""
        character = self.next
        self.at += 1
        if character.lower() in _CLASSES:
            return _CLASSES[character.lower()], character.isupper()
        if not character or (character.isalnum() and character not in _CONTROLS):
            raise ValueError(f"an escape that is not known: \\{character}")
        meant = _CONTROLS.get(character, character)
        return ((meant, meant),), False

    def set(self) -> Tree:
        """Read a set up to its bracket."""
        negated = self.take("^")
        ranges: list[tuple[str, str]] = []
        begun = self.at
        while self.at == begun or self.next != "]":
            if not self.next:
                raise ValueError("a set that is not closed")
            if self.text.startswith("[:", self.at):
                raise ValueError("a class with a name; there are \\d, \\w and \\s")
            first = self.member()
            if self.next == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self.member()
                if len({*first}) + len({*last}) > 2 or any(one != other for one, other in first + last) or first > last:
                    raise ValueError("a range in a set goes from a character to one that is not before it")
                first = ((first[0][0], last[0][1]),)
            ranges += first
        self.at += 1
        return ("set", negated, tuple(ranges))

    def member(self) -> Ranges:
        """Read one member of a set."""
        if self.take("\\"):
            ranges, negated = self.escaped()
            return _others(ranges) if negated else ranges
        character = self.next
        self.at += 1
        return ((character, character),)


def _others(ranges: Ranges) -> Ranges:
    """Return all other characters."""
    found, begin = [], 0
    for first, last in sorted(ranges):
        if ord(first) > begin:
            found.append((chr(begin), chr(ord(first) - 1)))
        begin = ord(last) + 1
    return (*found, (chr(begin), _LAST))
