"""The record of a token: it reads back as it was written, and its hash is all that is stored of the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.policies.access_list import Acl
from labkit.vault.storage.records import decode_record
from labkit.vault.token_record import ALWAYS_WRITTEN, Caller, Token, decode_token, digest_of, encode_token

NAMES = st.text(max_size=8)
TOKENS = st.builds(
    Token,
    accessor=NAMES,
    policies=st.lists(NAMES, max_size=3).map(tuple),
    path=NAMES,
    display_name=NAMES,
    meta=st.none() | st.lists(st.tuples(NAMES, NAMES), max_size=2).map(tuple),
    uses=st.integers(-1, 9),
    expires_ns=st.integers(0, 2**63),
    orphan=st.booleans(),
    bound_cidrs=st.lists(NAMES, max_size=2).map(tuple),
)


@given(TOKENS)
def test_a_record_reads_back(token):
    assert decode_token(encode_token(token)) == token


def test_only_the_policy_root_makes_a_root_token():
    assert Token("", ("root",), "", "").is_root
    assert not Token("", ("root", "default"), "", "").is_root


def test_a_token_is_stored_under_the_sha256_of_its_text():
    # FIPS 180-4, example "abc"
    assert digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_record_shows_its_name_and_policies_only():
    assert repr(Token("accessor", ("a", "b"), "path", "token-ada")) == "Token(token-ada, policies=['a', 'b'])"


def test_a_caller_shows_a_name_and_no_token():
    assert repr(Caller(Token("accessor", ("default",), "", "token-ada"), "digest", Acl(()))) == "Caller(token-ada)"


def test_what_is_not_said_of_a_token_is_nothing():
    token = Token("accessor", ("default",), "path", "name")
    assert token[4:] == ("", "service", None, 0, 0, 0, 0, 0, False, 0, 0, False, "", (), 0, 0, "", "", "")


def test_a_record_ends_with_the_last_of_the_newer_members_that_says_anything():
    token = Token("accessor", ("default",), "path", "name")
    for made, members in (
        (token, ALWAYS_WRITTEN),
        (token._replace(renewed_ttl_s=5), ALWAYS_WRITTEN + 1),
        (token._replace(entity_id="x"), ALWAYS_WRITTEN + 4),
    ):
        assert len(decode_record(encode_token(made))) == members
        assert decode_token(encode_token(made)) == made
