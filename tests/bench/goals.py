"""Goals: the rows of the table of ``make bench``: what is measured, in which unit, and what is wanted.

A row's work is made by names of the front door only: it runs on any version that has these.  A figure comes with the
microseconds of one piece of work where it is a ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import labkit
from labkit import Vault
from tests.bench import bench_login, bench_start, bench_transit, bench_vault, lab_rows
from tests.bench.bench_vault import Row, timed
from tests.bench.other_services import MOTO, NO_OTHER, SERVER, Other

Figure = tuple[float, float]
"""What was measured, and the microseconds of one piece of work (0: the figure says it itself)."""

Sample = Callable[[], Figure]


class Goal(NamedTuple):
    """A row: its name, unit and goal, what prepares a sample of it, and how often it is taken at most.

    ``prepare`` is given what a user would pick instead, None for labkit itself; ``others`` are what there is.
    """

    name: str
    unit: str
    goal: float
    prepare: Callable[[Other | None], Sample]
    is_rate: bool = False
    most_rounds: int = 1_000
    others: tuple[Other, ...] = ()

    def is_kept(self, figure: float) -> bool:
        """Whether a figure is within the goal."""
        return figure >= self.goal if self.is_rate else figure <= self.goal

    def gain(self, before: float, today: float) -> float:
        """Return how many times better a figure became."""
        return today / before if self.is_rate else before / today


def ratio(rows: Callable[[], Iterator[Row]], name: str) -> Callable[[Other | None], Sample]:
    """Return what prepares samples of one of the rows that are set against the least work."""

    def prepare(other: Other | None) -> Sample:
        row = next(row for row in rows() if row.what == name)
        work = row.ours if other is None else other.work(name)

        def sample() -> Figure:
            count = row.count if other is None else other.count
            ours, floor = timed(work, count), timed(row.floor, row.count)
            return ours / count / (floor / row.count), ours / count / 1e3

        return sample

    return prepare


def plain(make: Callable[[], Callable[[], float]]) -> Callable[[Other | None], Sample]:
    """Return what prepares samples of a lab's row."""

    def prepare(other: Other | None) -> Sample:
        measure = make()
        return lambda: (measure(), 0.0)

    return prepare


def login_rows() -> Iterator[Row]:
    """The rows of a login, of a vault of their own."""
    return bench_login.login_rows(Vault.dev())


def first_answer() -> Callable[[], float]:
    """What measures a fresh process of the labkit that is loaded here."""
    return bench_start.first_answer(Path(labkit.__file__).resolve().parents[1])


WRITE, READ, LOGIN = "KV write, 200 bytes", "KV read, 200 bytes", "login of a machine"
MANY_POLICIES = "KV read, 20 policies of 20 paths ÷ root token"
ENCRYPT, AUDITED = "transit encrypt, 32 bytes", "transit encrypt, with a file audit device"

GOALS = (
    Goal(WRITE, "×", 5.5, ratio(bench_vault.secret_rows, WRITE), others=(MOTO, SERVER)),
    Goal(READ, "×", 3.2, ratio(bench_vault.secret_rows, READ), others=(MOTO, SERVER)),
    Goal(MANY_POLICIES, "×", 1.05, ratio(bench_vault.policy_rows, MANY_POLICIES)),
    Goal("token create", "×", 13, ratio(bench_vault.token_rows, "token create"), others=(SERVER,)),
    Goal("token lookup", "×", 16, ratio(bench_vault.token_rows, "token lookup"), others=(SERVER,)),
    Goal(ENCRYPT, "×", 4.5, ratio(bench_vault.transit_rows, ENCRYPT), others=(MOTO, SERVER)),
    Goal(AUDITED, "×", 13, ratio(bench_transit.audited_rows, AUDITED), others=(SERVER,)),
    Goal(LOGIN, "×", 2.2, ratio(login_rows, LOGIN), others=(NO_OTHER,)),
    Goal("first answer of a fresh process", "× a cipher's", 1.5, plain(first_answer)),
    Goal("one hour of three busy clusters", "× real time", 330, plain(lab_rows.hour), is_rate=True),
    Goal("an idle pair, one hour", "s", 0.25, plain(lab_rows.idle)),
    Goal("failovers of 60 s in a second", "/s", 50, plain(lab_rows.failovers), is_rate=True),
    Goal("branch, 10,000 keys", "ms", 10, plain(lab_rows.branch)),
    Goal("250 clusters join in a star", "s", 8, plain(lab_rows.star_join), most_rounds=1),
    Goal("1,000 clusters join in pairs", "× the first joins", 2, plain(lab_rows.pair_joins), most_rounds=1),
    Goal("60 busy minutes, no trace", "MB/min", 0.3, plain(lab_rows.memory), most_rounds=1),
)
