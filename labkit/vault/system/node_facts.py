"""What runs where: ``sys/ha-status``, ``sys/host-info``, ``sys/license/status`` and ``sys/config/state/sanitized``.

1. The nodes of the cluster are those that this one was set up with; what it hears of them is not in its store.
2. A simulated host has a name and a clock: there is nothing else to measure.
3. The configuration is the node's settings, none of which is secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from labkit.service.durations import format_instant
from labkit.service.routing import Route

if TYPE_CHECKING:
    from labkit.vault.context import Context

FEATURES = ("DR Replication", "Namespaces")
LICENSED_FROM, LICENSED_TO = "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
NOT_MEASURED = "cpu, disk and memory are not collected: a simulated host has a name and a clock only"


def ha_status(ctx: Context) -> dict[str, Any]:
    """List the nodes of the cluster, this one, which is the active one, first."""
    settings = ctx.core.settings
    own = _node(settings.node, settings.api_address, settings.cluster_address) | {
        "active_node": True,
        "version": settings.version,
    }
    peers = zip(settings.peer_api_addresses, settings.peer_cluster_addresses, strict=False)
    return {"nodes": [own, *[_node(urlsplit(api).hostname or "", api, cluster) for api, cluster in peers]]}


def _node(name: str, api_address: str, cluster_address: str) -> dict[str, Any]:
    return {
        "hostname": name,
        "api_address": api_address,
        "cluster_address": cluster_address,
        "active_node": False,
        "last_echo": None,
        "version": "",
    }


def host_info(ctx: Context) -> dict[str, Any]:
    """Describe the host, as far as a simulated one has anything to tell."""
    ctx.warn(NOT_MEASURED)
    return {
        "timestamp": format_instant(ctx.now),
        "host": {"hostname": ctx.core.settings.node},
        "cpu": None,
        "cpu_times": None,
        "disk": None,
        "memory": None,
    }


def license_status(ctx: Context) -> dict[str, Any]:
    """Describe the licence: it has every feature that is built, and no end."""
    shown = {
        "license_id": "labkit",
        "features": list(FEATURES),
        "start_time": LICENSED_FROM,
        "expiration_time": LICENSED_TO,
        "termination_time": LICENSED_TO,
        "performance_standby_count": 0,
    }
    return {"autoloading_used": True, "autoloaded": shown, "persisted_autoload": None}


def sanitized_state(ctx: Context) -> dict[str, Any]:
    """Show the settings that the node runs with."""
    settings = ctx.core.settings
    addresses = {"cluster_addr": settings.cluster_address, "redirect_addr": settings.api_address}
    return {
        "api_addr": settings.api_address,
        "cache_size": 0,
        "cluster_addr": settings.cluster_address,
        "cluster_name": settings.cluster_name,
        "default_lease_ttl": 0,
        "disable_cache": False,
        "disable_clustering": False,
        "disable_mlock": True,
        "enable_ui": False,
        "listeners": [{"type": "tcp", "config": {"max_request_size": settings.max_request_bytes, "tls_disable": True}}],
        "log_level": "",
        "max_lease_ttl": 0,
        "raw_storage_endpoint": False,
        "seals": [{"type": "shamir", "disabled": False}],
        "storage": {"type": settings.storage_type, "disable_clustering": False, **addresses},
    }


ROUTES = (
    Route("read", "ha-status", ha_status, (), "top_level_data"),
    Route("read", "host-info", host_info),
    Route("read", "license/status", license_status, (), "enterprise"),
    Route("read", "config/state/sanitized", sanitized_state),
)
