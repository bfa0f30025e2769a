"""Addresses: under which ports a node answers, and which host an address names."""

from __future__ import annotations

from labkit.service import cloud_environments
from labkit.service.message import Fetch, Request
from labkit.vault.core import API_PORT, CLUSTER_PORT

ACTIVE = "active://"
CLOUD_HOST = "cloud"


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


def addressed(fetch: Fetch) -> Request:
    """Return the request of a fetch as it is sent: to the cloud, whose parts share a host, it says which is meant."""
    if not cloud_environments.is_of_cloud(fetch.address):
        return fetch.request
    named = {**fetch.request.headers, "Host": cloud_environments.host_of(fetch.address)}
    return fetch.request._replace(headers=named)
