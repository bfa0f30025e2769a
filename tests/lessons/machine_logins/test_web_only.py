"""Exercise web_only: six logins, three of machines that are meant."""

from __future__ import annotations

from labkit.lessons.machine_logins.web_only import INSIDE, PRETENDER, by_group, look, start


def test_without_a_role_all_are_refused():
    assert look(start()) == (False, INSIDE, ())


def test_a_role_for_the_group_lets_in_who_is_meant():
    vault = start()
    by_group(vault)

    assert look(vault) == (True, (), ())


def test_who_pretends_is_tried_too():
    vault = start()
    vault.post("auth/cloud/role/web", {"bound_locations": ["westeurope", "northeurope"]})

    assert look(vault).let_in == ("db-1", "jump-1")
    assert PRETENDER not in look(vault).let_in, "the token names another machine than its sender does"
