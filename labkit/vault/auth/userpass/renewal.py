"""What limits the next life of a user's token: the user as stored now.

A token whose policies are not the user's any more is not renewed (``default`` apart); nor, silently, one of a user who
was deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, one_error
from labkit.vault.auth.token_fields import cleaned, role_limits
from labkit.vault.auth.userpass.user_record import find_user

if TYPE_CHECKING:
    from labkit.vault.auth.lifetime import TtlLimits
    from labkit.vault.mounts import Mount
    from labkit.vault.storage.storage_view import StorageView
    from labkit.vault.token_record import Token


def renewal_limits(storage: StorageView, mount: Mount, token: Token) -> TtlLimits | None:
    """Return what limits the next life of a user's token, None for a deleted user's; raise BadRequest."""
    user = find_user(storage, token.role)
    if user is None:
        return None
    if cleaned(user.token_fields.token_policies, default=True) != cleaned(token.policies, default=True):
        raise BadRequest(one_error("failed to renew entry: policies have changed, not renewing"))
    return role_limits(mount, user.token_fields)
