"""The routes of the token auth method, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded
TABLE = Groups(
    {
        "accessors": ("labkit.vault.auth.token.lookup",),
        "create": ("labkit.vault.auth.token.creation",),
        "create-orphan": ("labkit.vault.auth.token.creation",),
        "lookup": ("labkit.vault.auth.token.lookup",),
        "lookup-accessor": ("labkit.vault.auth.token.lookup",),
        "lookup-self": ("labkit.vault.auth.token.lookup",),
        "renew": ("labkit.vault.auth.token.renewal",),
        "renew-accessor": ("labkit.vault.auth.token.renewal",),
        "renew-self": ("labkit.vault.auth.token.renewal",),
        "revoke": ("labkit.vault.auth.token.revocation",),
        "revoke-accessor": ("labkit.vault.auth.token.revocation",),
        "revoke-orphan": ("labkit.vault.auth.token.revocation",),
        "revoke-self": ("labkit.vault.auth.token.revocation",),
        "roles": ("labkit.vault.auth.token.roles",),
        "tidy": ("labkit.vault.auth.token.revocation",),
    }
)
