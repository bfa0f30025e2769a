"""The walk: the order of judgement, paths, headers, and the memos that need no invalidation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labkit import Vault
from labkit.service.message import Request
from labkit.vault.core import Leadership
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import digest_of
from labkit.vault.tokens import INVALID_TOKEN


def test_who_asks_is_judged_before_what_is_there(service):
    for path in ("nowhere/x", "secret/data/x", "sys/nonsense"):
        assert service.get(path, token="").errors == ["permission denied"]
        assert service.get(path, token="bogus").status == 403
    assert service.get("nowhere/x").status == 404


def test_a_sealed_node_answers_nothing_but_how_to_open_it(service):
    service.post("sys/seal")

    assert service.get("secret/data/x", token="").status == 503
    assert service.get("nowhere/x").errors == ["Vault is sealed"]
    assert service.get("sys/seal-status", token="").ok
    assert service.get("sys/health", token="").status == 503


NAN, HALF = float("nan"), "\ud800"


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("PUT", "sys/unseal", {"key": "00", "x": NAN}, {}),
        ("POST", "sys/wrapping/wrap", {"a": NAN}, {"X-Vault-Wrap-TTL": "5m"}),
        ("POST", "secret/data/a", {"data": {"n": 10**4_000}}, {}),
        ("POST", "secret/data/a", {"data": {"n": [float("-inf")]}}, {}),
        ("POST", "secret/data/a", {"data": {HALF: 1}}, {}),
        ("GET", f"sys/policy?{HALF}=1", None, {}),
        ("GET", f"secret/data/{HALF}", None, {}),
        ("GET", "secret/data/%ff", None, {}),
        ("GET", "secret/data/a?b=%ff", None, {}),
        ("GET", 7, None, {}),
        ("GET", "secret/data/a", None, {HALF: "x"}),
        ("GET", "secret/data/a", None, {"x-note": HALF}),
        ("GET", "secret/data/a", None, {7: "x"}),
        ("GET", "secret/data/a", None, {"x-note": 7}),
        ("GET", "secret/data/a", None, {"X-Vault-Namespace": b"x"}),
        ("GET", "secret/data/a", None, [("X-Vault-Token", "x")]),
        ("GET", "secret/data/" + "a" * 4_096, None, {}),
        ("POST", ["secret/data/a"], [1], {}),
    ],
)
@pytest.mark.parametrize("sealed", [False, True])
def test_what_is_not_json_or_text_is_refused_at_the_door(service, method, path, body, headers, sealed):
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    if sealed:
        service.post("sys/seal")
    before, lines = service.core.storage.state(), len(service.files.lines["/log"])
    answer = service.request(method, path, body, headers)

    assert answer.status == 400
    assert all(answer.errors)
    assert answer.errors
    assert service.core.storage.state() == before
    records = [json.loads(line) for line in service.files.lines["/log"][lines:]]
    assert [record["type"] for record in records] == ([] if sealed else ["request", "response"])
    assert not any("data" in record["request"] for record in records)
    if records:
        assert records[0]["request"]["id"] == records[1]["request"]["id"]
        assert records[1]["error"] == answer.errors[0]


@pytest.mark.parametrize("token", ["\ud800", "hvb.\ud800", "hvs.\udfff", 7, b"x", ["x"], "ü", "\0", None])
@pytest.mark.parametrize("name", ["X-Vault-Token", "x-vault-token"])
def test_a_token_that_is_not_text_is_an_invalid_one(service, token, name):
    assert service.request("GET", "secret/data/a", None, {name: token}).errors == [INVALID_TOKEN]
    assert service.request("GET", "sys/health", None, {name: token}).ok


def test_a_bearer_that_is_not_text_is_an_invalid_token(service):
    assert service.request("GET", "secret/data/a", None, {"Authorization": "Bearer \ud800"}).errors == [INVALID_TOKEN]


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, "0x" + "f" * 4_000, "9" * 5_000, 10**3_999])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("transit/keys/k/config", "min_decryption_version"),
        ("transit/keys/k/config", "min_encryption_version"),
        ("transit/keys/new", "key_size"),
        ("auth/token/create", "num_uses"),
        ("auth/token/roles/r", "token_num_uses"),
        ("secret/config", "max_versions"),
        ("secret/delete/a", "versions"),
    ],
)
def test_an_integer_beyond_64_bits_is_refused(service, number, path, field):
    service.post("transit/keys/k")
    before = service.core.storage.state()

    assert service.post(path, {field: number}).status == 400
    assert service.core.storage.state() == before


@pytest.mark.parametrize("code", ["0x" + "f" * 4_000, "9" * 4_400, "1e3", "%D9%A3"])
def test_a_health_code_that_is_no_status_is_refused(service, code):
    assert service.get(f"sys/health?activecode={code}").status == 400


def test_whole_numbers_below_4000_digits_stay_exact_in_a_secret(service):
    for number in (2**63, 10**3_999, -(10**3_999)):
        service.post("secret/data/a", {"data": {"n": number}})
        assert service.get("secret/data/a").data["data"]["n"] == number


def test_long_paths_are_refused_before_the_token_and_the_namespace_counts(service):
    longest = "secret/data/" + "a" * (4_096 - 12)
    many = "secret/data/" + "/".join("a" * 62)

    assert [service.get(path).status for path in (longest, many)] == [404, 404]
    for path in (longest + "a", many + "/a", "/v1/" + "%61" * 5_000, "x" * 200_000, "secret/data/" + "a/" * 20_000):
        assert service.get(path, token="").status == 400
    long_namespace = {"X-Vault-Namespace": "n" * 4_090}
    assert service.get("secret/data/a", headers=long_namespace, token="").status == 400
    assert service.get(f"sys/health?x={'y' * 5_000}").ok  # the query does not count


def test_the_token_may_come_as_bearer_and_names_of_headers_in_any_case(service):
    service.post("secret/data/a", {"data": {"x": 1}})

    for headers in (
        {"Authorization": f"Bearer {service.root_token}"},
        {"x-vault-token": service.root_token},
        {"X-Vault-Token": service.root_token, "Authorization": "Bearer bogus"},
        {"X-Vault-Token": service.root_token, "x-vault-token": "bogus"},
        {"x-vault-token": "bogus", "X-Vault-Token": service.root_token},
    ):
        assert service.request("GET", "/v1/secret/data/a", None, headers).ok
    assert (
        service.request("GET", "/v1/secret/data/a", None, {"Authorization": f"Basic {service.root_token}"}).status
        == 403
    )


def test_a_namespace_that_does_not_exist_is_not_found(service):
    answer = service.get("secret/data/a", headers={"X-Vault-Namespace": "team/"})

    assert (answer.status, answer.errors) == (404, ["namespace not found"])
    assert service.get("secret/data/a", headers={"X-Vault-Namespace": "/"}).status == 404


@pytest.mark.parametrize("name", ["root", "root/", "/" + "root/", "/", ""])
def test_root_names_the_root_namespace(service, name):
    assert service.get("sys/mounts", headers={"X-Vault-Namespace": name}).ok
    assert service.post("sys/replication/dr/primary/enable", {}, headers={"X-Vault-Namespace": name}).ok


def test_a_patch_needs_its_media_type(service):
    service.post("secret/data/a", {"data": {"x": 1}})
    headers = {"X-Vault-Token": service.root_token}

    assert service.request("PATCH", "/v1/secret/data/a", {"data": {}}, headers).status == 400
    answer = service.request("PATCH", "/v1/secret/data/a", {"data": {}}, {**headers, "Content-Type": "text/plain"})
    assert answer.status == 415


@pytest.mark.parametrize("body", [[1], "text", 7, {"a": object()}])
def test_a_body_that_is_no_object_is_refused(service, body):
    answer = service.request("POST", "/v1/secret/data/a", body, {"X-Vault-Token": service.root_token})

    assert answer.status == 400
    assert "failed to decode JSON input" in answer.errors[0]


def test_a_body_over_the_limit_is_413():
    vault = Vault.dev(max_request_bytes=10_000)

    assert vault.post("secret/data/a", {"data": {"x": "y" * 10_000}}).status == 413
    assert vault.post("secret/data/a", {"data": {"x": "y" * 5_000}}).ok


def test_mounting_and_policies_take_effect_at_once(service):
    service.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["read"] }'})
    token = service.post("auth/token/create", {"policies": ["reader"]}).auth["client_token"]
    service.post("secret/data/a", {"data": {"x": 1}})
    assert service.get("secret/data/a", token=token).ok
    assert service.post("secret/data/a", {"data": {}}, token=token).status == 403

    service.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["update"] }'})
    assert service.get("secret/data/a", token=token).status == 403
    assert service.post("secret/data/a", {"data": {}}, token=token).ok

    service.delete("sys/mounts/secret")
    assert service.get("secret/data/a").status == 404
    service.post("sys/mounts/secret", {"type": "kv-v2"})
    assert service.get("secret/data/a").errors == []


def test_a_denied_request_costs_a_use_and_the_last_one_revokes(service):
    token = service.post("auth/token/create", {"policies": ["default"], "num_uses": 2}).auth["client_token"]

    assert service.get("secret/data/a", token=token).status == 403
    assert service.get("auth/token/lookup-self", token=token).data["num_uses"] in (0, -1)
    assert service.get("auth/token/lookup-self", token=token).status == 403
    accessors = service.list("auth/token/accessors").data["keys"]
    assert len(accessors) == 1


def test_the_community_edition_refuses_the_enterprise_parts():
    vault = Vault.dev(edition="community")

    for path in ("primary/enable", "secondary/promote", "primary/secondary-token"):
        answer = vault.post(f"sys/replication/dr/{path}", {})
        assert (answer.status, answer.errors) == (400, ["enterprise-only feature"])
    for path in ("sys/replication/dr/status", "sys/replication/status"):
        assert (vault.get(path, token="").status, vault.get(path).errors) == (400, ["enterprise-only feature"])
    assert vault.core.settings.version == Vault.dev().core.settings.version.removesuffix("+ent")
    assert Vault.dev(edition="community", version="1.2.3+ent").core.settings.version == "1.2.3+ent"


def test_a_refusal_of_a_node_that_was_overtaken_is_still_an_answer(service):
    token = service.post("auth/token/create", {"policies": ["default"], "num_uses": 5}).auth["client_token"]
    service.core.storage.claim(9)

    answer = service.get("secret/data/a", token=token)
    assert answer.status == 503
    assert "not the active one any more" in answer.errors[0]
    assert not service.core.leadership.active


def test_every_answer_has_an_id_of_its_own(service):
    first, second = service.get("sys/mounts"), service.get("sys/mounts")

    assert first.body["request_id"] != second.body["request_id"]
    assert len(first.body["request_id"]) == 36


def test_the_caller_is_found_again_when_the_token_changes(service, clock):
    made = service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}).auth
    token, accessor = made["client_token"], {"accessor": made["accessor"]}
    for _ in range(2):
        assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 3_600
    clock.now_ns += 1_800 * 1_000_000_000
    assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 1_800
    assert service.post("auth/token/renew-accessor", accessor).ok
    assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 3_600

    service.post("auth/token/revoke-accessor", accessor)
    assert service.get("auth/token/lookup-self", token=token).status == 403


def test_a_caller_that_is_known_ends_at_its_time(service, clock):
    token = service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}).auth["client_token"]
    assert service.get("auth/token/lookup-self", token=token).ok
    clock.now_ns += 3_600 * 1_000_000_000

    request = Request("GET", "/v1/auth/token/lookup-self", {"X-Vault-Token": token})
    assert service.handle(request).status == 403  # though nothing has ended it in the store


def test_known_callers_are_bounded_and_no_tokens(service, monkeypatch):
    monkeypatch.setattr("labkit.vault.walk.request_walk.MAX_CACHED_CALLERS", 3)
    texts = [service.post("auth/token/create", {}).auth["client_token"] for _ in range(5)]
    for text in texts:
        assert service.get("auth/token/lookup-self", token=text).ok
    callers = service.core.caches.callers

    assert len(callers) <= 3
    assert not any(text in key for text in texts for key in callers)
    service.post("sys/seal")
    assert service.core.caches.callers == {}


COSTS_A_USE: dict[str, tuple[str, str, Any, int]] = {
    "no mount": ("GET", "nowhere/x", None, 404),
    "an unsupported path": ("GET", "sys/nonsense", None, 404),
    "an unsupported operation": ("DELETE", "auth/token/create", None, 405),
    "a wrong field": ("POST", "auth/token/create", {"num_uses": "many"}, 400),
    "a folder": ("POST", "secret/data/a/", {"data": {}}, 400),
    "a denied path": ("GET", "sys/audit", None, 403),
    "what a handler refuses": ("POST", "secret/data/a", {"data": {}, "options": {"cas": 7}}, 400),
    "a listing": ("LIST", "secret/metadata", None, 404),
    "the description of the API": ("GET", "sys/internal/specs/openapi", None, 200),
    "a visible mount": ("GET", "sys/internal/ui/mounts", None, 200),
    "a mount's own settings": ("GET", "sys/internal/ui/mounts/secret", None, 200),
    "a mount that is not there": ("GET", "sys/internal/ui/mounts/nowhere", None, 403),
}
COSTS_NOTHING: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "a relative path": ("GET", "secret/data/../a", {}, 400),
    "a path that cannot be printed": ("GET", "secret/data/a%00", {}, 400),
    "a body that is no object": ("POST", "secret/data/a", {"body": [1]}, 400),
    "an unknown namespace": ("GET", "secret/data/a", {"namespace": "team/"}, 404),
    "an open path": ("GET", "sys/health", {}, 200),
}


@pytest.fixture
def counted(service):
    """A token with five uses, and a function that says how many are left."""
    allowed = '"create", "update", "read", "list", "delete", "sudo"'
    rules = f'path "*" {{ capabilities = [{allowed}] }} path "sys/audit" {{ capabilities = ["deny"] }}'
    service.put("sys/policies/acl/p", {"policy": rules})
    made = service.post("auth/token/create", {"policies": ["p"], "num_uses": 5}).auth
    accessor = {"accessor": made["accessor"]}
    return made["client_token"], lambda: service.post("auth/token/lookup-accessor", accessor).data["num_uses"]


@pytest.mark.parametrize("what", COSTS_A_USE)
def test_a_request_whose_token_was_looked_up_costs_a_use(service, counted, what):
    """Decision C15: whatever becomes of it."""
    token, left = counted
    method, path, body, status = COSTS_A_USE[what]
    answer = service.request(method, path, body, {"X-Vault-Token": token})

    assert (answer.status, left()) == (status, 4), answer.errors


@pytest.mark.parametrize("what", COSTS_A_USE)
def test_the_last_use_ends_the_token_whatever_the_answer(service, counted, what):
    token, _ = counted
    method, path, body, status = COSTS_A_USE[what]
    statuses = [service.request(method, path, body, {"X-Vault-Token": token}).status for _ in range(6)]

    assert statuses == [status] * 5 + [403]
    assert service.core.storage.get("token/id/" + digest_of(token)) is None


@pytest.mark.parametrize("what", COSTS_NOTHING)
def test_what_is_refused_before_the_token_costs_nothing(service, counted, what):
    token, left = counted
    method, path, sent, status = COSTS_NOTHING[what]
    headers = {"X-Vault-Token": token} | ({"X-Vault-Namespace": sent["namespace"]} if "namespace" in sent else {})
    answer = service.request(method, path, sent.get("body"), headers)

    assert (answer.status, left()) == (status, 5), answer.errors


def test_a_sealed_vault_takes_no_use(service, counted):
    token, left = counted
    service.post("sys/seal")
    assert service.get("secret/data/a", token=token).status == 503
    service.unseal_with(service.unseal_keys[:3])

    assert left() == 5


def test_a_secondary_checks_a_counted_token_and_takes_no_use(service, counted):
    """What it stores of a token is its primary's: an entry of its own would diverge."""
    token, _ = counted
    dr = "sys/replication/dr/"
    assert service.post(f"{dr}primary/enable").ok
    assert service.post(f"{dr}primary/demote").ok
    before = service.core.storage.get("token/id/" + digest_of(token)), service.core.replica.journal.last

    assert service.post(f"{dr}secondary/generate-public-key", {}, token=token).ok
    for path in ("enable", "demote", "disable", "secondary-token", "revoke-secondary"):
        assert service.post(f"{dr}primary/{path}", {"id": "a"}, token=token).status == 400
        assert service.post(f"{dr}primary/{path}", {"id": "a"}, token="bogus").status == 403
    assert (service.core.storage.get("token/id/" + digest_of(token)), service.core.replica.journal.last) == before


