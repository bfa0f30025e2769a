"""The system's own endpoints, ``sys/…``: one module a group, loaded when the first segment of a path asks for it."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → module with ROUTES; nothing but what is asked for is loaded (R24)
GROUPS = {
    "audit": "labkit.vault.system.audit",
    "audit-hash": "labkit.vault.system.audit",
    "auth": "labkit.vault.system.mounts",
    "capabilities": "labkit.vault.system.capabilities",
    "capabilities-accessor": "labkit.vault.system.capabilities",
    "capabilities-self": "labkit.vault.system.capabilities",
    "health": "labkit.vault.system.health",
    "init": "labkit.vault.system.seal",
    "internal": "labkit.vault.system.specs",
    "leader": "labkit.vault.system.health",
    "mounts": "labkit.vault.system.mounts",
    "plugins": "labkit.vault.system.plugins",
    "policies": "labkit.vault.system.policies",
    "policy": "labkit.vault.system.policies",
    "remount": "labkit.vault.system.remount",
    "replication": "labkit.vault.replication.endpoints",
    "seal": "labkit.vault.system.seal",
    "seal-status": "labkit.vault.system.seal",
    "unseal": "labkit.vault.system.seal",
    "wrapping": "labkit.vault.system.wrapping",
}

TABLE = Groups({segment: (module,) for segment, module in GROUPS.items()})
