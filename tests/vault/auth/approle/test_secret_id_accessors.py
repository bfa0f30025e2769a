"""Secret ids by their accessors: looked up and destroyed, of the role that is named only."""

from __future__ import annotations

import pytest

from tests.refusals import refused, refused_bare


@pytest.mark.parametrize("local", [False, True])
def test_one_is_described_and_destroyed(logins, local: bool) -> None:
    logins.role("of", local_secret_ids=local)
    made = logins.make("of")
    accessor = made["secret_id_accessor"]
    found = logins.ask("secret-id-accessor/lookup", "OF", secret_id_accessor=accessor).data
    assert found == logins.ask("secret-id/lookup", "of", secret_id=made["secret_id"]).data
    assert logins.ask("secret-id-accessor/destroy", "of", secret_id_accessor=accessor).status == 204
    assert logins.stored() == []


@pytest.mark.parametrize("local", [False, True])
def test_another_roles_is_neither_shown_nor_destroyed(logins, local: bool) -> None:
    logins.role("other", local_secret_ids=local)
    accessor = logins.make()["secret_id_accessor"]
    assert logins.ask("secret-id-accessor/lookup", "other", secret_id_accessor=accessor).status == 204
    denied = logins.ask("secret-id-accessor/destroy", "other", secret_id_accessor=accessor)
    assert (denied.status, denied.errors) == (403, ["invalid secret id accessor"])
    assert len(logins.stored()) == 2


def test_an_unknown_one(logins) -> None:
    text = 'failed to find accessor entry for secret_id_accessor: "x"'
    found = logins.ask("secret-id-accessor/lookup", secret_id_accessor="x")
    assert (found.status, found.data, found.errors) == (404, {"error": text}, [])
    assert refused(logins.ask("secret-id-accessor/destroy", secret_id_accessor="x"), text)


@pytest.mark.parametrize("verb", ["lookup", "destroy"])
def test_a_request_names_a_role_and_an_accessor(logins, verb: str) -> None:
    path = f"secret-id-accessor/{verb}"
    assert refused_bare(logins.ask(path), "missing secret_id_accessor")
    assert refused_bare(logins.ask(path, secret_id_accessor=None), "missing secret_id_accessor")
    assert refused(logins.ask(path, "none", secret_id_accessor="x"), 'role "none" does not exist')
    assert logins.ask(path, secret_id_accessor=["x"]).status == 400


def test_a_deletion_names_it_in_the_query(logins) -> None:
    accessor = logins.make()["secret_id_accessor"]
    path = "auth/approle/role/app/secret-id-accessor/destroy"
    assert logins.vault.delete(path).status == 400
    assert logins.vault.delete(f"{path}?secret_id_accessor={accessor}").status == 204
    assert logins.stored() == []
