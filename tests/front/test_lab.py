"""A lab as users hold it: the promised names, the scenario of a file, and what a notebook shows of it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from labkit import Lab
from labkit.doors.server_thread import DoorSettings
from labkit.front.lab_cluster import LabCluster
from labkit.lab.bench import Bench
from labkit.views import map as maps
from labkit.views import timeline
from labkit.views.charts.measures import Measures

SECOND_NS = 1_000_000_000

PROMISED = """
    load pair triangle run step now crash restart partition cut isolate heal slow lose restore_links corrupt seal pause
    unseal resume replicate failover lag trace network ledger map timeline dashboard snapshot restore branch
    work_through seed clusters clients blueprint invariants scenario faults queries parts why compare diff at watch
    serve crash_site restart_site skew correct flap steady impersonate expose crash_in_commit duplicate
    stray_write cloud cloud_outage cloud_recover cloud_slow cloud_restore roll_keys
    measures keep_checkpoints keep_pictures play save open
"""


def test_it_shows_the_promised_names_and_no_others(quiet):
    assert {name for name in dir(quiet) if not name.startswith("_")} == set(PROMISED.split())


def test_it_is_a_bench_whose_clusters_can_be_drawn(quiet):
    assert Lab.__bases__ == (Bench,)
    assert {type(cluster) for cluster in quiet.clusters.values()} == {LabCluster}
    assert quiet["paris"] is quiet.clusters["paris"]
    with pytest.raises(ValueError, match="cluster: expected a cluster, got 'oslo'; there are: paris, tokyo"):
        quiet["oslo"]


# ---- a scenario


def test_a_lab_is_loaded_with_its_scenario_and_played_to_its_end(checkout):
    path = checkout / "scenarios" / "first" / "split-brain.lab.yaml"
    lab, other = Lab.load(path), Lab.load(str(path), seed=99)

    assert lab.scenario is not None
    assert (lab.seed, other.seed) == (lab.scenario.scenario.seed, 99)
    assert lab.run().ledger.promotions
    assert lab.now == lab.scenario.scenario.end_ns


def test_what_is_no_path_is_refused():
    with pytest.raises(ValueError, match="path: expected the path of a scenario file, got 7"):
        Lab.load(7)  # type: ignore[arg-type]  # that is what is refused


def test_a_scenario_goes_on_in_what_is_restored_branched_or_gone_back_to(scenario_file, vary):
    lab = Lab.load(scenario_file(vary()))
    lab.keep_checkpoints("2s")
    lab.run("6s")
    found = {"restored": Lab.restore(lab.snapshot()), "branch": lab.branch("b"), "before": lab.at("3s")}
    begun = Lab.load(scenario_file(vary())).run("6s").at("3s")
    end = lab.run()

    assert end.scenario is not None
    assert end.scenario.ended
    for what, other in (*found.items(), ("begun again", begun)):
        assert other.run().trace.digest() == end.trace.digest(), what
        assert other.scenario is not None, what
        assert other.scenario.results == end.scenario.results, what
        assert other.now == 10 * SECOND_NS


# ---- what is shown of it


def test_its_pictures_are_drawn_as_it_is_now(quiet):
    for picture in (quiet.map(), quiet.timeline()):
        assert "paris" in picture._repr_html_()


def test_the_pictures_are_those_of_the_views(calm):
    assert calm.map().svg == maps.of(calm.queries).svg
    assert calm.timeline().svg == timeline.of_lab(calm.queries).svg
    assert calm.timeline("1s", "2s").svg == timeline.of_lab(calm.queries, "1s", "2s").svg
    assert calm.timeline("1s", "2s").svg != calm.timeline().svg
    assert repr(calm.measures) == repr(Measures(calm.queries))


def test_a_lab_without_a_trace_has_no_timeline_and_its_dashboard_shows_none():
    lab = Lab(Lab.pair().blueprint, trace=False)
    with pytest.raises(ValueError, match="timeline: expected a lab that keeps a trace, got one with trace=False"):
        lab.timeline()
    lab.run("1s")
    page = lab.dashboard().page
    assert lab.map().svg in page
    assert "Timeline of the lab" not in page


def test_two_labs_are_compared_and_nothing_else(calm):
    other = calm.branch("other")
    other.crash("tokyo")
    other.run("1s")
    calm.run("1s")

    assert "crash" in repr(calm.compare(other))
    with pytest.raises(ValueError, match="other: expected another lab, such as a branch of this one, got 'calm'"):
        calm.compare("calm")


def test_the_dashboard_shows_and_drives_it(quiet):
    controls = quiet.dashboard().controls
    controls.run("1s")

    assert (quiet.now, controls.now_ns()) == (SECOND_NS, SECOND_NS)
    assert controls.cluster("paris") is quiet["paris"]
    assert [type(picture) for picture in controls.pictures()] == [type(quiet.map())] * 2


def test_it_is_served(quiet):
    door: Any = quiet.serve(speed=2)

    assert (door.lab, door.driver.speed) == (quiet, 2)


def test_it_is_served_as_it_is_asked_for(quiet):
    plain, controlled = quiet.serve(), quiet.serve(control=True)
    chosen: Any = quiet.serve(port=40_000, settings=DoorSettings(max_request_bytes=77))

    assert ("POST", "/control/reset") in controlled.control._acts
    assert ("POST", "/control/reset") not in plain.control._acts
    assert (plain._port, plain.driver.speed) == (0, 0)
    assert (chosen._port, chosen.app.reader.max_request_bytes) == (40_000, 77)
    assert plain.app.reader.max_request_bytes == DoorSettings().max_request_bytes


def test_the_dashboard_has_what_it_shows_of_the_lab(quiet):
    controls = quiet.dashboard().controls

    assert controls.clusters == {name: (f"{name}-1", f"{name}-2", f"{name}-3") for name in ("paris", "tokyo")}
    assert controls.sites == quiet.blueprint.sites
    assert (controls.faults, controls.trace) == (quiet.faults, quiet.trace)
    assert list(controls.broken()) == []


def test_a_file_s_seed_is_its_own_unless_another_is_given(scenario_file, vary):
    path = scenario_file(vary())

    assert [Lab.load(path, seed=seed).seed for seed in (None, 0, 3)] == [7, 0, 3]


def test_a_saved_lab_goes_on_where_it_was_saved(calm_snapshot, tmp_path):
    lab = Lab.restore(calm_snapshot)
    lab.watch("level", {"lag": {"at most": 200}})
    lab.partition("paris", "tokyo")
    lab.run("100ms")
    lab.save(tmp_path / "x.lab")
    opened = Lab.open(str(tmp_path / "x.lab"))

    assert opened.now == lab.now
    for one in (lab, opened):
        one["paris"].post("secret/data/app", {"data": {"user": "ada"}})
        one.heal()
        one.run("5s")
    assert opened.trace.digest() == lab.trace.digest()
    assert opened["tokyo"].root_token == lab["tokyo"].root_token


def test_rules_that_are_functions_are_named_when_a_file_is_opened(calm, tmp_path):
    calm.watch("mine", lambda lab: True)
    calm.save(tmp_path / "x.lab")

    with pytest.warns(UserWarning, match=r"x\.lab: rules that are functions are not in it: 'mine'; add them with"):
        Lab.open(tmp_path / "x.lab")


def test_without_its_library_a_lab_file_says_what_brings_it(calm, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "labkit.front.lab_file.disk", None)
    monkeypatch.delattr("labkit.front.lab_file.disk", raising=False)
    monkeypatch.setitem(sys.modules, "cbor2", None)
    for name in [name for name in sys.modules if name.startswith("labkit.front.lab_file.")]:
        monkeypatch.delitem(sys.modules, name)
    for call in (calm.save, Lab.open):
        with pytest.raises(ModuleNotFoundError, match=r"a lab file needs cbor2.*pip install '\.\[save\]'"):
            call(tmp_path / "x.lab")
