"""The caller: what is shown of it."""

from __future__ import annotations

from labkit.vault.caller import Caller
from labkit.vault.policies.access_list import Acl
from labkit.vault.token_record import Token


def test_a_caller_shows_a_name_and_no_token():
    assert repr(Caller(Token("accessor", ("default",), "", "token-ada"), "digest", Acl(()))) == "Caller(token-ada)"
