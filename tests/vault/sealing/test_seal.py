"""Sealed and unsealed: shares, the threshold, wrong shares, and a keyring that changed under a node."""

from __future__ import annotations

import base64

import pytest

from labkit import Vault
from labkit.front.outside_lab import no_outside
from labkit.real import entropy
from labkit.service.errors import BadRequest
from labkit.vault.core import Environment
from labkit.vault.mounts import MOUNTS
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.seal import (
    SEAL,
    SEAL_CONFIG,
    combine_shares,
    parse_share,
    read_config,
    reload_keyring,
    seal_state,
    unseal,
)
from labkit.vault.sealing.stored_keys import OWN_KEYRING, ROOT_KEY
from labkit.vault.storage.barrier import KEYRING, BarrierError, encrypt_keyring, new_keyring
from labkit.vault.storage.memory import MemoryStorage


@pytest.fixture
def sealed(service):
    """A sealed vault."""
    service.post("sys/seal")
    return service


def give(vault, shares):
    """Send key shares; return the last answer's status."""
    return [vault.post("sys/unseal", {"key": share}, token="").status for share in shares][-1]


def join_another_set(vault):
    """Replace keyring and mounts as joining another replication set does, under a root key that this node lacks."""
    keyring = new_keyring(entropy, 0)
    vault.core.commit({KEYRING: encrypt_keyring(keyring, entropy(32), entropy), MOUNTS: None})
    reload_keyring(vault.core)
    return 204


def initialise(vault):
    return vault.put("sys/init", {"secret_shares": 5, "secret_threshold": 3}, token="").status


# what brings each event about; the result is a status
EVENTS = {
    "init": initialise,
    "share": lambda vault: give(vault, vault.unseal_keys[:1]),
    "threshold": lambda vault: give(vault, vault.unseal_keys[:3]),
    "wrong share": lambda vault: give(vault, (*vault.unseal_keys[:2], "00" * 33)) - 200,  # 400: of no event but this
    "reset": lambda vault: vault.post("sys/unseal", {"reset": True}, token="").status,
    "seal": lambda vault: vault.put("sys/seal").status,
    "other keyring": join_another_set,
}


def vault_in(state):
    """Return a vault in a state of the table."""
    if state == "uninitialised":
        vault = Vault(MemoryStorage(), Environment(lambda: 0, entropy, lambda kind, **fields: None, no_outside))
        vault.unseal_keys = Vault.dev().unseal_keys
        return vault
    vault = Vault.dev()
    if state == "sealed":
        vault.put("sys/seal")
    return vault


@pytest.mark.parametrize(
    ("state", "event", "following"),
    [(state, event, following) for state, moves in SEAL.items() for event, following in moves.items()],
)
def test_an_event_of_the_table_leads_where_it_says(state, event, following):
    vault = vault_in(state)
    assert seal_state(vault.core) == state

    assert EVENTS[event](vault) < 300
    assert seal_state(vault.core) == following


@pytest.mark.parametrize(
    ("state", "event"),
    [(state, event) for state in SEAL for event in ("init", "share", "reset") if event not in SEAL[state]],
)
def test_an_event_that_the_table_does_not_have_is_refused(state, event):
    vault = vault_in(state)

    assert EVENTS[event](vault) == 400
    assert seal_state(vault.core) == state


def test_every_event_of_the_table_is_brought_about():
    assert set(EVENTS) == {event for moves in SEAL.values() for event in moves}


def test_a_share_given_twice_counts_once(sealed):
    for _ in range(3):
        answer = sealed.post("sys/unseal", {"key": sealed.unseal_keys[0]}, token="")
    assert (answer.body["progress"], answer.body["sealed"]) == (1, True)
    assert len(answer.body["nonce"]) == 36


def test_shares_given_at_once_count_one_by_one(sealed):
    one, two, three, *_ = map(bytes.fromhex, sealed.unseal_keys)
    assert not unseal(sealed.core, one, one)
    assert sealed.core.keys.progress == (one,)
    assert not unseal(sealed.core, two, one)
    assert sealed.core.keys.progress == (one, two)
    assert unseal(sealed.core, three, two)
    sealed.put("sys/seal")
    with pytest.raises(BadRequest, match="invalid key: "):
        unseal(sealed.core, one, two, bytes(33))
    assert sealed.core.keys.progress == ()
    assert unseal(sealed.core, *map(bytes.fromhex, sealed.unseal_keys))


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
        (None, "'key' must be specified in request body as JSON"),
        ("", "'key' must be specified in request body as JSON"),
        (7, "'key' must be specified in request body as JSON"),
        ("zz", "'key' must be a valid hex or base64 string"),
        ("00 " * 33, "'key' must be a valid hex or base64 string"),
        ("00" * 15, "invalid key: key is shorter than minimum 16 bytes"),
        (base64.b64encode(bytes(15)).decode(), "invalid key: key is shorter than minimum 16 bytes"),
        ("00" * 34, "invalid key: key is longer than maximum 33 bytes"),
        (base64.b64encode(bytes(34)).decode(), "invalid key: key is longer than maximum 33 bytes"),
    ],
)
def test_a_text_that_is_not_a_share_is_refused_with_the_reason(text, reason):
    with pytest.raises(BadRequest) as refused:
        parse_share(text)
    assert refused.value.errors == (reason,)


