"""Exercise by_hand: when an operation token is left, and whose shares make it."""

from __future__ import annotations

import pytest

from labkit.lessons.disaster.by_hand import ATTEMPT, SECONDARY, look, start, unmasked


@pytest.mark.slow
def test_an_operation_token_stays_until_it_is_deleted():
    lab = start()
    tokyo, three = lab["tokyo"], lab["paris"].unseal_keys[:3]
    assert not look(lab).token_left
    begun = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    answers = [tokyo.post(f"{ATTEMPT}/update", {"key": one, "nonce": begun["nonce"]}, token="").body for one in three]
    token = unmasked(answers[-1]["encoded_token"], begun["otp"])
    lab.run("1h")
    assert look(lab)[1:] == (True, "secondary", False, True)
    tokyo.post("auth/token/revoke", {"token": token}, token="")  # as the hint says, this knows nothing of it
    assert look(lab).token_left
    tokyo.post(f"{SECONDARY}/operation-token/delete", {"dr_operation_token": token}, token="")

    assert not look(lab).token_left


def test_the_verb_has_the_shares_of_before():
    lab = start()
    with pytest.raises(RuntimeError, match="give a key share to tokyo: answered 400"):
        lab["tokyo"].promote()

    assert look(lab)[:3] == (0, False, "secondary")


def test_three_of_five_shares_are_needed():
    lab = start()
    assert look(lab).shares == -1
    begun = lab["tokyo"].post(f"{ATTEMPT}/attempt", {}, token="").body
    assert (begun["required"], len(begun["otp"])) == (3, 28)
    assert len(lab["paris"].unseal_keys) == 5
    for share in lab["paris"].unseal_keys[3:]:
        lab["tokyo"].post(f"{ATTEMPT}/update", {"key": share, "nonce": begun["nonce"]}, token="")

    assert look(lab)[:2] == (2, False)


def test_shares_of_before_make_no_token():
    lab = start()
    tokyo = lab["tokyo"]
    begun = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body
    old = tokyo.unseal_keys
    answers = [tokyo.post(f"{ATTEMPT}/update", {"key": one, "nonce": begun["nonce"]}, token="") for one in old[:3]]

    assert not set(old) & set(lab["paris"].unseal_keys)
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert tokyo.get(f"{ATTEMPT}/attempt", token="").body["progress"] == 0
