"""Exercise web_only: six logins, three of machines that are meant, and one under the name of another machine."""

from __future__ import annotations

from labkit.lessons.machine_logins.machines import ROLE
from labkit.lessons.machine_logins.web_only import INSIDE, PRETENDER, by_group, look, start


def test_without_a_role_all_are_refused():
    assert look(start()) == (False, INSIDE, ())


def test_a_role_for_the_group_of_one_subscription_lets_in_who_is_meant():
    vault = start()
    by_group(vault)

    assert look(vault) == (True, (), ())


def test_a_group_of_the_same_name_is_another_one():
    vault = start()
    vault.post(ROLE, {"bound_resource_groups": "web"})
    old, web = vault.cloud.vm("web-old"), vault.cloud.vm("web-1")

    assert look(vault).let_in == ("web-old",)
    assert (old.resource_group, old.location) == (web.resource_group, web.location)
    assert old.subscription_id != web.subscription_id


def test_who_pretends_is_tried_too():
    vault = start()
    vault.post(ROLE, {"bound_locations": ["westeurope", "northeurope"]})

    assert look(vault).let_in == ("db-1", "jump-1", "web-old")
    assert PRETENDER not in look(vault).let_in, "the token names another machine than its sender does"
