"""``sys/version-history``: which versions ran on this storage.

Only the version that runs is known: it is listed as installed when the storage was set up, which is when the first
key of the keyring was made.  A storage keeps no record of versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import format_instant
from labkit.service.routing import Route

if TYPE_CHECKING:
    from labkit.vault.context import Context


def list_versions(ctx: Context) -> dict[str, Any]:
    """List the versions that ran on this storage, the oldest first."""
    barrier = ctx.keys.barrier
    assert barrier is not None, "only an unsealed node answers this"
    version = ctx.core.settings.version
    installed = format_instant(barrier.keyring[0].installed_ns)
    about = {"previous_version": None, "timestamp_installed": installed, "build_date": ""}
    return {"keys": [version], "key_info": {version: about}}


# What a LIST of the path answers.
ROUTES = (Route("list", "version-history/", list_versions),)
