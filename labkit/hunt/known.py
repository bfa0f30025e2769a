"""Known: findings that are accepted, each with a reason and the date on which it was; one a line of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from labkit.hunt.campaign import FindingGroup
from labkit.hunt.findings import on_one_line

_LINE = re.compile(r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})\s+(?P<signature>(?!# )\S.*?)\s+# +(?P<reason>\S.*)")
WANTED = "a line such as 2026-05-01 one primary, after flap of other # lines of the office flap"


class Known(NamedTuple):
    """One accepted finding: since when, its signature in words, and why."""

    day: str
    signature: str
    reason: str


class UnusableKnown(ValueError):
    """A file of known findings that cannot be used."""


def read_known(name: str, text: str) -> tuple[Known, ...]:
    """Read a file of known findings; empty lines and those that begin with # are left out.

    A signature goes up to the first # with a space on both sides.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = _LINE.fullmatch(line.rstrip())
        if parts is None or not _is_day(parts["day"]):
            raise UnusableKnown(f"{name}:{number}: expected {WANTED}, got {line.strip()!r}")
        found.append(Known(parts["day"], on_one_line(parts["signature"]), parts["reason"]))
    return tuple(found)


def no_longer_found(known: Iterable[Known], groups: Iterable[FindingGroup]) -> tuple[Known, ...]:
    """Return the accepted findings that a campaign did not meet."""
    met = {group.signature.text for group in groups}
    return tuple([one for one in known if one.signature not in met])


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
