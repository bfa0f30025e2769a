"""Run page: the run of a served lab as its page plays it, how it differs from the one before, and what clients got.

1. It reads and changes nothing.  What is played is what was recorded up to now; the run goes on meanwhile.
2. The run before is the one that the lab was taken back from, or begun again after: it is kept to be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.doors.control import ControlRequest, Handler
from labkit.doors.lab_app import LabApp
from labkit.views import runs_apart
from labkit.views.acts_now import acts_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from labkit.views.player.player import Player

NOT_PLAYED = "this lab is a bench without pictures; serve a Lab to play it"
NO_RUN_BEFORE = "this is the first run: go back in time first, or begin again"


class RunPage:
    """The readings of a run; ``before`` is the trace of the run before.

    ``play`` gives what makes the player of the lab that stands there, ``why_not_back`` why it is not taken back.
    """

    def __init__(
        self, app: LabApp, play: Callable[[], Callable[[], Player] | None], why_not_back: Callable[[], str]
    ) -> None:
        self.app, self._play, self._why_not_back = app, play, why_not_back
        self.before: Any = None

    def __repr__(self) -> str:
        return f"RunPage({self.app.lab!r})"

    @property
    def acts(self) -> dict[tuple[str, str], Handler]:
        """What there is, by method and path."""
        return {
            ("GET", "/page/run"): self._run,
            ("GET", "/page/compare"): self._compare,
            ("GET", "/page/acts"): self._acts,
            ("GET", "/page/answers"): self._answers,
        }

    async def _run(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        play = self._play()
        if play is None:
            raise ValueError(NOT_PLAYED)
        with self.app.lab.parts.turns:
            return play().parts

    async def _compare(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        if self.before is None:
            raise ValueError(NO_RUN_BEFORE)
        with self.app.lab.parts.turns:
            found = runs_apart.of(self.app.lab.trace, self.before)
        picture = found.picture
        at_ns = found.at_ns
        return {"text": found.text, "at_ns": at_ns, "html": picture.figure, "description": picture.description}

    async def _acts(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        lab = self.app.lab
        with lab.parts.turns:
            acts = {verb: act._asdict() for verb, act in acts_now(lab.queries).items()}
        compare = "" if self.before is not None else NO_RUN_BEFORE
        return {"acts": acts, "back": self._why_not_back(), "compare": compare}

    async def _answers(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("whole")
        whole = asking.query.get("whole", "0")
        if not (whole.isascii() and whole.isdigit() and len(whole) <= 9):
            raise ValueError(f"whole: expected the number of an answer, got {whole[:40]!r}")
        return {"answers": self.app.answers.shown(int(whole))}
