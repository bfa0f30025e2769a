"""``backup/<name>`` and ``restore/<name>``: a whole key taken out as text, and put back, here or on another server.

1. A backup shows everything: both settings that allow it can be switched on but never off.
2. A restore replaces a key only with ``force``; then it replaces all of it, whatever its type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, Internal, one_error
from labkit.service.fields import NAME_PATTERN, flag, text
from labkit.service.routing import Route
from labkit.vault.engines.transit.backups.backup_blobs import write_blob
from labkit.vault.engines.transit.backups.backup_reading import keyring_of, open_blob
from labkit.vault.engines.transit.keyring import read_keyring, write_keyring
from labkit.vault.engines.transit.parameters import NAME
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def back_up(ctx: EngineContext, name: str) -> dict[str, Any]:
    """Return a key as a blob, and note on the key that this was done."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise ListedRefusal(f'key "{name}" not found')
    for allowed, why in (
        (keyring.exportable, "exporting is disallowed on the policy"),
        (keyring.allow_plaintext_backup, "plaintext backup is disallowed on the policy"),
    ):
        if not allowed:
            raise Internal(one_error(why))  # decision C10
    keyring = keyring._replace(backup_ns=ctx.now, backup_version=keyring.latest_version)
    write_keyring(ctx.storage, name, keyring)
    return {"backup": write_blob(name, keyring)}


def restore(ctx: EngineContext, name: str, backup: str, force: bool) -> None:
    """Put a key back under a name, else under the one that it had."""
    if not backup:
        raise BadRequest("'backup' must be supplied")
    opened = open_blob(backup)
    name = name or opened.policy.text("name")
    if "/" in name:
        raise ListedRefusal("key names cannot be paths")
    if re.fullmatch(NAME_PATTERN, name, re.ASCII) is None:
        raise ListedRefusal("the backup names no key; give it a name in the path or as name")
    if not force and read_keyring(ctx.storage, name) is not None:
        raise Internal(one_error(f'key "{name}" already exists'))  # decision C10
    keyring = keyring_of(opened, name, ctx.entropy, ctx.now, fips=ctx.fips)
    keyring = keyring._replace(restore_ns=ctx.now, restore_version=keyring.latest_version)
    write_keyring(ctx.storage, name, keyring)


BACKUP = text("backup", "what backup gave", "")
FORCE = flag("force", "whether a key of that name is replaced", False)
OTHER_NAME = text("name", "name of the restored key; that of the backup when left out", "")

ROUTES = (
    Route("read", "backup/<name>", back_up, (NAME,)),
    Route("write", "restore", restore, (OTHER_NAME, BACKUP, FORCE)),
    Route("write", "restore/<name>", restore, (NAME, BACKUP, FORCE)),
)
