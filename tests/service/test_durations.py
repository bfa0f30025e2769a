"""Durations and instants: the API's spellings, exact to the nanosecond, there and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.service.durations import (
    DAY_S,
    MAX_DURATION_NS,
    SECOND_NS,
    UNITS_NS,
    format_duration,
    format_instant,
    format_short,
    format_stored,
    in_seconds,
    parse_duration,
    parse_instant,
)

MINUTE, HOUR, DAY = 60 * SECOND_NS, 3_600 * SECOND_NS, DAY_S * SECOND_NS

EPOCH = datetime(1970, 1, 1)
FIRST_NS, LAST_NS = -62_135_596_800 * SECOND_NS, 253_402_300_799 * SECOND_NS + 999_999_999

NANOSECONDS = st.integers(-MAX_DURATION_NS, MAX_DURATION_NS)


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        (None, 0),
        ("", 0),
        (0, 0),
        ("0", 0),
        (90, 90 * SECOND_NS),
        (-5, -5 * SECOND_NS),
        (2.0, 2 * SECOND_NS),
        ("3600", HOUR),
        ("+5", 5 * SECOND_NS),
        ("-5", -5 * SECOND_NS),
        ("007", 7 * SECOND_NS),
        ("1h30m", 90 * MINUTE),
        ("1.5h", 90 * MINUTE),
        ("-5s", -5 * SECOND_NS),
        ("+5s", 5 * SECOND_NS),
        ("100ms", 100_000_000),
        ("1500ms", 1_500_000_000),
        ("2d", 2 * DAY),
        ("-2d", -2 * DAY),
        ("1d12h", 36 * HOUR),
        ("768h0m0s", 32 * DAY),
        (".5s", SECOND_NS // 2),
        ("1.s", SECOND_NS),
        ("1s1h1s", HOUR + 2 * SECOND_NS),
        ("1ns1us1µs1μs1ms", 1_003_001),
        ("0.000000001s", 1),
        ("1.9ns", 1),
        ("-1.9ns", -1),
        ("9223372036.854775807s", MAX_DURATION_NS),
        ("-2562047h47m16.854775807s", -MAX_DURATION_NS),
    ],
)
def test_a_duration_is_read(value, nanoseconds) -> None:
    assert parse_duration(value) == nanoseconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # recorded: an answer to "ttl": "x", and to "delete_version_after": "soon"
        ("x", 'time: invalid duration "x"'),
        ("soon", 'time: invalid duration "soon"'),
        ("-", 'time: invalid duration "-"'),
        (".", 'time: invalid duration "."'),
        ("s", 'time: invalid duration "s"'),
        (".s", 'time: invalid duration ".s"'),
        ("--5s", 'time: invalid duration "--5s"'),
        (" 5s", 'time: invalid duration " 5s"'),
        ("5s ", 'time: unknown unit "s " in duration "5s "'),
        ("1_000", 'time: unknown unit "_" in duration "1_000"'),
        ("٣", r'time: invalid duration "\xd9\xa3"'),
        ('5"\\', r'time: unknown unit "\"\\" in duration "5\"\\"'),
        ("5\n", r'time: unknown unit "\x0a" in duration "5\x0a"'),
        ("1.5", 'time: missing unit in duration "1.5"'),
        ("1h5", 'time: missing unit in duration "1h5"'),
        ("3y", 'time: unknown unit "y" in duration "3y"'),
        ("5é", r'time: unknown unit "\xc3\xa9" in duration "5\xc3\xa9"'),
        ("1.5d", 'time: invalid duration "1.5d"'),
        (1.5, 'time: missing unit in duration "1.5"'),
        (float("nan"), 'time: missing unit in duration "nan"'),
        (float("inf"), 'time: missing unit in duration "inf"'),
        (9_223_372_037, 'time: invalid duration "9223372037"'),
        ("9223372036.854775808s", 'time: invalid duration "9223372036.854775808s"'),
        ("-9223372036.854775808s", 'time: invalid duration "-9223372036.854775808s"'),
        ("106752d", 'time: invalid duration "106752d"'),
        (1e300, 'time: invalid duration "1e+300"'),
        (-(10**200), 'time: invalid duration "a number of more than 200 digits"'),
        ("9" * 5_000, f'time: invalid duration "{"9" * 200}..."'),
        ("9" * 150 + "." + "9" * 20 + "h", f'time: invalid duration "{"9" * 150}.{"9" * 20}h"'),
        (True, "could not parse duration from input"),
        ([1], "could not parse duration from input"),
        ({}, "could not parse duration from input"),
    ],
)
def test_what_is_no_duration_is_refused_in_the_words_of_the_api(value, text) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        parse_duration(value)


def test_a_number_that_cannot_be_written_out_is_refused_too() -> None:
    with pytest.raises(ValueError, match="more than 200 digits"):
        parse_duration(10**5_000)


@given(st.text(max_size=12) | st.text("+-.0123456789dhmsnuµμ", max_size=12))
@example("1d1d.5h")
def test_any_text_is_a_duration_or_a_value_error(text) -> None:
    nanoseconds, refusal = read(parse_duration, text)

    assert refusal.startswith("time: ") if refusal else abs(nanoseconds) <= MAX_DURATION_NS
    assert refusal or parse_duration(format_duration(nanoseconds)) == nanoseconds


def read(parse: Callable[[str], int], text: str) -> tuple[int, str]:
    """What a text is read as, or the words that it is refused with."""
    try:
        return parse(text), ""
    except ValueError as error:
        return 0, str(error)


@given(
    st.lists(st.tuples(st.integers(0, 99), st.sampled_from(sorted(UNITS_NS))), min_size=1, max_size=6), st.booleans()
)
def test_parts_add_up(parts, negative) -> None:
    text = "".join(f"{count}{unit}" for count, unit in parts)
    total = sum(count * UNITS_NS[unit] for count, unit in parts)

    assert parse_duration(f"-{text}" if negative else text) == (-total if negative else total)


@given(st.integers(0, 10**6), st.integers(0, 10**9 - 1))
def test_decimals_are_exact(whole, fraction) -> None:
    assert parse_duration(f"{whole}.{fraction:09d}s") == whole * SECOND_NS + fraction


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_100, "1.1µs"),
        (1_500, "1.5µs"),
        (1_000_000, "1ms"),
        (2_200_000, "2.2ms"),
        (999_999_999, "999.999999ms"),
        (SECOND_NS, "1s"),
        (3_300_000_000, "3.3s"),
        (90 * SECOND_NS, "1m30s"),
        (30 * MINUTE, "30m0s"),
        (HOUR, "1h0m0s"),
        (3 * HOUR + 25 * MINUTE + 19 * SECOND_NS, "3h25m19s"),
        (HOUR + 1, "1h0m0.000000001s"),
        (HOUR + 15 * MINUTE + 30_918_273_645, "1h15m30.918273645s"),
        (32 * DAY, "768h0m0s"),
        (-SECOND_NS, "-1s"),
        (-1_500, "-1.5µs"),
        (-90 * MINUTE, "-1h30m0s"),
        (MAX_DURATION_NS, "2562047h47m16.854775807s"),
    ],
)
def test_a_duration_is_written(nanoseconds, text) -> None:
    assert format_duration(nanoseconds) == text
    assert parse_duration(text) == nanoseconds


@given(NANOSECONDS)
def test_a_duration_that_is_written_is_read_as_the_same(nanoseconds) -> None:
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (1, "1s"),
        (60, "1m"),
        (3_600, "1h"),
        (3_601, "1h1s"),
        (5_400, "1h30m"),
        (2_764_800, "768h"),
        (-5_400, "-1h30m"),
    ],
)
def test_the_short_form_has_no_zero_parts(seconds, text) -> None:
    assert format_short(seconds) == text


@given(st.integers(-(10**9), 10**9))
def test_the_short_form_is_read_as_the_same(seconds) -> None:
    assert parse_duration(format_short(seconds)) == seconds * SECOND_NS


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        # RFC 3339, section 5.8
        (482_196_050_520_000_000, "1985-04-12T23:20:50.52Z"),
        (951_782_400 * SECOND_NS, "2000-02-29T00:00:00Z"),
        (1_893_456_000_120_000_000, "2030-01-01T00:00:00.12Z"),
        (4_107_542_400 * SECOND_NS, "2100-03-01T00:00:00Z"),
        (MAX_DURATION_NS, "2262-04-11T23:47:16.854775807Z"),
        (FIRST_NS, "0001-01-01T00:00:00Z"),
        (LAST_NS, "9999-12-31T23:59:59.999999999Z"),
        # years that the standard library's dates lack: 0000 is a leap year
        (FIRST_NS - DAY, "0000-12-31T00:00:00Z"),
        (FIRST_NS - 307 * DAY, "0000-02-29T00:00:00Z"),
        (FIRST_NS - 366 * DAY, "0000-01-01T00:00:00Z"),
    ],
)
def test_an_instant_is_written_and_read(nanoseconds, text) -> None:
    assert format_instant(nanoseconds) == format_stored(nanoseconds) == text
    assert parse_instant(text) == nanoseconds


@given(st.integers(FIRST_NS, LAST_NS))
def test_an_instant_that_is_written_is_read_as_the_same(nanoseconds) -> None:
    assert parse_instant(format_instant(nanoseconds)) == nanoseconds


@given(st.integers(FIRST_NS // 1_000, LAST_NS // 1_000))
def test_the_calendar_is_that_of_the_standard_library(microseconds) -> None:
    expected = (EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds")

    written = format_instant(microseconds * 1_000)

    assert written == (expected.rstrip("0") if "." in expected.rstrip("0") else expected).rstrip(".") + "Z"


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)), st.integers(-23 * 60, 23 * 60))
def test_an_offset_is_taken_off(local, minutes) -> None:
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    text = f"{local.isoformat(timespec='microseconds')}{sign}{size // 60:02d}:{size % 60:02d}"

    passed = local.replace(tzinfo=UTC) - timedelta(minutes=minutes) - EPOCH.replace(tzinfo=UTC)

    assert parse_instant(text) == passed // timedelta(microseconds=1) * 1_000


def test_the_example_with_an_offset() -> None:
    # RFC 3339, section 5.8
    assert parse_instant("1996-12-19T16:39:57-08:00") == parse_instant("1996-12-20T00:39:57Z")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2030-01-01",
        "2030-01-01T00:00:00",
        "2030-01-01 00:00:00Z",
        "2030-01-01T00:00:00z",
        "2030-01-01T00:00Z",
        "2030-1-1T00:00:00Z",
        "2030-01-01T00:00:00.Z",
        "2030-01-01T00:00:00.0000000001Z",
        "2030-01-01T00:00:00,5Z",
        "2030-01-01T00:00:00ZZ",
        "2030-01-01T00:00:00+0100",
        "2030-01-01T00:00:00+24:00",
        "2030-01-01T00:00:00+01:60",
        "2030-01-01T24:00:00Z",
        "2030-01-01T00:60:00Z",
        "2030-01-01T00:00:60Z",
        "2030-00-01T00:00:00Z",
        "2030-13-01T00:00:00Z",
        "2030-01-00T00:00:00Z",
        "2030-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "+030-01-01T00:00:00Z",
        "٢030-01-01T00:00:00Z",
    ],
)
def test_what_is_no_instant_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"instant|offset"):
        parse_instant(text)


@given(st.text(max_size=30) | st.text("0123456789-:.TZ+", min_size=15, max_size=30))
def test_any_text_is_an_instant_or_a_value_error(text) -> None:
    nanoseconds, refusal = read(parse_instant, text)

    assert not refusal or "instant" in refusal or "offset" in refusal
    assert refusal or parse_instant(format_instant(nanoseconds)) == nanoseconds


def test_a_text_is_shown_up_to_two_hundred_characters() -> None:
    assert parse_duration("0" * 199 + "5") == 5 * SECOND_NS
    assert parse_duration("-" + "0" * 199 + "5") == -5 * SECOND_NS
    for text, shown in (("x" * 200, "x" * 200), ("x" * 201, "x" * 200 + "..."), ("0" * 201, "0" * 200 + "...")):
        with pytest.raises(ValueError, match="invalid duration") as refused:
            parse_duration(text)
        assert str(refused.value) == f'time: invalid duration "{shown}"'


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0.000"),
        (22_062_500_000, "22.063"),
        (22_062_499_999, "22.062"),
        (22_063_500_000, "22.064"),
        (187_500_000, "0.188"),
        (999_999_999, "1.000"),
        (-1_500_000, "-0.002"),
        (-400_000, "0.000"),
    ],
)
def test_a_half_of_a_millisecond_goes_up(nanoseconds: int, text: str) -> None:
    assert in_seconds(nanoseconds) == text