@pytest.mark.parametrize("wrap", ["", "60s"])
def test_no_request_makes_an_entry_of_a_secondary_s_own(service, wrap):
    """Decision D20: an answer that was wrapped would be stored in the replicated tree."""
    dr = "sys/replication/dr/"
    for verb in ("primary/enable", "primary/demote"):
        assert service.post(dr + verb).ok
    before = service.core.replica.journal.last
    headers = {"X-Vault-Token": service.root_token} | ({"X-Vault-Wrap-TTL": wrap} if wrap else {})
    answers = {
        path: service.request(method, path, {}, headers)
        for method, path in (
            ("POST", f"{dr}secondary/generate-public-key"),
            ("GET", f"{dr}status"),
            ("GET", "sys/replication/status"),
            ("GET", "sys/seal-status"),
            ("POST", f"{dr}secondary/generate-operation-token/attempt"),
            ("DELETE", f"{dr}secondary/generate-operation-token/attempt"),
            ("POST", "sys/wrapping/wrap"),
        )
    }

    assert service.core.replica.journal.last == before
    status = answers[f"{dr}status"]
    assert (status.status, "cannot wrap an answer" in str(status.errors)) == ((400, True) if wrap else (200, False))


def test_the_list_of_mounts_judges_the_address_and_the_uses(service):
    service.post("auth/token/roles/far", {"token_bound_cidrs": ["10.0.0.0/8"]})
    far = service.post("auth/token/create/far", {"policies": ["default"]}).auth["client_token"]
    once = service.post("auth/token/create", {"policies": ["default"], "num_uses": 1}).auth["client_token"]

    for path in ("sys/internal/ui/mounts", "sys/internal/ui/mounts/secret"):
        assert service.get(path, token=far).errors == ["permission denied"]
    assert service.get("sys/internal/ui/mounts", token=once).ok
    assert service.get("sys/internal/ui/mounts", token=once).status == 403
    spent = service.post("auth/token/create", {"policies": ["default"], "num_uses": 1}).auth["client_token"]
    service.core.waiting = {7: digest_of(spent)}  # a request that took a use: the token is spent, and not ended yet
    assert [service.get("sys/internal/ui/mounts", token=spent).status for _ in range(2)] == [200, 403]
    service.core.waiting = {}
    service.set_leadership(Leadership())
    assert len(service.list("auth/token/accessors").data["keys"]) == 2


