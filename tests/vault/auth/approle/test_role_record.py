"""The record of a role: stored and read alike, one role id to a role, and never without a constraint."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.auth.approle.role_record import (
    AppRole,
    check_blocks,
    delete_role,
    find_name,
    find_role,
    new_role,
    store_role,
)
from labkit.vault.auth.token_fields import TokenFields
from labkit.vault.context import own_work


def storage_of(logins):
    return own_work(logins.vault.core).full_storage.folder("logical/test/")


def test_what_is_stored_is_found_in_any_case(logins) -> None:
    storage = storage_of(logins)
    role = AppRole(
        "id", "00", False, True, ("10.0.0.0/8",), 3, 60, TokenFields(5, token_policies=("a",)), ("policies",)
    )
    store_role(storage, "Web", role)

    assert find_role(storage, "wEB") == role
    assert (find_name(storage, "id"), find_name(storage, "ID")) == ("web", None)


def test_a_role_id_is_one_roles_until_it_changes_or_goes(logins) -> None:
    storage, role = storage_of(logins), AppRole("id", "00")
    store_role(storage, "a", role)
    with pytest.raises(BadRequest, match="role_id already in use"):
        store_role(storage, "b", role)
    store_role(storage, "a", role._replace(role_id="other"))
    store_role(storage, "b", role)
    assert (find_name(storage, "id"), find_name(storage, "other")) == ("b", "a")
    delete_role(storage, "B", role)
    assert (find_name(storage, "id"), find_role(storage, "b")) == (None, None)


def test_something_constrains_a_role(logins) -> None:
    storage, role = storage_of(logins), AppRole("id", "00", bind_secret_id=False)
    with pytest.raises(BadRequest, match="at least one constraint should be enabled on the role"):
        store_role(storage, "a", role)
    store_role(storage, "a", role._replace(secret_id_bound_cidrs=("10.0.0.0/8",)))
    store_role(storage, "a", role._replace(token_fields=TokenFields(token_bound_cidrs=("10.0.0.0/8",))))


def test_a_new_role_has_an_id_and_a_key_of_its_own_and_does_not_show_it(logins) -> None:
    ctx = own_work(logins.vault.core)
    one, other = new_role(ctx), new_role(ctx)

    assert one.role_id != other.role_id
    assert one.hash_key != other.hash_key
    assert (len(one.role_id), len(one.hash_key)) == (36, 64)
    assert one.hash_key not in repr(one)


def test_blocks_have_a_mask() -> None:
    with pytest.raises(BadRequest, match=r"failed to validate CIDR blocks: invalid CIDR address: 10\.0\.0\.1"):
        check_blocks(("10.0.0.1",))
