"""The operation token: a ceremony of key shares on a secondary, one attempt at a time."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysequoia import Tsk, decrypt

from labkit import Lab
from labkit.vault.sealing import otp
from labkit.vault.sealing.token_generation import ATTEMPT, TOKEN_CHARACTERS, Attempt
from tests.examples import examples

KEY = json.loads((Path(__file__).parents[3] / "vectors/pgp.json").read_text())["vectors"][1]
PATH = "sys/replication/dr/secondary/generate-operation-token/"
MEMBERS = {
    "nonce",
    "started",
    "progress",
    "required",
    "complete",
    "encoded_token",
    "encoded_root_token",
    "pgp_fingerprint",
    "otp",
    "otp_length",
}


def read(drill, cluster="tokyo"):
    return drill[cluster].get(PATH + "attempt", token="").body


def cancel(drill):
    return drill["tokyo"].delete(PATH + "attempt", token="")


def shares(drill):
    return drill["tokyo"].unseal_keys


# ---- the ceremony


def test_nothing_has_begun(together):
    assert read(together) == {
        "nonce": "",
        "started": False,
        "progress": 0,
        "required": 3,
        "complete": False,
        "encoded_token": "",
        "encoded_root_token": "",
        "pgp_fingerprint": "",
        "otp": "",
        "otp_length": 28,
    }


def test_a_start_gives_a_nonce_and_tells_the_otp_it_made_once(together):
    started = together.start()

    assert set(started) == MEMBERS
    assert (started["started"], started["progress"], started["required"], started["complete"]) == (True, 0, 3, False)
    assert len(started["otp"]) == started["otp_length"] == TOKEN_CHARACTERS
    assert started["nonce"]
    status = read(together)
    assert (status["nonce"], status["otp"]) == (started["nonce"], "")


def test_an_otp_that_the_caller_brought_is_never_shown(together):
    started = together.start(otp="o" * TOKEN_CHARACTERS)
    answers = [started, read(together)]
    for share in shares(together)[:3]:
        answers.append(together.give(share, started["nonce"]).body)

    assert [body["otp"] for body in answers] == [""] * 5
    assert otp.decode(answers[-1]["encoded_token"], "o" * TOKEN_CHARACTERS).startswith("hvs.")


def test_progress_grows_share_by_share_and_the_threshold_completes_it(together):
    started = together.start()
    answers = [together.give(share, started["nonce"]).body for share in shares(together)[:3]]

    assert [body["progress"] for body in answers] == [1, 2, 3]
    assert [body["complete"] for body in answers] == [False, False, True]
    assert [bool(body["encoded_token"]) for body in answers] == [False, False, True]
    assert all(body["started"] and body["nonce"] == started["nonce"] and body["otp"] == "" for body in answers)
    token = otp.decode(answers[-1]["encoded_token"], started["otp"])
    assert (len(token), token[:4]) == (28, "hvs.")
    assert read(together)["started"] is False


@pytest.mark.parametrize("chosen", [(0, 1, 2), (4, 2, 0), (3, 4, 1)])
def test_any_three_of_the_five_do_in_any_order(together, chosen):
    started = together.start()
    for number in chosen:
        answer = together.give(shares(together)[number], started["nonce"])
    token = otp.decode(answer.body["encoded_token"], started["otp"])

    assert together.open_post("tokyo", "secondary/merkle-check", {"dr_operation_token": token}).status == 200


def test_a_share_may_come_in_base64(together):
    from base64 import b64encode

    started = together.start()
    answers = [
        together.give(b64encode(bytes.fromhex(share)).decode(), started["nonce"]) for share in shares(together)[:3]
    ]

    assert answers[-1].body["complete"] is True


def test_the_shares_are_the_primarys(together):
    assert set(shares(together)) == set(together["paris"].unseal_keys)


# ---- refusals, and what they leave behind


def test_one_attempt_at_a_time(together):
    started = together.start()
    together.give(shares(together)[0], started["nonce"])
    answer = together["tokyo"].post(PATH + "attempt", {}, token="")

    assert (answer.status, answer.errors) == (400, ["root generation already in progress"])
    assert (read(together)["nonce"], read(together)["progress"]) == (started["nonce"], 1)


def test_cancelling_clears_the_progress_and_a_new_attempt_has_another_nonce_and_otp(together):
    first = together.start()
    together.give(shares(together)[0], first["nonce"])
    assert cancel(together).status == 204
    assert read(together)["started"] is False
    second = together.start()

    assert second["progress"] == 0
    assert second["nonce"] != first["nonce"]
    assert second["otp"] != first["otp"]
    assert together.give(shares(together)[0], first["nonce"]).status == 400


def test_cancelling_nothing_is_no_error(together):
    before = together.stored("tokyo")

    assert cancel(together).status == 204
    assert together.stored("tokyo") == before


@pytest.mark.parametrize("pad", ["o" * 27, "o" * 29, "o"])
def test_an_otp_of_another_length_is_refused(together, pad):
    answer = together["tokyo"].post(PATH + "attempt", {"otp": pad}, token="")

    assert answer.status == 400
    assert "OTP string is wrong length" in answer.errors[0]
    assert read(together)["started"] is False


def test_an_otp_that_is_not_ascii_is_refused(together):
    assert together["tokyo"].post(PATH + "attempt", {"otp": "é" * 28}, token="").status == 400


def test_a_key_that_is_no_pgp_key_is_refused(together):
    answer = together["tokyo"].post(PATH + "attempt", {"pgp_key": "bm8ga2V5"}, token="")

    assert answer.status == 400
    assert "error parsing PGP key" in answer.errors[0]
    assert read(together)["started"] is False


def test_a_token_for_the_owner_of_a_pgp_key_is_no_use_to_anybody_else(together):
    started = together.start(pgp_key=KEY["public"])
    assert (started["pgp_fingerprint"], started["otp"], started["otp_length"]) == (KEY["fingerprint"], "", 28)
    assert read(together)["pgp_fingerprint"] == KEY["fingerprint"]

    first, second, third = [together.give(share, started["nonce"]).body for share in shares(together)[:3]]
    assert [first["pgp_fingerprint"], second["encoded_token"]] == [KEY["fingerprint"], ""]
    assert (third["complete"], third["pgp_fingerprint"]) == (True, KEY["fingerprint"])
    owner = Tsk.from_bytes(b64decode(KEY["secret"])).decryptor()
    token = (decrypt(b64decode(third["encoded_token"]), decryptor=owner).bytes or b"").decode()
    assert len(token) == TOKEN_CHARACTERS
    assert read(together)["pgp_fingerprint"] == ""

    delete = "sys/replication/dr/secondary/operation-token/delete"
    refused = together["tokyo"].post(delete, {"dr_operation_token": third["encoded_token"]}, token="")
    assert refused.status == 403
    assert together["tokyo"].post(delete, {"dr_operation_token": token}, token="").status == 204


def test_an_otp_is_used_before_a_pgp_key(together):
    pad = "x" * TOKEN_CHARACTERS
    started = together.start(pgp_key="bm8ga2V5", otp=pad)
    assert started["pgp_fingerprint"] == ""

    body = [together.give(share, started["nonce"]).body for share in shares(together)[:3]][-1]
    assert otp.decode(body["encoded_token"], pad).startswith("hvs.")


def test_a_token_encrypted_to_a_pgp_key_changes_no_trace(together):
    def digest():
        lab = Lab.restore(saved)
        lab["tokyo"].post(PATH + "attempt", {"pgp_key": KEY["public"]}, token="")
        nonce = (lab["tokyo"].get(PATH + "attempt", token="").body or {})["nonce"]
        for share in lab["tokyo"].unseal_keys[:3]:
            lab["tokyo"].post(PATH + "update", {"key": share, "nonce": nonce}, token="").raise_for_status()
        lab.run("2s")
        return lab.trace.digest()

    saved = together.lab.snapshot()
    assert digest() == digest()


def test_shares_without_an_attempt_are_refused(together):
    answer = together.give(shares(together)[0], "n")

    assert (answer.status, answer.errors) == (400, ["no root generation in progress"])


BAD_SHARES = [
    ("", "'key' must be specified in request body as JSON"),
    (None, "'key' must be specified in request body as JSON"),
    ("not a share!", "'key' must be a valid hex or base64 string"),
    ("00" * 15, "key is shorter than minimum 16 bytes"),
    ("00" * 34, "key is longer than maximum 33 bytes"),
]


@pytest.mark.parametrize(("share", "text"), BAD_SHARES)
def test_a_malformed_share_is_refused_and_the_progress_stays(together, share, text):
    started = together.start()
    together.give(shares(together)[0], started["nonce"])
    answer = together.give(share, started["nonce"])

    assert answer.status == 400
    assert text in answer.errors[0]
    assert read(together)["progress"] == 1


def test_a_share_given_twice_is_refused_and_the_progress_stays(together):
    started = together.start()
    together.give(shares(together)[0], started["nonce"])
    answer = together.give(shares(together)[0], started["nonce"])

    assert answer.errors == ["given key has already been provided during this generation operation"]
    assert read(together)["progress"] == 1


@pytest.mark.parametrize("nonce", ["", "wrong", None])
def test_a_wrong_nonce_is_refused_and_the_progress_stays(together, nonce):
    started = together.start()
    answer = together.give(shares(together)[0], nonce)

    assert answer.status == 400
    assert answer.errors == [
        f'incorrect nonce supplied; nonce for this root generation operation is "{started["nonce"]}"'
    ]
    assert read(together)["progress"] == 0


def test_a_wrong_share_in_the_combination_sets_the_progress_to_nothing_and_keeps_the_attempt(together):
    started = together.start()
    for share in shares(together)[:2]:
        together.give(share, started["nonce"])
    answer = together.give("ab" * 33, started["nonce"])

    assert answer.status == 400
    assert answer.errors[0].startswith("root generation aborted")
    status = read(together)
    assert (status["started"], status["nonce"], status["progress"]) == (True, started["nonce"], 0)
    for share in shares(together)[:3]:
        answer = together.give(share, started["nonce"])
    assert otp.decode(answer.body["encoded_token"], started["otp"]).startswith("hvs.")


def test_the_shares_of_another_cluster_do_not_combine(apart):
    """The shares that tokyo had before it joined are worth nothing afterwards."""
    old = apart["tokyo"].unseal_keys
    apart.lab.replicate("paris", "tokyo")
    started = apart.start()
    answers = [apart.give(share, started["nonce"]) for share in old[:3]]

    assert [answer.status for answer in answers] == [200, 200, 400]
    assert read(apart)["progress"] == 0


def test_a_wrong_pad_gives_another_text_and_that_is_refused(together):
    """The encoding has no integrity check."""
    started = together.start()
    for share in shares(together)[:3]:
        answer = together.give(share, started["nonce"])
    garbage = otp.decode(answer.body["encoded_token"], "x" * TOKEN_CHARACTERS)

    assert together.open_post("tokyo", "secondary/merkle-check", {"dr_operation_token": garbage}).status == 403


# ---- the token's life


def test_a_token_is_good_until_it_is_deleted(together):
    token = together.operation_token()
    together.lab.run("20m")
    body = {"dr_operation_token": token}
    assert together.open_post("tokyo", "secondary/merkle-check", body).status == 200
    assert together.open_post("tokyo", "secondary/operation-token/delete", body).status == 204

    assert together.open_post("tokyo", "secondary/merkle-check", body).status == 403
    assert together.open_post("tokyo", "secondary/operation-token/delete", body).status == 403


def test_a_new_token_takes_the_place_of_the_old(together):
    first, second = together.operation_token(), together.operation_token()

    assert together.open_post("tokyo", "secondary/merkle-check", {"dr_operation_token": first}).status == 403
    assert together.open_post("tokyo", "secondary/merkle-check", {"dr_operation_token": second}).status == 200


def test_a_cluster_that_was_promoted_with_it_may_still_delete_it(together):
    token = together.operation_token()
    together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).raise_for_status()

    assert together.open_post("tokyo", "secondary/operation-token/delete", {"dr_operation_token": token}).status == 204


def test_it_is_no_token_for_anything_else(together):
    token = together.operation_token()
    together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).raise_for_status()

    assert together["tokyo"].get("secret/data/mine", token=token).status == 403


def test_it_is_stored_as_a_digest_and_never_shipped(together):
    token = together.operation_token()
    tokyo = together.lab.parts.nodes["tokyo-1"].vault.core
    stored = tokyo.keys.decrypt("node/operation-token", tokyo.storage.get("node/operation-token"))

    assert token.encode() not in stored
    assert "node/operation-token" not in together.stored("paris")


def batch_token(drill, policy, ttl="8h"):
    """A batch token made on the primary before the disaster."""
    drill["paris"].put("sys/policies/acl/dr", {"policy": policy})
    answer = drill["paris"].post("auth/token/create", {"type": "batch", "policies": ["dr"], "ttl": ttl})
    drill.lab.run("2s")
    return answer.raise_for_status().auth["client_token"]


PROMOTE = 'path "sys/replication/dr/secondary/promote" { capabilities = ["update"] }'


def test_a_batch_token_made_before_the_disaster_promotes(together):
    token = batch_token(together, PROMOTE)
    together.lab.crash("paris")
    assert together.open_post("tokyo", "secondary/merkle-check", {"dr_operation_token": token}).status == 403

    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).status == 200


def test_it_ends_with_the_clock(together):
    token = batch_token(together, PROMOTE, ttl="5m")
    together.lab.crash("paris")
    together.lab.run("6m")

    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).status == 403


def test_a_batch_token_without_the_policy_is_refused(together):
    token = batch_token(together, 'path "secret/*" { capabilities = ["read"] }')

    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).status == 403


def test_a_batch_token_of_another_namespace_is_refused_whatever_its_policy_is_called(together):
    """The policy that the root namespace has under that name is not the token's."""
    batch_token(together, PROMOTE)
    paris = together["paris"]
    paris.post("sys/namespaces/team").raise_for_status()
    paris.put("sys/policies/acl/dr", {"policy": "# nothing"}, namespace="team").raise_for_status()
    made = paris.post("auth/token/create", {"type": "batch", "policies": ["dr"], "ttl": "8h"}, namespace="team")
    together.lab.run("2s")

    token = made.raise_for_status().auth["client_token"]
    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).status == 403


