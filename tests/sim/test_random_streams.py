"""Random streams: the same everywhere, independent by label, saved as counters, and fair."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.sim.random_streams import RandomStreams, checked_ppm
from tests.examples import examples

LABEL = st.sampled_from(["a", "b", "delay paris-1>tokyo-1"])


def draws(streams: RandomStreams, label: str, count: int) -> list[int]:
    return [streams.word(label) for _ in range(count)]


@pytest.mark.parametrize(("seed", "tagged"), [(7, b"int:7"), ("7", b"str:7"), (b"7", b"bytes:7"), (-1, b"int:-1")])
def test_a_draw_is_a_keyed_hash_of_label_and_block(seed: Any, tagged: bytes) -> None:
    key = hashlib.blake2b(tagged, digest_size=32).digest()
    words: list[int] = []
    for block in range(3):
        digest = hashlib.blake2b(b"loss" + struct.pack(">Q", block), key=key).digest()
        words += reversed(struct.unpack(">8Q", digest))

    assert draws(RandomStreams(seed), "loss", 24) == words


@pytest.mark.parametrize("seed", [True, None, 1.5])
def test_other_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(TypeError, match="a seed is bytes, an int or a text, not"):
        RandomStreams(seed)


@given(st.lists(LABEL, max_size=60))
@settings(max_examples=examples(100), deadline=None)
def test_labels_do_not_touch_one_another(labels: list[str]) -> None:
    streams = RandomStreams("seed")
    drawn: dict[str, list[int]] = {}
    for label in labels:
        drawn.setdefault(label, []).append(streams.word(label))

    for label, words in drawn.items():
        assert words == draws(RandomStreams("seed"), label, len(words))


@pytest.mark.parametrize("drawn", [0, 1, 7, 8, 9, 20])
def test_another_key_takes_effect_at_once_and_the_counters_go_on(drawn: int) -> None:
    streams, under_other = RandomStreams(1), draws(RandomStreams("other"), "a", drawn + 20)
    held = streams.stream("a")
    words = held.words
    draws(streams, "a", drawn)
    streams.rekey("other")

    assert [held.word() for _ in range(20)] == under_other[drawn:]
    assert held.words is words
    assert draws(streams, "b", 9) == draws(RandomStreams("other"), "b", 9)
    assert streams.state() == (("a", drawn + 20), ("b", 9))


@given(before=st.lists(LABEL, max_size=40), after=st.lists(LABEL, max_size=40))
@settings(max_examples=examples(100), deadline=None)
def test_restored_streams_go_on(before: list[str], after: list[str]) -> None:
    streams = RandomStreams(1)
    for label in before:
        streams.word(label)
    state = streams.state()
    restored = RandomStreams(1, state)

    assert state == tuple(sorted(Counter(before).items()))
    assert [restored.word(label) for label in after] == [streams.word(label) for label in after]
    assert restored.state() == streams.state()


def test_a_stream_without_draws_is_not_in_the_state() -> None:
    streams = RandomStreams(1)
    streams.stream("a")

    assert streams.state() == ()


@pytest.mark.parametrize("n", [1, 2, 3, 6, 10**9, 2**64])
def test_below_stays_below(n: int) -> None:
    streams = RandomStreams(n)
    numbers = [streams.below("a", n) for _ in range(1_000)]

    assert all(type(number) is int and 0 <= number < n for number in numbers)
    assert streams.state() == (("a", 1_000),)


def test_below_gives_every_number_alike() -> None:
    streams = RandomStreams("fair")
    counts = Counter(streams.below("die", 6) for _ in range(12_000))

    # Chi square with five degrees of freedom: one fair stream in a hundred thousand is above 30.
    assert sum((counts[side] - 2_000) ** 2 / 2_000 for side in range(6)) < 30


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1, 1.0, True])
def test_below_refuses_what_it_cannot_draw(n: Any) -> None:
    with pytest.raises(ValueError, match="an int n from 1 to 2\\^64"):
        RandomStreams(1).below("a", n)


@pytest.mark.parametrize("ppm", [-1, 1_000_001, 0.5, True])
def test_a_share_is_whole_parts_per_million(ppm: Any) -> None:
    with pytest.raises(ValueError, match="a loss is a whole number of parts per million, not"):
        checked_ppm("a loss", ppm)
