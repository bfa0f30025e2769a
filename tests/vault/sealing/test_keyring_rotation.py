"""Keyring rotation: terms, what stays readable, and when the keyring is rotated by itself."""

from __future__ import annotations

from typing import Any

from labkit import real
from labkit.front.outside_lab import no_outside
from labkit.front.vault import Vault
from labkit.vault.core import Environment, Leadership
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.keyring_rotation import MAX_OPERATIONS
from labkit.vault.sealing.stored_keys import OWN_KEYRING, kept_beside
from labkit.vault.storage import StoreError
from labkit.vault.storage.barrier import KEYRING, ROTATION, decrypt_keyring, encrypt_keyring
from labkit.vault.storage.memory import MemoryStorage

DAY_NS = 86_400 * 10**9


def term_of(service, key: str) -> int:
    """The term that a stored value names."""
    return int.from_bytes(service.core.storage.get(key)[:4], "big")


def terms(service) -> list[int]:
    return [item.term for item in service.core.keys.barrier.keyring]


def test_every_value_names_its_term_and_those_of_earlier_terms_stay_readable(service):
    written = []
    for number in range(3):
        before = set(service.core.storage.keys())
        service.put(f"secret/data/at-{number}", {"data": {"n": number}})
        written.append({term_of(service, key) for key in set(service.core.storage.keys()) - before})
        assert service.put("sys/rotate").status == 204

    assert written == [{1}, {2}, {3}]
    assert [service.get(f"secret/data/at-{number}").data["data"]["n"] for number in range(3)] == [0, 1, 2]
    assert terms(service) == [1, 2, 3, 4]


def test_what_was_written_over_several_terms_opens_after_a_seal_and_a_restart(service):
    service.put("secret/data/a", {"data": {"n": 1}})
    service.put("sys/rotate")
    service.put("secret/data/b", {"data": {"n": 2}})
    service.put("sys/seal")
    service.unseal_with(service.unseal_keys[:3])
    assert [service.get(f"secret/data/{name}").data["data"]["n"] for name in "ab"] == [1, 2]

    again: Any = Vault(service.core.storage, service.environment)
    again.unseal_with(service.unseal_keys[1:4])
    assert terms(again) == [1, 2]
    assert again.request("GET", "/v1/secret/data/b", headers={"X-Vault-Token": service.root_token}).status == 200


class FullStorage(MemoryStorage):
    """A store that takes no more while ``full``."""

    full = False

    def apply(self, *given, **named) -> None:
        """Refuse, or write."""
        if self.full:
            raise StoreError("no space left")
        super().apply(*given, **named)


def test_the_keyring_in_memory_changes_after_the_commit_only(clock):
    storage = FullStorage()
    vault: Any = Vault(storage, Environment(clock, real.entropy, lambda kind, **fields: None, no_outside))
    vault.root_token, vault.unseal_keys = set_up(vault.core)
    keyring, storage.full = vault.core.keys.barrier.keyring, True

    assert vault.put("sys/rotate").status == 500
    assert vault.core.keys.barrier.keyring == keyring
    assert decrypt_keyring(storage.get(KEYRING) or b"", vault.core.keys.root_key) == keyring
    vault.core.note_due(KEYRING, vault.now())
    assert vault.tick() == 0
    assert vault.core.keys.barrier.keyring == keyring


def test_another_node_of_the_cluster_uses_the_new_term_at_its_next_step(service):
    other = Vault(service.core.storage, service.environment)
    other.unseal_with(service.unseal_keys[:3])
    other.set_leadership(Leadership(active=False, leader="http://x"))
    service.put("sys/rotate")
    other.set_leadership(Leadership())
    other.request("GET", "/v1/sys/health")

    assert terms(other) == [1, 2]
    assert other.core.keys.root_key == service.core.keys.root_key


