"""Exercise write_only: what is handed in as a token is tried in a branch, and whatever else it may is found."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.kept_keys.write_only import WRITE_ONLY, exact_path, look, start
from labkit.lessons.worlds import branched


def test_the_root_token_may_do_all_of_it():
    vault = start()
    seen = look(branched(vault), vault.root_token)

    assert (seen.needed, len(seen.read), seen.more, seen.policies) == ((), 2, ("everything",), "its policies are root")


def test_a_text_that_is_no_token_may_do_nothing():
    for token in ("", "hvs.nothing"):
        assert look(start(), token) == ("str", ("encrypt", "encrypt a batch"), (), (), "nobody was given such a token")


@pytest.mark.parametrize("token", [None, 3, {"client_token": "hvs.x"}])
def test_what_is_no_text_is_no_token(token):
    vault = start()
    vault.post("secret/data/a", {"data": {}})

    assert judge(WRITE_ONLY, (vault, token))[1:3] == (
        "a token",
        f"what you handed in beside the vault is a {type(token).__name__}",
    )


def test_a_writer_may_write_only():
    vault, token = exact_path(start())

    assert look(vault, token) == ("str", (), (), (), "its policies are default and writer")


def test_a_policy_that_nobody_wrote_is_named():
    vault, _ = exact_path(start())
    token = vault.post("auth/token/create", {"policies": ["write"]}).auth["client_token"]

    assert judge(WRITE_ONLY, (vault, token))[1:3] == (
        "writes",
        "it may not encrypt and encrypt a batch; its policies are default and write (which nobody wrote)",
    )


def test_a_token_that_may_make_the_key_again_may_more_than_encrypt():
    vault = start()
    rule = 'path "transit/encrypt/rows" { capabilities = ["create", "update"] }'
    vault.put("sys/policies/acl/a", {"policy": rule})
    token = vault.post("auth/token/create", {"policies": ["a"]}).auth["client_token"]
    judged = judge(WRITE_ONLY, (vault, token))
    vault.post("transit/keys/rows/config", {"deletion_allowed": True})
    vault.delete("transit/keys/rows")

    assert judged[1:3] == (
        "nothing more",
        "it may also create transit/encrypt/rows; `create` at transit/encrypt/rows makes a key where there is none",
    )
    assert vault.post("transit/encrypt/rows", {"plaintext": "cm93"}, token=token).ok, "which is so"


def test_what_else_it_may_is_said_by_path():
    vault, token = start(), ""
    rules = 'path "transit/encrypt/rows" { capabilities = ["update"] }\n'
    rules += 'path "transit/keys/rows/*" { capabilities = ["update"] }'
    vault.put("sys/policies/acl/a", {"policy": rules})
    token = vault.post("auth/token/create", {"policies": ["a"]}).auth["client_token"]
    judged = judge(WRITE_ONLY, (vault, token))

    assert judged.condition == "nothing more"
    assert judged.seen == (
        "it may also update transit/keys/rows/config, update transit/keys/rows/csr, update transit/keys/rows/import, "
        "and 4 more"
    )
