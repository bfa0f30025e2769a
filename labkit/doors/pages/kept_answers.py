"""Kept answers: the newest answers that clients got from a served lab, for its page; values are masked until asked for.

1. Nothing is kept before a page is opened, and of each cluster only the newest few: a long one is said, not kept.
2. What is shown first has the names of members and no value; a number asks for one answer whole.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import Any, NamedTuple

from labkit.service.masked import shown
from labkit.service.message import Response
from labkit.service.request_path import readable
from labkit.service.wire_size import wire_size

MAX_KEPT = 20
MAX_BODY_BYTES = 65_536
TOO_LONG = {"warnings": ["the body is too long to be kept"]}


class KeptAnswer(NamedTuple):
    """One answer: its number, when it was given, what was asked, status and body."""

    number: int
    at_ns: int
    method: str
    path: str
    status: int
    body: Any

    def __repr__(self) -> str:
        return f"KeptAnswer({self.number}, {self.method} {self.path}, {self.status})"  # never its body


class KeptAnswers:
    """The newest answers of each cluster; ``wanted`` says whether any are kept."""

    __slots__ = ("_numbers", "_rows", "wanted")

    def __init__(self) -> None:
        self.wanted = False
        self._numbers = count(1)
        self._rows: dict[str, deque[KeptAnswer]] = {}

    def __repr__(self) -> str:
        return f"KeptAnswers({sum(map(len, self._rows.values()))})"

    def add(self, cluster: str, at_ns: int, asked: tuple[str, str], answer: Response) -> None:
        """Keep an answer of a cluster to a method and a path; nothing before it is wanted."""
        if not self.wanted:
            return
        method, path = asked
        body = answer.body if answer.body is None or wire_size(answer.body) <= MAX_BODY_BYTES else TOO_LONG
        row = KeptAnswer(next(self._numbers), at_ns, method[:10], readable(path)[:200], answer.status, body)
        self._rows.setdefault(cluster, deque(maxlen=MAX_KEPT)).append(row)

    def clear(self) -> None:
        """Forget all answers."""
        self._rows.clear()

    def shown(self, whole: int = 0) -> list[dict[str, Any]]:
        """Return the answers, newest first: in words without values, and the one that is asked for whole as it was."""
        found = [(row, name) for name, rows in self._rows.items() for row in rows]
        return [
            {
                **row._asdict(),
                "cluster": name,
                "said": "; ".join(f"{member}: {words}" for member, words in shown(row.body)),
                "body": row.body if row.number == whole else None,
            }
            for row, name in sorted(found, key=lambda one: -one[0].number)
        ]
