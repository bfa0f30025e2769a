"""A request asks the key store where its key stays there, or is to be made there, and nowhere else."""

from __future__ import annotations

from typing import Any, cast

import pytest

from labkit.service.message import Fetch, Response
from labkit.vault.engines.transit.algorithms import DEFAULT_TYPE
from labkit.vault.engines.transit.external import fetches_to_create

SENT: dict[str, Any] = {"plaintext": "aGk=", "nonce": "AAAAAAAAAAAAAAAA"}


@pytest.mark.parametrize(("key_type", "wanted"), [("managed_key", True), (DEFAULT_TYPE, False), ("rot13", False)])
def test_to_make_a_key_in_the_store_fetches(key_type: str, wanted: bool) -> None:
    assert fetches_to_create(cast("Any", None), {"name": "orders", "type": key_type}) is wanted


@pytest.mark.parametrize(("name", "times"), [("aes", 1), ("ordinary", 0), ("missing", 0)])
def test_a_request_for_a_key_in_the_store_fetches(managed: Any, name: str, times: int) -> None:
    managed.post("transit/keys/ordinary")
    answer, asked = managed.keystore.answer, []

    def note(fetch: Fetch) -> Response:
        asked.append(fetch)
        return cast("Response", answer(fetch))

    managed.keystore.answer = note
    managed.post(f"transit/encrypt/{name}", SENT if name == "aes" else {"plaintext": "aGk="})

    assert len(asked) == times
