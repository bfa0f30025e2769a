"""Lanes and streams: the path that topology and faults give them, and what they remember."""

from __future__ import annotations

import pytest

from labkit.sim.delivery import DATAGRAM, NO_IMPAIRMENT, NOWHERE, Host, Impairment, Lane, MessageStream, fitted
from labkit.sim.latency import Latency
from labkit.sim.random_streams import RandomStreams
from labkit.sim.topology import Link, Path, Topology

LINE = Topology(
    sites=("a", "b", "c", "d"),
    links=(
        Link(between=("a", "b"), latency=Latency.constant(10), jitter_ns=3, loss_ppm=500_000),
        Link(between=("b", "c"), latency=Latency.uniform(1, 5)),
    ),
)


def test_without_faults_a_lane_has_the_path_of_its_route() -> None:
    assert fitted(LINE, {}, ("a", "c")) == (LINE.route("a", "c"), False)
    assert fitted(LINE, {}, ("a", "a")) == (LINE.route("a", "a"), False)


def test_a_new_lane_knows_its_ends_and_leads_nowhere_until_it_is_fitted() -> None:
    lane = Lane("a", "c")

    assert (lane.source, lane.target, lane.cut) == ("a", "c", True)
    lane.fit(*fitted(LINE, {}, ("a", "c")))
    assert not lane.cut


def test_where_no_links_lead_a_lane_is_cut() -> None:
    assert fitted(LINE, {}, ("a", "d")) == (NOWHERE, True)


@pytest.mark.parametrize(
    ("cut", "hit"),
    [
        (("a", "b"), True),
        (("b", "c"), True),
        (("a", "c"), True),
        (("b", "a"), False),
        (("c", "a"), False),
        (("b", "d"), False),
    ],
)
def test_a_cut_of_any_hop_or_of_the_ends_cuts(cut: tuple[str, str], hit: bool) -> None:
    assert fitted(LINE, {cut: Impairment(cut=True)}, ("a", "c"))[1] is hit


def test_a_fault_on_a_hop_changes_that_hop() -> None:
    impairments = {
        ("a", "b"): Impairment(factor=10, loss_ppm=500_000),
        ("b", "c"): Impairment(latency=Latency.constant(7)),
    }

    assert fitted(LINE, impairments, ("a", "c")) == (
        Path(("a", "b", "c"), (Latency.constant(100), Latency.constant(7)), jitter_ns=30, loss_ppm=750_000),
        False,
    )
    assert fitted(LINE, impairments, ("c", "a"))[0] == LINE.route("c", "a")


def test_a_fault_between_distant_sites_changes_their_whole_way_and_no_other() -> None:
    impairments = {("a", "c"): Impairment(latency=Latency.constant(1_000))}

    assert fitted(LINE, impairments, ("a", "c"))[0].latencies == (Latency.constant(1_000),)
    assert fitted(LINE, impairments, ("a", "b"))[0] == LINE.route("a", "b")


def test_a_fault_inside_a_site_slows_it() -> None:
    path, cut = fitted(LINE, {("a", "a"): Impairment(factor=2)}, ("a", "a"))

    assert (path.typical_ns, cut) == (400_000, False)


def test_no_impairment_is_the_default() -> None:
    assert Impairment() == NO_IMPAIRMENT


def test_a_new_lane_leads_nowhere_until_it_is_fitted() -> None:
    lane = Lane("a", "b")
    assert lane.cut

    lane.fit(*fitted(LINE, {}, ("a", "c")))
    assert not lane.cut
    assert (lane.fixed_ns, lane.shapes, lane.jitter_ns) == (10, (Latency.uniform(1, 5),), 3)


def test_bytes_wait_for_those_before_them() -> None:
    lane = Lane("a", "b")

    assert lane.queued_ns(0, 1_000, 8_000_000_000) == 1_000
    assert lane.queued_ns(400, 1, 8_000_000_000) == 601
    assert lane.queued_ns(5_000, 0, 8_000_000_000) == 0
    assert lane.queued_ns(5_000, 1, 3) == 2_666_666_667  # rounded up


def test_bytes_aside_wait_for_none_before_them_but_are_waited_for() -> None:
    lane = Lane("a", "b")

    assert lane.queued_ns(0, 1_000, 8_000_000_000) == 1_000
    assert lane.aside_ns(400, 100, 8_000_000_000) == 100
    assert lane.queued_ns(400, 0, 8_000_000_000) == 700
    assert lane.aside_ns(5_000, 10, 8_000_000_000) == 10
    assert lane.free_ns == 5_010


def test_a_lane_forgets_what_no_longer_matters() -> None:
    lane = Lane("a", "b", epoch=3, free_ns=50, doubt_ns=80)

    assert lane.memory(49) == (3, 50, 80)
    assert lane.memory(50) == (3, 0, 80)
    assert lane.memory(80) == (3, 0, 80)
    assert lane.memory(81) == (0, 0, -1)


def stream_between(a: Host, b: Host, lane: Lane) -> MessageStream:
    lane.fit(*fitted(LINE, {}, ("a", "b")))
    return MessageStream(a, b, lane, RandomStreams(1))


