"""The record of a role: which machines may log in under it, and what their tokens are like."""

from __future__ import annotations

from typing import Any

from labkit.service.folding import folded
from labkit.service.record import NamedTuple
from labkit.vault.auth.token_fields import TokenFields
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView

ROLES = "role/"


class CloudRole(NamedTuple):
    """A role: six lists of what may log in, an empty one binds nothing; ``old_names`` are those that were sent."""

    bound_service_principal_ids: tuple[str, ...] = ()
    bound_group_ids: tuple[str, ...] = ()
    bound_locations: tuple[str, ...] = ()
    bound_subscription_ids: tuple[str, ...] = ()
    bound_resource_groups: tuple[str, ...] = ()
    bound_scale_sets: tuple[str, ...] = ()
    token_fields: TokenFields = TokenFields()
    old_names: tuple[str, ...] = ()

    @property
    def is_bound(self) -> bool:
        """Whether any list says who may log in (decision A1)."""
        return any(self[:BOUNDS])

    @property
    def binds_machine(self) -> bool:
        """Whether any list is about the machine, which its token alone does not show."""
        return bool(
            self.bound_locations or self.bound_subscription_ids or self.bound_resource_groups or self.bound_scale_sets
        )


BOUNDS = 6
"""How many of the record's first fields are lists of what may log in."""


def find_role(storage: StorageView, name: str) -> CloudRole | None:
    """Return a role of a mount's storage by its name in any case, or None."""
    return storage.decoded(ROLES + folded(name), _decode)


def store_role(storage: StorageView, name: str, role: CloudRole) -> None:
    """Store a role under its name, folded."""
    storage.put(ROLES + folded(name), encode_record(list(role)))


def _decode(stored: bytes) -> CloudRole:
    row = decode_record(stored)
    bounds: list[Any] = [tuple(value) for value in row[:BOUNDS]]
    given: list[Any] = [tuple(value) if isinstance(value, list) else value for value in row[BOUNDS]]
    return CloudRole(*bounds)._replace(token_fields=TokenFields(*given), old_names=tuple(row[BOUNDS + 1]))
