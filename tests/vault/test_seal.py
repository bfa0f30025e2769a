"""Sealed and unsealed: shares, the threshold, wrong shares, and a keyring that changed under a node."""

from __future__ import annotations

import base64

import pytest

from labkit import Vault
from labkit.real import entropy
from labkit.service.errors import BadRequest
from labkit.vault.seal import SEAL, parse_share, reload_keyring, seal_state
from labkit.vault.storage.barrier import KEYRING, encrypt_keyring, new_keyring


@pytest.fixture
def sealed(service):
    """A sealed vault."""
    service.post("sys/seal")
    return service


def test_the_table_knows_every_state_it_leads_to():
    assert {state for moves in SEAL.values() for state in moves.values()} <= set(SEAL)


def test_states_follow_the_table(sealed):
    assert seal_state(sealed.core) == "sealed"
    sealed.unseal_with(sealed.unseal_keys[1:4])
    assert seal_state(sealed.core) == "unsealed"


def test_a_share_given_twice_counts_once(sealed):
    for _ in range(3):
        answer = sealed.post("sys/unseal", {"key": sealed.unseal_keys[0]}, token="")
    assert (answer.body["progress"], answer.body["sealed"]) == (1, True)
    assert len(answer.body["nonce"]) == 36


def test_wrong_shares_set_the_progress_back(sealed):
    other = Vault.dev().unseal_keys
    for share in (sealed.unseal_keys[0], sealed.unseal_keys[1], other[2]):
        answer = sealed.post("sys/unseal", {"key": share}, token="")
    assert answer.status == 400
    assert answer.errors[0].startswith("invalid key: ")
    assert sealed.get("sys/seal-status", token="").body["progress"] == 0
    sealed.unseal_with(sealed.unseal_keys[:3])
    assert not sealed.sealed


def test_shares_come_as_hex_or_base64():
    share = bytes(range(33))

    assert parse_share(share.hex()) == share
    assert parse_share(share.hex().upper()) == share
    assert parse_share(base64.b64encode(share).decode()) == share


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "must be specified"),
        ("", "must be specified"),
        ("zz", "valid hex or base64"),
        ("00" * 15, "shorter than minimum 16"),
        (base64.b64encode(bytes(40)).decode(), "longer than maximum 33"),
        (7, "must be specified"),
    ],
)
def test_a_text_that_is_not_a_share_is_refused_with_the_reason(text, reason):
    with pytest.raises(BadRequest, match=reason):
        parse_share(text)


def test_sealing_drops_everything(service):
    service.get("sys/mounts")
    service.post("sys/seal")
    core = service.core

    assert (core.keys.barrier, core.keys.root_key, core.caches.records, core.caches.routes) == (None, None, {}, {})


def test_a_node_whose_key_no_longer_fits_seals_itself(service):
    keyring = new_keyring(entropy, 0)
    service.core.commit({KEYRING: encrypt_keyring(keyring, entropy(32), entropy)})
    reload_keyring(service.core)

    assert service.sealed


def test_a_node_takes_up_a_changed_ring(service):
    core = service.core
    keyring = (*core.keys.barrier.keyring, new_keyring(entropy, 9)[0]._replace(term=2))
    core.commit({KEYRING: encrypt_keyring(keyring, core.keys.root_key, entropy)})
    reload_keyring(core)

    assert core.keys.barrier.keyring == keyring
    assert service.get("sys/mounts").ok


@pytest.mark.parametrize(("shares", "threshold"), [(1, 1), (2, 2), (5, 3), (7, 7)])
def test_any_split_opens(shares, threshold):
    from labkit.vault.core import Environment
    from labkit.vault.storage.memory import MemoryStorage
    from labkit.vault.vault import no_outside, set_up

    vault = Vault(MemoryStorage(), Environment(lambda: 0, entropy, lambda kind, **fields: None, no_outside))
    _, keys = set_up(vault.core, shares, threshold)

    assert len(keys) == shares
    assert not vault.sealed
