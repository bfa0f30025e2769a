"""Automatic rotation: at its time, in order, and never before."""

from __future__ import annotations

import pytest

from labkit import Vault

HOUR_NS = 3_600_000_000_000


def versions(service, name):
    return service.get(f"transit/keys/{name}").data["latest_version"]


def test_a_key_rotates_when_its_period_is_over(service):
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    old = service.post("transit/encrypt/k", {"plaintext": "aGk="}).data["ciphertext"]

    service.advance("59m")
    assert versions(service, "k") == 1
    service.advance("2m")
    assert versions(service, "k") == 2
    service.advance("3h")
    assert versions(service, "k") == 3, "a period counts from the latest version, however late it was made"
    assert service.post("transit/decrypt/k", {"ciphertext": old}).data["plaintext"] == "aGk="


def test_what_is_due_is_known_after_unsealing(service):
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    service.post("transit/keys/soon", {"auto_rotate_period": "1h"})
    again = Vault(service.core.storage, service.environment, service.core.settings, service.state())

    assert again.next_due() == service.next_due() == service.now() + HOUR_NS


def test_a_changed_period_counts(service):
    service.post("transit/keys/k")
    assert service.next_due() is None
    service.post("transit/keys/k/config", {"auto_rotate_period": "1h"})
    assert service.next_due() == service.now() + HOUR_NS
    service.post("transit/keys/k/config", {"auto_rotate_period": "0"})
    service.advance("3h")
    assert versions(service, "k") == 1


def test_a_deleted_key_is_nobodys_business(service):
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    service.post("transit/keys/k/config", {"deletion_allowed": True})
    assert service.delete("transit/keys/k").status == 204

    service.advance("3h")
    assert service.get("transit/keys/k").status == 404


@pytest.mark.parametrize("count", [1, 5])
def test_each_rotation_is_a_step_of_its_own(service, count):
    for number in range(count):
        service.post(f"transit/keys/k{number}", {"auto_rotate_period": "1h"})
    commits = service.core.commits

    service.advance("61m")
    assert service.core.commits == commits + count
    assert [versions(service, f"k{number}") for number in range(count)] == [2] * count


def test_a_rotation_is_reported(service, observed):
    service.post("transit/keys/k", {"auto_rotate_period": "1h"})
    service.advance("61m")

    assert versions(service, "k") == 2
    assert observed == [("key rotated", {"key": "k"})]
