"""The routes of the AppRole auth method, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "login": ("labkit.vault.auth.approle.login",),
        "role": (
            "labkit.vault.auth.approle.roles",
            "labkit.vault.auth.approle.role_ids",
            "labkit.vault.auth.approle.role_fields",
            "labkit.vault.auth.approle.secret_ids",
            "labkit.vault.auth.approle.secret_id_accessors",
        ),
        "tidy": ("labkit.vault.auth.approle.expiry",),
    }
)
