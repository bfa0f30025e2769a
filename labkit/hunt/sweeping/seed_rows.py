"""Seed rows: the run of one seed, and the small row that is kept of it: verdict, measures, digest; never a trace."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from labkit.hunt.findings import exception_of
from labkit.hunt.sweeping.experiments import Experiment
from labkit.hunt.world import World, run_of, world_of
from labkit.scenario.measures import BROKEN, UNKNOWN
from labkit.scenario.verdict import Verdict, judge

EXCEPTION = 4
TRACE_DIGITS = 16
NEVER = "never"
"""What a file of rows has for a time that is infinite, which JSON has no number for."""


class SeedRow(NamedTuple):
    """What became of a seed: exit code, keys that are not as expected, measures, and the digest of its trace.

    ``wrong`` has the keys that are broken, ``unknown`` those that could not be judged.  ``rto_s`` is None without a
    promotion, and infinite where no write followed one.  Of an exception of labkit, code 4, ``error`` says what it was,
    and the rest is empty.

    Rows of labkits that kept no ``unknown`` keys have None there: they have these among ``wrong``, and for ``rto_s``
    None in both cases.
    """

    seed: int
    code: int
    wrong: tuple[str, ...] = ()
    lost: int = 0
    rpo_s: float = 0.0
    rto_s: float | None = None
    in_doubt: int = 0
    refused: int = 0
    digest: str = ""
    error: str = ""
    unknown: tuple[str, ...] | None = ()

    @classmethod
    def of(cls, data: dict[str, Any]) -> SeedRow:
        """Build it again from what a file has; TypeError or KeyError for anything else."""
        values = {"unknown": None, **data}
        values["wrong"] = tuple(values["wrong"])
        if values["unknown"] is not None:
            values["unknown"] = tuple(values["unknown"])
        if values.get("rto_s") == NEVER:
            values["rto_s"] = inf
        row = cls(**values)
        if type(row.seed) is not int or type(row.code) is not int:
            raise TypeError("a seed and a code are whole numbers")
        return row

    def data(self) -> dict[str, Any]:
        """Return it as a mapping of plain values that JSON has."""
        never = {"rto_s": NEVER} if self.rto_s == inf else {}
        return {**self.values(), **never}

    def values(self) -> dict[str, Any]:
        """Return it as a mapping of plain values."""
        return {
            **self._asdict(),
            "wrong": list(self.wrong),
            "unknown": None if self.unknown is None else [*self.unknown],
        }

    @property
    def text(self) -> str:
        """It in a few words, for whoever compares two."""
        if self.error:
            return self.error
        return f"exit code {self.code}, {self.lost} lost, digest {self.digest}"


class PlayedRow(NamedTuple):
    """A row, and how many messages its run delivered: what the run costs goes by these."""

    row: SeedRow
    messages: int


def play_seed(experiment: Experiment, seed: int) -> PlayedRow:
    """Play one seed to its end."""
    world: World | None = None
    try:
        world = world_of(experiment.scenario(seed))
        world.run()
        verdict = judge(run_of(world), world.queries, world.ledger, world.invariants, alone=False)
    except Exception as error:  # what labkit raises is a result of that seed, and the sweep goes on
        found = exception_of(error, seed, 0)
        row = SeedRow(seed, EXCEPTION, error=f"{found.detail} ({found.signature.what})")
        return PlayedRow(row, 0 if world is None else world.network.delivered)
    return PlayedRow(_row(world, verdict, seed), world.network.delivered)


def _row(world: World, verdict: Verdict, seed: int) -> SeedRow:
    ledger, point, time = world.ledger, world.ledger.rpo(), world.ledger.rto()
    return SeedRow(
        seed=seed,
        code=verdict.exit_code,
        wrong=_keys(verdict, BROKEN),
        lost=len(ledger.lost()),
        rpo_s=point.seconds,
        rto_s=inf if time.seconds is None and ledger.promotions else time.seconds,
        in_doubt=ledger.in_doubt,
        refused=ledger.refused,
        digest=world.trace.digest()[:TRACE_DIGITS],
        unknown=_keys(verdict, UNKNOWN),
    )


def _keys(verdict: Verdict, status: str) -> tuple[str, ...]:
    return tuple([row.key for row in verdict.rows if row.status == status])
