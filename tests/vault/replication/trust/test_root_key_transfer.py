"""Root key transfer: what a primary gives, and what a secondary makes of it.

Over a network: ``lab/nodes/test_root_key_question.py``.
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit.front.outside_lab import no_outside
from labkit.front.vault import Vault
from labkit.real import entropy
from labkit.vault.context import own_work
from labkit.vault.core import Environment
from labkit.vault.replication.shapes import malformed_answer
from labkit.vault.replication.tree.key_classes import classify
from labkit.vault.replication.trust import root_key_transfer
from labkit.vault.replication.trust.root_key_transfer import LEFT_BEHIND, given, take, warn_if_left_behind
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.seal import SEAL_CONFIG, awaits_root_key
from labkit.vault.sealing.stored_keys import OWN_KEYRING, ROOT_KEY, kept_beside
from labkit.vault.storage import StaleTerm, StoreError
from labkit.vault.storage.barrier import KEYRING, KeyringTerm, decrypt_keyring, encrypt_keyring
from labkit.vault.storage.memory import MemoryStorage

THEIRS = b"t" * 32
LATER = KeyringTerm(2, b"2" * 32, 5)


def received(core, keyring, root_key=THEIRS):
    """Let a keyring come from the primary, as the link does; return it as it is stored."""
    stored = encrypt_keyring(keyring, root_key, entropy)
    core.storage.apply({KEYRING: stored, **kept_beside(core, stored)}, 0)
    return stored


def answer(keyring, root_key=THEIRS, config=b"[7,4]") -> dict[str, Any]:
    return {
        "serial": 1,
        "root_key": root_key,
        "keyring": encrypt_keyring(keyring, root_key, entropy),
        "seal_config": config,
    }


@pytest.fixture
def core(service):
    """A node of a secondary, as far as its keys go."""
    return service.core


def test_what_is_given_fits_the_shape_of_an_answer_and_is_what_is_stored(core):
    made = given(core, 5)
    assert malformed_answer(root_key_transfer.QUESTION, made) == ""
    assert (made["serial"], made["root_key"], made["keyring"]) == (5, core.keys.root_key, core.storage.get(KEYRING))
    core.storage.apply({KEYRING: b"rot"}, 0)
    assert given(core, 6) == {"serial": 6, "gone": True}
    core.keys.drop()
    assert given(core, 7) == {"serial": 7, "gone": True}


def test_what_was_kept_beside_and_the_new_root_key_is_never_replicated():
    assert [classify(key) for key in (OWN_KEYRING, ROOT_KEY, SEAL_CONFIG)] == [0, 0, 0]


def test_root_key_keyring_and_seal_configuration_change_in_one_transaction(service, core):
    keyring, commits = core.keys.barrier.keyring, core.commits
    received(core, (*keyring, LATER))
    assert awaits_root_key(core)
    assert take(core, answer((*keyring, LATER))) == ""

    assert core.commits == commits + 1
    assert (core.keys.root_key, core.keys.barrier.keyring) == (THEIRS, (*keyring, LATER))
    assert (core.storage.get(SEAL_CONFIG), core.storage.get(OWN_KEYRING)) == (b"[7,4]", None)
    assert not awaits_root_key(core)
    assert service.get("sys/seal-status").body["t"] == 4
    assert service.put("secret/data/a", {"data": {"n": 1}}).ok


def test_one_that_is_ahead_of_the_keyring_is_kept_beside_it(core):
    keyring = core.keys.barrier.keyring
    received(core, keyring, b"r" * 32)
    assert take(core, answer((*keyring, LATER))) == ""
    assert (core.keys.root_key, core.keys.barrier.keyring) == (THEIRS, (*keyring, LATER))
    assert awaits_root_key(core)
    assert decrypt_keyring(core.storage.get(OWN_KEYRING), THEIRS) == (*keyring, LATER)
    received(core, (*keyring, LATER))
    assert (awaits_root_key(core), core.storage.get(OWN_KEYRING)) == (False, None)


def test_keys_of_its_own_stay_where_the_primary_rotated_apart(service, core):
    keyring, own = core.keys.barrier.keyring, KeyringTerm(2, b"o" * 32, 4)
    core.storage.apply({KEYRING: encrypt_keyring((*keyring, own), core.keys.root_key, entropy)}, 0)
    core.keys.install(core.keys.root_key, (*keyring, own))
    stored = core.keys.encrypt("node/x", b"mine", entropy)
    received(core, (*keyring, LATER))
    assert take(core, answer((*keyring, LATER))) == ""
    assert core.keys.barrier.keyring == (own, *keyring, LATER)
    assert core.keys.decrypt("node/x", stored) == b"mine"
    assert decrypt_keyring(core.storage.get(OWN_KEYRING), THEIRS) == (own, *keyring, LATER)


def test_the_root_key_that_it_has_changes_nothing(core):
    state, commits = core.keys.state(), core.commits
    assert take(core, answer(core.keys.barrier.keyring, core.keys.root_key)) == ""
    assert (core.keys.state(), core.commits) == (state, commits)


@pytest.mark.parametrize(
    "changes",
    [
        {"keyring": b""},
        {"keyring": b"rot" * 20},
        {"root_key": bytes(32)},
        *[{"seal_config": text} for text in (b"", b"[1]", b"[1,2]", b"[0,0]", b"[256,2]", b"{}", b"[5,3,1]")],
        {"seal_config": b'["5","3"]'},
    ],
)
def test_what_does_not_fit_together_is_refused_and_changes_nothing(core, changes):
    received(core, core.keys.barrier.keyring)
    state, stored = core.keys.state(), core.storage.state()
    assert take(core, {**answer(core.keys.barrier.keyring), **changes}) != ""
    assert (core.keys.state(), core.storage.state()) == (state, stored)


class Store(MemoryStorage):
    """A store that raises an error."""

    error: Exception | None = None

    def apply(self, *sent, **named) -> None:
        """Raise, or write."""
        if self.error is not None:
            raise self.error
        super().apply(*sent, **named)


@pytest.mark.parametrize("error", [StoreError("no space left"), StaleTerm(1, 2)])
def test_what_cannot_be_stored_changes_nothing_and_ends_nothing(clock, error):
    seen, storage = [], Store()
    core: Any = Vault(storage, Environment(clock, entropy, lambda kind, **fields: seen.append(kind), no_outside)).core
    set_up(core)
    keyring, state = core.keys.barrier.keyring, core.keys.state()
    received(core, keyring)
    storage.error = error
    assert take(core, answer(keyring)) == ""
    assert core.keys.state()[0] == state[0]
    assert seen[-1] == ("root key not stored" if isinstance(error, StoreError) else "stepped down")
    assert core.leadership.active is isinstance(error, StoreError)


def test_who_leaves_without_the_root_key_is_warned(core):
    ctx = own_work(core)
    warn_if_left_behind(ctx)
    assert ctx.warnings == []
    received(core, (*core.keys.barrier.keyring, LATER))
    warn_if_left_behind(ctx)
    assert ctx.warnings == [LEFT_BEHIND]
