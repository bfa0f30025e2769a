"""Lease counts: what is refused when there are enough."""

from __future__ import annotations

import pytest

from labkit import Lab

CREATE = "auth/token/create"
COUNT = "sys/quotas/lease-count/l"


def created(service, path: str = CREATE, **body) -> int:
    return service.post(path, {"ttl": "1h", "policies": ["default"], **body}).status


def test_one_lease_too_many_is_429(service, clock) -> None:
    assert service.put(COUNT, {"path": "auth/token", "max_leases": 2}).status == 204
    assert [created(service), created(service, CREATE + "-orphan")] == [200, 200]
    before = service.core.storage.state()
    refused = service.post(CREATE, {"ttl": "1h", "policies": ["default"]})
    assert (refused.status, refused.errors) == (429, ["1 error occurred:\n\t* lease count quota exceeded\n\n"])
    assert created(service, type="batch") == 429
    assert service.core.storage.state() == before
    assert service.get(COUNT).data["counter"] == 2
    clock.now_ns += 3_601 * 10**9
    assert [created(service), service.get(COUNT).data["counter"]] == [200, 1]


def test_revoked_tokens_make_room(service) -> None:
    service.put(COUNT, {"max_leases": 1})
    token = service.post(CREATE, {"ttl": "1h"}).auth["client_token"]
    assert created(service) == 429
    service.post("auth/token/revoke", {"token": token})
    assert created(service) == 200


def test_root_tokens_and_wrapping_tokens_are_never_refused(service) -> None:
    service.put(COUNT, {"max_leases": 1})
    assert created(service) == 200
    assert created(service, policies=["root"]) == 200
    assert service.post("sys/wrapping/wrap", {"a": 1}, headers={"X-Vault-Wrap-TTL": "1m"}).ok


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", [200, 429, 429]),
        ("auth/token", [200, 429, 429]),
        (CREATE, [200, 429, 200]),
        ("auth/token/create*", [200, 429, 429]),
        ("auth/token/create-orphan", [200, 200, 200]),
        ("secret", [200, 200, 200]),
    ],
)
def test_a_rule_is_about_its_path(service, path, expected) -> None:
    service.put(COUNT, {"path": path, "max_leases": 1})
    assert [created(service), created(service), created(service, CREATE + "-orphan")] == expected


def test_a_namespace_has_its_own_count(service) -> None:
    service.put("sys/namespaces/a")
    service.put("a/sys/namespaces/b")
    service.put(COUNT, {"path": "a", "max_leases": 1})
    assert [created(service, f"a/{CREATE}") for _ in range(2)] == [200, 429]
    assert [created(service), created(service, f"a/b/{CREATE}")] == [200, 200]
    assert service.get(COUNT).data["counter"] == 1
    service.put(COUNT, {"path": "a", "max_leases": 3, "inheritable": True})
    assert service.get(COUNT).data["counter"] == 2
    assert [created(service, f"a/b/{CREATE}") for _ in range(2)] == [200, 429]


def test_a_promoted_secondary_counts_what_it_has() -> None:
    lab = Lab.pair(seed=5)
    lab.replicate("paris", "tokyo")
    paris, tokyo = lab["paris"], lab["tokyo"]
    paris.put(COUNT, {"max_leases": 2})
    assert created(paris) == 200
    counter = paris.get(COUNT).data["counter"]
    lab.failover("paris", "tokyo")
    assert tokyo.get(COUNT).data["counter"] >= counter >= 1
    assert 429 in [created(tokyo) for _ in range(3)]
