"""Time axis: round instants to mark on an axis, stretches of a round length, and numbers for marks that crowd."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.service.durations import MILLISECOND_NS, SECOND_NS

TICKS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 3600)
MAX_TICKS = 11
SLICES_MS = tuple([digit * 10 ** int(power) for power in range(9) for digit in (1, 2, 5)])


def ticks(start_ns: int, end_ns: int, most: int = MAX_TICKS) -> list[tuple[int, str]]:
    """Return the round instants between two, at most so many or one more, each with its label."""
    seconds = (end_ns - start_ns) / SECOND_NS
    step_s = next((step for step in TICKS_S if seconds / step <= most), 0)
    step_ns = int((step_s or 3_600 * -(-int(seconds) // (most * 3_600))) * SECOND_NS)
    first = -(-start_ns // step_ns)
    return [(at_ns, f"{at_ns / SECOND_NS:.10g} s") for at_ns in range(first * step_ns, end_ns + 1, step_ns)]


def round_slice_ns(length_ns: int, count: int) -> int:
    """Return the least round length of which ``count`` or fewer cover a stretch of time."""
    sizes_ns = (size * MILLISECOND_NS for size in SLICES_MS)
    return next((size_ns for size_ns in sizes_ns if length_ns <= size_ns * count), length_ns)


def numbered(places: Sequence[float], apart: float) -> list[tuple[float, str]]:
    """Return numbers for marks at places, from left to right; those nearer than that share one, such as ``3-5``."""
    found: list[tuple[float, int, int]] = []
    for number, x in enumerate(places, 1):
        if found and x - found[-1][0] < apart:
            found[-1] = (found[-1][0], found[-1][1], number)
        else:
            found.append((x, number, number))
    return [(x, str(first) if first == last else f"{first}-{last}") for x, first, last in found]
