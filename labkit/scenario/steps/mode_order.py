"""Mode order: a step that needs a secondary, or a primary, has a step above it that can have made one.

It looks at the file only, so it names what no run can do: a promotion of a cluster that nothing has made a secondary.
A step that is to fail may stand anywhere.  After a request of the file's own to the replication endpoints any mode is
possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from labkit.scenario.scenario import Step

PRIMARY, SECONDARY = "primary", "secondary"

# Of each verb: the parameters whose clusters have to be in a mode, and those whose clusters are in one from then on.
NEEDS = {
    "promote": {"cluster": SECONDARY, "furthest ahead": SECONDARY},
    "demote": {"cluster": PRIMARY},
    "repoint": {"cluster": SECONDARY},
    "failover": {"old": PRIMARY, "new": SECONDARY},
}
MAKES = {
    "enable-primary": {"cluster": PRIMARY},
    "enable-secondary": {"cluster": SECONDARY},
    "replicate": {"primary": PRIMARY, "secondary": SECONDARY},
    "promote": {"cluster": PRIMARY, "furthest ahead": PRIMARY},
    "demote": {"cluster": SECONDARY},
    "failover": {"old": SECONDARY, "new": PRIMARY},
}
REPLICATION, REFERENCE = "replication", "$("  # in the path of a request: what follows cannot be known from the file


class OutOfOrder(NamedTuple):
    """A step that cannot be done where it stands: its number, the key to look at, and what is wrong."""

    step: int
    key: str
    text: str


def out_of_order(steps: Sequence[Step]) -> Iterator[OutOfOrder]:
    """Yield the steps that need a mode which no step above them can have brought about."""
    possible: set[tuple[str, str]] = set()
    for step in steps:
        arguments = dict(step.arguments)
        path = str(arguments.get("path", ""))
        if REPLICATION in path or REFERENCE in path:
            return
        if step.fails is None:
            yield from _missing(step, arguments, possible)
        made = MAKES.get(step.verb, {}).items()
        possible.update((name, mode) for key, mode in made for name in _named(arguments, key))


def _missing(step: Step, arguments: dict[str, Any], possible: set[tuple[str, str]]) -> Iterator[OutOfOrder]:
    for key, mode in NEEDS.get(step.verb, {}).items():
        for cluster in _named(arguments, key):
            if (cluster, mode) in possible:
                continue
            text = f"expected a {mode}, got '{cluster}', which no step above makes one; "
            advice = f"add a step above such as {{do: replicate, primary: {_pair(cluster, mode)}}}"
            yield OutOfOrder(step.number, key, f"{text}{advice}, or fails: true to this one")


def _named(arguments: dict[str, Any], key: str) -> tuple[str, ...]:
    """Return the clusters that a parameter names: one, several, or none where it is left out."""
    value = arguments.get(key)
    return () if value is None else tuple(value) if isinstance(value, list | tuple) else (value,)


def _pair(cluster: str, mode: str) -> str:
    return f"{cluster}, secondary: …" if mode == PRIMARY else f"…, secondary: {cluster}"
