"""Generating tokens from key shares: what root tokens and operation tokens have in common.

Texts and bodies of each: ``system/test_generate_root.py`` and ``replication/test_operation_token.py``.
"""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest, ServiceError
from labkit.vault.context import own_work
from labkit.vault.sealing import token_generation
from labkit.vault.sealing.otp import decode
from labkit.vault.sealing.token_generation import ATTEMPT, REFUSALS, Attempt, TokenKind, decode_attempt

ONE, OTHER = (
    TokenKind("node/one", lambda ctx: "hvs." + "1" * 24),
    TokenKind("node/two", lambda ctx: "hvs." + "2" * 24),
)


def commit(service, made):
    """Carry out one step."""
    ctx = own_work(service.core)
    answer = made(ctx)
    service.core.commit(ctx.writes)
    return answer


def test_the_table_is_closed():
    assert {following for events in ATTEMPT.values() for following in events.values()} == set(ATTEMPT)
    assert set(REFUSALS) == {"start", "share"}


def test_two_kinds_go_on_beside_each_other(service):
    first = commit(service, lambda ctx: token_generation.start(ctx, ONE, None, None))
    second = commit(service, lambda ctx: token_generation.start(ctx, OTHER, None, None))
    assert first["nonce"] != second["nonce"]
    for share in service.unseal_keys[:3]:
        done = commit(service, lambda ctx, share=share: token_generation.update(ctx, OTHER, share, second["nonce"]))

    assert (done["complete"], done["encoded_root_token"]) == (True, "")
    assert commit(service, lambda ctx: token_generation.status(ctx, ONE))["nonce"] == first["nonce"]
    assert commit(service, lambda ctx: token_generation.status(ctx, OTHER))["started"] is False


def test_a_malformed_share_is_refused_before_the_attempt_is_looked_for(service):
    with pytest.raises(BadRequest, match="valid hex or base64"):
        commit(service, lambda ctx: token_generation.update(ctx, ONE, "!", None))
    with pytest.raises(BadRequest, match="no root generation in progress"):
        commit(service, lambda ctx: token_generation.update(ctx, ONE, "00" * 33, None))


def test_cancelling_is_idempotent(service):
    for _ in range(2):
        assert commit(service, lambda ctx: token_generation.cancel(ctx, ONE)) is None
    commit(service, lambda ctx: token_generation.start(ctx, ONE, "o" * 28, None))
    commit(service, lambda ctx: token_generation.cancel(ctx, ONE))
    assert commit(service, lambda ctx: token_generation.read_attempt(ctx, ONE)) is None


def test_an_attempt_shows_only_its_progress():
    assert repr(Attempt("n", "otp", ("aa", "bb"))) == "Attempt(progress=2)"
    assert decode_attempt(b'["n","o",["aa"]]') == Attempt("n", "o", ("aa",))


OWN = "own-otp." + "o" * (token_generation.TOKEN_CHARACTERS - 8)


@pytest.mark.parametrize("chosen", [OWN, None])
def test_the_token_is_masked_with_the_otp_of_the_caller_or_with_one_made_here(service, chosen):
    begun = commit(service, lambda ctx: token_generation.start(ctx, ONE, chosen, None))
    otp = chosen or begun["otp"]
    assert begun["otp"] == ("" if chosen else otp), "only one that is made here is shown"
    assert len(otp) == begun["otp_length"] == token_generation.TOKEN_CHARACTERS
    assert commit(service, lambda ctx: token_generation.status(ctx, ONE))["otp"] == ""
    answers = [
        commit(service, lambda ctx, share=share: token_generation.update(ctx, ONE, share, begun["nonce"]))
        for share in service.unseal_keys[:3]
    ]

    assert [(answer["progress"], answer["complete"]) for answer in answers] == [(1, False), (2, False), (3, True)]
    assert [bool(answer["encoded_token"]) for answer in answers] == [False, False, True]
    assert decode(answers[-1]["encoded_token"], otp) == "hvs." + "1" * 24


@pytest.mark.parametrize(
    ("otp", "why"),
    [(OWN[:-1], "28 characters are wanted, 27 came"), (OWN + "o", "29 came"), (OWN[:-1] + "ö", "not ASCII")],
)
def test_an_otp_that_cannot_mask_a_token_starts_nothing(service, otp, why):
    with pytest.raises(BadRequest, match=why):
        commit(service, lambda ctx: token_generation.start(ctx, ONE, otp, None))
    assert commit(service, lambda ctx: token_generation.read_attempt(ctx, ONE)) is None


def test_an_otp_is_used_before_a_key(service):
    begun = commit(service, lambda ctx: token_generation.start(ctx, ONE, OWN, "no key at all"))

    assert (begun["started"], begun["pgp_fingerprint"], begun["otp"]) == (True, "", "")
    with pytest.raises(BadRequest, match="root generation already in progress"):
        commit(service, lambda ctx: token_generation.start(ctx, ONE, None, None))


def test_a_share_goes_with_the_nonce_of_the_attempt_and_a_wrong_one_empties_it(service):
    begun = commit(service, lambda ctx: token_generation.start(ctx, ONE, OWN, None))
    first, second, _, other, _ = service.unseal_keys

    def update(share, nonce):
        return commit(service, lambda ctx: token_generation.update(ctx, ONE, share, nonce))

    with pytest.raises(BadRequest, match="nonce"):
        update(first, "another")
    assert update(first, begun["nonce"])["progress"] == 1
    assert update(second, begun["nonce"])["progress"] == 2
    wrong = ("0" if other[0] != "0" else "1") + other[1:]
    with pytest.raises(ServiceError):
        update(wrong, begun["nonce"])
    assert commit(service, lambda ctx: token_generation.status(ctx, ONE))["progress"] < 3
    assert commit(service, lambda ctx: token_generation.status(ctx, ONE))["encoded_token"] == ""
