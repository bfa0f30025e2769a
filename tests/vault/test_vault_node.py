"""Vault node: the steps of a request, what is state, and requests that wait."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.front.outside_lab import no_outside
from labkit.seeded import START_NS, SeededEntropy
from labkit.service.message import Request, Response, Suspended
from labkit.vault.core import Environment, Leadership, Settings
from labkit.vault.mounts import MOUNTS
from labkit.vault.replication.trust import admission
from labkit.vault.sealing.initialise import set_up
from labkit.vault.storage.barrier import KEYRING, encrypt_keyring, new_keyring
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import IDS
from labkit.vault.vault_node import VaultNode

DR = "sys/replication/dr/"


def test_a_node_shows_its_name_and_whether_it_is_sealed():
    node = VaultNode(MemoryStorage(), Environment(lambda: 0, SeededEntropy(1, "a"), lambda *_, **__: None, no_outside))

    assert repr(node) == "VaultNode(node-1, sealed)"


def test_a_commit_under_an_old_term_is_answered_and_ends_the_leadership(service):
    service.core.storage.claim(9)
    answer = service.handle(Request("POST", "secret/data/a", {"X-Vault-Token": service.root_token}, {"data": {}}))

    assert isinstance(answer, Response)
    assert (answer.status, service.core.leadership.active) == (503, False)


def test_a_request_that_waits_keeps_no_object_of_its_caller(service):
    body, headers = {"token": _activation(Vault.dev())}, {"X-Vault-Token": service.root_token}
    waiting = service.handle(Request("POST", f"{DR}secondary/enable", headers, body))
    assert isinstance(waiting, Suspended)
    body["token"] = "changed"
    headers.clear()

    assert waiting.request.body != body
    assert waiting.request.headers == {"X-Vault-Token": service.root_token}
    assert service.core.waiting == {}


def test_what_is_state_is_the_same_in_a_vault_made_of_it(service):
    service.post("sys/replication/dr/primary/enable")
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    assert service.next_due() is not None
    service.core.note_damage("a")
    service.core.waiting[7] = "digest"
    service.set_leadership(Leadership(term=3))
    service.next_due()
    state = service.state()
    again = Vault(service.core.storage, service.environment, service.core.settings, state)

    assert again.state() == state
    assert (again.core.leadership, again.core.waiting, tuple(again.core.damaged)) == (
        Leadership(term=3),
        {7: "digest"},
        ("a",),
    )
    assert again.next_due() == service.next_due()
    assert again.core.replica.journal.on


@pytest.mark.parametrize("is_known", [True, False])
def test_what_was_known_to_fall_due_first_still_does_in_a_vault_made_of_it(service, is_known):
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    due_ns = service.next_due()
    store = service.core.storage
    store.apply({key: None for key in [*store.keys()] if key.startswith(IDS)}, 0)  # by whoever leads now
    state = service.state()
    if not is_known:
        del state["next_due_ns"]  # as in files of earlier versions
    again = Vault(store, service.environment, service.core.settings, state)

    assert again.next_due() == (due_ns if is_known else None)


@pytest.mark.parametrize("known", [1, -1, 1.5, "", "x", (), {}])
def test_a_time_at_which_nothing_falls_due_makes_no_vault(service, known):
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    service.next_due()
    state = {**service.state(), "next_due_ns": known}

    with pytest.raises(ValueError, match="expected a record that falls due at"):
        Vault(service.core.storage, service.environment, service.core.settings, state)


def test_a_changed_keyring_is_taken_up_and_one_of_another_set_seals(service):
    core = service.core
    core.commit({KEYRING: encrypt_keyring(new_keyring(core.entropy, 0), core.entropy(32), core.entropy), MOUNTS: None})
    service.reload_keyring()

    assert service.sealed


def test_what_waits_can_be_played_again():
    """Two vaults on the same seed, one of which drops its live generator at each fetch, end as the same vault."""
    ends = []
    for dropped in (False, True):
        primary, vault = seeded("paris"), seeded("tokyo")
        sent = {"X-Vault-Token": vault.root_token}
        outcome: Any = vault.handle(Request("POST", f"/v1/{DR}secondary/enable", sent, {"token": _activation(primary)}))
        fetched = []
        while isinstance(outcome, Suspended):
            fetched.append((outcome.fetch, len(outcome.tape)))
            if dropped:
                vault.core.caches.generators.clear()
            request = outcome.fetch.request
            asked = {"challenge": admission.answer_challenge, "bootstrap": admission.bootstrap}.get(request.path)
            body = request.body or {}
            outcome = vault.resume(outcome, asked(primary.core, "tokyo", body) if asked else primary.handle(request))
        assert [fetch.channel for fetch, _ in fetched] == ["api", "cluster", "cluster"]
        ends.append((outcome, fetched, vault.core.storage.state(), vault.state()))

    assert ends[0] == ends[1]
    assert ends[0][0].ok, ends[0][0].errors


def seeded(name):
    """A vault on entropy of its own seed and a clock that stands still."""
    environment = Environment(lambda: START_NS, SeededEntropy(1, name), lambda kind, **fields: None, no_outside)
    vault = Vault(MemoryStorage(), environment, Settings(node=name, cluster_address=f"https://{name}:8201"))
    vault.root_token, vault.unseal_keys = set_up(vault.core)
    return vault


def _activation(vault):
    vault.post("sys/replication/dr/primary/enable")
    return vault.post("sys/replication/dr/primary/secondary-token", {"id": "b"}).wrap_info["token"]
