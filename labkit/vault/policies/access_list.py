"""Access lists: what the rules of several policies together let a caller do.

1. Rules with the same pattern merge: capabilities unite, a deny removes all others.  Different patterns never merge.
2. One rule decides about a path: the one whose pattern is the path; else, of the longest prefix rule and all ``+``
   rules that match, the greatest by ``_Ranked``.  A list that no rule fits is judged without its last slash.
3. Parameter rules judge the top-level members of a request, names in lower case, and query parameters of a read.
   Text is compared with text (a ``*`` at either end stands for anything), a flag with a flag; no number matches any.
4. A rule whose pattern holds a template is skipped: there are no identities that it could name.

The order of rules is that of the product's ACL policies (public documentation, Policies).
"""

from __future__ import annotations

from _bisect import bisect_right  # the written module is not loaded (R24)
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.service.record import NamedTuple
from labkit.vault.policies import CAPABILITIES, CREATE, DENY, PATCH, READ, SUDO, UPDATE, RootAccess
from labkit.vault.policies.rules import ANY, Parameters, Rule

JUDGED_BY_PARAMETERS = CREATE | READ | UPDATE | PATCH

MAX_CACHED_CHOICES = 1_024  # paths whose rule an access list caches, of at most this number of characters in all:
MAX_CACHED_CHARACTERS = 65_536


class _Ranked(NamedTuple):
    """A ``+`` rule, ranked among all that match a path; the greatest rank decides.

    In this order: the later its first ``+`` or ``*``, no ``*`` at the end, the fewer ``+``, the longer, the later in
    the alphabet.  ``head`` is what stands before the first segment that is not fixed, ``parts`` are the rest.
    """

    rank: tuple[int, bool, int, int, str]
    head: str
    parts: list[str]
    prefix: bool
    rule: Rule

    def matches(self, rest: list[str]) -> bool:
        """Whether the segments of a path behind the head match."""
        parts = self.parts
        if len(rest) < len(parts) or (len(rest) > len(parts) and not self.prefix):
            return False
        last = len(parts) - 1
        for place, part in enumerate(parts):
            if part not in ("+", rest[place]):
                return self.prefix and place == last and rest[place].startswith(part)
        return True


def _ranked(rule: Rule) -> _Ranked:
    prefix = rule.pattern.endswith("*")
    body = rule.pattern.removesuffix("*")
    parts = body.split("/")
    fixed = min(parts.index("+") if "+" in parts else len(parts), len(parts) - 1)
    rank = (body.index("+"), not prefix, -parts.count("+"), len(body), body)
    return _Ranked(rank, "".join([part + "/" for part in parts[:fixed]]), parts[fixed:], prefix, rule)


