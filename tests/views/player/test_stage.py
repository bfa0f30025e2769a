"""Stage: each host has a place of its own inside its site, and no two sites overlap, in labs of any shape."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from labkit import Lab
from labkit.views.boxes import box_of, is_free, width_of
from labkit.views.picture import SMALL
from labkit.views.player.map_signs import legend_of
from labkit.views.player.recorded.line_conditions import LineSpan
from labkit.views.player.recorded.recorded_hosts import CLIENT, RecordedHost
from labkit.views.player.recorded.recording import Recording, recording_of
from labkit.views.player.stage import MAX_IN_A_ROW, Stage, over_others, stage_of


def some(seed: int) -> Recording:
    """A recording with random sites, clusters and clients, and a line between any two."""
    rng = random.Random(seed)
    sites = tuple([f"site-{number}" for number in range(rng.randrange(1, 12))])
    hosts: list[RecordedHost] = []
    for site in sites:
        for cluster in range(rng.randrange(3)):
            hosts += [
                RecordedHost(f"{site}-{cluster}-{n}", "node", site, f"{site}-{cluster}")
                for n in range(rng.randrange(1, 6))
            ]
        hosts += [RecordedHost(f"{site}-c{n}", CLIENT, site) for n in range(rng.choice((0, 0, 1, 3, 20)))]
        hosts += [RecordedHost(f"{site}-operator", "operator", site)] if rng.random() < 0.5 else []
    links = tuple([(a, b, "80 ms") for a in sites for b in sites if a < b and rng.random() < 0.7])
    lab = Lab.pair(seed=7)
    return recording_of(lab.queries, lab.invariants)._replace(sites=sites, hosts=tuple(hosts), links=links)


@pytest.mark.parametrize("seed", range(40))
def test_everything_has_its_place(seed: int) -> None:
    recording = some(seed)
    stage = stage_of(recording)
    boxes = {site.name: site.box for site in stage.sites}

    for number, box in enumerate(boxes.values()):
        assert is_free(box, list(boxes.values())[:number])
        assert stage.view.holds(box.x, box.y)
        assert stage.view.holds(box.right, box.bottom)
    assert [one.host for one in stage.hosts] != [] or not recording.hosts
    assert {one.host for one in stage.hosts} == set(recording.hosts)
    for one in stage.hosts:
        assert boxes[one.host.site].holds(one.x - 12, one.y - 12)
        assert boxes[one.host.site].holds(one.x + 12, one.y + 12)
    distinct = [one for one in stage.hosts if one.host.kind != CLIENT]
    assert len({(one.x, one.y) for one in distinct}) == len(distinct)
    assert labels_fit(stage)


def labels_fit(stage: Stage) -> bool:
    return all(
        site.box.x <= one.x - width_of(one.words, SMALL) / 2
        and one.x + width_of(one.words, SMALL) / 2 <= site.box.right
        for site in stage.sites
        for one in site.groups
    )


def test_one_that_is_alone_of_its_kind_has_its_name_beside_it() -> None:
    stage = stage_of(some(3))
    words = {one.words: one for site in stage.sites for one in site.groups}
    operators = [one for one in stage.hosts if one.host.kind == "operator"]

    assert operators
    for one in operators:
        name = words[one.host.name]
        assert one.x + 6 < name.x - width_of(name.words, SMALL) / 2, "the name begins right of the sign"
        assert one.y == name.y - 5


def test_many_clients_share_the_places_there_are() -> None:
    recording = some(3)
    crowd = tuple([RecordedHost(f"c{number}", CLIENT, recording.sites[0]) for number in range(50)])
    stage = stage_of(recording._replace(hosts=crowd))

    assert len({(one.x, one.y) for one in stage.hosts}) == MAX_IN_A_ROW


@pytest.mark.parametrize("count", [2, 4, 6])
def test_labels_of_lines_have_room_for_what_a_fault_says(count: int) -> None:
    lab = Lab.pair(seed=7)
    sites = tuple([f"site-{number}" for number in range(count)])
    hosts = tuple([RecordedHost(f"{site}-1", "node", site, site) for site in sites])
    links = tuple([(a, b, "80 ms") for a, b in combinations(sites, 2)])
    faults = tuple([LineSpan(a, b, 0, 1, "slow: factor 4", "both ways") for a, b, _ in links])
    recording = recording_of(lab.queries, lab.invariants)
    stage = stage_of(recording._replace(sites=sites, hosts=hosts, links=links, lines=faults))
    labels = [box_of("slow: factor 4", SMALL, line.x, line.y + 16) for line in stage.lines]
    labels += [box_of("80 ms", SMALL, line.x, line.y) for line in stage.lines]

    assert not [box for box in labels for site in stage.sites if box.overlaps(site.box)]
    fault_labels = labels[: len(links)]
    if count <= 4:  # of fifteen lines that are all bad some labels share a place
        assert not [pair for pair in combinations(fault_labels, 2) if pair[0].overlaps(pair[1])]
    assert all(stage.view.holds(box.x, box.y) and stage.view.holds(box.right, box.bottom) for box in labels)


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_each_label_is_nearest_to_its_own_line(count: int) -> None:
    lab = Lab.pair(seed=7)
    sites = tuple([f"site-{number}" for number in range(count)])
    hosts = tuple([RecordedHost(f"{site}-{node}", "node", site, site) for site in sites[:-1] for node in range(3)])
    links = tuple([(a, b, "80 ms") for a, b in combinations(sites, 2)])
    recording = recording_of(lab.queries, lab.invariants)._replace(sites=sites, hosts=hosts, links=links)
    lines = stage_of(recording).lines

    for line in lines:
        distances = [other.segment.distance(line.x, line.y) for other in lines if other is not line]
        own = line.segment.distance(line.x, line.y)
        assert own < 1 if count > 4 else not distances or own < min(distances)


def test_where_messages_go_over_other_sites_there_is_a_line_without_words() -> None:
    lab = Lab.triangle(seed=7)
    lab["paris"].post("secret/data/app", {"data": {"a": "b"}})
    lab.replicate("paris", "tokyo")
    recording = recording_of(lab.queries, lab.invariants)
    assert over_others(recording) == []
    assert all(line.words for line in stage_of(recording).lines)
    without = recording._replace(links=tuple([link for link in recording.links if set(link[:2]) != {"paris", "tokyo"}]))

    assert [set(pair) for pair in over_others(without)] == [{"paris", "tokyo"}]
    assert [{line.a, line.b} for line in stage_of(without).lines if not line.words] == [{"paris", "tokyo"}]
    assert "dotted line: over other sites" in legend_of(without)
    assert "dotted line: over other sites" not in legend_of(recording)