class TestByItself:
    def test_after_an_interval(self, service) -> None:
        service.post("sys/rotate/config", {"interval": "24h"})
        assert service.tick() == 0
        assert service.next_due() == service.now() + DAY_NS
        service.advance("23h59m")
        assert terms(service) == [1]
        service.advance("1m")
        assert terms(service) == [1, 2]
        service.put("sys/rotate")
        service.advance("23h")
        assert terms(service) == [1, 2, 3]
        service.advance("1h")
        assert terms(service) == [1, 2, 3, 4]

    def test_an_interval_that_passed_already_rotates_at_once(self, service) -> None:
        service.advance("48h")
        service.post("sys/rotate/config", {"interval": "24h"})
        service.get("sys/health")
        assert terms(service) == [1, 2]

    def test_after_so_many_encryptions(self, service) -> None:
        service.post("sys/rotate/config", {"max_operations": 1_000_000})
        barrier = service.core.keys.barrier
        barrier.encryptions = 999_990
        service.put("secret/data/a", {"data": {"n": 1}})
        assert terms(service) == [1]
        barrier.encryptions = 999_999
        service.put("secret/data/a", {"data": {"n": 2}})
        service.get("sys/health")
        assert terms(service) == [1, 2]
        assert service.core.keys.barrier.encryptions == 0
        assert service.get("secret/data/a").data["data"] == {"n": 2}

    def test_a_number_above_the_lowest_is_met_exactly(self, service) -> None:
        service.post("sys/rotate/config", {"max_operations": 1_500_000})
        for encryptions, after in ((1_000_000, [1]), (1_499_000, [1]), (1_500_000, [1, 2])):
            service.core.keys.barrier.encryptions = encryptions
            service.put("secret/data/a", {"data": {"n": 1}})
            service.get("sys/health")
            assert terms(service) == after

    def test_the_number_that_applies_without_settings(self, service) -> None:
        service.core.keys.barrier.encryptions = MAX_OPERATIONS
        service.put("secret/data/a", {"data": {"n": 1}})
        service.get("sys/health")
        assert terms(service) == [1, 2]

    def test_not_when_it_is_switched_off(self, service) -> None:
        service.post("sys/rotate/config", {"interval": "24h", "max_operations": 1_000_000, "enabled": False})
        service.core.keys.barrier.encryptions = 2_000_000
        service.put("secret/data/a", {"data": {"n": 1}})
        service.advance("48h")
        assert terms(service) == [1]
        assert service.get("sys/key-status").data["encryptions"] > 2_000_000

    def test_after_a_takeover_it_is_derived_again(self, service) -> None:
        service.post("sys/rotate/config", {"interval": "24h"})
        service.set_leadership(Leadership(active=False))
        service.advance("25h")
        assert terms(service) == [1]
        service.set_leadership(Leadership())
        service.tick()
        assert terms(service) == [1, 2]

    def test_settings_that_do_not_open_rotate_nothing_and_stop_nothing(self, service) -> None:
        service.post("sys/rotate/config", {"interval": "24h"})
        service.core.storage.apply({ROTATION: b"rot"}, 0)
        service.advance("25h")
        assert terms(service) == [1]
        assert service.put("secret/data/a", {"data": {"n": 1}}).ok


def test_the_count_is_state_of_the_node(service):
    service.put("secret/data/a", {"data": {"n": 1}})
    counted = service.get("sys/key-status").data["encryptions"]
    again: Any = Vault(service.core.storage, service.environment, state=service.state())

    assert counted > 0
    assert again.core.keys.barrier.encryptions == service.core.keys.barrier.encryptions
    assert again.core.keys.barrier.look_at == service.core.keys.barrier.look_at


def test_a_cluster_that_is_no_secondary_stores_its_own_keyring_where_the_stored_one_does_not_open(service):
    core = service.core
    keyring, root_key = core.keys.barrier.keyring, core.keys.root_key
    received = encrypt_keyring((*keyring, keyring[0]._replace(term=2)), bytes(32), real.entropy)
    core.storage.apply({KEYRING: received, **kept_beside(core, received)}, 0)
    core.apply_mode()
    assert service.tick() == 1

    assert decrypt_keyring(core.storage.get(KEYRING), root_key) == keyring
    assert core.storage.get(OWN_KEYRING) is None
    assert (terms(service), service.tick()) == ([1], 0)


def test_a_damaged_keyring_is_not_taken_for_a_primarys(service):
    service.core.storage.apply({KEYRING: b"rot"}, 0)
    service.core.apply_mode()
    assert (service.tick(), service.core.storage.get(KEYRING)) == (0, b"rot")
