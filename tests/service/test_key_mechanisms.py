"""Mechanisms of external keys, and the kinds of store that know them."""

from __future__ import annotations

import pytest

from labkit.service.key_mechanisms import MECHANISMS, STORE_KINDS, mechanism_named


@pytest.mark.parametrize("text", ["CKM_AES_GCM", "0x1087", "0x00001087", "4231"])
def test_a_mechanism_has_a_name_and_a_number(text: str) -> None:
    assert mechanism_named(text) is MECHANISMS["CKM_AES_GCM"]


@pytest.mark.parametrize("text", ["", "AES", "0x", "0x9999", "ckm_aes_gcm", "1e3"])
def test_anything_else_names_none(text: str) -> None:
    assert mechanism_named(text) is None


def test_no_number_serves_twice_and_every_store_knows_real_mechanisms() -> None:
    assert len({row.number for row in MECHANISMS.values()}) == len(MECHANISMS)
    assert all(name in MECHANISMS for kind in STORE_KINDS.values() for name in kind.mechanisms)


def test_what_needs_an_iv_is_a_symmetric_cipher() -> None:
    assert {row.name for row in MECHANISMS.values() if row.iv_bytes} == {"CKM_AES_GCM", "CKM_AES_CBC_PAD"}
    assert {row.name for row in MECHANISMS.values() if not row.generates} == {"CKM_AES_CBC_PAD"}
