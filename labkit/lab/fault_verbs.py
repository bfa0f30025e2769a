"""Fault verbs: a method of a lab for each of its faults, with the fault's signature and docstring."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec

from labkit.cloud.cloud_service import CloudService
from labkit.lab.fault_table import AROUND, CLUSTER, FAULTS, LINE, NODE, SITE, WAY
from labkit.lab.faults import LabFaults

Given = ParamSpec("Given")

TARGETS = {
    NODE: "{0} is a cluster or a node",
    LINE: "{0} and {1} are sites or clusters",
    WAY: "{0} and {1} are sites or clusters",
    SITE: "{0} is a site or a cluster",
    AROUND: "{0} and {1} are sites or clusters",
    CLUSTER: "{0} is a cluster",
}
"""What the first arguments of a fault are, by the kind of its target."""


def short_form(fault: Callable[Concatenate[LabFaults, Given], None]) -> Callable[Concatenate[FaultVerbs, Given], None]:
    """Return a lab's method that makes one of its faults, with the same parameters and the same help."""

    @wraps(fault)
    def verb(lab: FaultVerbs, /, *arguments: Given.args, **named: Given.kwargs) -> None:
        faults = lab.faults
        try:
            getattr(faults, fault.__name__)(*arguments, **named)
        except TypeError:
            _judge_call(fault, (faults, *arguments), named)
            raise

    return verb


def _judge_call(fault: Callable[..., None], arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise a TypeError that says how a fault is called, where it was called otherwise."""
    shape = signature(fault)
    try:
        shape.bind(*arguments, **named)
    except TypeError as error:
        _, *parts = shape.parameters.values()
        names = [part.name if part.default is Parameter.empty else f"{part.name}=" for part in parts]
        target = next((row.target for row in FAULTS if row.method == fault.__name__), "")
        what = f", where {TARGETS[target].format(*[part.name for part in parts])}" if target in TARGETS else ""
        text = f"{fault.__name__}: expected {fault.__name__}({', '.join(names)}){what}; {error}"
        raise TypeError(text) from None


class FaultVerbs:
    """Gives a lab a method for each row of the table of faults."""

    _faults: LabFaults

    @property
    def faults(self) -> LabFaults:
        """What goes wrong, in pairs with what puts it right."""
        self._refuse_in_check()
        return self._faults

    def _refuse_in_check(self) -> None:
        """Raise RuntimeError where nothing may be changed; a lab says when."""

    @property
    def cloud(self) -> CloudService:
        """The cloud, with its faults; it comes to the site of the first cluster where no blueprint names one."""
        return self.faults.cloud

    crash = short_form(LabFaults.crash)
    crash_in_commit = short_form(LabFaults.crash_in_commit)
    restart = short_form(LabFaults.restart)
    crash_site = short_form(LabFaults.crash_site)
    restart_site = short_form(LabFaults.restart_site)
    pause = short_form(LabFaults.pause)
    resume = short_form(LabFaults.resume)
    skew = short_form(LabFaults.skew)
    correct = short_form(LabFaults.correct)
    impersonate = short_form(LabFaults.impersonate)
    expose = short_form(LabFaults.expose)
    partition = short_form(LabFaults.partition)
    cut = short_form(LabFaults.cut)
    isolate = short_form(LabFaults.isolate)
    heal = short_form(LabFaults.heal)
    slow = short_form(LabFaults.slow)
    lose = short_form(LabFaults.lose)
    duplicate = short_form(LabFaults.duplicate)
    restore_links = short_form(LabFaults.restore_links)
    flap = short_form(LabFaults.flap)
    steady = short_form(LabFaults.steady)
    corrupt = short_form(LabFaults.corrupt)
    stray_write = short_form(LabFaults.stray_write)
    cloud_outage = short_form(LabFaults.cloud_outage)
    cloud_recover = short_form(LabFaults.cloud_recover)
    cloud_slow = short_form(LabFaults.cloud_slow)
    cloud_restore = short_form(LabFaults.cloud_restore)
    roll_keys = short_form(LabFaults.roll_keys)
