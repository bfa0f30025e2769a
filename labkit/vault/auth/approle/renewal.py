"""What limits the next life of a token of an AppRole: its role as it is now, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, one_error
from labkit.vault.auth.approle.role_record import find_role
from labkit.vault.auth.token_fields import role_limits

if TYPE_CHECKING:
    from labkit.vault.auth.lifetime import TtlLimits
    from labkit.vault.mounts import Mount
    from labkit.vault.storage.storage_view import StorageView
    from labkit.vault.token_record import Token


def renewal_limits(storage: StorageView, mount: Mount, token: Token) -> TtlLimits:
    """Return what limits the next life of a token of a role; raise BadRequest when that was deleted."""
    role = find_role(storage, token.role)
    if role is None:
        raise BadRequest(one_error(f'failed to renew entry: role "{token.role}" does not exist during renewal'))
    return role_limits(mount, role.token_fields)
