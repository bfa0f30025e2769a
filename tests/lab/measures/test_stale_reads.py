"""Stale reads: judged as a recount of what clients sent and were shown judges them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import pytest

from labkit import Lab
from labkit.lab.measures.stale_reads import Acknowledged, StaleRead, stale_reads
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair

SECOND_NS = 1_000_000_000


def shops(consistent: bool = False, keys: int = 3) -> ClientPlan:
    work = tuple(
        WorkloadPlan(operation=operation, every_ns=SECOND_NS // rate, keys=keys, from_ns=SECOND_NS)
        for operation, rate in (("put-secret", 16), ("get-secret", 23))
    )
    use = ("paris", "tokyo")
    return ClientPlan(name="shop", site="lisbon", use=use, count=2, workload=work, consistent=consistent, retries=6)


class Contents(NamedTuple):
    """What clients saw of their secrets: when what was created was acknowledged, and what readings showed."""

    acknowledged: dict[str, list[tuple[int, float]]]
    shown: list[tuple[str, int, int, float]]


def created(facts: dict[str, Any]) -> float:
    """When a version was created, by its answer: the clocks of this lab are right."""
    return datetime.fromisoformat(facts["created_time"][:26].rstrip("Z") + "+00:00").timestamp()


def listen(lab: Lab) -> Contents:
    """Write down what each client is answered."""
    found = Contents({}, [])

    def listening(host: Any) -> Any:
        taken = type(host).receive

        def receive(source: str, answer: Any) -> None:
            pending = host.client.pending.get(answer.correlation.number)
            taken(host, source, answer)
            if pending is None or answer.correlation.number in host.client.pending:
                return
            path, response = pending.request.path, answer.response
            if pending.name == "put-secret" and response.ok:
                found.acknowledged.setdefault(path, []).append((lab.now, created(response.data)))
            elif pending.name == "get-secret" and response.status in (200, 404):
                shown = created(response.data["metadata"]) if response.ok else 0.0
                found.shown.append((path, pending.started_ns, lab.now, shown))

        return receive

    class Listener:
        """A client host that is overheard."""

        def __init__(self, host: Any) -> None:
            self.host, self.receive = host, listening(host)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.host, name)

    for name, host in lab.clients.items():
        lab.parts.hosts[name] = Listener(host)
    return found


def recount(found: Contents) -> tuple[int, list[tuple[str, int]]]:
    """Count readings, and name those that showed something older than what was acknowledged when they were sent."""
    stale = []
    for path, started_ns, at_ns, shown in found.shown:
        before = [other for at, other in found.acknowledged.get(path, ()) if at <= started_ns]
        if before and shown < max(before):
            stale.append((path.removeprefix("/v1/"), at_ns))
    return len(found.shown), stale


def drill(client: ClientPlan, seed: int = 7, apart: str = "1500ms") -> tuple[Lab, Contents]:
    """A survivor that is promoted behind what clients were answered, and goes on for four seconds."""
    lab = Lab(pair().with_clients(client), seed)
    found = listen(lab)
    lab.replicate("paris", "tokyo")
    lab.run(until="3s")
    lab.partition("paris", "tokyo")
    lab.run(apart)
    lab.crash("paris")
    lab["tokyo"].promote(force=True)
    lab.run("4s")
    return lab, found


@pytest.fixture(scope="module")
def drilled_shops() -> tuple[Lab, Contents]:
    return drill(shops(keys=40))


def compare(lab: Lab, found: Contents) -> int:
    judged = stale_reads(lab.ledger)
    count, stale = recount(found)
    assert len(judged.times_ns) == count
    assert [(read.path, read.at_ns) for read in judged.stale] == stale
    return len(stale)


def test_it_is_what_a_recount_of_contents_finds(drilled_shops):
    lab, found = drilled_shops
    assert compare(lab, found) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("keys", [1, 7, 60])
def test_it_is_what_a_recount_finds_with_any_seed(seed, keys):
    lab, found = drill(shops(keys=keys), seed, f"{200 + 350 * seed}ms")
    compare(lab, found)


def test_each_says_what_was_shown_and_what_was_newest(drilled_shops):
    lab, _ = drilled_shops
    for read in stale_reads(lab.ledger).stale:
        assert read.cluster == "tokyo"
        assert read.version < read.newest_version, "tokyo had no version of its own yet"
        assert 0 < read.behind_ns < read.started_ns


def test_readers_that_name_their_index_have_none():
    lab, _ = drill(shops(consistent=True, keys=40))
    judged = stale_reads(lab.ledger)
    assert len(judged.times_ns) > 20
    assert judged.stale == ()


def test_without_an_outage_there_is_none(lab):
    work = lab["paris"]
    for number in range(3):
        work.post("secret/data/a", {"data": {"x": number}})
        work.get("secret/data/a")
    assert stale_reads(lab.ledger).stale == ()
    assert len(stale_reads(lab.ledger).times_ns) == 3


def test_by_hand_a_survivor_that_lost_a_version_shows_an_older_one(calm):
    calm["paris"].post("secret/data/a", {"data": {"x": 1}})
    calm.run("1s")
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/a", {"data": {"x": 2}})
    acknowledged_ns = calm.now
    calm["paris"].post("secret/data/b", {"data": {"x": 2}})
    calm.crash("paris")
    calm["tokyo"].promote(force=True)
    sent_ns = calm.now
    calm["tokyo"].get("secret/data/a")
    calm["tokyo"].get("secret/data/b")
    first, second = stale_reads(calm.ledger).stale

    asker = calm.blueprint.cluster("tokyo").operator_host
    path, behind_ns = "secret/data/a", sent_ns - acknowledged_ns
    assert first == StaleRead(sent_ns, first.at_ns, asker, "tokyo", path, 1, 2, behind_ns)
    assert (second.path, second.version, second.newest_version) == ("secret/data/b", 0, 1)

    calm["tokyo"].post("secret/data/a", {"data": {"x": 3}})
    calm["tokyo"].get("secret/data/a")
    assert len(stale_reads(calm.ledger).stale) == 2, "version 2 of tokyo's own is newer than the one that is lost"


def test_both_sides_of_a_split_brain_count(calm):
    calm["paris"].post("secret/data/a", {"data": {"x": 1}})
    calm.run("1s")
    calm.partition("paris", "tokyo")
    calm["tokyo"].promote(force=True)
    calm["tokyo"].post("secret/data/a", {"data": {"x": 2}})
    calm["paris"].get("secret/data/a")
    calm["paris"].post("secret/data/a", {"data": {"x": 2}})
    calm["tokyo"].get("secret/data/a")
    found = stale_reads(calm.ledger).stale

    assert [(read.cluster, read.version, read.newest_version) for read in found] == [("paris", 1, 2), ("tokyo", 2, 2)]


def test_clusters_that_do_not_replicate_are_not_compared(quiet):
    quiet["paris"].post("secret/data/a", {"data": {"x": 1}})
    quiet["tokyo"].get("secret/data/a")
    quiet["tokyo"].post("secret/data/a", {"data": {"x": 1}})
    quiet["paris"].get("secret/data/a")
    judged = stale_reads(quiet.ledger)

    assert judged.stale == ()
    assert len(judged.times_ns) == 2


def test_what_a_cluster_held_before_it_joined_does_not_count(quiet):
    quiet["tokyo"].post("secret/data/a", {"data": {"x": 1}})
    quiet.replicate("paris", "tokyo")
    quiet.run("1s")
    quiet.crash("paris")
    quiet["tokyo"].promote()
    assert quiet["tokyo"].get("secret/data/a").status == 404
    assert stale_reads(quiet.ledger).stale == ()


def test_nothing_is_not_stale_where_the_secret_was_deleted_with_its_metadata(calm):
    paris = calm["paris"]
    paris.post("secret/data/a", {"data": {"x": 1}})
    paris.delete("secret/metadata/a")
    paris.get("secret/data/a")
    assert stale_reads(calm.ledger).stale == ()

    calm.run("1s")
    calm.partition("paris", "tokyo")
    paris.post("secret/data/a", {"data": {"x": 1}})
    calm.crash("paris")
    calm["tokyo"].promote(force=True)
    calm["tokyo"].get("secret/data/a")
    assert len(stale_reads(calm.ledger).stale) == 1
    calm["tokyo"].post("secret/data/a", {"data": {"x": 1}})
    calm["tokyo"].delete("secret/metadata/a")
    (found,) = stale_reads(calm.ledger).stale
    assert (found.version, found.newest_version) == (0, 1)


def test_the_newest_that_was_acknowledged_is_meant_by_the_order_of_commits():
    acknowledged = Acknowledged()
    for at_ns, commit in ((1, 5), (2, 3), (9, 7)):
        acknowledged.add(at_ns, commit)
    assert acknowledged.newest == [5, 5, 7]


def test_an_empty_ledger(quiet):
    assert stale_reads(quiet.ledger) == ((), ())


def test_a_restored_lab_judges_the_same(drilled_shops):
    lab, _ = drilled_shops
    assert stale_reads(Lab.restore(lab.snapshot()).ledger) == stale_reads(lab.ledger)


def hidden(change: Any, *, back: Any = None, apart: bool = True) -> list[StaleRead]:
    """What is stale of a reading at tokyo, which took over without what paris did to a secret last."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}}).raise_for_status()
    lab["paris"].post("secret/data/app", {"data": {"n": 2}}).raise_for_status()
    lab.run("2s")
    if apart:
        lab.partition("paris", "tokyo")
    change(lab["paris"]).raise_for_status()
    if back is not None:
        back(lab["paris"]).raise_for_status()
    lab.run("2s")
    lab.crash("paris")
    lab["tokyo"].promote(force=True)
    lab["tokyo"].get("secret/data/app")
    return list(stale_reads(lab.ledger).stale)


HIDING = {
    "delete the newest": lambda paris: paris.delete("secret/data/app"),
    "delete": lambda paris: paris.post("secret/delete/app", {"versions": [2]}),
    "destroy": lambda paris: paris.put("secret/destroy/app", {"versions": [1, 2]}),
}


@pytest.mark.parametrize("change", HIDING.values(), ids=HIDING)
def test_data_of_a_version_whose_deletion_was_acknowledged_is_stale(change):
    (read,) = hidden(change)

    assert (read.cluster, read.path, read.version, read.newest_version) == ("tokyo", "secret/data/app", 2, 2)
    assert 2 * SECOND_NS < read.behind_ns < 4 * SECOND_NS


def undelete(paris: Any) -> Any:
    return paris.post("secret/undelete/app", {"versions": [2]})


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (HIDING["delete the newest"], {"apart": False}),  # the reading shows that it is deleted
        (HIDING["delete the newest"], {"back": undelete}),
        (lambda paris: paris.post("secret/delete/app", {"versions": [1]}), {}),
        (lambda paris: paris.delete("secret/data/other"), {}),
    ],
)
def test_what_is_shown_as_deleted_or_is_not_or_is_back_is_not_stale(change, how):
    assert hidden(change, **how) == []
