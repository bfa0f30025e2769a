"""Arguments: what a caller of a verb gave, judged before anything changes, in one sentence that a reader can act on.

The sentence of a wrong one names the argument, what was wanted, what came, and the names that there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from labkit.service.durations import SECOND_NS, parse_duration
from labkit.service.limits import is_text

MAX_SHOWN_CHARACTERS = 40
MAX_SHOWN_NAMES = 24
MAX_SEED = 2**64 - 1
MAX_DRIFT = 10
MAX_OFFSET_NS = 365 * 86_400 * SECOND_NS
MAX_FAILURES = 1_000_000

_UNIT_AT_ITS_END = re.compile(r"[a-zµμ]\Z")


def wrong(name: str, what: str, value: Any, known: Iterable[str] = ()) -> ValueError:
    """Return the error for an argument: its name, what was wanted, what came, and which names there are."""
    names = list(known)
    text = f"{name}: expected {what}, got {shown(value)}"
    if names:
        more = " …" if len(names) > MAX_SHOWN_NAMES else ""
        text += f"; there are: {', '.join(names[:MAX_SHOWN_NAMES])}{more}"
    if names and isinstance(value, str):
        from labkit.service.did_you_mean import nearest  # needed for errors only (R24)

        near = nearest(value, names)
        text += f" — did you mean '{near}'?" if near is not None else ""
    return ValueError(text)


def shown(value: Any) -> str:
    """Return how an error names a value: in short, and a value that is not plain by its type only."""
    if isinstance(value, str):
        text = "".join([character if character.isprintable() else "·" for character in value[:MAX_SHOWN_CHARACTERS]])
        return f"'{text}{'…' if len(value) > MAX_SHOWN_CHARACTERS else ''}'"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**MAX_SHOWN_CHARACTERS else f"a number of {value.bit_length()} bits"
    if value is None or isinstance(value, bool | float):
        return repr(value)
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def one_of(name: str, what: str, value: Any, known: Collection[str]) -> str:
    """Return a name that is known, as plain text; ValueError for any other value."""
    if not isinstance(value, str) or (found := value if type(value) is str else plain(value)) not in known:
        raise wrong(name, what, value, known)
    return found


def text(name: str, what: str, value: Any) -> str:
    """Return a text that is not empty, of any characters, as plain text; ValueError for any other value."""
    if not isinstance(value, str) or not value:
        raise wrong(name, what, value)
    return value if type(value) is str else plain(value)


def kept_text(name: str, what: str, value: Any) -> str:
    """Return a text as ``text`` does that has a UTF-8 form, as what is saved with a lab; ValueError for any other."""
    given = text(name, what, value)
    if not is_text(given):
        raise wrong(name, f"{what}, of characters that UTF-8 has", value)
    return given


def plain(value: str) -> str:
    """Return a text of a class derived from str, such as numpy's, as str itself: no other can be kept in a lab."""
    return value if type(value) is str else str.__str__(value)


def flag(name: str, value: Any) -> bool:
    """Return True or False; ValueError for any other value."""
    if not isinstance(value, bool):
        raise wrong(name, "True or False", value)
    return value


def whole_number(name: str, what: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number within limits; ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        raise wrong(name, what, value)
    return value if type(value) is int else int.__int__(value)


def percent(name: str, value: Any) -> float:
    """Return a number from 0 to 100; ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:  # not a number: False
        raise wrong(name, "a number of percent from 0 to 100 such as 5 or 0.5", value)
    return value


def drift_ppm(name: str, value: Any) -> int:
    """Return a drift, given in percent from -10 to 10, in parts per million; ValueError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MAX_DRIFT <= value <= MAX_DRIFT:
        raise wrong(name, f"a number of percent from -{MAX_DRIFT} to {MAX_DRIFT} such as 0.02", value)
    return round(value * 10_000)


def offset_ns(name: str, value: Any) -> int:
    """Return how far a clock is ahead, or with a leading hyphen behind, up to a year; else ValueError."""
    what = "a duration up to 365d that a clock is ahead such as 90s, or behind such as -90s"
    sign = -1 if isinstance(value, str) and value.startswith("-") else 1
    try:
        found_ns = duration_ns(name, value[1:] if sign < 0 else value)
    except ValueError:
        raise wrong(name, what, value) from None
    if found_ns > MAX_OFFSET_NS:
        raise wrong(name, what, value)
    return sign * found_ns


def seed(name: str, value: Any) -> int:
    """Return a seed: a whole number from 0 up that 64 bits hold; ValueError for any other value."""
    return whole_number(name, "a whole number from 0 to 2**64 - 1", value, 0, MAX_SEED)


def duration_ns(name: str, value: Any, *, seconds: bool = False) -> int:
    """Return a duration from 0 up in nanoseconds: text with its unit, or with ``seconds`` a number of them too.

    ValueError for any other value.  A part of a second counts to the nanosecond.
    """
    what = "a duration from 0s up such as 80ms, 1.5s, 1h30m or 2d"
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise wrong(name, what, value)
    if not isinstance(value, str) and not seconds:
        raise wrong(name, f"a duration with its unit such as {shown(value)}ms or {shown(value)}s", value)
    if isinstance(value, str) and not seconds and not _UNIT_AT_ITS_END.search(value):
        raise wrong(name, what, value)
    try:
        time_ns = parse_duration(f"{value:.9f}s" if isinstance(value, float) and seconds else value)
    except (ValueError, OverflowError):
        raise wrong(name, what, value) from None
    if time_ns < 0:
        raise wrong(name, what, value)
    return time_ns


def judge_failures(status: Any, times: Any) -> None:
    """Return if failures can be asked for; ValueError for a status or number that cannot be."""
    whole_number("status", "a status from 400 to 599", status, 400, 599)
    whole_number("times", f"a whole number from 1 to {MAX_FAILURES}", times, 1, MAX_FAILURES)
