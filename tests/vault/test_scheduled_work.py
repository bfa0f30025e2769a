"""Scheduled work: tokens end and keys rotate at their time, on the active node of a cluster that is not a secondary."""

from __future__ import annotations

from labkit.vault.core import Leadership


def test_the_earliest_of_all_is_next(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    assert service.next_due() == service.now() + 7_200 * 10**9
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    assert service.next_due() == service.now() + 3_600 * 10**9


def test_nothing_is_due_on_a_standby_or_while_sealed(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    service.set_leadership(Leadership(active=False))
    assert service.next_due() is None
    service.set_leadership(Leadership())
    assert service.next_due() is not None
    service.post("sys/seal")
    assert (service.next_due(), service.tick()) == (None, 0)


def test_what_is_due_while_sealed_is_done_after_unsealing(service, clock):
    service.post("auth/token/create", {"ttl": "1h", "policies": ["default"]})
    service.post("sys/seal")
    service.advance("2h")
    service.unseal_with(service.unseal_keys[:3])

    assert service.tick() == 1
    assert service.next_due() is None


def test_a_tick_with_nothing_due_writes_nothing(service):
    commits = service.core.commits

    assert service.tick() == 0
    assert service.core.commits == commits
