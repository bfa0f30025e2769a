"""Exercise by_hand: when an operation token is left, and whose shares make it."""

from __future__ import annotations

import pytest

from labkit.lessons.disaster.by_hand import ATTEMPT, SECONDARY, look, old_shares, start


@pytest.mark.slow
def test_an_operation_token_stays_until_it_is_deleted():
    lab = start()
    assert not look(lab).token_left
    token = lab["tokyo"].operation_token()
    lab.run("1h")
    assert look(lab).token_left
    lab["tokyo"].post(f"{SECONDARY}/operation-token/delete", {"dr_operation_token": token}, token="")

    assert not look(lab).token_left


def test_the_verb_leaves_none():
    lab = start()
    lab["tokyo"].promote()

    assert look(lab) == ("primary", True, False)


def test_three_of_five_shares_are_needed():
    lab = start()

    begun = lab["tokyo"].post(f"{SECONDARY}/generate-operation-token/attempt", {}, token="").body
    assert begun["required"] == 3
    assert len(lab["tokyo"].unseal_keys) == 5
    assert lab["tokyo"].unseal_keys == lab["paris"].unseal_keys


def test_shares_of_before_make_no_token():
    tokyo = start()["tokyo"]
    begun = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    answers = [
        tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="") for share in old_shares()[:3]
    ]

    assert not set(old_shares()) & set(tokyo.unseal_keys)
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert tokyo.get(f"{ATTEMPT}/attempt", token="").body["progress"] == 0
