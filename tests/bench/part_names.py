"""Part names: to which part of a request, or of a lab's work, a file of the package belongs.

{part: the beginnings of the files that belong to it}: a file belongs to the first that fits.
"""

from __future__ import annotations

OF_A_REQUEST = {
    "door": ("front/", "service/message", "trace"),
    "entropy": ("seeded", "real"),
    "fields": ("service/",),
    "storage": ("vault/storage/",),
    "engine": ("vault/engines/", "vault/auth/", "vault/token", "vault/due_times", "vault/identity", "cloud/"),
    "walk": ("vault/",),
}
OF_A_LAB = {
    "network": ("sim/", "trace"),
    "clients": ("lab/hosts/",),
    "tree": ("vault/replication/tree/",),
    "replication": ("vault/replication/", "vault/replica", "lab/nodes/secondaries", "lab/nodes/replication_link"),
    "records": ("lab/records/", "lab/bookkeeping", "lab/invariants/", "lab/nodes/commit_reports", "lab/queries"),
    "request": ("vault/", "service/", "seeded", "real"),
    "nodes": ("lab/", "front/"),
}


def part_of(file: str, parts: dict[str, tuple[str, ...]]) -> str:
    """Return the part to which a file of the package belongs."""
    return next((part for part, names in parts.items() if file.startswith(names)), "")
