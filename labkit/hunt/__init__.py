"""Hunt: schedules of faults and operators are drawn and played in labs; what breaks becomes a small scenario file."""

from __future__ import annotations

from labkit.hunt.exploration import Exploration
from labkit.hunt.explore import explore
from labkit.hunt.sweeping.frames import rows

__all__ = ["Exploration", "explore", "rows"]
