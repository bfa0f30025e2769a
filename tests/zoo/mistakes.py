"""Mistakes: what is planted in the code to see what finds it; the planted bugs of ``prove`` are among them.

1. A mistake replaces a function while a campaign runs; the code stays as it is.
2. ``rule`` is the standing rule that has to break, ``seeds`` so many schedules of the runbook operator that one of them
   breaks it.  A mistake with ``harmless`` is a control: what breaks in its campaign is an accusation of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from labkit.lab.invariants.rules import CATCHING_UP, VERSION_ORDER, WHOLE_COMMITS
from labkit.lab.nodes import replication_link
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.vault.engines.kv import store, versions
from labkit.vault.replication.serving_secondaries import QUESTIONS
from labkit.vault.replication.sync import on
from labkit.vault.replication.tree.journal import Journal


class Mistake(NamedTuple):
    """One mistake: what it is, what is replaced (object, name, value), the rule that breaks, and in how many seeds."""

    about: str
    replaced: tuple[tuple[Any, str, Any], ...]
    rule: str = ""
    seeds: int = 0
    harmless: str = ""


@contextmanager
def planted(mistake: Mistake) -> Iterator[None]:
    """Make a mistake for a while."""
    before = [(home, name, _get(home, name)) for home, name, _ in mistake.replaced]
    _replace(mistake.replaced)
    try:
        yield
    finally:
        _replace(before)


def _get(home: Any, name: str) -> Any:
    return home[name] if isinstance(home, dict) else getattr(home, name)


def _replace(rows: Sequence[tuple[Any, str, Any]]) -> None:
    for home, name, value in rows:
        if isinstance(home, dict):
            home[name] = value
        else:
            setattr(home, name, value)


def _gives_up(state: Any, event: Any) -> Any:
    """A secondary that failed once sets no timer to try again."""
    after, effects = on(state, event)
    return after, [effect for effect in effects if not (type(effect).__name__ == "StartTimer" and after.failures)]


def _drops_a_key(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Every seventh entry lacks the last key of its changes."""

    def applied(self: Journal, changes: Any, *rest: Any) -> Any:
        changes = list(changes)
        return apply(self, changes[:-1] if len(changes) > 1 and not self.last % 7 else changes, *rest)

    return applied


def _version_reused(key: Any, config: Any, now_ns: int) -> Any:
    """The fifth version does not count."""
    grown, version, pruned = versions.add_version(key, config, now_ns)
    return (grown._replace(current=key.current), version, range(0)) if key.current == 4 else (grown, version, pruned)


def _of_proof(name: str, rule: str = "", seeds: int = 0) -> Mistake:
    bug = PLANTED_BUGS[name]
    answers: Mapping[str, Any] = bug.answers
    asked = [(QUESTIONS, kind, answer) for kind, answer in answers.items()]
    return Mistake(bug.about, ((replication_link, "on", bug.on), *asked), rule, seeds, bug.harmless)


FOUND_BY_EXPLORE = {
    "gives-up": Mistake("a secondary does not try again", ((replication_link, "on", _gives_up),), CATCHING_UP, 4),
    "drops-a-key": Mistake(
        "an entry lacks a key", ((Journal, "apply", _drops_a_key(Journal.apply)),), WHOLE_COMMITS, 2
    ),
    "version-reused": Mistake("a version comes twice", ((store, "add_version", _version_reused),), VERSION_ORDER, 6),
    "gap-ignored": _of_proof("gap-ignored", WHOLE_COMMITS, 4),
    "stream-from-newest": _of_proof("stream-from-newest", WHOLE_COMMITS, 4),
    "deletions-forgotten": _of_proof("deletions-forgotten", WHOLE_COMMITS, 4),
}
"""{name: the mistake}: those that a campaign finds; ``prove`` finds all of its own."""

CONTROLS = {
    "stale-push": _of_proof("stale-push"),
    "clean": Mistake("none: the shipped code", (), harmless="nothing is planted"),
}
"""What a campaign must not complain of."""
