"""Loading: a scenario file becomes a Scenario, or one error with everything that is wrong with it.

1. Each section is checked by its model, each step by the model of its verb; then what must hold between them.
2. Problems do not hide one another: the other sections are checked without a section that cannot be used.
3. An unknown step or key is an error; none is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from labkit.lab.hosts.cloud_host import OF_CLOUD
from labkit.lab.operations.kept_values import mistaken, references, texts_with_names
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.scenario.blueprints import blueprint_of
from labkit.scenario.client_parts import ClientsPart, errors_of_group
from labkit.scenario.documents.combination import NO_COMBINATION, Combination
from labkit.scenario.documents.matrix import checked, named, put_in
from labkit.scenario.documents.shared_lab import with_shared_lab
from labkit.scenario.documents.yaml_positions import Document, Path, parse, read
from labkit.scenario.expect_keys import OTHER_KEYS, Expectations, ExpectPart
from labkit.scenario.file_parts import FilePart, LabPart, fields_of, part_at
from labkit.scenario.file_positions import FilePositions
from labkit.scenario.problems import (
    FieldError,
    FileProblem,
    ScenarioError,
    dash_hint,
    describe_value,
    expected,
    path_text,
    space_hint,
)
from labkit.scenario.scenario import Scenario, Step
from labkit.scenario.steps.mode_order import out_of_order
from labkit.scenario.steps.step_timing import taken_from, timed, wrong_between
from labkit.scenario.steps.waiting import is_awaited
from labkit.scenario.timed.points import names_in
from labkit.scenario.timed.timed_sections import read_timed
from labkit.scenario.value_types import HOUR_NS, MAX_SCENARIO_NS, DeclaredNames, write_duration
from labkit.scenario.verb import RUNBOOK
from labkit.scenario.verbs import OTHER_WORDS, VERBS, cross_field_errors, model_of
from labkit.service.did_you_mean import nearest

MAX_OPERATIONS = 500_000

Model = TypeVar("Model", bound=BaseModel)


def load(path: str | PathLike[str]) -> Scenario:
    """Read a scenario file; raise ScenarioError with everything that is wrong with it.

    Of a file with a matrix it is the first combination; all of them are checked.
    """
    return load_all(path)[0]


def load_all(path: str | PathLike[str]) -> tuple[Scenario, ...]:
    """Read a scenario file, one scenario for each combination of its matrix; raise ScenarioError as ``load`` does."""
    return _interpret_all(with_shared_lab(read(path)))


def loads(source: bytes, name: str = "scenario") -> Scenario:
    """Read a scenario from the bytes of a file, which shares no lab; raise ScenarioError as ``load`` does."""
    return _interpret_all(parse(source, name))[0]


def _interpret_all(document: Document) -> tuple[Scenario, ...]:
    document, combinations = checked(document)
    scenarios, problems = [], dict[FileProblem, list[Combination]]()
    for combination in combinations:
        try:
            scenarios.append(interpret(document, combination))
        except ScenarioError as error:
            for problem in error.problems:
                problems.setdefault(problem, []).append(combination)
    if problems:
        raise document.error(named(problems, len(combinations), document))
    return tuple(scenarios)


def interpret(document: Document, combination: Combination = NO_COMBINATION) -> Scenario:
    """Check a document and build the scenario; raise ScenarioError with everything that is wrong with it."""
    document = put_in(document, combination)
    checker = _Checker(document)
    file = checker.validate(FilePart, document.data, ())
    data = document.data if isinstance(document.data, dict) else {}
    lab = checker.validate(LabPart, data["lab"], ("lab",)) if isinstance(data.get("lab"), dict) else None
    expect = checker.validate(ExpectPart, data["expect"], ("expect",)) if isinstance(data.get("expect"), dict) else None
    over_time = tuple(read_timed(data, checker.validate, checker.add))
    timeline = data.get("timeline")
    steps = [checker.step(raw, number) for number, raw in enumerate(timeline, 1)] if isinstance(timeline, list) else []
    done = [step for step in steps if step is not None]
    if lab is not None:
        checker.check_lab(lab, file, done)
    checker.check_order(done, file)
    if None not in steps:
        checker.check_modes(done)
    if checker.problems:
        raise document.error(checker.problems)
    assert file is not None
    assert lab is not None
    return Scenario(
        title=file.scenario,
        about=" ".join(file.about.split()),
        lesson=" ".join(file.lesson.split()),
        path=document.name,
        seed=file.seed if file.seeds is None else 0,
        seeds=file.seeds or 0,
        combination=combination,
        blueprint=blueprint_of(lab),
        timeline=tuple(done),
        expect=Expectations.of({} if expect is None else expect.model_dump(by_alias=True)),
        over_time=over_time,
        covers=tuple(file.covers),
        end_ns=file.end,
        settle_ns=file.settle,
        work_until_ns=max((work.until or 0 for group in lab.clients.values() for work in group.work), default=0),
        positions=FilePositions(document.lines),
        lines=document.lines,
    )


class _Checker:
    """Checks one document; has the names that it declares and the problems so far."""

    def __init__(self, document: Document) -> None:
        self.document, self.names = document, DeclaredNames.of(document.data)
        self.step_names = names_in(document.data)
        self.problems: list[FileProblem] = list(document.problems)

    def add(self, path: Path, text: str, *, key: bool = False) -> None:
        """Add a problem with a value, or with its key."""
        position = self.document.key_position(path) if key else self.document.position(path)
        if position in self.document.unusable:
            return
        where = path_text(path[:-1] if key else path)
        self.problems.append(FileProblem(position, f"{where}: {text}" if where else text))

    def validate(self, model: type[Model], data: Any, path: Path) -> Model | None:
        """Validate a section with its model; None, with problems added, for one that cannot be used."""
        if path == () and not isinstance(data, dict):
            self.add(path, expected("a mapping of scenario, lab, timeline and expect", data))
            return None
        empty = list(_empty_values(data, path, model is FilePart)) if self.document.has_empty else []
        for empty_path in empty:
            what = part_at(model, empty_path[len(path) :])[1] or "a value"
            if ":" not in str(empty_path[-1]):  # that is a key and its value without a space, an unknown key
                self.add(empty_path, expected(what, None))
        try:
            valid = model.model_validate(data, context=self.names)
        except ValidationError as error:
            rows = error.errors(include_url=False)
            unknown = [row["loc"] for row in rows if row["type"] == "extra_forbidden"]
            mistyped = {(*inner[:-1], _intended_key(model, inner)) for inner in unknown}
            for row in rows:
                if row["type"] != "missing" or row["loc"] not in mistyped:
                    self._translate(model, path, row)
            return None
        return None if empty else valid

    def _translate(self, model: type[BaseModel], path: Path, row: Any) -> None:
        """Add the problem for one of the validator's errors."""
        kind, inner, value = row["type"], row["loc"], row["input"]
        if inner and inner[-1] == "[key]":
            error = row.get("ctx", {}).get("error")
            self.add((*path, *inner[:-1]), str(error or expected("a text that is not empty", value)), key=True)
        elif kind == "missing":
            what = part_at(model, inner)[1]
            self.add((*path, *inner[:-1]), f"expected the key '{inner[-1]}' ({what}), got none")
        elif kind == "extra_forbidden":
            known = fields_of(part_at(model, inner[:-1])[0])
            now_called = {old: new for old, new in OTHER_KEYS.items() if new in known}
            text = space_hint(str(inner[-1]), known) or expected("a key", str(inner[-1]), known, now_called)
            self.add((*path, *inner), text, key=True)
        elif value is None:
            return
        elif kind == "value_error":
            error = row["ctx"]["error"]
            key = (error.key,) if isinstance(error, FieldError) else ()
            of_key = isinstance(error, FieldError) and error.of_key
            self.add(self._written((*path, *inner, *key)), str(error), key=of_key)
        elif kind in ("too_short", "too_long"):
            self.add((*path, *inner), f"expected {part_at(model, inner)[1]}, got {row['ctx']['actual_length']} of them")
        else:
            written = self._written((*path, *inner))
            what = part_at(model, written[len(path) :])[1]
            self.add(written, expected(what, value) + dash_hint(kind, value))

    def _written(self, path: Path) -> Path:
        """Shorten a path to what is in the file: a plain value stands for {exactly: value}, or for a list of one."""
        while path and path not in self.document.value_positions:
            path = path[:-1]
        return path

    def step(self, raw: Any, number: int) -> Step | None:
        """Check one step of the timeline; steps are numbered from 1."""
        path: Path = ("timeline", number - 1)
        if not isinstance(raw, dict):
            self.add(path, expected("a step such as {do: crash, target: paris, at: 20s}", raw))
            return None
        if "do" not in raw:
            hints = {key: space_hint(key, ("do",)) for key in raw}
            key = next((key for key, hint in hints.items() if hint), None)
            if key is None:
                self.add(path, "expected the key 'do' (a verb), got none")
            else:
                self.add((*path, key), hints[key], key=True)
            return None
        verb = VERBS.get(raw["do"]) if isinstance(raw["do"], str) else None
        if verb is None:
            self.add((*path, "do"), expected("a verb", raw["do"], VERBS, OTHER_WORDS))
            return None
        valid = self.validate(model_of(verb.name), raw, path)
        if valid is None:
            return None
        arguments = valid.model_dump(by_alias=True)
        for key, text in cross_field_errors(verb, arguments, self.names):
            self.add((*path, key) if key in raw else path, text)
        timing = taken_from(arguments, verb)
        found = Step(number, verb.name, tuple(arguments.items()), verb.describe(arguments))
        try:
            return timed(found, timing, self.step_names)
        except ValueError as error:
            self.add((*path, "after"), str(error))
            return None

    def check_lab(self, lab: LabPart, file: FilePart | None, steps: list[Step]) -> None:
        """What the lab's parts are together, and with the steps that use it."""
        self.check_names(lab)
        self.check_links(lab)
        self.check_work(lab, file)
        self.check_kept(steps, lab)

    def check_names(self, lab: LabPart) -> None:
        """Hosts and sites have different names; a cluster may have the name of its own site, not of another."""
        used = dict.fromkeys(lab.sites, "a site")
        for number, site in enumerate(lab.sites):
            if site in lab.sites[:number]:
                self.add(("lab", "sites", number), f"expected each site once, got {describe_value(site)} again")
        for name, plan in lab.clusters.items():
            hosts = [*(f"{name}-{number}" for number in range(1, plan.nodes + 1)), f"{name}-operator"]
            own = {} if name == plan.site else {name: "a cluster"}
            self._claim(used, ("lab", "clusters", name), {**own, **dict.fromkeys(hosts, "a host")})
            for node in plan.each:
                if node not in hosts:
                    text = expected(f"a node of {name}", node, hosts[: plan.nodes])
                    self.add(("lab", "clusters", name, "each", node), text, key=True)
        for name in lab.balancers:
            self._claim(used, ("lab", "balancers", name), {name: "a load balancer"})
        if lab.cloud is not None:
            self._claim(used, ("lab", "cloud"), {CLOUD_HOST: "a name"})
        for name, group in lab.clients.items():
            for below, text in errors_of_group(name, lab.clients, has_cloud=lab.cloud is not None):
                self.add(("lab", "clients", name, *below), text)
            if group.through is not None and group.through not in lab.balancers:
                text = expected("a load balancer", group.through, lab.balancers)
                self.add(("lab", "clients", name, "through"), text)
            hosts = [f"{name}-{number}" for number in range(1, group.count + 1)]
            self._claim(used, ("lab", "clients", name), {name: "a group", **dict.fromkeys(hosts, "a host")})

    def _claim(self, used: dict[str, str], path: Path, names: dict[str, str]) -> None:
        for name, what in names.items():
            if name in used:
                self.add(path, f"expected another name, since {describe_value(name)} is {used[name]} already", key=True)
                return
            used[name] = what

    def check_links(self, lab: LabPart) -> None:
        """Links are between two different sites, one per pair, and connect all sites."""
        neighbours: dict[str, list[str]] = {site: [] for site in lab.sites}
        known: dict[tuple[str, ...], int] = {}
        for number, link in enumerate(lab.links):
            path: Path = ("lab", "links", number, "between")
            pair = tuple(sorted(link.between))
            if pair[0] == pair[1]:
                self.add(path, f"expected two different sites, got {pair[0]} twice")
            elif pair in known:
                self.add(path, f"expected one link per pair of sites, got a second (the first is link {known[pair]})")
            known.setdefault(pair, number + 1)
            for one, other in (pair, pair[::-1]):
                neighbours[one].append(other)
        reached, waiting = {lab.sites[0]}, [lab.sites[0]]
        while waiting:
            new = [site for site in neighbours[waiting.pop()] if site not in reached]
            reached.update(new)
            waiting += new
        for number, site in enumerate(lab.sites):
            if site not in reached:
                self.add(("lab", "sites", number), f"expected links from {lab.sites[0]} to {site}, got none")

    def check_work(self, lab: LabPart, file: FilePart | None) -> None:
        """Clients do no more than a run can do in reasonable time."""
        planned = sum(sum(_operations(group, file)) for group in lab.clients.values())
        if planned > MAX_OPERATIONS:
            text = f"expected at most {MAX_OPERATIONS:,} operations of all clients, got {planned:,}"
            self.add(("lab", "clients"), f"{text}; let them work less often or not as long", key=True)

    def check_kept(self, steps: list[Step], lab: LabPart) -> None:
        """A step refers to what a step above it keeps, or to what operators have of a cluster."""
        last, kept = max(plan.shares for plan in lab.clusters.values()), dict[str, None]()
        shares = [f"share.{number}" for number in range(1, last + 1)]
        own = {
            f"{name}.{when}{kind}" for name in lab.clusters for when in ("", "former.") for kind in ("root", *shares)
        }
        own |= {f"{CLOUD_HOST}.{name}" for name in OF_CLOUD} if lab.cloud is not None else set()
        for step in steps:
            path: Path = ("timeline", step.number - 1)
            arguments = step.arguments if VERBS[step.verb].kind == RUNBOOK else ()
            texts = [
                (key, text) for key, value in arguments if value for text in texts_with_names(value) if "$" in text
            ]
            for key, name in ((key, name) for key, text in texts for name in references(text)):
                if name not in own and name not in kept:
                    text = expected("the name of a value that a step above keeps", name, kept)
                    cluster = name.partition(".")[0]
                    shown = f"; operators have {cluster}.root and {cluster}.share.1 to {cluster}.share.{last}"
                    self.add((*path, key), text + (shown if cluster in lab.clusters else ""))
            for key, name in ((key, name) for key, text in texts for name in mistaken(text)):
                if name in own or name in kept:
                    self.add((*path, key), f"expected $({name}) for a value that is kept, got ${{{name}}}")
            given = dict(step.arguments).get("keep") or ()
            kept.update(dict.fromkeys([given] if isinstance(given, str) else given))

    def check_modes(self, steps: list[Step]) -> None:
        """A step that needs a secondary or a primary stands below one that can have made it; names are different."""
        for number, key, text in wrong_between(steps):
            self.add(("timeline", number - 1, key), text)
        for number, key, text in out_of_order(steps):
            self.add(("timeline", number - 1, key), text)

    def check_order(self, steps: list[Step], file: FilePart | None) -> None:
        """No step begins before the one before it can have ended, and none after the end."""
        if file is not None and {"end", "settle"} <= file.model_fields_set:
            text = "expected end or settle, got both; end is an instant, settle follows the last step"
            self.add(("settle",), text, key=True)
        earliest = 0
        for step in steps:
            path: Path = ("timeline", step.number - 1)
            if step.after_step or not is_awaited(step):  # nobody knows when it begins
                continue
            if step.at_ns is not None and step.at_ns < earliest:
                text = f"expected an instant from {write_duration(earliest)} on, when the steps above it may be over"
                got = f"got {write_duration(step.at_ns)}; write steps in the order in which they begin"
                self.add((*path, "at"), f"{text}, {got}")
            arguments = dict(step.arguments)
            takes_ns = 0 if step.when else arguments.get("for") or 0  # one that is skipped takes no time
            earliest = max(earliest + step.after_ns, step.at_ns or 0) + takes_ns
        end = MAX_SCENARIO_NS if file is None or file.end is None else file.end
        if earliest > end:
            path = ("end",) if file is not None and file.end is not None else ("timeline",)
            text = f"expected an instant from {write_duration(earliest)} on, when the last step is over at the earliest"
            self.add(path, f"{text}; got {write_duration(end)}")


def _intended_key(model: type[BaseModel], path: Path) -> str | None:
    """Return the key that a mistyped one is meant to be, so that it is not reported as missing too."""
    return nearest(str(path[-1]), fields_of(part_at(model, path[:-1])[0]))


def _operations(group: ClientsPart, file: FilePart | None) -> Iterator[int]:
    end = HOUR_NS if file is None or file.end is None else file.end
    for work in group.work:
        yield group.count * max(0, (work.until or end) - work.from_) // work.every


def _empty_values(data: Any, path: Path, outermost: bool) -> Iterator[Path]:
    """Yield the path of each key or item without a value; the body of a request may contain null."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in members:
        if value is None:
            yield (*path, key)
        elif not outermost and key not in ("body", "has", "lacks"):
            yield from _empty_values(value, (*path, key), False)
