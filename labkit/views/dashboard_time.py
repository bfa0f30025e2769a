"""Dashboard time: a slider of the instants that a lab can be shown at, what plays them, and the way back.

1. Moving the slider only shows; the lab goes back when *Go on from here* or *Back 10 s* is pressed.
2. Code that moves the slider, as time passes, shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from labkit.service.durations import SECOND_NS

STEPS, INTERVAL_MS = 40, 400
MILLISECOND_NS = 1_000_000


class TimeBar:
    """The slider and what plays it; ``look`` is called with an instant in nanoseconds, or None for now."""

    def __init__(self, now_ns: int, look: Callable[[int | None], None]) -> None:
        self.since_ns = self._now_ns = now_ns
        self._look, self._moves = look, False
        layout, style = ipywidgets.Layout(width="19rem"), {"description_width": "initial"}
        self.slider = ipywidgets.FloatSlider(
            description="Time", readout_format=".1f", step=0.1, continuous_update=False, layout=layout, style=style
        )
        self.play = ipywidgets.Play(
            min=0, max=STEPS, interval=INTERVAL_MS, show_repeat=False, layout=ipywidgets.Layout(width="auto")
        )
        self.put(now_ns)
        self.slider.observe(handler=lambda change: self._moved(change["new"]), names="value")
        self.play.observe(handler=lambda change: self._played(change["new"]), names="value")

    @property
    def parts(self) -> tuple[Any, Any]:
        """What stands in a row."""
        return self.slider, self.play

    def put(self, now_ns: int) -> None:
        """Let the slider end at an instant, and stand there; what is shown stays."""
        self._now_ns = now_ns
        self.since_ns = min(self.since_ns, now_ns)
        self._moves = True
        low, high = self.since_ns / SECOND_NS, now_ns / SECOND_NS
        with self.slider.hold_trait_notifications():
            self.slider.min, self.slider.max, self.slider.value = low, max(low, high), high
        self.slider.disabled = self.play.disabled = now_ns == self.since_ns
        self._moves = False

    def _moved(self, value: float) -> None:
        if self._moves:
            return
        at_ns = int(value * SECOND_NS) // MILLISECOND_NS * MILLISECOND_NS
        is_now = value >= self.slider.max
        self._look(None if is_now else max(self.since_ns, at_ns))

    def _played(self, step: int) -> None:
        """Show the instant of a step of the playing; the last one is now."""
        span = self.slider.max - self.slider.min
        self.slider.value = self.slider.min + span * step / STEPS
