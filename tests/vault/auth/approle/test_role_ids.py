"""Role ids: drawn or chosen, read and changed; the old one is free then."""

from __future__ import annotations

import pytest

from tests.refusals import refused, refused_bare


def test_one_is_drawn_unless_it_is_chosen(logins) -> None:
    logins.role("other", role_id="My own")
    assert (len(logins.role_id()), logins.role_id("OTHER")) == (36, "My own")


def test_a_changed_one_lets_in_and_the_old_one_no_more(logins) -> None:
    before, secret_id = logins.role_id(), logins.make()["secret_id"]
    assert logins.ask("role-id", role_id=5).status == 204
    assert logins.login(secret_id, role_id="5").ok
    assert logins.login(secret_id, role_id=before).status == 400
    assert logins.role("other", role_id=before).status == 204


def test_another_roles_is_refused(logins) -> None:
    logins.role("other")
    taken = logins.role_id("other")
    assert refused(logins.ask("role-id", role_id=taken), "role_id already in use")
    assert refused(logins.role(role_id=taken), "role_id already in use")
    assert logins.ask("role-id", "other", role_id=taken).status == 204


@pytest.mark.parametrize("sent", [{}, {"role_id": ""}, {"role_id": None}])
def test_it_is_not_empty(logins, sent) -> None:
    assert refused_bare(logins.ask("role-id", **sent), "missing role_id")


def test_a_role_that_is_not_there(logins) -> None:
    assert logins.vault.get("auth/approle/role/none/role-id").status == 404
    assert refused(logins.ask("role-id", "none", role_id="x"), "unsupported path", 404)
