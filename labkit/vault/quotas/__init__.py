"""Quotas: how many requests a client may send, and how many leases there may be.

``rules`` says what a quota is and which one decides, ``rate_limits`` counts requests, ``lease_counts`` leases.  Where
there are no quotas nothing of it is loaded (R24): a request costs one look whether there are any.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUOTAS = "core/quotas"
"""Where all quotas and their configuration are stored, once there are any."""


def copied_counts(counted: Mapping[str, Any]) -> dict[str, Any]:
    """Copy what rate limits counted: by a limit's name what it is, and what it counted by address."""
    return {name: (rule, dict(clients)) for name, (rule, clients) in counted.items()}