class Acl:
    """What several policies together allow.  It is immutable: a change makes a new one."""

    __slots__ = ("_characters", "_exact", "_heads", "_listed", "_ordered", "_plain", "_prefixes", "_shorter")

    root = False

    def __init__(self, policies: Iterable[tuple[Rule, ...]]) -> None:
        merged: dict[str, Rule] = {}
        for policy in policies:
            for rule in policy:
                known = merged.get(rule.pattern)
                merged[rule.pattern] = rule if known is None else _merge(known, rule)
        self._exact: dict[str, Rule] = {}
        self._prefixes: dict[str, Rule] = {}
        self._heads: dict[str, list[_Ranked]] = {}
        for pattern, rule in merged.items():
            if "{{" in pattern:
                continue
            if pattern == "+" or "/+" in pattern or pattern.startswith("+/"):
                ranked = _ranked(rule)
                self._heads.setdefault(ranked.head, []).append(ranked)
            elif pattern.endswith("*"):
                self._prefixes[pattern[:-1]] = rule
            else:
                self._exact[pattern] = rule
        for candidates in self._heads.values():
            candidates.sort(key=lambda ranked: ranked.rank, reverse=True)
        self._ordered = sorted(self._prefixes)
        self._shorter = _shorter(self._ordered)
        # Which rule decides about a path, cached: its capabilities, and the rule itself when it needs parameters.
        self._plain: dict[str, tuple[int, Rule | None]] = {}
        self._listed: dict[str, tuple[int, Rule | None]] = {}
        self._characters = 0

    def allows(
        self,
        capability: int,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        listing: bool = False,
        wrap_ttl_ns: int = 0,
    ) -> bool:
        """Whether a capability on a path is granted to a request with these parameters and this wrapping (0: none).

        ``listing`` is for paths of lists (rule 2).  ``SUDO`` checks only the capability, not the request.
        """
        granted, rule = self._choice(path, listing)
        if not granted & capability:
            return False
        return rule is None or capability == SUDO or _permits(rule, capability, parameters or {}, wrap_ttl_ns)

    def answer(self, capability: int, path: str, listing: bool = False) -> bool | None:
        """Return what ``allows`` says of every request to a path; None where it depends on parameters or wrapping."""
        granted, rule = self._choice(path, listing)
        if not granted & capability:
            return False
        return True if rule is None or capability == SUDO else None

    def capabilities(self, path: str) -> list[str]:
        """Return the names of what is granted on a path, sorted; ``["deny"]`` for nothing."""
        granted, _ = self._choice(path.lstrip("/"), listing=True)
        return sorted([name for name, bit in CAPABILITIES.items() if (granted or DENY) & bit])

    def rules(self) -> list[Rule]:
        """Return all merged rules, sorted by pattern."""
        wild = [ranked.rule for candidates in self._heads.values() for ranked in candidates]
        return sorted([*self._exact.values(), *self._prefixes.values(), *wild], key=lambda rule: rule.pattern)

    def rule_for(self, path: str, listing: bool = False) -> Rule | None:
        """Return the one rule that decides about a path (rule 2), None where none matches."""
        short = path.removesuffix("/") if listing else path
        found = self._exact.get(path) or self._exact.get(short) or self._best(path)
        return self._best(short) if found is None and short != path else found

    def _choice(self, path: str, listing: bool) -> tuple[int, Rule | None]:
        choices = self._listed if listing else self._plain
        choice = choices.get(path)
        if choice is None:
            rule = self.rule_for(path, listing)
            choice = (0, None) if rule is None else (rule.capabilities, rule if rule.needs_parameters else None)
            self._keep(choices, path, choice)
        return choice

    def _keep(self, choices: dict[str, tuple[int, Rule | None]], path: str, choice: tuple[int, Rule | None]) -> None:
        """Cache a choice; a cache that is full, by paths or by their characters, begins again."""
        self._characters += len(path)
        if self._characters > MAX_CACHED_CHARACTERS or len(choices) >= MAX_CACHED_CHOICES:
            self._plain.clear()
            self._listed.clear()
            self._characters = len(path)
        choices[path] = choice

    def _best(self, path: str) -> Rule | None:
        """Return the best of the longest prefix rule and all ``+`` rules that match."""
        at = bisect_right(self._ordered, path) - 1
        while at >= 0 and not path.startswith(self._ordered[at]):
            at = self._shorter[at]
        prefix = self._ordered[at] if at >= 0 else ""
        best, rank = (self._prefixes[prefix], (len(prefix), False, 0, len(prefix), prefix)) if at >= 0 else (None, ())
        begin = 0 if self._heads else len(path) + 1
        while begin <= len(path):
            candidates = self._heads.get(path[:begin], ())
            rest = path[begin:].split("/") if candidates else []
            for candidate in candidates:
                if candidate.rank > rank and candidate.matches(rest):
                    best, rank = candidate.rule, candidate.rank
                    break
            begin = path.find("/", begin) + 1 or len(path) + 1
        return best


Access = Acl | RootAccess
"""What a token may do."""


