"""Lab control: clock, verbs, calls, failures to come and reset of a served lab, for tests and pages.

A verb is one of a scenario's, with the same arguments; the answer comes when it has ended, and says whether it could be
done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.doors.control import ControlRequest, Handler
from labkit.doors.lab_app import LabApp
from labkit.doors.pages.lab_page import clock_of
from labkit.doors.vault_control import newest
from labkit.scenario.acts import ACTS, choices_of, names_of, read_act, shape_of
from labkit.scenario.verb import RUNBOOK, Parameter
from labkit.service.arguments import duration_ns, judge_failures, one_of, wrong
from labkit.service.durations import parse_duration

MAX_ADVANCE = "30d"
MAX_SPEED = 1_000_000


class LabControl:
    """What may be asked of a served lab beside the API.

    ``begin_again`` puts a new lab there, ``go_back`` the same as it was at an instant.
    """

    def __init__(self, app: LabApp, begin_again: Callable[[], None], go_back: Callable[[Any], None]) -> None:
        self.app, self._begin_again, self._go_back = app, begin_again, go_back

    def __repr__(self) -> str:
        return f"LabControl({self.app.lab!r})"

    @property
    def acts(self) -> dict[tuple[str, str], Handler]:
        """What there is, by method and path."""
        return {
            ("GET", "/control/clock"): self._clock,
            ("POST", "/control/clock/advance"): self._advance,
            ("POST", "/control/clock/step"): self._step,
            ("POST", "/control/clock/back"): self._back,
            ("POST", "/control/clock/speed"): self._speed,
            ("GET", "/control/verbs"): self._verbs,
            ("POST", "/control/verbs/<name>"): self._verb,
            ("GET", "/control/calls"): self._calls,
            ("DELETE", "/control/calls"): self._forget_calls,
            ("POST", "/control/fail-next"): self._fail_next,
            ("POST", "/control/reset"): self._reset,
        }

    async def _clock(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        return clock_of(self.app)

    async def _advance(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("duration")
        advance_ns = duration_ns("duration", asking.fields.get("duration", ""), seconds=True)
        if advance_ns > parse_duration(MAX_ADVANCE):
            raise wrong("duration", f"a duration of at most {MAX_ADVANCE}", asking.fields["duration"])
        await self.app.driver.advance(advance_ns)
        return clock_of(self.app)

    async def _back(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("to")
        self._go_back(asking.fields.get("to", ""))
        return clock_of(self.app)

    async def _step(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        happened = self.app.lab.step()
        return {**clock_of(self.app), "happened": happened}

    async def _speed(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("speed")
        self.app.driver.set_speed(judged_speed(asking.fields.get("speed")))
        return clock_of(self.app)

    async def _verbs(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        names = names_of(self.app.lab.blueprint)

        def shown(parameter: Parameter) -> dict[str, Any]:
            return {
                "name": parameter.name,
                "expected": parameter.expected,
                "shape": shape_of(parameter),
                "required": parameter.required,
                "default": None if parameter.required else parameter.default,
                "choices": [*choices_of(parameter, names)],
            }

        return {
            "verbs": [
                {
                    "name": verb.name,
                    "kind": verb.kind,
                    "about": verb.about,
                    "undo": verb.undo,
                    "parameters": [shown(parameter) for parameter in verb.parameters],
                }
                for verb in ACTS.values()
            ]
        }

    async def _verb(self, asking: ControlRequest) -> dict[str, Any]:
        lab, driver = self.app.lab, self.app.driver
        act = read_act(asking.name, {**asking.query, **asking.fields}, names_of(lab.blueprint))
        if act.verb.kind == RUNBOOK:
            ok, said = await driver.work_through(asking.name, **act.verb.runbook_arguments(act.arguments))
        else:
            assert act.verb.fault is not None
            ok, said = True, ""
            try:
                act.verb.fault(lab.faults, act.arguments)
            except ValueError as error:
                ok, said = False, str(error)
        driver.wake()
        return {"ok": ok, "did": act.text, "text": said, **clock_of(self.app)}

    async def _calls(self, asking: ControlRequest) -> dict[str, Any]:
        cluster = self._cluster(asking.query.get("cluster"))
        asked = asking._replace(query={name: value for name, value in asking.query.items() if name != "cluster"})
        return {"cluster": cluster, "calls": newest(self.app.calls[cluster], asked)}

    async def _forget_calls(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        for calls in self.app.calls.values():
            calls.clear()
        return {}

    async def _fail_next(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("cluster", "status", "times")
        cluster = self._cluster(asking.fields.get("cluster"))
        status, times = asking.fields.get("status", 0), asking.fields.get("times", 1)
        judge_failures(status, times)
        self.app.failures[cluster].extend([status] * times)
        return {}

    async def _reset(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        self._begin_again()
        return clock_of(self.app)

    def _cluster(self, name: Any) -> str:
        if name is None:
            raise ValueError(f"cluster: expected a cluster, got none; there are: {', '.join(self.app.lab.clusters)}")
        return one_of("cluster", "a cluster", name, self.app.lab.clusters)


def judged_speed(speed: Any) -> float:
    """Return a speed that can be had; raise ValueError for another."""
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 <= speed <= MAX_SPEED:
        what = f"simulated seconds in a second, a number from 0 to {MAX_SPEED}"
        raise ValueError(f"speed: expected {what}, got none") if speed is None else wrong("speed", what, speed)
    return speed
