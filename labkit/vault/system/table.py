"""The routes of the system's own endpoints, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups

# first segment of the path → modules with ROUTES; only what is requested is loaded (R24)
TABLE = Groups(
    {
        "audit": ("labkit.vault.system.audit",),
        "audit-hash": ("labkit.vault.system.audit",),
        "auth": (
            "labkit.vault.system.tuning",
            "labkit.vault.system.mounts",
        ),
        "capabilities": ("labkit.vault.system.capabilities",),
        "capabilities-accessor": ("labkit.vault.system.capabilities",),
        "capabilities-self": ("labkit.vault.system.capabilities",),
        "config": (
            "labkit.vault.system.audited_headers",
            "labkit.vault.system.cors",
            "labkit.vault.system.node_facts",
        ),
        "generate-root": ("labkit.vault.system.generate_root",),
        "generate-root-token": ("labkit.vault.system.generate_root",),
        "ha-status": ("labkit.vault.system.node_facts",),
        "health": ("labkit.vault.system.health",),
        "host-info": ("labkit.vault.system.node_facts",),
        "init": ("labkit.vault.system.seal",),
        "internal": (
            "labkit.vault.system.interface",
            "labkit.vault.system.specs",
        ),
        "key-status": ("labkit.vault.system.rotate",),
        "leader": ("labkit.vault.system.health",),
        "leases": ("labkit.vault.system.leases",),
        "license": ("labkit.vault.system.node_facts",),
        "locked-users": ("labkit.vault.auth.locked_users",),
        "managed-keys": ("labkit.vault.system.managed_keys",),
        "metrics": ("labkit.vault.system.facts.metrics",),
        "mounts": (
            "labkit.vault.system.tuning",
            "labkit.vault.system.mounts",
        ),
        "namespaces": (
            "labkit.vault.system.namespace_locks",
            "labkit.vault.system.namespaces",
        ),
        "plugins": ("labkit.vault.system.plugins",),
        "policies": ("labkit.vault.system.policies",),
        "policy": ("labkit.vault.system.policies",),
        "quotas": ("labkit.vault.system.quotas",),
        "rekey": ("labkit.vault.system.rekey",),
        "rekey-recovery-key": ("labkit.vault.system.rekey",),
        "remount": ("labkit.vault.system.remount",),
        "replication": (
            "labkit.vault.replication.endpoints",
            "labkit.vault.replication.maintenance",
        ),
        "renew": ("labkit.vault.system.leases",),
        "revoke": ("labkit.vault.system.leases",),
        "revoke-force": ("labkit.vault.system.leases",),
        "revoke-prefix": ("labkit.vault.system.leases",),
        "rotate": ("labkit.vault.system.rotate",),
        "seal": ("labkit.vault.system.seal",),
        "seal-status": ("labkit.vault.system.seal",),
        "step-down": ("labkit.vault.system.seal",),
        "tools": ("labkit.vault.system.tools",),
        "unseal": ("labkit.vault.system.seal",),
        "version-history": ("labkit.vault.system.facts.version_history",),
        "wrapping": ("labkit.vault.system.wrapping",),
    }
)
