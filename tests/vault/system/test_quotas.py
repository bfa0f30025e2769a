"""The endpoints of quotas: what they take, show and refuse."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.vault.quotas.rules import EXEMPT
from labkit.vault.system import quotas as endpoints

RATE, COUNT, CONFIG = "sys/quotas/rate-limit", "sys/quotas/lease-count", "sys/quotas/config"


def test_a_rate_limit_is_written_read_listed_and_deleted(service) -> None:
    assert service.put(f"{RATE}/r", {"path": "/secret/data/a/", "rate": "2.5", "block_interval": "1m"}).status == 204
    shown = {
        "type": "rate-limit",
        "name": "r",
        "path": "secret/data/a",
        "role": "",
        "rate": 2.5,
        "interval": 1,
        "block_interval": 60,
        "inheritable": False,
    }
    assert service.get(f"{RATE}/r").data == shown
    service.put(f"{RATE}/a", {"rate": 5, "interval": 90})
    whole = {"name": "a", "path": "", "rate": 5, "interval": 90, "block_interval": 0, "inheritable": True}
    assert service.get(f"{RATE}/a").data == shown | whole
    service.put(f"{RATE}/a", {"rate": 5, "inheritable": False, "path": "secret"})
    assert service.get(f"{RATE}/a").data["path"] == "secret/"
    assert service.list(RATE).data == {"keys": ["a", "r"]}
    for name in ("a", "r", "r"):
        assert service.delete(f"{RATE}/{name}").status == 204
    assert (service.list(RATE).status, service.get(f"{RATE}/r").status) == (404, 404)


def test_a_lease_count_is_written_read_listed_and_deleted(service) -> None:
    assert service.put(f"{COUNT}/l", {"path": "auth/token", "max_leases": "7"}).status == 204
    shown = {"type": "lease-count", "name": "l", "path": "auth/token/", "role": ""}
    assert service.get(f"{COUNT}/l").data == shown | {"max_leases": 7, "counter": 0, "inheritable": False}
    assert service.list(COUNT).data == {"keys": ["l"]}
    assert service.delete(f"{COUNT}/l").status == 204
    assert service.delete(f"{COUNT}/l").status == 204
    assert (service.list(COUNT).status, service.get(f"{COUNT}/l").status) == (404, 404)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "'rate' is invalid"),
        ({"rate": 0}, "'rate' is invalid"),
        ({"rate": -1}, "'rate' is invalid"),
        ({"rate": "many"}, "'rate' is invalid"),
        ({"rate": True}, "'rate' is invalid"),
        ({"rate": [1]}, "'rate' is invalid"),
        ({"rate": "inf"}, "'rate' is invalid"),
        ({"rate": "nan"}, "'rate' is invalid"),
        ({"rate": 10**400}, "'rate' is invalid"),
        ({"rate": None}, "'rate' is invalid"),
        ({"rate": 1, "interval": "-1s"}, "cannot provide negative value '-1s'"),
        ({"rate": 1, "interval": "soon"}, "interval"),
        ({"rate": 1, "block_interval": -5}, "cannot provide negative value '-5'"),
        ({"rate": 1, "path": "none/x"}, 'invalid mount path "none/x/"'),
        ({"rate": 1, "path": "secret", "inheritable": True}, "'inheritable' can only be set"),
        ({"rate": 1, "role": "r"}, "'role' needs the path of an auth method"),
        ({"rate": 1, "role": "r", "path": "secret"}, "is not a valid auth method"),
        ({"rate": 1, "role": "r", "path": "auth/token"}, "does not support use with role-based quotas"),
        ({"rate": 1, "role": "r", "path": "auth/token/create"}, "cannot contain both a path suffix and a role"),
    ],
)
def test_what_is_no_rate_limit(service, body, text) -> None:
    refused = service.put(f"{RATE}/r", body)
    assert refused.status == 400
    assert text in refused.errors[0]
    assert service.get(f"{RATE}/r").status == 404


@pytest.mark.parametrize("most", [None, 0, -1])
def test_what_is_no_lease_count(service, most) -> None:
    refused = service.put(f"{COUNT}/l", {} if most is None else {"max_leases": most})
    assert (refused.status, refused.errors[0].split(":")[0]) == (400, "'max_leases' is invalid")
    assert service.put(f"{COUNT}/l", {"max_leases": 1, "path": "none"}).status == 400


def test_two_rules_about_the_same_are_refused(service) -> None:
    service.put(f"{RATE}/r", {"path": "secret", "rate": 1})
    refused = service.put(f"{RATE}/s", {"path": "secret/", "rate": 2})
    assert refused.errors == ['quota rule with similar properties exists under the name "r"']
    assert service.put(f"{RATE}/r", {"path": "secret", "rate": 2}).status == 204
    assert service.put(f"{COUNT}/s", {"path": "secret", "max_leases": 1}).status == 204


def test_there_are_so_many_rules_at_most(service, monkeypatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_RULES", 1)
    service.put(f"{RATE}/r", {"path": "secret", "rate": 100})
    assert "there are 1 quotas of this kind already" in service.put(f"{RATE}/s", {"rate": 100}).errors[0]
    assert service.put(f"{RATE}/r", {"rate": 100}).status == 204


def test_the_configuration_is_read_and_written_as_a_whole(service, monkeypatch) -> None:
    shown = {
        "enable_rate_limit_audit_logging": False,
        "enable_rate_limit_response_headers": False,
        "rate_limit_exempt_paths": list(EXEMPT),
    }
    assert service.get(CONFIG).data == shown
    body = {"rate_limit_exempt_paths": ["/sys/health", "secret/", "", "!"], "enable_rate_limit_audit_logging": "true"}
    assert service.put(CONFIG, body).status == 204
    assert service.get(CONFIG).data == shown | {
        "enable_rate_limit_audit_logging": True,
        "rate_limit_exempt_paths": ["sys/health", "secret/"],
    }
    service.put(CONFIG, {})
    assert service.get(CONFIG).data == shown | {"rate_limit_exempt_paths": []}
    monkeypatch.setattr(endpoints, "MAX_EXEMPT", 1)
    assert service.put(CONFIG, {"rate_limit_exempt_paths": ["a", "b"]}).status == 400
    assert service.put(CONFIG, {"rate_limit_exempt_paths": {"a": 1}}).status == 400


def test_rules_end_with_what_they_are_about(service) -> None:
    service.put("sys/namespaces/a")
    service.put(f"{RATE}/r", {"path": "secret", "rate": 100})
    service.put(f"{RATE}/n", {"path": "a", "rate": 100})
    service.put(f"{COUNT}/n", {"path": "a/auth/token", "max_leases": 100})
    service.delete("sys/mounts/secret")
    assert service.list(RATE).data == {"keys": ["n"]}
    service.delete("sys/namespaces/a")
    assert (service.list(RATE).status, service.list(COUNT).status) == (404, 404)


def test_only_the_root_namespace_has_them(service) -> None:
    service.put("sys/namespaces/a")
    assert not service.get(f"a/{CONFIG}").ok
    assert not service.put(f"a/{RATE}/r", {"rate": 1}).ok


def test_the_community_edition_counts_no_leases() -> None:
    vault = Vault.dev(edition="community")
    assert vault.put(f"{RATE}/r", {"rate": 100}).status == 204
    assert vault.put(f"{COUNT}/l", {"max_leases": 1}).errors == ["enterprise-only feature"]


def test_rules_follow_their_mount(service) -> None:
    service.put("sys/namespaces/a")
    service.put(f"{RATE}/m", {"path": "secret", "rate": 100})
    service.put(f"{RATE}/p", {"path": "secret/data/a*", "rate": 1})
    service.put(f"{RATE}/t", {"path": "transit", "rate": 100})
    assert service.post("sys/remount", {"from": "secret", "to": "a/kept"}).ok
    paths = [service.get(f"{RATE}/{name}").data["path"] for name in "mpt"]
    assert paths == ["a/kept/", "a/kept/data/a*", "transit/"]
    assert [service.get("a/kept/data/ab").status for _ in range(2)] == [404, 429]
    service.delete(f"{RATE}/p")
    assert service.post("sys/remount", {"from": "a/kept", "to": "secret"}).ok
    assert service.get(f"{RATE}/m").data["path"] == "secret/"
