"""The eight services that build hands to each host."""

from __future__ import annotations

from labkit.lab.wire.host_services import HostServices, ResolvedNode
from labkit.lab.wire.messages import SyncTimer


def test_they_are_eight():
    assert HostServices._fields == ("now", "after", "send", "datagram", "resolve", "entropy", "emit", "is_node")


def test_an_address_resolves_to_node_cluster_and_whether_it_runs(quiet):
    resolve = quiet.parts.nodes["tokyo-1"].services.resolve

    assert resolve("https://paris-2:8201") == ResolvedNode("paris-2", "paris", True)
    assert resolve("https://oslo-1:8201") is None
    quiet.crash("paris-2")
    assert resolve("https://paris-2:8201") == ResolvedNode("paris-2", "paris", False)


def test_a_timer_comes_back_to_its_host_after_its_delay_and_one_with_a_spread_draws(quiet):
    services, drawn = quiet.parts.nodes["paris-1"].services, quiet.parts.random_streams.state()
    timer = SyncTimer(9, "retry", 1)
    services.after(2_000_000, timer)
    assert quiet.parts.random_streams.state() == drawn
    services.after(1_000_000_000, timer, 200_000)
    assert quiet.parts.random_streams.state() != drawn
    plain, spread = (at_ns for at_ns, item in quiet.parts.clock.pending() if item == ("timer", "paris-1", timer))

    assert plain == 2_000_000
    assert 800_000_000 <= spread <= 1_200_000_000
    assert spread != 1_000_000_000


def test_entropy_is_the_hosts_own_and_goes_on_from_a_counter(quiet):
    here, there = (quiet.parts.nodes[name].services.entropy for name in ("paris-1", "paris-2"))
    stream = here(0, 0)
    first, second = stream(16), stream(16)

    assert here(0, 1)(16) == second
    assert len({first, second, here(1, 0)(16), there(0, 0)(16)}) == 4


def test_what_is_emitted_takes_effect_at_once(quiet):
    from labkit.lab.wire.reports import Observed

    quiet.parts.nodes["paris-1"].services.emit(Observed(5, "paris-1", "seen", (("how", "well"),)))

    assert [event.what for event in quiet.trace.select("observed", node="paris-1")][-1] == "seen"
