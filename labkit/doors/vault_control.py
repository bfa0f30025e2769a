"""Vault control: clock, calls, failures to come and reset of a served vault, for tests in another process.

What may take long, as keys rotate when the clock is moved, is done in turn with long requests, in the thread of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from labkit.doors.control import ControlRequest, Handler
from labkit.doors.worker import Worker
from labkit.service.durations import format_instant
from labkit.vault.calls import Calls

MAX_SHOWN_CALLS = 1_000
AIMED = ("times", "path", "method")


@runtime_checkable
class Controlled(Protocol):
    """A vault, as far as it is controlled."""

    @property
    def calls(self) -> Calls:
        """The newest requests."""

    def now(self) -> int:
        """Return its wall clock in nanoseconds since the epoch."""

    def advance(self, duration: str | float) -> None:
        """Move its clock forward."""

    @property
    def aims(self) -> Sequence[Any]:
        """What is still to happen to requests to come."""

    @property
    def fail_next(self) -> Callable[..., None]:
        """Let the next requests to a path fail."""

    @property
    def answer_next(self) -> Callable[..., None]:
        """Answer the next requests to a path with a body."""

    @property
    def delay_next(self) -> Callable[..., None]:
        """Let the next requests to a path wait."""

    @property
    def drop_next(self) -> Callable[..., None]:
        """Let the next requests to a path get no answer."""

    def reset(self) -> None:
        """Begin again."""


class VaultControl:
    """What may be asked of a vault beside the API; ``vault`` may be replaced, ``steps`` is where long requests wait."""

    def __init__(self, vault: Controlled, steps: Worker) -> None:
        self.vault, self._steps = vault, steps

    def __repr__(self) -> str:
        return f"VaultControl({self.vault!r})"

    @property
    def acts(self) -> dict[tuple[str, str], Handler]:
        """What there is, by method and path."""
        return {
            ("GET", "/page/"): self._overview,
            ("GET", "/control/clock"): self._clock,
            ("POST", "/control/clock/advance"): self._advance,
            ("GET", "/control/calls"): self._calls,
            ("DELETE", "/control/calls"): self._forget_calls,
            ("GET", "/control/aims"): self._aims,
            ("POST", "/control/fail-next"): self._fail_next,
            ("POST", "/control/answer-next"): self._answer_next,
            ("POST", "/control/delay-next"): self._delay_next,
            ("POST", "/control/drop-next"): self._drop_next,
            ("POST", "/control/reset"): self._reset,
        }

    async def _overview(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        return {"serves": "vault", "control": True}

    async def _clock(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        now_ns = self.vault.now()
        return {"now_ns": now_ns, "now": format_instant(now_ns)}

    async def _advance(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("duration")
        await self._steps.run(partial(self.vault.advance, asking.fields.get("duration", "")))
        return await self._clock(ControlRequest("", {}, {}))

    async def _calls(self, asking: ControlRequest) -> dict[str, Any]:
        return {"calls": newest(self.vault.calls, asking)}

    async def _forget_calls(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        self.vault.calls.clear()
        return {}

    async def _aims(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        shown = ("path", "method", "times", "taken")
        return {"aims": [{"aim": repr(aim), **{name: getattr(aim, name) for name in shown}} for aim in self.vault.aims]}

    async def _fail_next(self, asking: ControlRequest) -> dict[str, Any]:
        return _aimed(self.vault.fail_next, asking, "errors", "headers", status=0)

    async def _answer_next(self, asking: ControlRequest) -> dict[str, Any]:
        return _aimed(self.vault.answer_next, asking, "body", "headers", status=0)

    async def _delay_next(self, asking: ControlRequest) -> dict[str, Any]:
        return _aimed(self.vault.delay_next, asking, "when", duration="")

    async def _drop_next(self, asking: ControlRequest) -> dict[str, Any]:
        return _aimed(self.vault.drop_next, asking, "when")

    async def _reset(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        await self._steps.run(self.vault.reset)
        return {}


def _aimed(aim: Callable[..., None], asking: ControlRequest, *own: str, **required: Any) -> dict[str, Any]:
    """Aim at requests to come: which are meant, and what is to happen to them; ``required`` where it is left out."""
    asking.only(*required, *own, *AIMED)
    aim(**{**required, **asking.fields})
    return {}


def newest(calls: Calls, asking: ControlRequest) -> list[dict[str, Any]]:
    """Return the newest calls, oldest first: as many as ``last`` says, 100 unless given."""
    asking.only("last")
    last = asking.query.get("last", "100")
    if not (last.isascii() and last.isdigit() and 1 <= len(last) <= 4 and 1 <= int(last) <= MAX_SHOWN_CALLS):
        raise ValueError(f"last: expected a whole number from 1 to {MAX_SHOWN_CALLS}, got {last[:40]!r}")
    named = ("method", "path", "status", "version", "key")
    return [{**{name: getattr(call, name) for name in named}, "names": [*call.names]} for call in calls[-int(last) :]]
