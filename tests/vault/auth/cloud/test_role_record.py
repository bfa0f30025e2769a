"""The record of a role: stored and read back as it was, found by its name in any case."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.vault.auth.cloud.role_record import BOUNDS, CloudRole, find_role, store_role
from labkit.vault.auth.token_fields import TokenFields
from labkit.vault.context import own_work
from labkit.vault.storage.storage_view import StorageView

ROLE = CloudRole(
    bound_locations=("here", "there"),
    token_fields=TokenFields(token_ttl=5, token_policies=("a", "b"), token_bound_cidrs=("10.0.0.0/8",)),
    old_names=("ttl",),
)


def test_a_role_is_read_as_it_was_stored(service) -> None:
    ctx = own_work(service.core)
    storage = StorageView(ctx, "logical/x/")
    store_role(storage, "Web", ROLE)
    service.core.commit(ctx.writes)

    assert find_role(StorageView(own_work(service.core), "logical/x/"), "WEB") == ROLE
    assert find_role(storage, "other") is None


@pytest.mark.parametrize("place", range(BOUNDS))
def test_which_bounds_are_about_the_machine(place) -> None:
    bounds: dict[str, Any] = {CloudRole._fields[place]: ("x",)}
    role = CloudRole()._replace(**bounds)

    assert not CloudRole().is_bound
    assert role.is_bound
    assert role.binds_machine == (CloudRole._fields[place] not in ("bound_service_principal_ids", "bound_group_ids"))
