"""Outside a lab: contents, clock and seeded entropy are set back."""

from __future__ import annotations

from labkit.front.outside_lab import ResetPoint, ShiftedClock
from labkit.seeded import SeededEntropy
from labkit.vault.core import Environment
from labkit.vault.storage.memory import MemoryStorage


def test_clock_entropy_and_contents_go_back() -> None:
    clock, entropy, storage = ShiftedClock(lambda: 5), SeededEntropy(1, "a"), MemoryStorage()
    environment = Environment(clock, entropy, lambda kind, **fields: None, lambda fetch: None)  # type: ignore[arg-type, return-value]  # fetches nothing
    storage.apply({"a": b"1"}, 0)
    entropy(8)
    point = ResetPoint(storage, environment, {"serial": 3})
    storage.apply({"a": b"2"}, 0)
    expected = SeededEntropy(1, "a", counter=1)(8)
    entropy(8)
    clock.shift_ns = 7
    point.rewind(environment)

    assert (clock(), entropy(8), point.storage().get("a")) == (5, expected, b"1")
    assert point.state == {"serial": 3}