def test_a_wrong_address_costs_a_use(service):
    service.post("auth/token/roles/far", {"token_bound_cidrs": ["10.0.0.0/8"]})
    made = service.post("auth/token/create/far", {"policies": ["default"], "num_uses": 5}).auth

    assert service.get("secret/data/a", token=made["client_token"]).status == 403
    assert service.post("auth/token/lookup-accessor", {"accessor": made["accessor"]}).data["num_uses"] == 4


def test_where_a_device_is_enabled_a_request_and_its_answer_are_recorded(service):
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    before = len(service.files.lines["/log"])
    assert service.get("sys/mounts").ok
    records = [json.loads(line) for line in service.files.lines["/log"][before:]]

    assert [record["type"] for record in records] == ["request", "response"]
    assert len({record["request"]["id"] for record in records}) == 1
    service.delete("sys/audit/file")
    before = len(service.files.lines["/log"])
    service.get("sys/mounts")
    assert len(service.files.lines["/log"]) == before


def test_a_write_is_recorded_as_a_creation_where_there_was_nothing(service):
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    for _ in range(2):
        service.post("secret/data/a", {"data": {}})
    records = [json.loads(line) for line in service.files.lines["/log"]]
    written = [record["request"] for record in records if record["request"]["path"] == "secret/data/a"]

    assert [request["operation"] for request in written] == ["create", "create", "update", "update"]


