"""Stored keys: which keyring and root key a node has from its store."""

from __future__ import annotations

from labkit.real import entropy
from labkit.vault.seal_keys import SealKeys, fingerprint_of
from labkit.vault.sealing.stored_keys import (
    OWN_KEYRING,
    ROOT_KEY,
    encode_root_key,
    is_rekeyed,
    kept_beside,
    keyring_writes,
    open_keyring,
    passed_on,
    together,
)
from labkit.vault.storage.barrier import KEYRING, KeyringTerm, decrypt_keyring, encrypt_keyring
from labkit.vault.storage.records import decode_record

SECOND_NS = 10**9
ONE, TWO = KeyringTerm(1, b"1" * 32, 0), KeyringTerm(2, b"2" * 32, 100 * SECOND_NS)
OTHER_TWO = KeyringTerm(2, b"o" * 32, 90 * SECOND_NS)
OURS, THEIRS = b"a" * 32, b"b" * 32


def put(service, key, keyring, root_key):
    stored = encrypt_keyring(keyring, root_key, entropy)
    service.core.storage.apply({key: stored}, 0)
    return stored


def holding(service, keyring, root_key=OURS):
    service.core.keys.install(root_key, keyring)
    return service.core


def test_keys_are_put_together_those_that_are_missing_in_front():
    assert together((ONE, TWO), (ONE,)) == (ONE, TWO)
    assert together((ONE, TWO), (ONE, OTHER_TWO)) == (OTHER_TWO, ONE, TWO)
    assert together((ONE,), ()) == (ONE,)


def test_the_clusters_keyring_comes_with_what_is_kept_beside_it(service):
    core = service.core
    put(service, KEYRING, (ONE, TWO), OURS)
    assert open_keyring(core, OURS) == ((ONE, TWO), True)
    assert open_keyring(core, THEIRS) is None
    put(service, OWN_KEYRING, (ONE, OTHER_TWO), OURS)
    assert open_keyring(core, OURS) == ((OTHER_TWO, ONE, TWO), True)
    put(service, KEYRING, (ONE, TWO), THEIRS)
    assert open_keyring(core, OURS) == ((ONE, OTHER_TWO), False)
    assert open_keyring(core, THEIRS) == ((ONE, TWO), True)


class TestKeptBeside:
    def test_nothing_where_the_received_one_opens_and_has_all_keys(self, service) -> None:
        core = holding(service, (ONE,))
        put(service, KEYRING, (ONE,), OURS)
        assert kept_beside(core, encrypt_keyring((ONE, TWO), OURS, entropy)) == {}
        put(service, OWN_KEYRING, (ONE,), OURS)
        assert kept_beside(core, encrypt_keyring((ONE, TWO), OURS, entropy)) == {OWN_KEYRING: None}

    def test_the_one_in_use_where_the_received_one_is_under_another_root_key(self, service) -> None:
        core = holding(service, (ONE,))
        put(service, KEYRING, (ONE, TWO), OURS)  # rotated meanwhile: memory does not have it yet
        for received in (encrypt_keyring((ONE, TWO), THEIRS, entropy), None):
            kept = kept_beside(core, received)[OWN_KEYRING] or b""
            assert decrypt_keyring(kept, OURS) == (ONE, TWO)

    def test_keys_of_its_own_that_the_received_one_lacks(self, service) -> None:
        core = holding(service, (ONE, OTHER_TWO))
        put(service, KEYRING, (ONE, OTHER_TWO), OURS)
        kept = kept_beside(core, encrypt_keyring((ONE, TWO), OURS, entropy))[OWN_KEYRING] or b""
        assert decrypt_keyring(kept, OURS) == (OTHER_TWO, ONE, TWO)


class TestPassedOn:
    def test_to_who_holds_a_key_of_the_last_minute(self, service) -> None:
        now_ns = 150 * SECOND_NS
        service.core.storage.apply({ROOT_KEY: encode_root_key(THEIRS, (ONE, TWO), now_ns, entropy)}, 0)
        for keyring in ((ONE,), (ONE, TWO), (TWO,)):
            assert passed_on(holding(service, keyring)) == THEIRS
            assert is_rekeyed(service.core)
        assert passed_on(holding(service, (ONE, OTHER_TWO))) == THEIRS
        assert passed_on(holding(service, (OTHER_TWO,))) is None

    def test_not_to_who_holds_an_older_key_only(self, service) -> None:
        now_ns = 160 * SECOND_NS
        stored = encode_root_key(THEIRS, (ONE, TWO), now_ns, entropy)
        assert len(decode_record(stored)[1]) == 1
        service.core.storage.apply({ROOT_KEY: stored}, 0)
        core = holding(service, (ONE,))
        assert (passed_on(core), is_rekeyed(core)) == (None, True)

    def test_not_to_who_holds_that_root_key(self, service) -> None:
        service.core.storage.apply({ROOT_KEY: encode_root_key(OURS, (ONE,), 0, entropy)}, 0)
        core = holding(service, (ONE,))
        assert (passed_on(core), is_rekeyed(core)) == (None, False)
        core.keys.drop()
        assert passed_on(core) is None

    def test_damage_is_reported_and_gives_nothing(self, service) -> None:
        for stored in (b"rot", b"[1]", b"{}"):
            service.core.storage.apply({ROOT_KEY: stored}, 0)
            assert (passed_on(service.core), is_rekeyed(service.core)) == (None, False)
        assert list(service.core.damaged) == [ROOT_KEY]
        service.core.storage.apply({ROOT_KEY: b'["x",["zz",5,"00"]]'}, 0)
        assert (passed_on(service.core), is_rekeyed(service.core)) == (None, True)


def test_a_keyring_that_is_written_takes_the_place_of_one_beside_it(service):
    core = service.core
    assert keyring_writes(core, (ONE,), OURS, entropy).keys() == {KEYRING}
    put(service, OWN_KEYRING, (ONE,), OURS)
    assert keyring_writes(core, (ONE,), OURS, entropy)[OWN_KEYRING] is None


def test_a_fingerprint_stands_for_a_root_key():
    assert fingerprint_of(OURS) == SealKeys.opened(OURS, (ONE,)).fingerprint() != fingerprint_of(THEIRS)
