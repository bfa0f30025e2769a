"""Arguments of a verb: what is right comes back, and what is wrong is named in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.arguments import (
    MAX_OFFSET_NS,
    MAX_SEED,
    MAX_SHOWN_NAMES,
    drift_ppm,
    duration_ns,
    flag,
    kept_text,
    offset_ns,
    one_of,
    percent,
    seed,
    shown,
    text,
    whole_number,
    wrong,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (7, "7"),
        (2.5, "2.5"),
        (float("nan"), "nan"),
        ("tokio", "'tokio'"),
        ("a\nb\x1b[31m", "'a·b·[31m'"),
        ("x" * 50, f"'{'x' * 40}…'"),
        (10**4_000, "a number of 13288 bits"),
        ([1], "a list"),
        (object(), "an object"),
        (b"secret", "a bytes"),
    ],
)
def test_a_value_is_shown_in_short(value: Any, text: str) -> None:
    assert shown(value) == text


def test_the_sentence_names_the_nearest_and_not_too_many_names() -> None:
    assert str(wrong("to", "a cluster", "tokio", ["paris", "tokyo"])) == (
        "to: expected a cluster, got 'tokio'; there are: paris, tokyo — did you mean 'tokyo'?"
    )
    assert str(wrong("to", "a cluster", 3, [])) == "to: expected a cluster, got 3"
    assert str(wrong("to", "a node", 3, [f"n-{number}" for number in range(99)])).endswith("n-22, n-23 …")


@pytest.mark.parametrize(
    ("value", "time_ns"),
    [
        ("80ms", 80_000_000),
        ("1.5s", 1_500_000_000),
        ("1h30m", 5_400_000_000_000),
        ("0s", 0),
        ("7us", 7_000),
        ("2d", 172_800 * 10**9),
    ],
)
def test_a_duration_is_text_with_its_unit(value: str, time_ns: int) -> None:
    assert duration_ns("latency", value) == time_ns
    assert duration_ns("duration", value, seconds=True) == time_ns


@pytest.mark.parametrize(
    ("value", "time_ns"),
    [
        *[(value, 7 * 10**9) for value in (7, 7.0, "7")],
        (0.5, 500_000_000),
        (1.5, 1_500_000_000),
        (0.1, 100_000_000),
        (1e-9, 1),
        (2.0000000004, 2 * 10**9),
    ],
)
def test_where_seconds_are_meant_a_number_may_stand_alone(value: Any, time_ns: int) -> None:
    assert duration_ns("duration", value, seconds=True) == time_ns
    with pytest.raises(ValueError, match="expected a duration"):
        duration_ns("latency", value)


@pytest.mark.parametrize(
    "value",
    [None, True, "", "-1s", -1, -2.5, float("nan"), float("inf"), 1e300, "2.5", "1 s", "s", "10%", 10**30, [], "1e3s"],
)
def test_what_is_no_duration_is_refused(value: Any) -> None:
    for seconds in (False, True):
        with pytest.raises(ValueError, match=r"^timeout: expected a duration"):
            duration_ns("timeout", value, seconds=seconds)


RIGHT: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda value: one_of("a", "a site", value, ["paris", "tokyo"]), "tokyo"),
    (lambda value: text("name", "a name", value), "x"),
    (lambda value: flag("force", value), False),
    (lambda value: whole_number("factor", "a factor", value, 2, 9), 9),
    (lambda value: percent("percent", value), 0.5),
    (lambda value: percent("percent", value), 100),
    (lambda value: percent("percent", value), 0),
    (lambda value: seed("seed", value), 0),
    (lambda value: seed("seed", value), MAX_SEED),
]


@pytest.mark.parametrize(("judge", "value"), RIGHT)
def test_what_is_right_comes_back(judge: Callable[[Any], Any], value: Any) -> None:
    assert judge(value) is value


@given(
    value=st.one_of(
        st.none(),
        st.lists(st.integers()),
        st.binary(),
        st.sampled_from([-1, 10, MAX_SEED + 1, 100.1, float("nan"), float("-inf"), "", ["paris"], 10**4_000]),
    )
)
def test_what_is_wrong_for_all_is_refused_by_all(value: Any) -> None:
    for judge in (RIGHT[0][0], RIGHT[1][0], RIGHT[2][0], RIGHT[3][0]):
        with pytest.raises(ValueError, match=": expected "):
            judge(value)


@pytest.mark.parametrize("value", [-0.1, 100.1, float("nan"), float("inf"), True, "10%", None, 10**4_000])
def test_what_is_no_percentage_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="percent: expected a number of percent from 0 to 100"):
        percent("percent", value)


@pytest.mark.parametrize("value", [-1, MAX_SEED + 1, 7.0, True, "7", None])
def test_what_is_no_seed_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="seed: expected a whole number from 0"):
        seed("seed", value)


@pytest.mark.parametrize(
    ("value", "ns"), [("90s", 90 * 10**9), ("-1.5s", -1_500_000_000), ("-0s", 0), ("365d", MAX_OFFSET_NS)]
)
def test_a_clock_is_ahead_or_behind(value: str, ns: int) -> None:
    assert offset_ns("by", value) == ns


@pytest.mark.parametrize("value", ["", "-", "--1s", "90", 90, "366d", "-366d", None, True, b"1s"])
def test_what_is_no_offset_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="by: expected a duration up to 365d that a clock is ahead"):
        offset_ns("by", value)


def test_a_drift_is_a_percentage_of_either_sign() -> None:
    assert [drift_ppm("drift", value) for value in (0, 0.02, -10)] == [0, 200, -100_000]
    for value in (10.1, -11, "1%", True, float("nan")):
        with pytest.raises(ValueError, match="drift: expected a number of percent from -10 to 10"):
            drift_ppm("drift", value)


@pytest.mark.parametrize(("count", "more"), [(MAX_SHOWN_NAMES, ""), (MAX_SHOWN_NAMES + 1, " …")])
def test_what_there_is_more_of_is_said_only_where_there_is_more(count: int, more: str) -> None:
    names = [f"n{number}" for number in range(count)]

    assert str(wrong("cluster", "a name", 7, names)).endswith(
        f"; there are: {', '.join(names[:MAX_SHOWN_NAMES])}{more}"
    )


class Name(str):
    """A text of a class of its own, as numpy's are."""

    def __str__(self) -> str:
        return "another"


class Number(int):
    """A number of a class of its own."""


def test_a_text_or_number_of_a_derived_class_comes_back_plain():
    for found in (
        one_of("name", "a name", Name("paris"), ["paris"]),
        text("name", "a name", Name("paris")),
        kept_text("name", "a name", Name("paris")),
    ):
        assert (type(found), found) == (str, "paris")
    assert type(whole_number("n", "a number", Number(7), 0)) is int
    assert type(seed("seed", Number(7))) is int
    assert text("name", "a name", "paris") is one_of("name", "a name", "paris", {"paris": None})


def test_a_text_without_a_utf_8_form_is_kept_nowhere():
    with pytest.raises(ValueError, match="name: expected a name, of characters that UTF-8 has, got 'x·'"):
        kept_text("name", "a name", "x\ud800")
    assert text("path", "a path", "x\ud800") == "x\ud800"


def test_names_are_not_gone_through_where_they_can_be_looked_up():
    class LookedUp(dict[str, None]):
        def __iter__(self) -> Any:
            raise AssertionError("gone through")

    assert one_of("name", "a name", "paris", LookedUp(paris=None)) == "paris"