def test_a_namespace_is_refused_where_replication_is_asked_for(service):
    for path, status in (("sys/replication/dr/primary/enable", 400), ("secret/data/a", 404)):
        refused = service.post(path, {"data": {}}, headers={"X-Vault-Namespace": "/team/a/"})
        assert refused.status == status
        assert refused.errors == [
            "operation only available in the root namespace, not in team/a/" if status == 400 else "namespace not found"
        ]


def test_a_standby_names_the_leader_or_says_that_there_is_none(service):
    service.set_leadership(Leadership(active=False, leader="http://two:8200"))
    redirected = service.get("secret/data/a")
    assert (redirected.status, redirected.headers["Location"]) == (307, "http://two:8200/v1/secret/data/a")
    service.set_leadership(Leadership(active=False))
    refused = service.get("secret/data/a")
    assert (refused.status, refused.errors) == (503, ["no active node of this cluster is known; try again soon"])


def test_callers_are_kept_for_as_long_as_their_token_and_policies_are_the_same(service, monkeypatch):
    monkeypatch.setattr("labkit.vault.walk.request_walk.MAX_CACHED_CALLERS", 2)
    callers = service.core.caches.callers
    callers.clear()
    made = [service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}).auth for _ in range(3)]
    callers.clear()
    kept = []
    for auth in made:
        service.get("auth/token/lookup-self", token=auth["client_token"])
        kept.append(len(callers))
    assert kept == [1, 2, 1]
    ((_, caller),) = callers.values()
    service.get("auth/token/lookup-self", token=made[2]["client_token"], headers={"X-Vault-Namespace": "root"})
    assert next(iter(callers.values()))[1] is caller
    service.environment.now.shift_ns += 3_600 * 10**9 - 1
    assert service.handle(Request("GET", "sys/mounts", {"X-Vault-Token": made[2]["client_token"]})).status == 403
    assert "permission denied" in service.handle(Request("GET", "sys/mounts", {"X-Vault-Token": "none"})).errors[0]
    service.environment.now.shift_ns += 1
    ended = service.handle(Request("GET", "auth/token/lookup-self", {"X-Vault-Token": made[2]["client_token"]}))
    assert (ended.status, ended.errors) == (403, ["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"])


