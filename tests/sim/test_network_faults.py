"""Faults: each verb takes effect at once, tells what it did, and is undone by its partner."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.sim.latency import Latency

SITES = ("lima", "paris", "tokyo")


def reach(world: Any) -> set[tuple[str, str]]:
    """The directed pairs of sites between which messages pass."""
    return {(a, b) for a in SITES for b in SITES if a != b and world.passes(f"{a}-1", f"{b}-1")}


EVERY = {(a, b) for a in SITES for b in SITES if a != b}


def recorded(world: Any) -> list[tuple[str, str, str]]:
    return [(event.verb, event.target, event.detail) for event in world.trace.select("fault")]


def test_a_partition_cuts_both_ways_and_every_route_that_passes(make_world: Any) -> None:
    world = make_world()

    assert world.faults.partition("tokyo", "paris") is True
    assert reach(world) == {("paris", "lima"), ("lima", "paris")}
    assert not world.network.reachable("paris", "tokyo")
    assert world.passes("paris-1", "paris-2")
    assert world.faults.heal("paris", "tokyo") is True
    assert reach(world) == EVERY
    assert recorded(world) == [("partition", "paris <> tokyo", ""), ("heal", "paris <> tokyo", "")]


def test_a_partition_of_distant_sites_leaves_what_lies_between(make_world: Any) -> None:
    world = make_world()
    world.faults.partition("lima", "tokyo")

    assert reach(world) == EVERY - {("lima", "tokyo"), ("tokyo", "lima")}


def test_a_cut_is_one_way(make_world: Any) -> None:
    world = make_world()

    assert world.faults.cut("paris", "tokyo") is True
    assert reach(world) == EVERY - {("paris", "tokyo"), ("lima", "tokyo")}
    assert not world.network.reachable("tokyo", "paris")
    assert recorded(world) == [("cut", "paris > tokyo", "")]


def test_an_isolated_site_is_not_reached(make_world: Any) -> None:
    world = make_world()

    assert world.faults.isolate("tokyo") is True
    assert reach(world) == {("paris", "lima"), ("lima", "paris")}
    assert world.passes("tokyo-1", "tokyo-2")
    assert world.faults.heal("tokyo") is True
    assert reach(world) == EVERY


def test_heal_alone_undoes_all_cuts_and_nothing_else(make_world: Any) -> None:
    world = make_world()
    world.faults.cut("paris", "tokyo")
    world.faults.isolate("lima")
    world.faults.slow("paris", "tokyo", factor=2)
    world.faults.crash("lima-2")

    assert world.faults.heal() is True
    assert reach(world) == EVERY
    assert world.network.impairment("paris", "tokyo").factor == 2
    assert not world.network.up("lima-2")
    assert recorded(world)[-1] == ("heal", "all", "")


def test_heal_of_one_pair_leaves_the_others(make_world: Any) -> None:
    world = make_world()
    world.faults.partition("paris", "tokyo")
    world.faults.partition("paris", "lima")
    world.faults.heal(None, "tokyo")

    assert reach(world) == {("paris", "tokyo"), ("tokyo", "paris")}


def test_a_line_that_comes_up_stays_closed_while_a_cut_is_left(make_world: Any) -> None:
    world = make_world()
    line = {("paris", "tokyo"), ("tokyo", "paris"), ("lima", "tokyo"), ("tokyo", "lima")}

    assert world.faults.go_down("paris", "tokyo") is True
    assert reach(world) == EVERY - line
    assert world.faults.isolate("tokyo") is True  # it is cut off from now on, whatever the line does
    assert world.faults.come_up("paris", "tokyo") is True
    assert reach(world) == EVERY - line
    assert world.faults.heal() is True
    assert reach(world) == EVERY
    assert recorded(world) == [
        ("partition", "paris <> tokyo", "flapping"),
        ("isolate", "tokyo", ""),
        ("heal", "paris <> tokyo", "flapping"),
        ("heal", "all", ""),
    ]


@pytest.mark.parametrize("undo", ["heal", "restore"])
def test_a_line_that_is_down_comes_up_by_nothing_else(make_world: Any, undo: str) -> None:
    world = make_world()
    world.faults.go_down("paris", "tokyo")
    getattr(world.faults, undo)()

    assert not world.network.reachable("paris", "tokyo")
    assert recorded(world)[-1] == (undo, "all", "no change")
    assert type(world)(state=world.state()).network.impairment("tokyo", "paris").down


def test_doing_it_again_changes_nothing_and_says_so(make_world: Any) -> None:
    world = make_world()
    faults = world.faults
    twice = [
        lambda: faults.partition("paris", "tokyo"),
        lambda: faults.cut("paris", "lima"),
        lambda: faults.isolate("lima"),
        faults.heal,
        lambda: faults.slow("paris", "tokyo", factor=3),
        lambda: faults.slow("paris", "tokyo", latency=Latency.constant(7)),
        lambda: faults.lose("paris", "tokyo", 10),
        faults.restore,
        lambda: faults.crash("paris-1"),
        lambda: faults.restart("paris-1"),
    ]

    assert [verb() for verb in twice for _ in "12"] == [True, False] * len(twice)
    assert [detail for _, _, detail in recorded(world)] == [
        *("", "no change") * 4,
        *("factor 3", "factor 3, no change"),
        *("constant(7 ns)", "constant(7 ns), no change"),
        *("10 ppm", "10 ppm, no change"),
        *("", "no change") * 3,
    ]


def test_what_changes_nothing_harms_nothing_under_way(make_world: Any) -> None:
    world = make_world()
    world.faults.cut("tokyo", "paris")
    world.send("paris-1", "tokyo-1")
    world.faults.cut("tokyo", "paris")
    world.faults.partition("paris", "lima")
    world.faults.restart("tokyo-1")
    world.clock.run()

    assert world.fates() == ["delivered"]


def test_a_cut_that_has_healed_still_lost_what_was_under_way(make_world: Any) -> None:
    world = make_world()
    world.send("paris-1", "tokyo-1", "early")
    world.send("tokyo-1", "paris-1", "other way")
    world.clock.run(until_ns=50)
    world.faults.cut("paris", "tokyo")
    world.send("paris-1", "tokyo-1", "while cut")
    world.faults.heal()
    world.send("paris-1", "tokyo-1", "late")
    world.clock.run()

    assert [(when, payload) for when, _, _, payload in world.received] == [(100, "other way"), (150, "late")]
    lost = world.trace.select("message", fate="lost")
    assert [(event.sent_ns, event.at_ns) for event in lost] == [(50, 50), (0, 100)]


@pytest.mark.parametrize("host", ["paris-1", "tokyo-1"])
def test_a_crash_loses_what_is_under_way_to_and_from_the_host(make_world: Any, host: str) -> None:
    world = make_world()
    world.send("paris-1", "tokyo-1", "early")
    world.send("paris-2", "tokyo-2", "others")
    assert world.faults.crash(host) is True
    assert not world.network.up(host)
    world.send("paris-1", "tokyo-1", "while down")
    assert world.faults.restart(host) is True
    world.send("paris-1", "tokyo-1", "late")
    world.clock.run()

    assert [payload for *_, payload in world.received] == ["others", "late"]
    assert recorded(world) == [("crash", host, ""), ("restart", host, "")]


def test_after_a_crash_no_message_waits_for_a_lost_one(make_world: Any) -> None:
    world = make_world()
    world.faults.slow("paris", "tokyo", latency=Latency.constant(1_000_000))
    world.send("paris-1", "tokyo-1", "slow")
    world.faults.restore()
    world.send("paris-1", "tokyo-1", "behind it")
    world.faults.crash("tokyo-1")
    world.faults.restart("tokyo-1")
    world.send("paris-1", "tokyo-1", "again")
    world.clock.run()

    assert world.received == [(100, "paris-1", "tokyo-1", "again")]


def test_slow_takes_a_latency_or_a_factor_and_restore_undoes_it(make_world: Any) -> None:
    world = make_world()

    def took(source: str, target: str) -> int:
        sent_ns = world.clock.now
        world.send(source, target)
        world.clock.run()
        return world.clock.now - sent_ns

    assert world.faults.slow("tokyo", "paris", factor=10) is True
    assert [took("paris-1", "tokyo-1"), took("tokyo-1", "paris-1"), took("lima-1", "tokyo-1")] == [1_000, 1_000, 1_100]
    world.faults.slow("paris", "tokyo", latency=Latency.constant(5))
    assert took("paris-1", "tokyo-1") == 5
    world.faults.slow("lima", "tokyo", factor=2)
    assert took("lima-1", "tokyo-1") == 210
    world.faults.slow("lima", "lima", factor=4)
    assert took("lima-1", "lima-2") == 40
    assert world.faults.restore("tokyo") is True
    assert [took("lima-1", "tokyo-1"), took("lima-1", "lima-2")] == [200, 40]
    assert recorded(world)[0] == ("slow", "paris <> tokyo", "factor 10")
    assert recorded(world)[-2] == ("slow", "lima", "factor 4")


def test_slow_leaves_what_is_under_way(make_world: Any) -> None:
    world = make_world()
    world.send("paris-1", "tokyo-1")
    world.faults.slow("paris", "tokyo", factor=100)
    world.clock.run()

    assert world.clock.now == 100


def test_lose_counts_on_top_of_what_links_lose(make_world: Any) -> None:
    world = make_world("rough")
    world.faults.lose("paris", "tokyo", 500_000)
    for number in range(400):
        world.clock.at(number * 100_000_000_000, ("send", "paris-1", ("tokyo-1", "x")))
    world.clock.run()
    at_once = sum(event.at_ns - event.sent_ns < 200_000_000 for event in world.trace.select("message"))

    assert at_once / 400 == pytest.approx(0.45, abs=0.08)  # nine tenths of a half


@pytest.mark.parametrize(
    ("verb", "arguments", "text"),
    [
        ("partition", ("paris", "toyko"), "no site named toyko; nearest: tokyo"),
        ("cut", ("toyko", "paris"), "no site named toyko; nearest: tokyo"),
        ("isolate", ("toyko",), "no site named toyko; nearest: tokyo"),
        ("heal", ("toyko",), "no site named toyko; nearest: tokyo"),
        ("heal", (None, "toyko"), "no site named toyko; nearest: tokyo"),
        ("restore", ("paris", "toyko"), "no site named toyko; nearest: tokyo"),
        ("lose", ("paris", "toyko", 1), "no site named toyko; nearest: tokyo"),
        ("crash", ("paris-9",), "no host named paris-9; nearest: paris-"),
        ("restart", ("paris-9",), "no host named paris-9; nearest: paris-"),
        ("partition", ("paris", "paris"), "partition needs two different sites, not paris twice; crash its hosts"),
        ("cut", ("paris", "paris"), "cut needs two different sites"),
        ("lose", ("paris", "tokyo", 0.5), "a loss is a whole number of parts per million"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    make_world: Any, verb: str, arguments: tuple[Any, ...], text: str
) -> None:
    world = make_world()
    before = world.state()["network"]
    with pytest.raises(ValueError, match=text):
        getattr(world.faults, verb)(*arguments)

    assert world.state()["network"] == before
    assert len(world.trace) == 0


@pytest.mark.parametrize(
    "how", [{}, {"factor": 2, "latency": Latency.constant(1)}, {"factor": 0}, {"factor": 1.5}, {"latency": 5}]
)
def test_slow_wants_one_way_to_be_slow(make_world: Any, how: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="slow takes"):
        make_world().faults.slow("paris", "tokyo", **how)


def test_one_site_may_be_named_as_either_end(make_world: Any) -> None:
    first, second = make_world(), make_world()
    for world in (first, second):
        world.faults.partition("paris", "tokyo")
        world.faults.partition("paris", "lima")

    assert first.faults.heal("tokyo") is True
    assert second.faults.heal(None, "tokyo") is True
    assert reach(first) == reach(second) == {("paris", "tokyo"), ("tokyo", "paris"), *reach(first)}
    assert not first.passes("paris-1", "lima-1")
    assert not second.passes("paris-1", "lima-1")
