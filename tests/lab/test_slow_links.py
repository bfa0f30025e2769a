"""Slow links: whatever is small enough to be written crosses any link, once, however often the link fails meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import pair

SECOND_NS = 1_000_000_000
MB = 1_000_000


def over(bandwidth_bps: int, seed: int = 7) -> Lab:
    """A pair whose clusters are linked by a line of so many bits per second, not yet replicating."""
    blueprint = pair()
    links = tuple(replace(link, bandwidth_bps=bandwidth_bps) for link in blueprint.links)
    return Lab(replace(blueprint, links=links), seed=seed)


def write(lab: Lab, name: str, size_bytes: int) -> None:
    assert lab["paris"].post(f"secret/data/{name}", {"data": {"value": "x" * size_bytes}}).ok


def level(lab: Lab) -> bool:
    return lab.queries.contents("paris") == lab.queries.contents("tokyo") and lab.lag("paris", "tokyo").entries == 0


def shipped(lab: Lab, *fates: str) -> int:
    """How many bytes paris sent tokyo."""
    messages = lab.trace.select("message")
    return sum(
        message.size_bytes
        for message in messages
        if (message.source[:5], message.target[:5]) == ("paris", "tokyo") and (not fates or message.fate in fates)
    )


def seen(lab: Lab, what: str) -> list[dict[str, Any]]:
    return [dict(event.fields) for event in lab.trace.select("observed", what=what)]


@pytest.fixture(scope="module")
def narrow_snapshot() -> Any:
    """A pair over 1 Mbit/s, replicating."""
    lab = over(MB)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    return lab.snapshot()


@pytest.fixture
def narrow(narrow_snapshot: Any) -> Lab:
    return Lab.restore(narrow_snapshot)


# ---- without faults


@pytest.mark.parametrize(
    ("bandwidth_bps", "size_bytes", "seconds"),
    [(1_000_000, 3 * MB, 26), (10_000_000, 20 * MB, 18), (64_000, 400_000, 55)],
)
@pytest.mark.slow
def test_a_large_value_streams_once_at_the_speed_of_the_line(bandwidth_bps: int, size_bytes: int, seconds: int) -> None:
    lab = over(bandwidth_bps)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    before = shipped(lab)
    write(lab, "large", size_bytes)
    lab.run(f"{seconds}s")

    assert level(lab)
    assert shipped(lab) - before < 1.1 * size_bytes
    assert seen(lab, "replication_disconnected") == []


def test_a_first_sync_of_large_values_goes_through_and_the_operator_waits_for_it() -> None:
    lab = over(MB)
    for number in range(8):
        write(lab, str(number), 2 * MB)
    started_ns = lab.now
    lab.replicate("paris", "tokyo")

    assert level(lab)
    assert (lab.now - started_ns) // SECOND_NS in range(128, 140), "longer than two minutes, and no longer than needed"


def test_many_small_secrets_go_through_as_well() -> None:
    lab = over(250_000)
    for number in range(600):
        write(lab, str(number), 400)
    before = shipped(lab)
    lab.replicate("paris", "tokyo")

    assert level(lab)
    assert len(seen(lab, "merkle_sync")) == 1
    assert shipped(lab) - before < 2 * sum(
        len(key) + len(value) for key, value in lab.queries.contents("paris").items()
    )


@pytest.mark.parametrize("standby", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_activation_token_is_unwrapped_past_the_bulk_on_the_line(narrow: Lab, standby: bool) -> None:
    """The question and the answer: the value keeps the line busy for 48 s, and an unwrap has eight."""
    write(narrow, "large", 6 * MB)
    narrow.run("1s")
    token = narrow["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "again"}).wrap_info["token"]
    body = {"dr_operation_token": narrow["tokyo"].operation_token(), "token": token}
    body |= {"primary_api_addr": "http://paris-2:8200"} if standby else {}
    asked_ns = narrow.now

    assert narrow["tokyo"].post("sys/replication/dr/secondary/update-primary", body, token="").status == 200
    assert narrow.now - asked_ns < SECOND_NS


def test_while_a_value_is_on_its_way_both_sides_know_that_the_other_lives(narrow: Lab) -> None:
    write(narrow, "large", 6 * MB)
    narrow.run("40s")
    (primary,) = narrow["tokyo"].status()["primaries"]
    (secondary,) = narrow["paris"].status()["secondaries"]

    assert not level(narrow)
    assert primary["connection_status"] == secondary["connection_status"] == "connected"
    assert int(primary["last_heartbeat_duration_ms"]) < 200, "measured aside, not behind the value"
    assert abs(int(primary["clock_skew_ms"])) < 20
    assert int(primary["replication_primary_canary_age_ms"]) > 38_000
    narrow.run("12s")
    (primary,) = narrow["tokyo"].status()["primaries"]
    assert level(narrow)
    assert int(primary["replication_primary_canary_age_ms"]) < 2_000


# ---- with faults


def faults(lab: Lab, kind: str, seconds: int) -> None:
    if kind == "both ways":
        lab.partition("paris", "tokyo")
    else:
        lab.cut("paris", "tokyo") if kind == "to tokyo" else lab.cut("tokyo", "paris")
    lab.run(f"{seconds}s")
    lab.heal()


ONE_WAY = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("to tokyo", "to paris")]
CUTS = [(9, 20), (20, 1), *[pytest.param(*cut, marks=pytest.mark.slow) for cut in ((0, 1), (3, 5), (23, 16))]]


@pytest.mark.parametrize("kind", ["both ways", *ONE_WAY])
@pytest.mark.parametrize(("after_s", "for_s"), CUTS)
def test_a_value_that_a_cut_loses_on_its_way_is_asked_for_again(
    narrow: Lab, kind: str, after_s: int, for_s: int
) -> None:
    write(narrow, "large", 3 * MB)
    narrow.run(f"{after_s}s")
    faults(narrow, kind, for_s)
    narrow.run("110s")

    assert level(narrow)
    assert shipped(narrow) < 3 * 3 * MB, "the loss is proven, not guessed: nothing is sent twice without one"


def test_a_cut_in_the_middle_of_a_long_way_is_noticed_at_its_end() -> None:
    lab = over(64_000)
    lab.replicate("paris", "tokyo")
    lab.run("3s")
    write(lab, "large", 1_000_000)
    lab.run("70s")
    faults(lab, "both ways", 4)
    lab.run("4s")
    assert [fields["sent"] for fields in seen(lab, "entries_lost")] == [lab.queries.last_entry("paris")]
    lab.run("140s")

    assert level(lab)


def test_no_value_is_fetched_twice_however_often_the_connection_is_lost() -> None:
    lab = over(MB)
    for number in range(6):
        write(lab, str(number), 2 * MB)
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")
    lab.run("10s")
    for _ in range(5):
        lab.run("25s").partition("paris", "tokyo")
        lab.run("17s").heal()
    lab.run("60s")

    assert level(lab)
    fetched = [fields["fetch"] for fields in seen(lab, "merkle_sync")]
    assert len(fetched) > 3
    assert fetched == sorted(fetched, reverse=True)
    assert shipped(lab, "delivered") < 1.2 * 6 * 2 * MB


@pytest.mark.parametrize("node", ["paris-1", "tokyo-1"])
def test_a_crash_on_either_side_only_begins_again(narrow: Lab, node: str) -> None:
    write(narrow, "large", 3 * MB)
    narrow.run("10s").crash(node)
    narrow.run("90s")

    assert level(narrow)


def test_what_a_primary_pushed_before_its_demotion_still_arrives(narrow: Lab) -> None:
    """Its refusals overtake the entries under way; the secondary takes them all the same."""
    write(narrow, "large", 3 * MB)
    write(narrow, "last", 100)
    narrow.run("5s")
    narrow["paris"].demote()
    assert not level(narrow)
    narrow.run("22s")

    assert narrow.queries.contents("tokyo") == narrow.queries.contents("paris")


def test_a_planned_failover_waits_for_what_is_on_its_way(narrow: Lab) -> None:
    write(narrow, "large", 6 * MB)
    narrow.failover("paris", "tokyo")

    assert narrow.ledger.rpo().writes == 0
    assert narrow["tokyo"].get("secret/data/large").ok


def test_who_is_revoked_takes_nothing_more_of_what_is_on_its_way(narrow: Lab) -> None:
    write(narrow, "large", 3 * MB)
    narrow.run("5s")
    narrow["paris"].post("sys/replication/dr/primary/revoke-secondary", {"id": "tokyo"})
    narrow.run("60s")

    assert narrow.lag("paris", "tokyo").entries == 1 or not level(narrow)
    assert not any("large" in key for key in narrow.queries.contents("tokyo")) or not level(narrow)


# ---- saved in the middle


@pytest.mark.parametrize("seconds", [9, *[pytest.param(second, marks=pytest.mark.slow) for second in (1, 4, 17)]])
def test_a_lab_saved_while_a_value_is_on_its_way_goes_on_the_same(narrow: Lab, seconds: int) -> None:
    write(narrow, "large", 2 * MB)
    narrow.run(f"{seconds}s")
    again = Lab.restore(narrow.snapshot())
    for lab in (narrow, again):
        faults(lab, "to tokyo", 2)
        lab.run("40s")

    assert level(again)
    assert again.trace.digest() == narrow.trace.digest()
    assert again.snapshot() == narrow.snapshot()


@pytest.mark.parametrize("seconds", [20, *[pytest.param(second, marks=pytest.mark.slow) for second in (3, 12, 37, 50)]])
def test_a_lab_saved_during_a_first_sync_goes_on_the_same(seconds: int) -> None:
    lab = over(MB)
    for number in range(3):
        write(lab, str(number), 2 * MB)
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")
    lab.run(f"{seconds}s")
    again = Lab.restore(lab.snapshot())
    for one in (lab, again):
        faults(one, "both ways", 3)
        one.run("90s")

    assert level(again)
    assert again.trace.digest() == lab.trace.digest()
    assert [node.link.state() for node in again.parts.nodes.values()] == [
        node.link.state() for node in lab.parts.nodes.values()
    ]
