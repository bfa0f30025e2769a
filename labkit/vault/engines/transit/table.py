"""The engine's routes, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "backup": ("labkit.vault.engines.transit.backups.backup",),
        "byok-export": ("labkit.vault.engines.transit.keys.byok_export",),
        "cache-config": ("labkit.vault.engines.transit.cache_config",),
        "config": ("labkit.vault.engines.transit.settings",),
        "datakey": ("labkit.vault.engines.transit.data.datakey",),
        "decrypt": ("labkit.vault.engines.transit.data.decrypt",),
        "encrypt": ("labkit.vault.engines.transit.data.encrypt",),
        "export": ("labkit.vault.engines.transit.keys.export",),
        "hash": ("labkit.vault.engines.transit.data.hashing",),
        "hmac": ("labkit.vault.engines.transit.data.hmacs",),
        "keys": (
            "labkit.vault.engines.transit.keys.keys",
            "labkit.vault.engines.transit.keys.key_config",
            "labkit.vault.engines.transit.keys.key_import",
            "labkit.vault.engines.transit.keys.certificates",
        ),
        "random": ("labkit.vault.engines.transit.data.random_bytes",),
        "restore": ("labkit.vault.engines.transit.backups.backup",),
        "rewrap": ("labkit.vault.engines.transit.data.rewrap",),
        "sign": ("labkit.vault.engines.transit.data.sign",),
        "verify": ("labkit.vault.engines.transit.data.verify",),
        "wrapping_key": ("labkit.vault.engines.transit.keys.wrapping_key",),
    }
)
