"""Leases by id and by prefix: looked up, listed, revoked, counted; never renewed."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.vault.token_record import IDS, digest_of
from tests.vault.test_damage import spoil

CREATE = "auth/token/create"


def created(service, **body) -> tuple[str, str]:
    """A token and the id of its lease."""
    token = service.post(CREATE, {"ttl": "1h", **body}).auth["client_token"]
    return token, f"{CREATE}/h{digest_of(token)}"


def alive(service, token: str) -> bool:
    return service.get("auth/token/lookup-self", token=token).ok


def test_a_lease_is_looked_up_by_its_id(service, clock) -> None:
    token, lease_id = created(service)
    shown = {
        "id": lease_id,
        "path": CREATE,
        "issue_time": "2030-01-01T00:00:00Z",
        "expire_time": "2030-01-01T01:00:00Z",
        "last_renewal": None,
        "renewable": True,
        "ttl": 3_600,
    }
    assert service.put("sys/leases/lookup", {"lease_id": lease_id}).data == shown
    clock.now_ns += 600 * 10**9
    service.post("auth/token/renew", {"token": token})
    renewed = {"expire_time": "2030-01-01T01:10:00Z", "last_renewal": "2030-01-01T00:10:00Z"}
    own = service.post("sys/leases/lookup", {"lease_id": lease_id}, token=token)
    assert own.data == shown | renewed


@pytest.mark.parametrize("path", ["leases/lookup", "leases/renew", "renew"])
def test_what_is_no_lease(service, path) -> None:
    root = "/".join(("auth/token", "root", f"h{digest_of(service.root_token)}"))
    for lease_id in ("none", f"{CREATE}/h", f"{CREATE}/h{'0' * 64}", root, "ä" * 70):
        refused = service.put(f"sys/{path}", {"lease_id": lease_id})
        assert (refused.status, refused.errors) == (400, ["invalid lease"])
    for body in ({}, {"lease_id": ""}, {"lease_id": None}, None):
        refused = service.put(f"sys/{path}", body)
        assert (refused.status, refused.errors) == (400, ["lease_id must be specified"])
    assert service.put(f"sys/{path}", {"lease_id": ["x"]}).status == 400


@pytest.mark.parametrize("path", ["leases/renew", "renew"])
def test_a_token_is_not_renewed_as_a_lease(service, path) -> None:
    token, lease_id = created(service)
    before = service.get("auth/token/lookup-self", token=token).data
    for refused in (service.put(f"sys/{path}", {"lease_id": lease_id}), service.put(f"sys/{path}/{lease_id}")):
        assert (refused.status, refused.errors) == (400, ["tokens cannot be renewed through this endpoint"])
    _, fixed = created(service, renewable=False)
    assert service.put(f"sys/{path}", {"lease_id": fixed}).errors == ["lease is not renewable"]
    assert service.put(f"sys/{path}", {"lease_id": lease_id, "increment": "soon"}).status == 400
    assert service.get("auth/token/lookup-self", token=token).data == before


@pytest.mark.parametrize("path", ["leases/revoke", "revoke"])
def test_a_lease_is_revoked_with_its_descendants(service, path) -> None:
    token, lease_id = created(service, policies=["root"])
    child = service.post(CREATE, {"ttl": "10m"}, token=token).auth["client_token"]
    assert service.put(f"sys/{path}", {"lease_id": lease_id}).status == 204
    assert not alive(service, token)
    assert not alive(service, child)
    assert service.put(f"sys/{path}", {"lease_id": lease_id}).status == 204
    token, lease_id = created(service)
    assert service.put(f"sys/{path}/{lease_id}", {"sync": False}).status == 202
    assert not alive(service, token)
    assert service.put(f"sys/{path}", {}).errors == ["lease_id must be specified"]


@pytest.mark.parametrize("path", ["leases/revoke-prefix", "revoke-prefix", "leases/revoke-force", "revoke-force"])
def test_leases_are_revoked_by_prefix(service, path) -> None:
    service.post("auth/token/roles/r", {"path_suffix": "east"})
    made = [created(service)[0] for _ in range(3)]
    east = service.post(f"{CREATE}/r", {"ttl": "1h"}).auth["client_token"]
    orphan = service.post(f"{CREATE}-orphan", {"ttl": "1h"}).auth["client_token"]
    assert service.put(f"sys/{path}/{CREATE}/r").status == 204
    assert [alive(service, token) for token in (*made, east, orphan)] == [True, True, True, False, True]
    one = f"{CREATE}/h{digest_of(made[0])}"
    assert service.put(f"sys/{path}/{one}").status == 204
    assert [alive(service, token) for token in (*made, orphan)] == [False, True, True, True]
    assert service.put(f"sys/{path}/auth/tok").status == 204
    assert service.put(f"sys/{path}/{CREATE}").status == 204
    assert [alive(service, token) for token in (*made, orphan)] == [False, False, False, True]
    assert service.put(f"sys/{path}/auth").status == 204
    assert not alive(service, orphan)
    assert service.get("auth/token/lookup-self").ok


def test_a_lazy_revocation_answers_202_and_is_done_as_well(service) -> None:
    token, _ = created(service)
    assert service.put(f"sys/leases/revoke-prefix/{CREATE}", {"sync": False}).status == 202
    assert not alive(service, token)


def test_a_family_below_a_prefix_is_revoked_once(service, observed) -> None:
    token, _ = created(service, policies=["root"])
    service.post(CREATE, {"ttl": "10m"}, token=token)
    service.put(f"sys/leases/revoke-prefix/{CREATE}")
    assert [kind for kind, _ in observed] == ["token revoked"] * 2


def test_leases_are_listed_below_a_prefix(service) -> None:
    tokens = [created(service)[0] for _ in range(3)]
    names = sorted(f"h{digest_of(token)}" for token in tokens)
    assert service.list("sys/leases/lookup/").data == {"keys": ["auth/"]}
    assert service.list(f"sys/leases/lookup/{CREATE}").data == {"keys": names}
    assert service.get(f"sys/leases/lookup/{CREATE}/?list=true").data == {"keys": names}
    for nothing in ("none", "auth/tok", f"{CREATE}/{names[0]}"):
        assert service.list(f"sys/leases/lookup/{nothing}").status == 404


def test_leases_are_counted_by_mount(service) -> None:
    accessor = service.get("sys/auth/token").data["accessor"]
    assert service.get("sys/leases/count").data == {"lease_count": 0, "counts": {}}
    created(service)
    service.post(f"{CREATE}-orphan", {"ttl": "1h"})
    service.post(CREATE, {"type": "batch", "policies": ["default"]})
    service.post(CREATE, {})
    assert service.get("sys/leases/count").data == {"lease_count": 2, "counts": {accessor: 2}}
    assert service.get("sys/leases/count?type=irrevocable").data == {"lease_count": 0, "counts": {}}
    refused = service.get("sys/leases/count?type=odd")
    assert (refused.status, refused.errors[0].split(",")[0]) == (400, "type: expected irrevocable")


def test_a_token_that_does_not_open_is_an_irrevocable_lease(service, clock) -> None:
    token, lease_id = created(service)
    accessor = service.get("sys/auth/token").data["accessor"]
    assert service.get("sys/leases?type=irrevocable").data == {"lease_count": 0, "leases": []}
    key = IDS + digest_of(token)
    spoil(service, key)
    clock.now_ns += 4_000 * 10**9
    assert service.tick() == 0
    listed = service.get("sys/leases?type=irrevocable&limit=1").data
    row = {"lease_id": "", "error": f"the stored value {key} does not open"}
    assert listed == {"lease_count": 1, "leases": [row]}
    assert service.get("sys/leases/count?type=irrevocable").data == {"lease_count": 1, "counts": {accessor: 1}}
    for query in ("", "?type=all", "?type=irrevocable&limit=0", "?type=irrevocable&limit=-1"):
        assert service.get(f"sys/leases{query}").status == 400
    assert service.put("sys/leases/lookup", {"lease_id": lease_id}).status == 500


def test_tidy_deletes_what_is_left_of_tokens(service) -> None:
    answered = service.post("sys/leases/tidy")
    assert (answered.status, len(answered.warnings)) == (202, 1)


def test_what_needs_sudo(service) -> None:
    capabilities = 'capabilities = ["create", "read", "update", "list"]'
    rules = [f'path "sys/{path}" {{ {capabilities} }}' for path in ("leases*", "revoke*", "renew*")]
    service.put("sys/policies/acl/m", {"policy": " ".join(rules)})
    token, lease_id = created(service, policies=["m"])
    for path in ("leases/revoke-prefix", "leases/revoke-force", "revoke-prefix", "revoke-force"):
        assert service.put(f"sys/{path}/{CREATE}", token=token).status == 403
    assert service.list("sys/leases/lookup/", token=token).status == 403
    assert service.get("sys/leases?type=irrevocable", token=token).status == 403
    assert service.get("sys/leases/count", token=token).ok
    assert service.put("sys/leases/revoke", {"lease_id": lease_id}, token=token).status == 204


def test_a_namespace_has_leases_of_its_own(service) -> None:
    child = service.put("sys/namespaces/a").data
    inside = {"X-Vault-Namespace": "a"}
    made = service.post(CREATE, {"ttl": "1h"}, headers=inside)
    digest = digest_of(made.auth["client_token"])
    lease_id = f"{CREATE}/h{digest}.{child['id']}"
    _, own = created(service)
    assert service.list(f"a/sys/leases/lookup/{CREATE}").data == {"keys": [f"h{digest}.{child['id']}"]}
    assert service.list(f"sys/leases/lookup/{CREATE}").data == {"keys": [own.rpartition("/")[2]]}
    assert service.put("a/sys/leases/lookup", {"lease_id": lease_id}).data["id"] == lease_id
    assert service.put("sys/leases/lookup", {"lease_id": lease_id}).data["id"] == lease_id
    assert service.put("a/sys/leases/lookup", {"lease_id": own}).errors == ["invalid lease"]
    assert service.get("a/sys/leases/count").data["lease_count"] == 1
    assert service.put(f"a/sys/leases/revoke-prefix/{CREATE}").status == 204
    assert (alive(service, made.auth["client_token"]), service.get("sys/leases/count").data["lease_count"]) == (
        False,
        1,
    )


def test_a_promoted_secondary_has_the_leases_and_ends_those_that_are_overdue() -> None:
    lab = Lab.pair(seed=3)
    lab.replicate("paris", "tokyo")
    paris, tokyo = lab["paris"], lab["tokyo"]
    _, lease_id = created(paris)
    _, short = created(paris, ttl="20s")
    lab.run("2s")
    lab.crash("paris")
    lab.run("30s")
    tokyo.promote(force=True)
    assert tokyo.put("sys/leases/lookup", {"lease_id": lease_id}).data["id"] == lease_id
    lab.run("2s")
    assert tokyo.put("sys/leases/lookup", {"lease_id": short}).errors == ["invalid lease"]
    assert tokyo.list(f"sys/leases/lookup/{CREATE}").data == {"keys": [lease_id.rpartition("/")[2]]}
    restored = Lab.restore(lab.snapshot())["tokyo"]
    assert restored.get("sys/leases/count").data == tokyo.get("sys/leases/count").data