def test_a_node_that_another_overtook_says_so_and_steps_down(service):
    service.core.storage.claim(9)
    refused = service.post("secret/data/a", {"data": {}})

    assert (refused.status, refused.errors) == (
        503,
        ["this node is not the active one any more; nothing was changed, try again"],
    )
    assert service.core.leadership.active is False


def test_a_refusal_that_cannot_be_stored_or_recorded_is_answered_with_that(service, monkeypatch):
    once = [service.post("auth/token/create", {"policies": ["default"], "num_uses": 3}).auth["client_token"]] * 3

    def full(*_):
        raise StoreError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStorage, "apply", full)
        refused = service.get("secret/data/a", token=once[0])
    assert (refused.status, refused.errors) == (500, ["no space left"])
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})

    def broken(path, line):
        raise OSError("no space left")

    service.core.append_line = broken
    refused = service.get("nowhere/a")
    assert (refused.status, "audit device file/ failed: no space left" in refused.errors[0]) == (500, True)
    service.core.append_line = service.files.append
    service.core.storage.claim(9)
    refused = service.get("secret/data/a", token=once[1])
    assert (refused.status, service.core.leadership.active) == (503, False)


def test_headers_are_read_in_any_case_and_the_exact_spelling_of_the_token_wins(service):
    for headers in (
        {"x-vault-token": "bogus", "X-Vault-Token": service.root_token},
        {"X-Vault-Token": service.root_token, "X-VAULT-TOKEN": "bogus"},
        {"AUTHORIZATION": f"Bearer {service.root_token}"},
    ):
        assert service.request("GET", "sys/mounts", None, headers).ok
    wrapped = service.request("GET", "sys/mounts", None, {"X-Vault-Token": service.root_token, "X-VAULT-WRAP-TTL": "9"})
    assert wrapped.wrap_info["ttl"] == 9


def test_a_token_that_is_not_valid_is_a_bad_request_where_it_is_what_is_asked_about(service):
    for token in ("bogus", "hvs.none"):
        refused = service.post("sys/wrapping/unwrap", token=token)
        assert (refused.status, refused.errors) == (400, ["wrapping token is not valid or does not exist"])
    for path in ("sys/wrapping/unwrap", "sys/mounts"):
        refused = service.post(path, token="")
        assert (refused.status, refused.errors) == (403, ["permission denied"])


def test_no_caller_is_kept_beyond_the_next_write_that_decides(service):
    for number in range(5):
        service.put("sys/policies/acl/p", {"policy": f'path "a{number}" {{ capabilities = ["read"] }}'})
        token = service.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
        service.get("auth/token/lookup-self", token=token)

    callers = service.core.caches.callers.values()
    assert {as_of for as_of, _ in callers} == {service.core.storage.deciding_writes}
    assert len(callers) == 2
