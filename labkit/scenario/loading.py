"""Loading: a scenario file becomes a Scenario, or one error that carries everything that is wrong with it.

1. Each section is judged by its model, each step by that of its verb; then what must hold between them.
2. Findings never hide one another: a section that cannot be used is left out of the judgement of the others.
3. A step or key that nobody knows is an error, never passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from labkit.lab.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.scenario.document import Document, Path, parse, read
from labkit.scenario.findings import Finding, Mark, nearest, shown, wanted
from labkit.scenario.kinds import HOUR_NS, LONGEST_NS, Names, write_duration
from labkit.scenario.model import ClientsPart, ExpectPart, FilePart, LabPart, fields_of, met
from labkit.scenario.scenario import Bounds, Expectations, Scenario, Step
from labkit.scenario.verbs import VERBS, model_of, quarrels

MOST_OPERATIONS = 500_000
MEASURES = ("acknowledged", "lost", "unknown", "refused", "rpo", "rto")

Model = TypeVar("Model", bound=BaseModel)


def load(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file; raise ScenarioError with everything that is wrong with it."""
    return interpret(read(path))


def loads(source: bytes, name: str = "scenario") -> Scenario:
    """Read a scenario from the bytes of a file; raise ScenarioError as ``load`` does."""
    return interpret(parse(source, name))


def interpret(document: Document) -> Scenario:
    """Judge a document as a scenario; raise ScenarioError with everything that is wrong with it."""
    bench = _Bench(document)
    file = bench.judge(FilePart, document.data, ())
    data = document.data if isinstance(document.data, dict) else {}
    lab = bench.judge(LabPart, data["lab"], ("lab",)) if isinstance(data.get("lab"), dict) else None
    expect = bench.judge(ExpectPart, data["expect"], ("expect",)) if isinstance(data.get("expect"), dict) else None
    timeline = data.get("timeline")
    steps = [bench.step(raw, place) for place, raw in enumerate(timeline)] if isinstance(timeline, list) else []
    if lab is not None:
        bench.check_names(lab)
        bench.check_links(lab)
        bench.check_work(lab, file)
    bench.check_order([step for step in steps if step is not None], file)
    if bench.findings:
        raise document.error(bench.findings)
    assert file is not None
    assert lab is not None
    return Scenario(
        title=file.scenario,
        about=" ".join(file.about.split()),
        path=document.name,
        seed=file.seed,
        blueprint=blueprint_of(lab),
        timeline=tuple(step for step in steps if step is not None),
        expect=_expectations(expect),
        end_ns=file.end,
        settle_ns=file.settle,
        work_until_ns=max((work.until for group in lab.clients.values() for work in group.work), default=0),
        marks=tuple(_marks(document)),
        lines=document.lines,
    )


