"""Snapshot: everything that a lab is made of, as plain values (R3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labkit.lab.blueprint import Blueprint


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A lab at an instant: what it was built from, and the state of every part."""

    blueprint: Blueprint
    seed: int
    at_ns: int
    state: dict[str, Any]

    def __repr__(self) -> str:
        return f"Snapshot(at {self.at_ns} ns, {len(self.state['hosts'])} hosts)"