def test_a_share_has_sixteen_to_thirty_three_bytes():
    for length in (16, 17, 32, 33):
        share = bytes(range(length))
        assert parse_share(share.hex()) == share
        assert parse_share(base64.b64encode(share).decode()) == share


@pytest.mark.parametrize("text", ["ab" * 5_000_000, "a=" * 600, "0" * 1_025])
def test_a_text_that_is_far_too_long_is_refused_unread(text, monkeypatch):
    for reader in ("_from_hex", "_from_base64"):
        monkeypatch.setattr(f"labkit.vault.sealing.seal.{reader}", lambda text: pytest.fail("it was read"))

    with pytest.raises(BadRequest, match=r"^invalid key: key is longer than maximum 33 bytes$"):
        parse_share(text)


def test_a_text_of_hex_digits_that_is_no_share_as_hex_is_read_as_base64():
    text = "0a" * 22  # 22 bytes as hex, 33 as base64
    assert parse_share(text) == bytes.fromhex(text)
    longer = "0a" * 18 + "00001111"  # the same text is a share both ways: hex counts first
    assert parse_share(longer) == bytes.fromhex(longer)
    too_short = "0a" * 12  # 12 bytes as hex, 18 as base64
    assert parse_share(too_short) == base64.b64decode(too_short)


def test_sealing_drops_everything(service):
    service.get("sys/mounts")
    service.post("sys/seal")
    core = service.core

    assert (core.keys.barrier, core.keys.root_key, core.caches.records, core.caches.routes) == (None, None, {}, {})


def test_a_node_whose_key_no_longer_fits_seals_itself(service):
    join_another_set(service)

    assert service.sealed


def test_a_node_whose_stored_keyring_is_damaged_goes_on_with_the_keys_it_has(service):
    stored = service.core.storage.get(KEYRING)
    service.core.storage.apply({KEYRING: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)

    assert service.post("secret/data/a", {"data": {"x": 1}}).ok
    assert (service.sealed, tuple(service.core.damaged)) == (False, (KEYRING,))
    service.put("sys/seal")
    assert give(service, service.unseal_keys[:3]) == 400


def test_a_node_takes_up_a_changed_ring(service):
    core = service.core
    keyring = (*core.keys.barrier.keyring, new_keyring(entropy, 9)[0]._replace(term=2))
    core.commit({KEYRING: encrypt_keyring(keyring, core.keys.root_key, entropy)})
    reload_keyring(core)

    assert core.keys.barrier.keyring == keyring
    assert service.get("sys/mounts").ok


@pytest.mark.parametrize(("shares", "threshold"), [(1, 1), (2, 2), (5, 3), (7, 7)])
def test_any_split_opens(shares, threshold):
    vault = Vault(MemoryStorage(), Environment(lambda: 0, entropy, lambda kind, **fields: None, no_outside))
    _, keys = set_up(vault.core, shares, threshold)

    assert len(keys) == shares
    assert not vault.sealed


def test_sealing_and_unsealing_are_reported(service, observed):
    service.post("sys/seal")
    assert give(service, service.unseal_keys[:3]) == 200

    assert [kind for kind, _ in observed] == ["sealed", "unsealed"]
    assert observed[0][1]["reason"]


def test_a_seal_configuration_that_cannot_be_read_is_named(service):
    service.core.storage.apply({SEAL_CONFIG: b"[1"}, 0)

    with pytest.raises(BarrierError, match=SEAL_CONFIG):
        read_config(service.core)


def test_shares_that_combine_to_another_root_key_are_refused(service, observed):
    first, *others = map(bytes.fromhex, service.unseal_keys[:3])
    service.put("sys/seal")
    for share in others:
        unseal(service.core, share)
    with pytest.raises(BadRequest) as refused:
        unseal(service.core, bytes([first[0] ^ 1]) + first[1:])
    assert refused.value.errors == (
        "invalid key: failed to decrypt keys from storage: "
        "the key shares given do not combine to this cluster's root key",
    )
    assert service.sealed
    for share in (first, *others):
        unseal(service.core, share)

    assert not service.sealed
    assert observed == [("sealed", {"reason": observed[0][1]["reason"]}), ("unsealed", {})]


def test_shares_are_combined_and_a_single_one_is_the_key(service):
    shares = tuple(bytes.fromhex(share) for share in service.unseal_keys)
    assert combine_shares(shares[:3], str) == service.core.keys.root_key
    assert combine_shares((b"key",), str) == b"key"
    with pytest.raises(BadRequest) as refused:
        combine_shares((b"", b""), lambda why: f"no: {why}")
    assert refused.value.errors[0].startswith("no: ")


def test_a_keyring_is_opened_once_for_as_long_as_it_is_the_same(service, monkeypatch):
    core = service.core
    reload_keyring(core)
    monkeypatch.setattr("labkit.vault.sealing.seal.open_keyring", None)
    reload_keyring(core)
    assert not service.sealed
    core.commit({KEYRING: None})
    reload_keyring(core)
    assert not service.sealed


def test_while_the_clusters_keyring_opens_no_other_record_of_keys_is_looked_at(service):
    """A node that was restored has no cache: what it looked at would be reported by it, and not by one that was not."""
    service.get("sys/health")
    service.core.storage.apply({OWN_KEYRING: b"rot", ROOT_KEY: b"rot"}, 0)
    again = Vault(service.core.storage, service.environment, state=service.state())
    reload_keyring(again.core)
    assert (again.sealed, again.core.damaged) == (False, {})
    assert again.core.keys.state() == service.core.keys.state()
