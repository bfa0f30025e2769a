"""Names page: each public name of what users hold, with what its docstring says first and a line that shows it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from textwrap import fill
from typing import Any

from labkit.reference import WIDTH
from labkit.reference.python_examples import EXAMPLES, ON_PAGE

HOLDERS = {
    "Lab": ("labkit.front.lab", "Lab"),
    "Cluster": ("labkit.front.lab_cluster", "LabCluster"),
    "Vault": ("labkit.front.vault", "Vault"),
    "Cloud": ("labkit.front.cloud", "Cloud"),
    "Ledger": ("labkit.lab.records.loss_and_outage", "RecoveryLedger"),
    "Measures": ("labkit.views.charts.measures", "Measures"),
    "Picture": ("labkit.views.picture", "Picture"),
}
"""{a class, as users call it: the module in which it is, and its name there}: a page loads its own only."""


def section(topic: str) -> str:
    """Return the names that belong to a page, class by class; an empty text for a page of something else."""
    return "\n\n".join(
        "\n".join([f"## every name of {holder}", *(f"\n{row(holder, name)}" for name in EXAMPLES[holder])])
        for holder in ON_PAGE.get(topic, ())
    )


def rows(topic: str, name: str) -> str:
    """Return what a page says of one name, of each class that has it; an empty text where none has."""
    return "\n\n".join(row(holder, name) for holder in ON_PAGE.get(topic, ()) if name in EXAMPLES[holder])


def row(holder: str, name: str) -> str:
    """Describe one name: how it is called, what its docstring says first, and a line that shows it."""
    module, kind = HOLDERS[holder]
    member = inspect.getattr_static(getattr(import_module(module), kind), name, None)
    return "\n".join([f"**{holder}.{name}**{_call(member)}", *_about(member), f"    `{EXAMPLES[holder][name]}`"])


def _call(member: Any) -> str:
    function = getattr(member, "__func__", member)
    if not inspect.isfunction(function):
        return ""
    whole = inspect.signature(function)
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in whole.parameters.values()]
    return str(whole.replace(parameters=parameters[1:], return_annotation=inspect.Signature.empty))


def _about(member: Any) -> Iterator[str]:
    if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod):
        first = (inspect.getdoc(member) or "").partition("\n\n")[0].replace("``", "`")
        yield fill(first, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
