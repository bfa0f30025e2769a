"""The record of an AppRole: who may log in under it, and what its tokens are like; and which role has a role id.

Role ids are one to a role in a mount.  A role's names are the same in any case; a role id is taken literally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, one_error
from labkit.service.record import NamedTuple
from labkit.vault.auth.addresses import check_masked
from labkit.vault.auth.token_fields import TokenFields, as_tuple
from labkit.vault.identifiers import sha256, uuid_text
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

ROLES = "role/"
ROLE_IDS = "role-id/"
KEY_BYTES = 32

INVALID_BLOCKS = "failed to validate CIDR blocks"
NO_CONSTRAINT = "at least one constraint should be enabled on the role"


class AppRole(NamedTuple):
    """A role: its ids and limits, the key (hex) that its secret ids are hashed with, and what its tokens are like.

    ``secret_id_ttl`` is in seconds; it and ``secret_id_num_uses`` are 0 for no limit.  ``old_names`` are those sent.
    """

    role_id: str
    hash_key: str
    bind_secret_id: bool = True
    local_secret_ids: bool = False
    secret_id_bound_cidrs: tuple[str, ...] = ()
    secret_id_num_uses: int = 0
    secret_id_ttl: int = 0
    token_fields: TokenFields = TokenFields()
    old_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"AppRole({self.role_id})"  # never its key


def new_role(ctx: Context) -> AppRole:
    """Make a role with a role id and a key of its own."""
    return AppRole(uuid_text(ctx.entropy), ctx.entropy(KEY_BYTES).hex())


def find_role(storage: StorageView, name: str) -> AppRole | None:
    """Return a role by its name in any case, or None."""
    return storage.decoded(ROLES + name.lower(), _decode)


def find_name(storage: StorageView, role_id: str) -> str | None:
    """Return the name of the role that has a role id, or None."""
    return storage.decoded(_place_of(role_id), bytes.decode)


def store_role(storage: StorageView, name: str, role: AppRole) -> None:
    """Store a role with its role id; raise BadRequest for one that nothing constrains, or a role id that is in use."""
    if not (role.bind_secret_id or role.secret_id_bound_cidrs or role.token_fields.token_bound_cidrs):
        raise BadRequest(one_error(NO_CONSTRAINT))
    name = name.lower()
    if find_name(storage, role.role_id) not in (None, name):
        raise BadRequest(one_error("role_id already in use"))
    before = find_role(storage, name)
    if before is None or before.role_id != role.role_id:
        if before is not None:
            storage.delete(_place_of(before.role_id))
        storage.put(_place_of(role.role_id), name.encode())
    storage.put(ROLES + name, encode_record([*role[:_TOKEN_FIELDS], list(role.token_fields), role.old_names]))


def delete_role(storage: StorageView, name: str, role: AppRole) -> None:
    """Delete a role; its role id is free again."""
    storage.delete(_place_of(role.role_id))
    storage.delete(ROLES + name.lower())


def check_blocks(blocks: tuple[str, ...]) -> None:
    """Raise BadRequest for a text that is not a block of addresses."""
    check_masked(blocks, INVALID_BLOCKS)


def _place_of(role_id: str) -> str:
    return ROLE_IDS + sha256(role_id.encode()).hexdigest()


_TOKEN_FIELDS = AppRole._fields.index("token_fields")


def _decode(stored: bytes) -> AppRole:
    *plain, given, old_names = decode_record(stored)
    role = AppRole(*map(as_tuple, plain))
    return role._replace(token_fields=TokenFields(*map(as_tuple, given)), old_names=tuple(old_names))
