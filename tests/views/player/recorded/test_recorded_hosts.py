"""Recorded hosts: everybody who sends or gets something has a site, and is what it is."""

from __future__ import annotations

from labkit import Lab
from labkit.views.player.recorded.recorded_hosts import ground_of, links_of
from labkit.views.player.recorded.recording import recording_of


def test_everybody_is_there_once_with_site_and_kind(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    hosts = {host.name: host for host in recording.hosts}
    network, blueprint = drilled_lab.parts.network, drilled_lab.blueprint

    assert len(hosts) == len(recording.hosts)
    assert {end for one in recording.messages for end in one[2:4]} <= set(hosts)
    assert all(host.site == network.site_of(name) for name, host in hosts.items())
    for group in blueprint.clients:
        for name in group.names:
            assert (hosts[name].kind, hosts[name].timeout_ns) == ("client", group.timeout_ns)
    kinds = {host.kind: host for host in recording.hosts}
    assert kinds["node"].timeout_ns == kinds["operator"].timeout_ns == 0
    ground = ground_of(recording.hosts)
    assert ground.clusters == {node: plan.name for plan in blueprint.clusters for node in plan.node_names}
    assert set(ground.sites) == set(hosts)
    assert ("paris", "tokyo", "80 ms") in links_of(drilled_lab.queries)
