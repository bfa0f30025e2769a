"""Caches: what is dropped when the node seals, and what never shows a token."""

from __future__ import annotations

from labkit.vault.caches import Caches, Clearances


def test_sealing_drops_everything(service) -> None:
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    service.post("transit/keys/a", {})
    for _ in range(2):
        service.get("auth/token/lookup-self", token=token)
    caches = service.core.caches
    caches.generators[1], caches.leases = object(), object()
    assert {name for name in Caches.__slots__ if getattr(caches, name) in ({}, None, -1)} == set()

    service.post("sys/seal")

    assert {name for name in Caches.__slots__ if getattr(caches, name) not in ({}, None, -1)} == set()


def test_clearances_never_show_the_tokens_that_they_are_for() -> None:
    held = Clearances()
    held["GET", "secret/data/a", "hvs.secret"] = (None, None, 0, "", True)

    assert repr(held) == f"{held}" == "Clearances(1)"
