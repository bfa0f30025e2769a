"""Findings: what broke in a run, and the signature by which those of many runs are one.

A signature is the rule, the kind of the root of what led to it, what that root is, and which part the clusters have
in it: the primary at first, one that was promoted, another.  It has no names, numbers or instants, for those are the
draws of one schedule.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, NamedTuple

from labkit.hunt.world import World
from labkit.lab.invariants import Violation
from labkit.scenario.problems import printable
from labkit.scenario.timed.timed_sections import NO_RULE

EXCEPTION = NO_RULE
PRIMARY, SURVIVOR, OTHER, CLIENT = "primary", "survivor", "other", "client"


class Signature(NamedTuple):
    """What makes findings one: the rule, the kind of the root, what it is (a verb or a message), and roles."""

    rule: str
    origin: str = ""
    what: str = ""
    roles: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The signature in words, on one line: ``one primary, after isolate of primary``."""
        rule = on_one_line(self.rule)
        if not self.what:
            return f"{rule}, {self.origin}" if self.origin else rule
        if self.rule == EXCEPTION:
            return f"{rule}, {self.origin} in {self.what}"
        of = f" of {' and '.join(self.roles)}" if self.roles else ""
        return f"{rule}, after {self.what}{of}"


class SeedFinding(NamedTuple):
    """What broke in the run of a seed: its signature, when, and what was seen."""

    seed: int
    signature: Signature
    at_ns: int
    detail: str

    @property
    def is_exception(self) -> bool:
        """Whether labkit itself raised."""
        return self.signature.rule == EXCEPTION


def on_one_line(text: str) -> str:
    """Return a text, the name of a condition for one, as a report and a list of known findings have it."""
    return printable(" ".join(text.split()))


def findings_of(world: World, seed: int) -> list[SeedFinding]:
    """Return what broke in a world, rules and conditions of its file, the earliest first."""
    broken = [violation for name, violation in world.invariants.broken.items() if world.invariants.applies(name)]
    found = [SeedFinding(seed, signature_of(world, one), one.at_ns, one.detail) for one in broken]
    return sorted(found, key=lambda finding: (finding.at_ns, finding.signature))


def signature_of(world: World, violation: Violation) -> Signature:
    """Return the signature of what broke a rule."""
    cause = world.why(violation).cause
    roles = sorted({_role_of(host, world, violation.at_ns) for host in cause.hosts} - {""})
    return Signature(violation.name, cause.origin, cause.what, tuple(roles))


def exception_of(error: Exception, seed: int, at_ns: int) -> SeedFinding:
    """Return the finding of an exception: its type, and the function of labkit that raised it."""
    where, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        parts = PurePath(code.co_filename).parts
        if "labkit" in parts:
            where = f"{PurePath(code.co_filename).stem}.{code.co_name}"
        trace = trace.tb_next
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return SeedFinding(seed, Signature(EXCEPTION, type(error).__name__, where), at_ns, text)


def _role_of(host: str, world: World, at_ns: int) -> str:
    """Return which part a host, a cluster or a site has; empty for one that has none."""
    cluster = _cluster_of(host, world)
    if cluster is None:
        return CLIENT if host in world.clients else ""
    promoted = {promotion.survivor for promotion in world.ledger.promotions if promotion.at_ns <= at_ns}
    if cluster == _first_primary(world, at_ns):
        return PRIMARY
    return SURVIVOR if cluster in promoted else OTHER


def _cluster_of(host: str, world: World) -> str | None:
    for plan in world.blueprint.clusters:
        if host in (plan.name, plan.site, plan.operator_host, *plan.node_names):
            return plan.name
    return None


def _first_primary(world: World, at_ns: int) -> str:
    """Return which cluster was a primary first, before an instant; empty where none was.

    What comes later does not count: the signature is the same where the run is stopped at what breaks.
    """
    modes: list[Any] = world.trace.select("mode")
    return next((event.cluster for event in modes if event.mode == "primary" and event.at_ns < at_ns), "")
