"""Latencies: whole nanoseconds that follow the distributions they are named for."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean, pstdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.sim.latency import Latency
from labkit.sim.random_streams import RandomStreams
from tests.examples import examples

LAST = 2**64 - 1
SHAPES = (
    Latency.constant(5_000),
    Latency.uniform(1_000, 9_000),
    Latency.normal(1_000_000, 100_000),
    Latency.exponential(1_000_000),
    Latency.exponential(1_000_000, 400_000),
    Latency.heavy(1_000, 1_000_000),
)
WORD = st.integers(0, LAST)
shapes = pytest.mark.parametrize("latency", SHAPES, ids=str)


def drawn(latency: Latency, count: int = 20_000) -> list[int]:
    stream = RandomStreams("latency").stream("delay")
    return [latency.delay_ns(stream.word()) for _ in range(count)]


@shapes
@given(words=st.tuples(WORD, WORD))
@settings(max_examples=examples(100), deadline=None)
def test_a_delay_is_whole_and_grows_with_the_word(latency: Latency, words: tuple[int, int]) -> None:
    low, high = sorted(words)

    assert type(latency.delay_ns(low)) is int
    assert 0 <= latency.delay_ns(0) <= latency.delay_ns(low) <= latency.delay_ns(high) <= latency.delay_ns(LAST)


@shapes
def test_the_mean_is_the_typical_delay(latency: Latency) -> None:
    tolerance = 0.03 if latency.shape == "heavy" else 0.02

    assert fmean(drawn(latency)) == pytest.approx(latency.typical_ns, rel=tolerance)


@shapes
def test_a_slower_one_has_the_same_shape(latency: Latency) -> None:
    slower = latency.times(10)

    assert slower.typical_ns == pytest.approx(latency.typical_ns * 10, rel=1e-3)
    for word in (0, 2**62, 2**63, LAST - 2**50):
        assert slower.delay_ns(word) == pytest.approx(latency.delay_ns(word) * 10, abs=20)


def test_a_uniform_delay_takes_every_value() -> None:
    assert set(drawn(Latency.uniform(3, 6), 400)) == {3, 4, 5, 6}


@given(word=st.integers(2**64 >> 25, 2**64 - (2**64 >> 25)))
@settings(max_examples=examples(500), deadline=None)
def test_the_bell_curve_is_that_of_the_standard_library(word: int) -> None:
    found = (Latency.normal(10_000_000, 1_000_000).delay_ns(word) - 10_000_000) / 1_000_000

    assert found == pytest.approx(NormalDist().inv_cdf((word + 0.5) / 2**64), abs=0.001)


def test_the_bell_curve_has_its_deviation_and_its_ends() -> None:
    latency = Latency.normal(10_000_000, 1_000_000)

    assert pstdev(drawn(latency)) == pytest.approx(1_000_000, rel=0.02)
    assert (latency.delay_ns(0), latency.delay_ns(LAST)) == (4_580_017, 15_419_983)
    assert Latency.normal(1_000, 1_000).delay_ns(0) == 0


@given(word=st.integers(0, LAST - 2**16))
@settings(max_examples=examples(500), deadline=None)
def test_the_exponential_is_a_logarithm(word: int) -> None:
    delay_ns = Latency.exponential(1_000_000_000).delay_ns(word)

    assert delay_ns / 1e9 == pytest.approx(-math.log((2**64 - word) / 2**64), abs=5e-5)


def test_an_exponential_part_lies_on_top_of_the_least() -> None:
    assert Latency.exponential(1_000, 400).delay_ns(0) == 400
    assert Latency.exponential(1_000, 1_000).delay_ns(LAST) == 1_000


def test_a_heavy_tail_is_heavy_and_ends() -> None:
    delays = drawn(Latency.heavy(1_000, 50_000))

    assert min(delays) >= 1_000
    assert max(delays) == 50_000
    # The share of delays over x times the least is one in x squared.
    assert sum(delay > 10_000 for delay in delays) / len(delays) == pytest.approx(0.01, rel=0.3)
    assert sum(delay > 2_000 for delay in delays) / len(delays) == pytest.approx(0.25, rel=0.05)


@pytest.mark.parametrize(
    ("make", "numbers"),
    [
        (Latency.constant, (-1,)),
        (Latency.constant, (1.5,)),
        (Latency.constant, (True,)),
        (Latency.uniform, (9, 1)),
        (Latency.normal, (10, -1)),
        (Latency.exponential, (10, 11)),
        (Latency.heavy, (0, 10)),
        (Latency.heavy, (10, 9)),
    ],
)
def test_impossible_shapes_are_refused(make: Any, numbers: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=f"{make.__name__} latency"):
        make(*numbers)


def test_the_ends_of_a_shape_may_be_one() -> None:
    for latency in (Latency.uniform(7, 7), Latency.heavy(7, 7), Latency.exponential(7, 7), Latency.normal(7, 0)):
        assert {latency.delay_ns(word) for word in (0, 2**63, LAST)} == {7}


def test_a_latency_is_a_plain_tuple_and_says_what_it_is() -> None:
    latency = Latency.uniform(1, 2)

    assert latency == ("uniform", 1, 2)
    assert Latency.constant(5) == ("constant", 5, 0)
    assert Latency("normal", 5) == ("normal", 5, 0)
    assert Latency(*latency) == latency
    assert str(latency) == "uniform(1, 2 ns)"
    assert str(Latency.constant(5)) == "constant(5 ns)"


@pytest.mark.parametrize(
    ("latency", "typical_ns"),
    [
        (Latency.constant(7), 7),
        (Latency.uniform(10, 20), 15),
        (Latency.normal(100, 5), 100),
        (Latency.exponential(100), 100),
        (Latency.heavy(100, 400), 175),
    ],
    ids=str,
)
def test_routes_are_weighted_by_the_mean(latency: Latency, typical_ns: int) -> None:
    assert latency.typical_ns == typical_ns


def test_a_draw_takes_the_next_word_of_its_stream() -> None:
    latency = Latency.uniform(0, 2**40)
    words = RandomStreams("latency").stream("delay")
    stream = RandomStreams("latency").stream("delay")

    assert [latency.draw_ns(stream) for _ in range(20)] == [latency.delay_ns(words.word()) for _ in range(20)]
