"""The engine's routes, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "backup": ("labkit.vault.engines.transit.backup",),
        "byok-export": ("labkit.vault.engines.transit.byok_export",),
        "cache-config": ("labkit.vault.engines.transit.cache_config",),
        "config": ("labkit.vault.engines.transit.settings",),
        "datakey": ("labkit.vault.engines.transit.datakey",),
        "decrypt": ("labkit.vault.engines.transit.decrypt",),
        "encrypt": ("labkit.vault.engines.transit.encrypt",),
        "export": ("labkit.vault.engines.transit.export",),
        "hash": ("labkit.vault.engines.transit.hashing",),
        "hmac": ("labkit.vault.engines.transit.hmacs",),
        "keys": (
            "labkit.vault.engines.transit.keys",
            "labkit.vault.engines.transit.key_config",
            "labkit.vault.engines.transit.key_import",
            "labkit.vault.engines.transit.certificates",
        ),
        "random": ("labkit.vault.engines.transit.random_bytes",),
        "restore": ("labkit.vault.engines.transit.backup",),
        "rewrap": ("labkit.vault.engines.transit.rewrap",),
        "sign": ("labkit.vault.engines.transit.sign",),
        "verify": ("labkit.vault.engines.transit.verify",),
        "wrapping_key": ("labkit.vault.engines.transit.wrapping_key",),
    }
)
