"""What is hidden in an audit record, how, and what stays readable."""

from __future__ import annotations

import hmac
import json

import pytest

from labkit.vault.audit.devices import digest, make_device
from labkit.vault.audit.hiding import hide, hide_accessor, hide_credentials, hide_echoes, hide_token

DEVICE, OTHER = (
    make_device(["file/", "file", "", [["file_path", "/log"]], salt, False]) for salt in ("00" * 32, "01" * 32)
)
RAW = DEVICE._replace(log_raw=True)


def test_a_digest_is_an_hmac_under_the_device_s_salt() -> None:
    for text in ("value", "", "ä", "x" * 5_000):
        wanted = hmac.new(bytes(32), text.encode(), "sha256").hexdigest()
        assert digest(DEVICE, text) == f"hmac-sha256:{wanted}"
        assert digest(OTHER, text) != f"hmac-sha256:{wanted}"


def test_text_values_are_hidden_wherever_they_stand() -> None:
    value = {"a": "x", "b": ["x", 1, {"c": "x"}, ()], "d": True, "e": None, "f": 2.5, 'ä"\n': {}}
    hidden = digest(DEVICE, "x")
    shown = {"a": hidden, "b": [hidden, 1, {"c": hidden}, []], "d": True, "e": None, "f": 2.5, 'ä"\n': {}}
    assert json.loads(hide(DEVICE, value)) == shown
    assert hide(DEVICE, value) == json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
    assert hide(RAW, value) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_exempt_members_are_shown_at_the_top_only() -> None:
    value = {"a": "x", "b": {"a": "x"}}
    hidden = digest(DEVICE, "x")
    assert json.loads(hide(DEVICE, value, ("a",))) == {"a": "x", "b": {"a": hidden}}
    assert json.loads(hide(DEVICE, value, ("a", "b"))) == json.loads(hide(RAW, value, ("a",))) == value
    assert json.loads(hide(DEVICE, ["x"], ("a",))) == [hidden]


def test_a_token_is_hidden_and_its_accessor_unless_the_device_shows_it() -> None:
    shown = DEVICE._replace(hmac_accessor=False)
    assert hide_token(DEVICE, "t") == hide_token(shown, "t") == digest(DEVICE, "t")
    assert hide_accessor(DEVICE, "a") == digest(DEVICE, "a")
    assert hide_accessor(shown, "a") == hide_accessor(RAW, "a") == "a"
    assert hide_token(RAW, "t") == "t"


def test_the_credentials_of_an_answer_are_hidden_and_the_rest_of_it_is_not() -> None:
    block = {"client_token": "t", "token": "w", "accessor": "a", "wrapped_accessor": "b", "policies": ["p"], "ttl": 0}
    block |= {"metadata": None, "entity_id": "", "identity_policies": []}
    assert hide_credentials(DEVICE, block) == {
        "client_token": digest(DEVICE, "t"),
        "token": digest(DEVICE, "w"),
        "accessor": digest(DEVICE, "a"),
        "wrapped_accessor": digest(DEVICE, "b"),
        "policies": ["p"],
        "ttl": 0,
    }


def test_a_value_that_an_error_repeats_is_hidden_wherever_it_was_sent() -> None:
    sent = {"a": [1, "one value"], "b": {"c": ({"d": "another"},)}, "e": "all"}
    shown = hide_echoes(DEVICE, "one value, another, all", sent)

    assert shown == f"{digest(DEVICE, 'one value')}, {digest(DEVICE, 'another')}, all"
    assert hide_echoes(RAW, "one value", sent) == "one value"


@pytest.mark.parametrize(("characters", "is_hidden"), [(3, False), (4, True), (200, True), (201, True)])
def test_a_value_is_hidden_from_four_characters_on(characters: int, is_hidden: bool) -> None:
    value = "x" * characters
    assert hide_echoes(DEVICE, f"no {value}", {"a": value}) == (
        f"no {digest(DEVICE, value)}" if is_hidden else f"no {value}"
    )


def test_a_value_that_an_error_cuts_off_is_hidden() -> None:
    value = "".join(map(str, range(100, 200)))
    assert hide_echoes(DEVICE, f"no {value[:200]}", {"a": value}) == f"no {digest(DEVICE, value)}"


def test_an_error_is_searched_up_to_its_limit() -> None:
    for characters, wanted in ((4_096, "x" * 4_096), (4_097, digest(DEVICE, "x" * 4_097))):
        assert hide_echoes(DEVICE, "x" * characters, {"a": "none of it"}) == wanted
