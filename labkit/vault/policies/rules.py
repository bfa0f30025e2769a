"""Rules: what a policy allows on which patterns of paths.

1. In a pattern, ``*`` at the end stands for anything, a segment ``+`` for any one segment.
2. ``deny`` among the capabilities removes all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from labkit.service.record import NamedTuple

Parameters = Mapping[str, tuple[Any, ...]]
ANY: Parameters = MappingProxyType({})


class Number(NamedTuple):
    """A number among a rule's values; it matches nothing, not even the same number."""

    text: str


class Rule(NamedTuple):
    """What is allowed on one pattern: a union of capabilities, and what a request must look like besides.

    ``allowed`` and ``denied`` map parameter names to values (text, flags, Number, lists, dicts), no values meaning any.
    TTLs are nanoseconds, 0 is unset.  Without capabilities a rule denies, until it merges with one that has some.
    """

    pattern: str
    capabilities: int
    allowed: Parameters = ANY
    denied: Parameters = ANY
    required: tuple[str, ...] = ()
    min_wrapping_ttl_ns: int = 0
    max_wrapping_ttl_ns: int = 0

    @property
    def needs_parameters(self) -> bool:
        """Whether the rule judges more of a request than its path: its parameters, or its wrapping."""
        return any(self[2:])
