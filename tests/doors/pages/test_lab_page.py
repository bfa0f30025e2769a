"""What a page shows of a served lab: it reads, and changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from labkit import Lab
from labkit.doors.control import ControlRequest
from labkit.doors.lab_app import LabApp
from labkit.doors.lab_driver import LabDriver
from labkit.doors.pages.lab_page import TAB_STOP, LabPage, plain
from labkit.lab.bench import Bench
from labkit.lab.wire.turns import Turns


def reading(lab: Bench, path: str, **query: str) -> Any:
    page = LabPage(LabApp(lab, LabDriver(lab.parts, lab._passage, 2), 1_000), controlled=True)
    page.urls = {"paris": "http://127.0.0.1:8200"}

    async def read() -> dict[str, Any]:
        return await page.acts["GET", path](ControlRequest("", {}, query))

    return asyncio.run(read())


def test_it_says_what_there_is(lab: Lab) -> None:
    assert reading(lab, "/page/") == {
        "serves": "lab",
        "control": True,
        "title": "",
        "sites": ["paris", "tokyo", "lisbon"],
        "clusters": {
            "paris": {"url": "http://127.0.0.1:8200", "site": "paris", "nodes": ["paris-1", "paris-2", "paris-3"]}
        },
    }


def test_the_state_is_that_of_the_map_with_what_happened_last_and_what_is_broken(lab: Lab) -> None:
    lab.watch("never", lambda seen: "it is")
    lab.run("1s")
    lab.crash("paris-2")
    before = lab.trace.digest()
    state = reading(lab, "/page/state")

    ((paris,), *_) = [site["clusters"] for site in state["sites"]]
    assert [node["state"] for node in paris["nodes"]] == ["active", "down", "standby"]
    assert (state["now"], state["speed"], state["scenario"]) == ("1s", 2, None)
    assert state["broken"][0]["name"] == "never"
    assert any("crash" in line for line in state["last"])
    assert "at_ns" not in state, "the clock says it"
    assert lab.trace.digest() == before


def test_pictures_come_with_their_words(lab: Lab) -> None:
    lab.run("10s")
    found = reading(lab, "/page/map")
    assert found["html"].startswith('<div class="labkit-picture"')
    assert found["description"] == lab.map().description
    assert reading(lab, "/page/timeline")["description"] == lab.timeline().description
    part = lab.timeline("1s", "2s").figure
    assert TAB_STOP in part
    assert reading(lab, "/page/timeline", start="1s", end="2s")["html"] == part.replace(TAB_STOP, "")
    for path, query in (
        ("/page/timeline", {"start": "soon"}),
        ("/page/timeline", {"x": "1"}),
        ("/page/map", {"x": "1"}),
        ("/page/state", {"x": ""}),
    ):
        with pytest.raises(ValueError, match="expected"):
            reading(lab, path, **query)


def test_a_bench_is_shown_as_well() -> None:
    bench, lab = Bench.pair(), Lab.pair()

    for path in ("/page/", "/page/state", "/page/map", "/page/timeline"):
        assert reading(bench, path) == reading(lab, path)


@pytest.mark.parametrize("path", ["/page/state", "/page/map", "/page/timeline"])
def test_what_is_read_is_of_one_instant(path: str) -> None:
    class Counted(Turns):
        taken = 0

        def __enter__(self) -> None:
            super().__enter__()
            Counted.taken += 1

    bench = Bench.pair()
    bench.parts.turns = Counted()
    reading(bench, path)

    assert Counted.taken > 0


def test_a_scenario_says_how_far_it_is(checkout: Any) -> None:
    lab = Lab.load(sorted((checkout / "scenarios").rglob("*.lab.yaml"))[0])
    assert lab.scenario is not None

    assert reading(lab, "/page/")["title"] == lab.scenario.scenario.title
    assert reading(lab, "/page/state")["scenario"]["progress"].startswith("before step 1")


def test_named_tuples_become_plain_data() -> None:
    asking = ControlRequest("x", {}, {})
    assert plain((asking, [asking], "y", 1)) == [asking._asdict(), [asking._asdict()], "y", 1]
