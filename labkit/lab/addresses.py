"""Addresses: under which ports a node answers, and which host an address names."""

from __future__ import annotations

from labkit.vault.core import API_PORT, CLUSTER_PORT

ACTIVE = "active://"


def api_address(node: str) -> str:
    """Return where a node's API answers."""
    return f"http://{node}:{API_PORT}"


def cluster_address(node: str) -> str:
    """Return where a node answers other clusters."""
    return f"https://{node}:{CLUSTER_PORT}"


def active_address(cluster: str) -> str:
    """Return the name that resolves to a cluster's active node."""
    return ACTIVE + cluster


def host_of(address: str) -> str:
    """Return the host that an address such as ``https://paris-1:8201`` or ``paris-1`` names."""
    return address.split("//", 1)[-1].partition(":")[0]