class _Bench:
    """A document under judgement, the names that it declares, and what was found so far."""

    def __init__(self, document: Document) -> None:
        self.document, self.names = document, Names.of(document.data)
        self.findings: list[Finding] = list(document.findings)

    def found(self, path: Path, text: str, *, key: bool = False) -> None:
        """Note a finding about a value, or about its key."""
        mark = self.document.key_mark(path) if key else self.document.mark(path)
        where = _where(path[:-1] if key else path)
        self.findings.append(Finding(mark, f"{where}: {text}" if where else text))

    def judge(self, model: type[Model], data: Any, path: Path) -> Model | None:
        """Validate a section against its model; None, with findings, for one that cannot be used."""
        if path == () and not isinstance(data, dict):
            self.found(path, wanted("a mapping of scenario, lab, timeline and expect", data))
            return None
        empty = list(_empty(data, path, model is FilePart))
        for place in empty:
            what = met(model, place[len(path) :])[1] or "a value"
            self.found(place, wanted(what, None))
        try:
            valid = model.model_validate(data, context=self.names)
        except ValidationError as error:
            rows = error.errors(include_url=False)
            strange = [row["loc"] for row in rows if row["type"] == "extra_forbidden"]
            misspelt = {(*place[:-1], _meant(model, place)) for place in strange}
            for row in rows:
                if row["type"] != "missing" or row["loc"] not in misspelt:
                    self._translate(model, path, row)
            return None
        return None if empty else valid

    def _translate(self, model: type[BaseModel], path: Path, row: Any) -> None:
        """Say one of the validator's errors in the house's words."""
        sort, place, came = row["type"], row["loc"], row["input"]
        if place and place[-1] == "[key]":
            self.found((*path, *place[:-1]), str(row["ctx"]["error"]), key=True)
        elif sort == "missing":
            what = met(model, place)[1]
            self.found((*path, *place[:-1]), f"wanted the key '{place[-1]}' ({what}), came none")
        elif sort == "extra_forbidden":
            known = fields_of(met(model, place[:-1])[0])
            self.found((*path, *place), wanted("a key", str(place[-1]), known), key=True)
        elif came is None:
            return
        elif sort == "value_error":
            self.found((*path, *place), str(row["ctx"]["error"]))
        elif sort in ("too_short", "too_long"):
            self.found((*path, *place), f"wanted {met(model, place)[1]}, came {row['ctx']['actual_length']} of them")
        else:
            self.found((*path, *place), wanted(met(model, place)[1], came))

    def step(self, raw: Any, place: int) -> Step | None:
        """Judge one step of the timeline."""
        path: Path = ("timeline", place)
        if not isinstance(raw, dict):
            self.found(path, wanted("a step such as {do: crash, target: paris, at: 20s}", raw))
            return None
        if "do" not in raw:
            self.found(path, "wanted the key 'do' (a verb), came none")
            return None
        verb = VERBS.get(raw["do"]) if isinstance(raw["do"], str) else None
        if verb is None:
            self.found((*path, "do"), wanted("a verb", raw["do"], VERBS))
            return None
        valid = self.judge(model_of(verb.name), raw, path)
        if valid is None:
            return None
        given = valid.model_dump(by_alias=True)
        told = quarrels(verb, given, self.names)
        for text in told:
            self.found(path, text)
        timing = {key: given.pop(key, None) for key in ("do", "at", "after", "fails")}
        return Step(
            number=place + 1,
            verb=verb.name,
            given=tuple(given.items()),
            text=verb.say(given),
            at_ns=timing["at"] or 0,
            after_ns=timing["after"] or 0,
            fails=timing["fails"],
        )

    def check_names(self, lab: LabPart) -> None:
        """No two hosts, and no host and site, bear one name; a cluster bears that of no site but its own."""
        taken = dict.fromkeys(lab.sites, "a site")
        for number, site in enumerate(lab.sites):
            if site in lab.sites[:number]:
                self.found(("lab", "sites", number), f"wanted each site once, came {shown(site)} again")
        for name, plan in lab.clusters.items():
            hosts = [*(f"{name}-{number}" for number in range(1, plan.nodes + 1)), f"{name}-operator"]
            own = {} if name == plan.site else {name: "a cluster"}
            self._take(taken, ("lab", "clusters", name), {**own, **dict.fromkeys(hosts, "a host")})
        for name, group in lab.clients.items():
            hosts = [f"{name}-{number}" for number in range(1, group.count + 1)]
            self._take(taken, ("lab", "clients", name), {name: "a group", **dict.fromkeys(hosts, "a host")})

    def _take(self, taken: dict[str, str], path: Path, names: dict[str, str]) -> None:
        for name, what in names.items():
            if name in taken:
                self.found(path, f"wanted another name, since {shown(name)} is {taken[name]} already", key=True)
                return
            taken[name] = what

    def check_links(self, lab: LabPart) -> None:
        """Links lie between two different sites, one for each pair, and lead everywhere."""
        near: dict[str, list[str]] = {site: [] for site in lab.sites}
        known: dict[tuple[str, ...], int] = {}
        for number, link in enumerate(lab.links):
            path: Path = ("lab", "links", number, "between")
            pair = tuple(sorted(link.between))
            if pair[0] == pair[1]:
                self.found(path, f"wanted two different sites, came {pair[0]} twice")
            elif pair in known:
                self.found(path, f"wanted one link a pair of sites, came a second (the first is link {known[pair]})")
            known.setdefault(pair, number + 1)
            for one, other in (pair, pair[::-1]):
                near[one].append(other)
        reached, waiting = {lab.sites[0]}, [lab.sites[0]]
        while waiting:
            fresh = [site for site in near[waiting.pop()] if site not in reached]
            reached.update(fresh)
            waiting += fresh
        for number, site in enumerate(lab.sites):
            if site not in reached:
                self.found(("lab", "sites", number), f"wanted links that lead from {lab.sites[0]} to {site}, came none")

    def check_work(self, lab: LabPart, file: FilePart | None) -> None:
        """Clients do no more than a run can play in reasonable time."""
        planned = sum(sum(_operations(group, file)) for group in lab.clients.values())
        if planned > MOST_OPERATIONS:
            said = f"wanted at most {MOST_OPERATIONS:,} operations of all clients, came {planned:,}"
            self.found(("lab", "clients"), f"{said}; let them work less often or not so long", key=True)

    def check_order(self, steps: list[Step], file: FilePart | None) -> None:
        """No step begins before the one ahead of it can have ended, and none after the end."""
        if file is not None and {"end", "settle"} <= file.model_fields_set:
            said = "wanted end or settle, came both; end is an instant, settle follows the last step"
            self.found(("settle",), said, key=True)
        earliest = 0
        for step in steps:
            path: Path = ("timeline", step.number - 1)
            if step.at_ns and step.at_ns < earliest:
                said = f"wanted an instant from {write_duration(earliest)} on, when the step before it may be over"
                self.found((*path, "at"), f"{said}; came {write_duration(step.at_ns)}")
            given = dict(step.given)
            earliest = max(earliest + step.after_ns, step.at_ns) + (given["for"] if step.verb == "wait" else 0)
        end = LONGEST_NS if file is None or file.end is None else file.end
        if earliest > end:
            path = ("end",) if file is not None and file.end is not None else ("timeline",)
            said = f"wanted an instant from {write_duration(earliest)} on, when the last step is over at the earliest"
            self.found(path, f"{said}; came {write_duration(end)}")


