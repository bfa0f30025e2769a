"""The routes of the userpass auth method, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "login": ("labkit.vault.auth.userpass.login",),
        "users": ("labkit.vault.auth.userpass.users",),
    }
)
