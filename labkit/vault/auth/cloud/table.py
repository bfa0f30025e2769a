"""The routes of the cloud auth method, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "config": ("labkit.vault.auth.cloud.config",),
        "login": ("labkit.vault.auth.cloud.login",),
        "rotate-root": ("labkit.vault.auth.cloud.rotation",),
        "role": ("labkit.vault.auth.cloud.roles",),
    }
)
