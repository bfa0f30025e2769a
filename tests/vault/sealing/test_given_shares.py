"""Key shares that are given one by one to an attempt."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.context import own_work
from labkit.vault.sealing import given_shares
from labkit.vault.storage.records import decode_record

RECORD = ("node/try", b'"emptied"')


def test_a_share_counts_once_however_it_is_written(service):
    share = service.unseal_keys[0]
    given = given_shares.with_share((), share.upper())

    assert given == (share,)
    with pytest.raises(BadRequest, match="already been provided"):
        given_shares.with_share(given, share)


def test_a_nonce_is_compared_as_it_is():
    given_shares.check_nonce("n", "n", "rekey")
    for sent in ("", None, "N"):
        with pytest.raises(BadRequest, match='nonce for this rekey operation is "n"'):
            given_shares.check_nonce(sent, "n", "rekey")


def test_shares_at_the_threshold_prove_the_root_key(service):
    ctx = own_work(service.core)
    for chosen in ((0, 1, 2), (4, 2, 0)):
        shares = tuple(service.unseal_keys[number] for number in chosen)
        assert given_shares.prove(ctx, shares, "x", RECORD) == service.core.keys.root_key
    assert (ctx.writes, ctx.refused_writes) == ({}, {})


@pytest.mark.parametrize("wrong", [("11" * 33,) * 3, ("11" * 33, "22" * 33, "33" * 33)])
def test_other_shares_leave_the_attempt_without_shares(service, wrong):
    ctx = own_work(service.core)
    with pytest.raises(BadRequest, match="x aborted: unable to authenticate: "):
        given_shares.prove(ctx, wrong, "x", RECORD)

    stored = ctx.refused_writes["node/try"]
    assert decode_record(service.core.keys.decrypt("node/try", stored)) == "emptied"


def test_the_seal_configuration_is_the_clusters(service):
    assert given_shares.seal_config(own_work(service.core)) == (5, 3)
