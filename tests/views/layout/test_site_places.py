"""Places of sites: no two overlap, and no way between two passes under the box of a third, in labs of any shape."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import pytest

from labkit.views.boxes import Box
from labkit.views.layout.site_places import MIN_WAY, SitePlaces, place_sites


def sizes(count: int, seed: int) -> list[tuple[float, float]]:
    rng = random.Random(seed)
    return [(rng.uniform(112, 420), rng.uniform(40, 260)) for _ in range(count)]


def crossings(places: SitePlaces, beside: float) -> list[tuple[int, int, int]]:
    """The ways that pass under the box of another site, and that site."""
    found = []
    for first, last in permutations(range(len(places.boxes)), 2):
        way = places.way(first, last, beside)
        others = [(number, box) for number, box in enumerate(places.boxes) if number not in (first, last)]
        found += [(first, last, number) for number, box in others if way.crosses(box)]
    return found


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 13, 20])
def test_no_way_passes_under_a_box(count: int, seed: int) -> None:
    places = place_sites(sizes(count, seed))

    assert crossings(places, 0) == []
    assert crossings(places, 22) == []
    assert not [pair for pair in combinations(places.boxes, 2) if pair[0].overlaps(pair[1])]
    page = Box(0, 0, places.width, places.height)
    assert all(page.holds(box.x, box.y) and page.holds(box.right, box.bottom) for box in places.boxes)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("count", [2, 3, 4])
def test_there_is_something_to_be_seen_of_each_way(count: int, seed: int) -> None:
    places = place_sites(sizes(count, seed))

    assert min(places.way(*pair).length for pair in combinations(range(count), 2)) >= MIN_WAY


@pytest.mark.parametrize("count", [5, 8, 20])
@pytest.mark.parametrize("seed", range(5))
def test_a_way_ends_at_its_sites(count: int, seed: int) -> None:
    places = place_sites(sizes(count, seed))
    for first, last in combinations(range(count), 2):
        way = places.way(first, last)
        assert places.boxes[first].grown(14).holds(way.x1, way.y1)
        assert places.boxes[last].grown(14).holds(way.x2, way.y2)
        assert not places.boxes[first].grown(-1).holds(way.x1, way.y1)


def test_eight_usual_sites_take_little_room() -> None:
    places = place_sites([(170, 110)] * 8)

    assert places.width <= 1_100
    assert places.height <= 900


def test_the_same_sizes_stand_at_the_same_places() -> None:
    assert place_sites(sizes(9, 1)) == place_sites(sizes(9, 1))
