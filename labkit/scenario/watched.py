"""Watched: a condition that a lab watches from an instant on, as ``always`` of a scenario file does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from labkit.scenario.acts import names_of
from labkit.scenario.conditions import ConditionPart, condition_of
from labkit.scenario.file_parts import fields_of, part_at
from labkit.scenario.measures import Seen
from labkit.scenario.problems import expected
from labkit.scenario.timed.over_time import OverTime
from labkit.scenario.timed.timed_conditions import ALWAYS, TimedCondition
from labkit.scenario.value_types import DeclaredNames

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.lab.queries import Queries
    from labkit.scenario.expect_keys import Expectations


class Watched:
    """One condition, and where it stands."""

    __slots__ = ("_kept", "_over_time", "_schedule", "_seen", "_timed")

    def __init__(
        self, name: str, says: Any, queries: Queries, invariants: Invariants, schedule: Callable[[int, Any], None]
    ) -> None:
        self._seen, self._schedule = Seen(queries, queries.parts.ledger, invariants), schedule
        self._kept: dict[str, Any] | None = None
        if isinstance(says, Mapping):
            condition = read_condition(says, names_of(queries.blueprint))
            self._timed = TimedCondition(ALWAYS, 1, name, condition, from_ns=queries.now, by_hand=True)
        else:
            timed, self._kept = says
            self._timed = TimedCondition.from_state(timed)
        self._over_time: OverTime | None = None
        if self._kept is not None:
            self.begin()

    def __repr__(self) -> str:
        return f"Watched({self._timed.text})"

    @property
    def judged(self) -> bool:
        """Whether there was any occasion to judge it."""
        return self._over_time is not None and self._over_time.judged

    def begin(self) -> None:
        """Judge it from now on, or from its instant on."""
        if self._over_time is None:
            self._over_time = OverTime((self._timed,), self._seen, self._schedule, self._kept)

    def on_timer(self, payload: Any) -> None:
        """Something that it put into the clock fell due."""
        if self._over_time is not None:
            self._over_time.on_timer(payload)

    def close(self) -> None:
        """Judge it no more."""
        if self._over_time is not None:
            self._over_time.close()

    def state(self) -> tuple[Any, ...]:
        """Return it as plain values; without where it stands before it begins."""
        return self._timed, self._over_time.state() if self._over_time is not None else None


def read_condition(says: Mapping[str, Any], names: DeclaredNames) -> Expectations:
    """Read a condition that is written as data; ValueError says what is wrong with it."""
    try:
        return condition_of(ConditionPart.model_validate(dict(says), context=names))
    except ValidationError as error:
        raise ValueError("; ".join(_said(says, row) for row in error.errors(include_url=False))) from None


def _said(says: Mapping[str, Any], row: Any) -> str:
    """Return one of the validator's errors in words; a plain value stands for {exactly: value}."""
    path: tuple[Any, ...] = ()
    inner: Any = says
    for part in row["loc"]:
        if part != "[key]" and isinstance(inner, Mapping | list):
            path, inner = (*path, part), inner[part] if isinstance(inner, list) else inner.get(part)
    where = ": ".join(map(str, path))
    if row["type"] == "value_error":
        text = str(row["ctx"]["error"])
    elif row["type"] == "extra_forbidden":
        text, where = expected("a key", path[-1], fields_of(part_at(ConditionPart, path[:-1])[0])), ""
    else:
        text = expected(part_at(ConditionPart, path)[1], row["input"])
    return f"{where}: {text}" if where else text
