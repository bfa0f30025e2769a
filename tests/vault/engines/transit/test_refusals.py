"""Refusals of one item: the same fault told alone and within a batch."""

from __future__ import annotations

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.refusals import ListedRefusal, item_text


def test_a_plain_refusal_reads_the_same_in_both_places() -> None:
    error = BadRequest("invalid ciphertext length")

    assert error.errors == ("invalid ciphertext length",)
    assert item_text(error) == "invalid ciphertext length"


def test_a_wrapped_refusal_is_a_list_alone_and_plain_text_in_an_item() -> None:
    error = ListedRefusal("could not derive key, length too small")

    assert error.status == 400
    assert error.errors == ("1 error occurred:\n\t* could not derive key, length too small\n\n",)
    assert item_text(error) == "could not derive key, length too small"