def test_a_stream_takes_the_latest_epoch_and_drops_what_it_waited_for() -> None:
    a, b, lane = Host("a-1", "a", False), Host("b-1", "b", False), Lane("a", "b")
    stream = stream_between(a, b, lane)
    stream.last_ns = 900

    b.epoch = 4
    stream.refresh()
    assert (stream.epoch, stream.last_ns, lane.doubt_ns) == (4, -1, 900)

    stream.last_ns = 700
    lane.epoch = 5
    stream.refresh()
    assert (stream.epoch, stream.last_ns, lane.doubt_ns) == (5, -1, 900)

    stream.last_ns = 800
    stream.refresh()
    assert (stream.epoch, stream.last_ns) == (5, 800)


def rates(stream: MessageStream, count: int = 200) -> list[int]:
    return [stream.due_ns(0, 1_000) for _ in range(count)]


@pytest.mark.parametrize(
    ("path", "varies", "lossy"),
    [
        (Path(("a", "b"), (Latency.constant(10),)), False, False),
        (Path(("a", "b"), (Latency.uniform(10, 20),)), True, False),
        (Path(("a", "b"), (Latency.constant(10),), jitter_ns=1), True, False),
        (Path(("a", "b"), (Latency.constant(10),), loss_ppm=1), True, True),
        (Path(("a", "b"), (Latency.constant(10),), bandwidth_bps=8), True, False),
    ],
)
def test_a_stream_knows_whether_its_delay_varies(path: Path, varies: bool, lossy: bool) -> None:
    lane = Lane("a", "b")
    lane.fit(path, False)
    stream = MessageStream(Host("a-1", "a", False), Host("b-1", "b", False), lane, RandomStreams(1))

    assert (stream.varies, stream.lossy) == (varies, lossy)
    assert (stream.epoch, stream.last_ns) == (0, -1)


def test_latency_jitter_and_line_add_up() -> None:
    lane = Lane("a", "b")
    lane.fit(Path(("a", "b"), (Latency.constant(10), Latency.uniform(100, 103)), jitter_ns=3), False)
    stream = MessageStream(Host("a-1", "a", False), Host("b-1", "b", False), lane, RandomStreams(1))
    assert set(rates(stream)) == set(range(110, 117))

    lane.fit(Path(("a", "b"), (Latency.constant(10),), bandwidth_bps=8_000_000_000), False)
    stream.refresh()
    assert rates(stream, 3) == [1_010, 2_010, 3_010]


def test_jitter_has_draws_of_its_own() -> None:
    """Whether a line's delays are drawn too does not change its jitter."""

    def jitters(latency: Latency) -> list[int]:
        lane = Lane("a", "b")
        lane.fit(Path(("a", "b"), (latency,), jitter_ns=1_000), False)
        return rates(MessageStream(Host("a-1", "a", False), Host("b-1", "b", False), lane, RandomStreams(1)))

    assert jitters(Latency.constant(5)) == jitters(Latency.uniform(5, 5))


@pytest.mark.parametrize(("a_up", "b_up", "cut"), [(False, True, False), (True, False, False), (True, True, True)])
def test_a_stream_is_closed_by_a_host_or_a_cut(a_up: bool, b_up: bool, cut: bool) -> None:
    a, b, lane = Host("a-1", "a", False), Host("b-1", "b", False), Lane("a", "b")
    stream = stream_between(a, b, lane)
    assert not stream.closed

    a.up, b.up = a_up, b_up
    lane.fit(*fitted(LINE, {("a", "b"): Impairment(cut=cut)}, ("a", "b")))
    stream.refresh()
    assert stream.closed


def test_half_of_all_sends_being_lost_doubles_the_waits() -> None:
    stream = stream_between(Host("a-1", "a", False), Host("b-1", "b", False), Lane("a", "b"))
    waits = [stream.resent_ns() for _ in range(4_000)]

    assert {waited for waited, _ in waits} <= {200_000_000 * (2**lost - 1) for lost in range(9)}
    for lost in range(3):
        share = sum(waited == 200_000_000 * (2**lost - 1) for waited, _ in waits) / len(waits)
        assert share == pytest.approx(0.5 ** (lost + 1), rel=0.1)
    given_up = [waited for waited, arrives in waits if not arrives]
    assert set(given_up) == {51_000_000_000}
    assert 2 <= len(given_up) <= 40


def test_a_host_is_up_at_its_site_from_its_first_epoch_on() -> None:
    host = Host("paris-1", "paris", True)

    assert (host.name, host.site, host.private, host.up, host.epoch) == ("paris-1", "paris", True, True, 0)


@pytest.mark.parametrize(("ppm", "share"), [(0, 0), (250_000, 0.25), (1_000_000, 1)])
def test_a_datagram_is_lost_and_comes_twice_as_often_as_its_lane_says(ppm: int, share: float) -> None:
    lane = Lane("a", "b")
    lane.fit(Path(("a", "b"), (Latency.constant(10),), loss_ppm=ppm, twice_ppm=ppm), False)
    ends = Host("a-1", "a", False), Host("b-1", "b", False)
    losing, doubling = (MessageStream(*ends, lane, RandomStreams(1), DATAGRAM) for _ in range(2))
    lost = [losing.is_lost() for _ in range(4_000)]
    copies = [doubling.copies() for _ in range(4_000)]

    assert sum(lost) / len(lost) == pytest.approx(share, rel=0.1)
    assert set(copies) <= {1, 2}
    assert copies.count(2) / len(copies) == pytest.approx(share, rel=0.1)
    assert lost != [count == 2 for count in copies] or share in (0, 1), "each has draws of its own"
