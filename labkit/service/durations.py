"""Durations and instants in the API's spellings, as whole nanoseconds.

1. A duration comes as a number of seconds, as numeric text, or as parts like ``1h30m``: signs and the units ns us µs ms
   s m h, and whole days, ``2d``, also before other parts.
2. Arithmetic is exact: decimals are read digit by digit, never through floating point.
3. What does not fit into 64 bits of nanoseconds (292 years) is not a duration.
4. An instant is written as RFC 3339 in UTC with up to nine fractional digits, trailing zeros left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
DAY_S = 86_400
MAX_DURATION_NS = 2**63 - 1

UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, the micro sign
    "μs": 1_000,  # U+03BC, the Greek letter
    "ms": MILLISECOND_NS,
    "s": SECOND_NS,
    "m": 60 * SECOND_NS,
    "h": 3_600 * SECOND_NS,
    "d": DAY_S * SECOND_NS,
}

_MAX_TEXT = 200  # characters; the longest duration needs 27
_DIGITS = "0123456789"
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097  # after which the calendar repeats
_EPOCH_DAY = 719_468  # days from 0000-03-01 to 1970-01-01
_TWO_DIGITS = tuple([str(100 + number)[1:] for number in range(60)])


def parse_duration(value: Any) -> int:
    """Read a duration as nanoseconds; None and an empty text are 0; raise ValueError with the API's text.

    Numbers are seconds; one with a fraction is refused, because it has no unit (``1.5s`` has).
    """
    if value is None or value == "":
        return 0
    if isinstance(value, str):
        nanoseconds = _read(value)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("could not parse duration from input")
    elif isinstance(value, int) or value.is_integer():
        nanoseconds = int(value) * SECOND_NS
    else:
        raise ValueError(f"time: missing unit in duration {_quote(str(value))}")
    if not -MAX_DURATION_NS <= nanoseconds <= MAX_DURATION_NS:
        raise _invalid(_digits_of(value))
    return nanoseconds


def in_seconds(length_ns: int) -> str:
    """Write an instant or a length in seconds, to the millisecond: a half goes up, as the scripts of pages round."""
    milliseconds = (abs(length_ns) + MILLISECOND_NS // 2) // MILLISECOND_NS
    return f"{'-' if length_ns < 0 < milliseconds else ''}{milliseconds // 1_000}.{milliseconds % 1_000:03d}"


@lru_cache(maxsize=256)
def _read(text: str) -> int:
    digits = text[1:] if text[0] in "+-" else text
    if not digits or len(digits) > _MAX_TEXT:
        raise _invalid(text)
    bare = digits.isascii() and digits.isdigit()
    nanoseconds = int(digits) * SECOND_NS if bare else _add_parts(digits, text)
    return -nanoseconds if text[0] == "-" else nanoseconds


def _add_parts(parts: str, text: str) -> int:
    """Add up parts, each a decimal and its unit; ``text`` is what messages show."""
    total, at = 0, 0
    while at < len(parts):
        end = _end_of_digits(parts, at)
        whole, fraction, pointed = parts[at:end], "", parts[end : end + 1] == "."
        if pointed:
            at, end = end + 1, _end_of_digits(parts, end + 1)
            fraction = parts[at:end]
        if not whole and not fraction:
            raise _invalid(text)
        at = end
        while end < len(parts) and parts[end] not in "0123456789.":
            end += 1
        unit, at = parts[at:end], end
        if not unit:
            raise ValueError(f"time: missing unit in duration {_quote(text)}")
        if unit not in UNITS_NS:
            raise ValueError(f"time: unknown unit {_quote(unit)} in duration {_quote(text)}")
        if pointed and unit == "d":
            raise _invalid(text)
        total += int(whole or "0") * UNITS_NS[unit]
        total += int(fraction or "0") * UNITS_NS[unit] // 10 ** len(fraction)
    return total


def _end_of_digits(text: str, at: int) -> int:
    while at < len(text) and text[at] in _DIGITS:
        at += 1
    return at


def _invalid(text: str) -> ValueError:
    shown = text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."
    return ValueError(f"time: invalid duration {_quote(shown)}")


def _digits_of(value: Any) -> str:
    """Write out a value that is too large; Python refuses to write whole numbers of some thousand digits."""
    too_long = isinstance(value, int) and abs(value) >= 10**_MAX_TEXT
    return f"a number of more than {_MAX_TEXT} digits" if too_long else str(value)


def _quote(text: str) -> str:
    """Put a text between quotation marks; what is not printable ASCII becomes the bytes of its UTF-8."""
    return '"' + "".join([_shown(character) for character in text]) + '"'


def _shown(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character < "\x80":
        return character
    return "".join([f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass")])


def format_duration(nanoseconds: int) -> str:
    """Write a duration as ``768h0m0s``, ``1m30s``, ``1.5s``, ``20ms`` or ``0s``.

    Larger units are left out while zero, smaller ones kept; below a second one unit with a fraction says it all.
    """
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < SECOND_NS:
        name = "ns" if rest < UNITS_NS["us"] else "µs" if rest < UNITS_NS["ms"] else "ms"
        return f"{sign}{_decimal(rest, UNITS_NS[name])}{name}"
    minutes, rest = divmod(rest, 60 * SECOND_NS)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, SECOND_NS)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else sign + seconds


def format_short(seconds: int) -> str:
    """Write whole seconds without zero parts, as the API's warnings do: ``768h``, ``1h30m``, ``0s``."""
    sign, rest = ("-", -seconds) if seconds < 0 else ("", seconds)
    minutes, second = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{count}{unit}" for count, unit in ((hours, "h"), (minutes, "m"), (second, "s")) if count]
    return sign + "".join(parts) or "0s"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    return f"{whole}.{str(unit + rest)[1:].rstrip('0')}" if rest else str(whole)


