"""Draws: the same seed draws the same, and few, many or all options are on."""

from __future__ import annotations

from collections import Counter

from labkit.hunt.draws import Draws


def drawn(seed: int) -> list[int]:
    draws = Draws("runbook", seed)
    return [draws.below(1_000) for _ in range(20)]


def test_a_seed_and_a_name_draw_the_same_every_time():
    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(seed)) for seed in range(20)}) == 20
    assert Draws("careless", 3).below(10**9) != Draws("runbook", 3).below(10**9)


def test_the_draws_of_a_seed_stay_what_they_are():
    assert drawn(3)[:5] == [899, 837, 179, 220, 757]


def test_what_is_drawn_apart_moves_nothing_else():
    draws = Draws("runbook", 3)
    apart = [draws.apart("clients").below(1_000) for _ in range(3)]

    assert [draws.below(1_000) for _ in range(5)] == drawn(3)[:5]
    assert apart == [Draws("runbook", 3).apart("clients").below(1_000), *apart[1:]]
    assert len(set(apart)) == 3


def test_limits_are_included_and_every_number_between_them_comes():
    draws = Draws("x", 0)

    assert {draws.between(3, 6) for _ in range(200)} == {3, 4, 5, 6}
    assert {draws.one_of("ab") for _ in range(50)} == {"a", "b"}


def test_a_share_is_met():
    draws = Draws("x", 1)

    assert 150 < sum(draws.chance(20) for _ in range(1_000)) < 250
    assert not any(draws.chance(0) for _ in range(100))
    assert all(draws.chance(100) for _ in range(100))


def test_few_many_and_all_are_on_and_the_order_stays():
    options = tuple("abcdefgh")
    found = [Draws("x", seed).some_of(options) for seed in range(400)]
    sizes = Counter(map(len, found))

    assert all(list(some) == sorted(some) for some in found)
    assert min(sizes[size] for size in range(9)) > 15
