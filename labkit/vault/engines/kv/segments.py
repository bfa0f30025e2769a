"""Which file answers which first segment of a path in version 2 of the engine."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
ENDPOINTS = Groups(
    {
        "config": ("labkit.vault.engines.kv.config",),
        "data": ("labkit.vault.engines.kv.data",),
        "delete": ("labkit.vault.engines.kv.version_endpoints",),
        "destroy": ("labkit.vault.engines.kv.version_endpoints",),
        "metadata": ("labkit.vault.engines.kv.metadata",),
        "subkeys": ("labkit.vault.engines.kv.subkeys",),
        "undelete": ("labkit.vault.engines.kv.version_endpoints",),
    }
)
