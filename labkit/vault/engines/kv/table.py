"""The routes of version 2 of the engine, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "config": ("labkit.vault.engines.kv.config",),
        "data": ("labkit.vault.engines.kv.data",),
        "delete": ("labkit.vault.engines.kv.version_endpoints",),
        "destroy": ("labkit.vault.engines.kv.version_endpoints",),
        "metadata": ("labkit.vault.engines.kv.metadata",),
        "subkeys": ("labkit.vault.engines.kv.subkeys",),
        "undelete": ("labkit.vault.engines.kv.version_endpoints",),
    },
    otherwise="labkit.vault.engines.kv.unknown_paths",
)