def format_instant(nanoseconds: int) -> str:
    """Write nanoseconds since the epoch as RFC 3339 in UTC, for the years 0 to 9999."""
    seconds, fraction = divmod(nanoseconds, SECOND_NS)
    if fraction:
        digits = str(SECOND_NS + fraction)[1:].rstrip("0")
        return f"{_second(seconds)}.{digits}Z"
    return _second(seconds) + "Z"


@lru_cache(maxsize=1_024)
def format_stored(nanoseconds: int) -> str:
    """Write a stored instant as ``format_instant`` does: it is shown again and again (12 % of a token lookup)."""
    return format_instant(nanoseconds)


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    """Write seconds since the epoch as date and time; the instants of one answer are close together."""
    days, seconds = divmod(seconds, DAY_S)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_date(days)}T{_TWO_DIGITS[hour]}:{_TWO_DIGITS[minute]}:{_TWO_DIGITS[second]}"


@lru_cache(maxsize=64)
def _date(days: int) -> str:
    """Write days since 1970-01-01 as a date of the proleptic Gregorian calendar.

    Years are counted from March on, so that a leap day ends one (H. Hinnant, Low-Level Date Algorithms).  datetime has
    no year 0, and would be one module more to load (R24).
    """
    cycles, day = divmod(days + _EPOCH_DAY, _CYCLE_DAYS)
    year = (day - day // 1_460 + day // 36_524 - day // (_CYCLE_DAYS - 1)) // 365
    day -= _year_begins(year)
    months = (5 * day + 2) // 153  # since March
    year += _CYCLE_YEARS * cycles + months // 10
    return f"{year:04d}-{(months + 2) % 12 + 1:02d}-{day - _month_begins(months) + 1:02d}"


def _days(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date; raise ValueError where there is none."""
    months = (month + 9) % 12
    cycles, year_of_cycle = divmod(year - months // 10, _CYCLE_YEARS)
    days = cycles * _CYCLE_DAYS + _year_begins(year_of_cycle) + _month_begins(months) + day - 1 - _EPOCH_DAY
    if _date(days) != f"{year:04d}-{month:02d}-{day:02d}":
        raise ValueError(f"no such date: {year:04d}-{month:02d}-{day:02d}")
    return days


def _year_begins(year: int) -> int:
    """Return the day of a cycle on which the year begins that begins in March."""
    return 365 * year + year // 4 - year // 100


def _month_begins(months: int) -> int:
    """Return the day on which a month begins, of a year that begins in March."""
    return (153 * months + 2) // 5


def parse_instant(text: str) -> int:
    """Read RFC 3339, in UTC (``Z``) or with an offset, as nanoseconds since the epoch; raise ValueError."""
    head, fraction, zone = _split_instant(text)
    year, month, day = int(head[:4]), int(head[5:7]), int(head[8:10])
    hour, minute, second = int(head[11:13]), int(head[14:16]), int(head[17:19])
    if not (hour < 24 and minute < 60 and second < 60):
        raise ValueError(f"no such instant: {text!r}")
    try:
        days = _days(year, month, day)
    except ValueError:
        raise ValueError(f"no such instant: {text!r}") from None
    seconds = days * DAY_S + hour * 3_600 + minute * 60 + second - _offset_s(zone, text)
    return seconds * SECOND_NS + int(fraction.ljust(9, "0"))


def _split_instant(text: str) -> tuple[str, str, str]:
    """Split into ``2030-01-31T12:00:00``, the digits of the fraction, and the zone."""
    head, rest = text[:19], text[19:]
    fraction = ""
    digits = head[:4] + head[5:7] + head[8:10] + head[11:13] + head[14:16] + head[17:19]
    marks = head[4:5] + head[7:8] + head[10:11] + head[13:14] + head[16:17]
    if rest[:1] == ".":
        end = _end_of_digits(rest, 1)
        fraction, rest = rest[1:end], rest[end:]
        digits += fraction or "."
    if marks != "--T::" or not (digits.isascii() and digits.isdigit()) or len(fraction) > 9:
        raise _no_instant(text)
    return head, fraction, rest


def _no_instant(text: str) -> ValueError:
    return ValueError(f"an instant is written like 2030-01-31T12:00:00Z or 2030-01-31T12:00:00.5Z, not {text!r}")


def _offset_s(zone: str, text: str) -> int:
    if zone == "Z":
        return 0
    digits = zone[1:3] + zone[4:6]
    if len(zone) != 6 or zone[0] not in "+-" or zone[3] != ":" or not (digits.isascii() and digits.isdigit()):
        raise _no_instant(text)
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(f"no such offset: {text!r}")
    seconds = hours * 3_600 + minutes * 60
    return -seconds if zone[0] == "-" else seconds