def _meant(model: type[BaseModel], place: Path) -> str | None:
    """Name the key that a misspelt one stands for: that it is missing need not be said as well."""
    return nearest(str(place[-1]), fields_of(met(model, place[:-1])[0]))


def _operations(group: ClientsPart, file: FilePart | None) -> Iterator[int]:
    end = HOUR_NS if file is None or file.end is None else file.end
    for work in group.work:
        yield group.count * max(0, (work.until or end) - work.from_) // work.every


def _empty(data: Any, path: Path, outermost: bool) -> Iterator[Path]:
    """Yield where a key or an item was left without a value; what a request carries may be null."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in members:
        if value is None:
            yield (*path, key)
        elif not outermost and key != "body":
            yield from _empty(value, (*path, key), False)


def _where(path: Path) -> str:
    """Name a place as a reader would: ``step 3, cluster`` or ``lab.links[0].latency``."""
    parts = list(path)
    if len(parts) > 1 and parts[0] == "timeline" and isinstance(parts[1], int):
        rest = _where(tuple(parts[2:]))
        return f"step {parts[1] + 1}" + (f", {rest}" if rest else "")
    text = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{shown(part)[1:-1]}" for part in parts)
    return text.removeprefix(".")


def blueprint_of(lab: LabPart) -> Blueprint:
    """Turn the lab section into a blueprint."""
    return Blueprint(
        sites=tuple(lab.sites),
        links=tuple(
            LinkPlan(
                between=(link.between[0], link.between[1]),
                latency_ns=link.latency,
                jitter_ns=link.jitter,
                loss_ppm=link.loss,
                bandwidth_bps=link.bandwidth,
                distribution=link.distribution,
            )
            for link in lab.links
        ),
        clusters=tuple(
            ClusterPlan(
                name=name,
                site=plan.site,
                nodes=plan.nodes,
                shares=plan.shares,
                threshold=plan.threshold,
                version=plan.version,
                backlog_entries=plan.ring,
            )
            for name, plan in lab.clusters.items()
        ),
        clients=tuple(_client_plan(name, group) for name, group in lab.clients.items()),
    )


def _client_plan(name: str, group: ClientsPart) -> ClientPlan:
    return ClientPlan(
        name=name,
        site=group.site,
        use=tuple(group.use),
        count=group.count,
        timeout_ns=group.timeout,
        retries=group.retries,
        backoff_ns=group.backoff,
        workload=tuple(
            WorkloadPlan(
                operation=work.do,
                every_ns=work.every,
                from_ns=work.from_,
                until_ns=work.until,
                size_bytes=work.size,
                keys=work.keys,
            )
            for work in group.work
        ),
    )


def _expectations(expect: ExpectPart | None) -> Expectations:
    if expect is None:
        return Expectations()
    bounds = []
    for what in MEASURES:
        declared = getattr(expect, what)
        if declared is not None:
            exactly, low, high = declared.bounds()
            bounds.append(Bounds(what, *((low, high) if exactly is None else (exactly, exactly))))
    primary = None if expect.primary is None else tuple(sorted(expect.primary))
    return Expectations(tuple(bounds), expect.roots, primary, tuple(expect.invariants.items()))


def _marks(document: Document) -> Iterator[tuple[str, Mark]]:
    """Yield where each expectation and each step stands."""
    expect = document.data.get("expect", {})
    for key in expect:
        if key != "invariants":
            yield key, document.key_mark(("expect", key))
    for name in expect.get("invariants", {}):
        yield name, document.key_mark(("expect", "invariants", name))
    for place in range(len(document.data.get("timeline", []))):
        yield f"step {place + 1}", document.mark(("timeline", place))