def _shorter(ordered: list[str]) -> list[int]:
    """Return, for each of some sorted texts, the position of the longest other one that it begins with; -1 for none.

    The longest of these that any text begins with is found from the position where the text would be sorted in: there,
    or at one of the positions that follow from it.
    """
    shorter: list[int] = []
    for at, text in enumerate(ordered):
        position = at - 1
        while position >= 0 and not text.startswith(ordered[position]):
            position = shorter[position]
        shorter.append(position)
    return shorter


def _merge(one: Rule, other: Rule) -> Rule:
    """Unite two rules for the same pattern (rule 1); of times that both set, the smaller counts."""
    if (one.capabilities | other.capabilities) & DENY:
        return Rule(one.pattern, DENY)
    return Rule(
        one.pattern,
        one.capabilities | other.capabilities,
        _merge_parameters(one.allowed, other.allowed),
        _merge_parameters(one.denied, other.denied),
        tuple(dict.fromkeys((*one.required, *other.required))),
        _smaller(one.min_wrapping_ttl_ns, other.min_wrapping_ttl_ns),
        _smaller(one.max_wrapping_ttl_ns, other.max_wrapping_ttl_ns),
    )


def _merge_parameters(one: Parameters, other: Parameters) -> Parameters:
    """Unite values by name; where either side takes any value, both do."""
    merged = dict(one)
    for name, values in other.items():
        known = merged.get(name)
        merged[name] = values if known is None else (*known, *values) if known and values else ()
    return merged or ANY


def _smaller(one: int, other: int) -> int:
    return min(one, other) if one and other else one or other


def _permits(rule: Rule, capability: int, parameters: Mapping[str, Any], wrap_ttl_ns: int) -> bool:
    """Judge a request's wrapping and, of reads and writes, its parameters."""
    max_ttl_ns = rule.max_wrapping_ttl_ns
    # Merged rules may have a minimum above their maximum; then every TTL is refused.
    if wrap_ttl_ns < rule.min_wrapping_ttl_ns or (max_ttl_ns and not 0 < wrap_ttl_ns <= max_ttl_ns):
        return False
    return not capability & JUDGED_BY_PARAMETERS or _fits(rule, parameters)


def _fits(rule: Rule, parameters: Mapping[str, Any]) -> bool:
    """Judge parameters (rule 3): required ones, then denied ones, then allowed ones."""
    given = [(name.lower(), value) for name, value in parameters.items()]
    names = {name for name, _ in given}
    if not names.issuperset(rule.required):
        return False
    if not given:
        return True
    denied, allowed = rule.denied, rule.allowed
    if "*" in denied or any(name in denied and _is_among(value, denied[name]) for name, value in given):
        return False
    others = "*" in allowed
    if not allowed or (others and len(allowed) == 1):
        return True
    return all(_is_among(value, allowed[name]) if name in allowed else others for name, value in given)


def _is_among(value: Any, values: tuple[Any, ...]) -> bool:
    return not values or any(_matches(value, wanted) for wanted in values)


def _matches(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, str) or not isinstance(value, str) or len(wanted) < 2:
        return _is_same(value, wanted)
    fixed_start, fixed_end = wanted[0] != "*", wanted[-1] != "*"
    if fixed_start and fixed_end:
        return value == wanted
    if fixed_start:
        return value.startswith(wanted[:-1])
    return value.endswith(wanted[1:]) if fixed_end else wanted[1:-1] in value


def _is_same(value: Any, wanted: Any) -> bool:
    """Compare with the type, so that 1 is not true; two numbers are never the same."""
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_is_same, value, wanted))
    if isinstance(wanted, dict):
        alike = isinstance(value, dict) and value.keys() == wanted.keys()
        return alike and all(_is_same(value[key], member) for key, member in wanted.items())
    return isinstance(wanted, (str, bool)) and type(value) is type(wanted) and bool(value == wanted)
