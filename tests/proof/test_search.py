"""The search: every state, the shortest way, and what leads nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.proof.search import Found, search, stuck


class Counters:
    """Two counters up to a limit; a state of both is broken, and a trap leads nowhere."""

    def __init__(self, limit: int, bad: tuple[int, int] | None = None, trap: tuple[int, int] | None = None) -> None:
        self.limit, self.bad, self.trap = limit, bad, trap

    def start(self) -> tuple[int, int]:
        return (0, 0)

    def successors(self, state: tuple[int, int]) -> list[tuple[str, tuple[int, int]]]:
        left, right = state
        if state == self.trap:
            return [("fault", (left, right + 1))]
        return [("left", (left + 1, right))] * (left < self.limit) + [("right", (left, right + 1))] * (
            right < self.limit
        )

    def broken(self, state: tuple[int, int]) -> str:
        return "too far" if state == self.bad else ""

    def is_fault(self, event: Any) -> bool:
        return bool(event == "fault")

    def is_goal(self, state: tuple[int, int]) -> bool:
        return state == (self.limit, self.limit)


def test_every_state_is_visited_once() -> None:
    found, reached = search(Counters(3))

    assert found == Found(16, 24, 6, True)
    assert len(set(reached.states)) == 16
    assert reached.way(0) == ()


def test_the_way_to_what_is_broken_is_the_shortest() -> None:
    found, reached = search(Counters(3, bad=(2, 1)))

    assert (found.broken, found.way, found.depth, found.exhausted) == ("too far", ("left", "left", "right"), 3, False)
    assert reached.states[-1] == (2, 1)


def test_a_start_that_is_broken_has_no_way() -> None:
    found, _ = search(Counters(3, bad=(0, 0)))

    assert found == Found(1, 0, 0, False, "too far")


@pytest.mark.parametrize("max_states", [1, 7])
def test_a_limit_ends_the_search_unexhausted(max_states: int) -> None:
    found, _ = search(Counters(9), max_states)

    assert not found.exhausted
    assert max_states <= found.states <= max_states + 2


def test_each_depth_is_reported() -> None:
    seen: list[tuple[int, int]] = []
    search(Counters(2), report=lambda depth, states: seen.append((depth, states)))

    assert seen == [(1, 3), (2, 6), (3, 8), (4, 9)]


def test_a_state_that_leads_nowhere_is_found() -> None:
    for trap, way in ((None, None), ((1, 1), ("left", "right"))):
        model = Counters(2, trap=trap)
        _, reached = search(model)
        assert stuck(model, reached) == way


def test_the_limit_is_exact() -> None:
    """A square of four states is exhausted when one more would be allowed, and not when they are the limit."""
    assert search(Counters(1), 5)[0] == Found(4, 4, 2, True)
    assert search(Counters(1), 4)[0] == Found(4, 3, 1, False)
    assert search(Counters(1), 1)[0] == Found(1, 0, 0, False)


def test_the_search_ends_with_the_event_that_breaks_a_property() -> None:
    """The first event of the first state breaks it: the second is not looked at."""
    assert search(Counters(3, bad=(1, 0)))[0] == Found(2, 1, 1, False, "too far", ("left",))


def test_a_start_that_leads_nowhere_is_found() -> None:
    model = Counters(1, trap=(0, 0))
    reached = search(model)[1]

    assert stuck(model, reached) == ()