# ---- the attempt, as a state machine


def test_it_survives_a_change_of_the_active_node(together):
    started = together.start()
    together.give(shares(together)[0], started["nonce"])
    together.lab.crash("tokyo-1")
    together.lab.run("8s")

    assert (read(together)["nonce"], read(together)["progress"]) == (started["nonce"], 1)
    for share in shares(together)[1:3]:
        answer = together.give(share, started["nonce"])
    assert answer.body["complete"] is True


def test_it_shows_no_share_and_no_pad():
    assert repr(Attempt("n", "otp", ("aa", "bb"))) == "Attempt(progress=2)"


ACTIONS = st.lists(
    st.one_of(
        st.just(("start",)),
        st.just(("cancel",)),
        st.tuples(st.just("share"), st.integers(0, 4), st.booleans()),
        st.just(("wrong",)),
        st.just(("takeover",)),
    ),
    max_size=14,
)


@settings(max_examples=examples(40))
@given(actions=ACTIONS)
def test_every_history_follows_the_table(together_snapshot, drill, actions):
    """What the endpoint tells is what a small model of the table says, whatever is done in whatever order."""
    one = drill(Lab.restore(together_snapshot))
    given_shares: list[str] = []
    state, nonce = "none", ""
    for action in actions:
        if action[0] == "start":
            answer = one["tokyo"].post(PATH + "attempt", {}, token="")
            assert answer.status == (200 if state == "none" else 400)
            if state == "none":
                state, given_shares, nonce = ATTEMPT[state]["start"], [], answer.body["nonce"]
        elif action[0] == "cancel":
            assert cancel(one).status == 204
            state, given_shares = ATTEMPT[state]["cancel"], []
        elif action[0] == "takeover":
            active = one["tokyo"].active
            one.lab.crash(active)
            one.lab.run("8s")
            assert one["tokyo"].active != active
            one.lab.restart(active)
            one["tokyo"].unseal()
        else:
            share = "cd" * 33 if action[0] == "wrong" else shares(one)[action[1]]
            right = action[0] == "wrong" or action[2]
            answer = one.give(share, nonce if right else "other")
            state, given_shares = after_share(state, given_shares, share, right, answer)
        status = read(one)
        assert (status["started"], status["progress"]) == (state == "in progress", len(given_shares))


def after_share(state, given_shares, share, right, answer):
    """The model of one share."""
    if state == "none" or not right or share in given_shares:
        assert answer.status == 400
        return state, given_shares
    given_shares = [*given_shares, share]
    if len(given_shares) < 3:
        assert answer.status == 200
        return ATTEMPT[state]["share"], given_shares
    if "cd" * 33 in given_shares:
        assert answer.status == 400
        return ATTEMPT[state]["wrong"], []
    assert answer.body["complete"] is True
    return ATTEMPT[state]["threshold"], []
