"""Grants: what a token may do beyond one path, by exact rules, patterns and policies that were changed."""

from __future__ import annotations

import pytest

from labkit.lessons.kept_keys.grants import grants
from labkit.lessons.kept_keys.write_only import ENCRYPT, start

RIGHT = f'path "{ENCRYPT}" {{ capabilities = ["update"] }}\n'


def granted(rules: str, **options: object) -> tuple[str, ...]:
    vault = start()
    vault.put("sys/policies/acl/a", {"policy": RIGHT + rules})
    token = vault.post("auth/token/create", {"policies": ["a"], **options}).auth["client_token"]
    return grants(vault, token, ENCRYPT, start())


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("", ()),
        ('path "sys/policies/acl/a" { capabilities = ["update"] }', ("update sys/policies/acl/a",)),
        (
            'path "secret/data/x/y" { capabilities = ["read", "list"] }',
            ("list secret/data/x/y", "read secret/data/x/y"),
        ),
        ('path "transit/encrypt/n*" { capabilities = ["create"] }', ("create transit/encrypt/nother",)),
        ('path "transit/encrypt/row*" { capabilities = ["update"] }', ("update transit/encrypt/rowother",)),
        (f'path "{ENCRYPT}" {{ capabilities = ["create", "update"] }}', (f"create {ENCRYPT}",)),
        ('path "later/+/x" { capabilities = ["read"] }', ("read later/other/x",)),
        ('path "transit/export/+/rows" { capabilities = ["read"] }', ("read transit/export/rows/rows",)),
        ('path "transit/decrypt/rows" { capabilities = ["deny"] }', ()),
        ('path "auth/token/lookup-self" { capabilities = ["read"] }', ()),
    ],
)
def test_whatever_a_rule_adds_is_found(rules, found):
    assert tuple(sorted(granted(rules)))[: len(found) or 1] == found


def test_what_every_token_may_is_nothing_more_with_the_policy_default_or_without():
    assert granted("") == granted("", no_default_policy=True) == ()


def test_a_policy_default_that_was_changed_is_no_measure():
    vault = start()
    vault.put("sys/policies/acl/default", {"policy": 'path "secret/data/rows" { capabilities = ["read"] }'})
    token = vault.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]

    assert grants(vault, token, ENCRYPT, start()) == ("read secret/data/rows",)


def test_the_root_token_may_do_everything_and_what_is_no_token_nothing():
    vault = start()

    assert grants(vault, vault.root_token, ENCRYPT, start()) == ("everything",)
    assert grants(vault, "hvs.nothing", ENCRYPT, start()) == ()
