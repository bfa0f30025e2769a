"""Lab page: what a page shows of a served lab, as data and pictures; it reads and changes nothing."""

from __future__ import annotations

from typing import Any

from labkit.doors.control import ControlRequest, Handler
from labkit.doors.lab_app import LabApp
from labkit.service.durations import format_duration
from labkit.views import map as maps
from labkit.views import timeline
from labkit.views.contents import map_contents
from labkit.views.trace_lines import last_lines

LINES = 12

TAB_STOP = ' tabindex="0"'
"""What a picture has by itself; on the page its region has it."""


class LabPage:
    """The readings of one served lab; ``controlled``: whether verbs may be called too."""

    def __init__(self, app: LabApp, controlled: bool) -> None:
        self.app, self.controlled = app, controlled
        self.urls: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"LabPage({self.app.lab!r})"

    @property
    def acts(self) -> dict[tuple[str, str], Handler]:
        """What there is, by method and path."""
        return {
            ("GET", "/page/"): self._overview,
            ("GET", "/page/state"): self._state,
            ("GET", "/page/map"): self._map,
            ("GET", "/page/timeline"): self._timeline,
        }

    async def _overview(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        lab = self.app.lab
        clusters = {
            plan.name: {"url": self.urls.get(plan.name, ""), "site": plan.site, "nodes": [*plan.node_names]}
            for plan in lab.blueprint.clusters
        }
        title = lab.scenario.title if lab.scenario is not None else ""
        sites = [*lab.blueprint.sites]
        return {"serves": "lab", "control": self.controlled, "title": title, "sites": sites, "clusters": clusters}

    async def _state(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        lab = self.app.lab
        with lab.parts.turns:
            contents = plain(map_contents.contents_of(lab.queries))
            del contents["at_ns"]
            return {
                **clock_of(self.app),
                **contents,
                "broken": [plain(rule) for rule in lab.invariants.broken.values()],
                "last": last_lines(lab.trace, LINES),
                "scenario": lab.scenario and {"progress": lab.scenario.progress, "ended": lab.scenario.ended},
            }

    async def _map(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only()
        lab = self.app.lab
        with lab.parts.turns:
            return picture(maps.of(lab.queries))

    async def _timeline(self, asking: ControlRequest) -> dict[str, Any]:
        asking.only("start", "end")
        lab = self.app.lab
        with lab.parts.turns:
            return picture(timeline.of_lab(lab.queries, asking.query.get("start"), asking.query.get("end")))


def clock_of(app: LabApp) -> dict[str, Any]:
    """Return what a served lab's clock says, and how fast it goes."""
    now_ns = app.lab.now
    return {"now_ns": now_ns, "now": format_duration(now_ns), "speed": app.driver.speed}


def picture(drawn: Any) -> dict[str, Any]:
    """Return a picture as a page shows it, with what it says in words."""
    return {"title": drawn.title, "description": drawn.description, "html": drawn.figure.replace(TAB_STOP, "", 1)}


def plain(value: Any) -> Any:
    """Return named tuples as dicts, and tuples as lists."""
    if hasattr(value, "_asdict"):
        return {name: plain(member) for name, member in value._asdict().items()}
    return [plain(member) for member in value] if isinstance(value, tuple | list) else value
