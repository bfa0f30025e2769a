"""Combination: one choice of the values of a matrix, and how readers and tests call it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_SPECIAL = re.compile(r"[^A-Za-z0-9.]")


class Combination(NamedTuple):
    """One combination: each name with its value; empty for a file without a matrix."""

    values: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """How a reader meets it: ``latency: 80ms, nodes: 3``."""
        return ", ".join(f"{name}: {value_text(value)}" for name, value in self.values)

    @property
    def id(self) -> str:
        """How a test is called: ``latency=80ms-nodes=3``; what is not a letter, digit or dot stands as its bytes."""
        return "-".join(f"{name}={_escaped(value_text(value))}" for name, value in self.values)


NO_COMBINATION = Combination()


def value_text(value: Any) -> str:
    """Write a value as a file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)
