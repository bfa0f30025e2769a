"""Logging in: who gets in and with what; and a table of attacks, none of which does.

A refused login is one and the same answer; its reason is observed and audited.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labkit.service.message import Request, Response, Suspended, respond, silence
from labkit.vault.auth.cloud.login import LoginRequest

CLAIM_NAMES = ("iss", "aud", "exp", "nbf", "iat", "tid", "oid", "idtyp", "groups", "appid", "xms_mirid", "xms_az_rid")
DENIED = {"errors": ["1 error occurred:\n\t* permission denied\n\n"]}
DAY_S = 86_400


def test_a_machine_gets_a_token_that_its_role_shapes(stand) -> None:
    stand.role("sp", token_ttl="1h", token_num_uses=3)
    machine = stand.cloud.vm("web-1")
    auth = stand.login().auth

    assert {name: auth[name] for name in ("policies", "lease_duration", "renewable", "orphan", "num_uses")} == {
        "policies": ["app", "default"],
        "lease_duration": 3_600,
        "renewable": True,
        "orphan": True,
        "num_uses": 3,
    }
    assert auth["metadata"] == {
        "role": "sp",
        "subscription_id": machine.subscription_id,
        "resource_group_name": "web",
        "vm_name": "web-1",
        "app_id": machine.client_id,
    }
    found = stand.vault.get("auth/token/lookup-self", token=auth["client_token"]).data
    assert (found["display_name"], found["path"]) == (f"cloud-{machine.principal_id}", "auth/cloud/login")
    assert found["entity_id"] == auth["entity_id"] != ""
    assert "role" not in found


def test_machines_of_every_kind_log_in_where_their_role_binds_machines(stand) -> None:
    stand.role("all", bound_resource_groups="web,data", bound_locations="westeurope,northeurope")
    stand.role("fleet", bound_scale_sets="FLEET")
    for machine, role in (("web-1", "all"), ("web-2", "all"), ("db-1", "all"), ("fleet_0", "fleet")):
        assert stand.login(machine, role).ok, machine

    vm = stand.cloud.vm("web-1")
    named = {"vm_name": "", "resource_id": vm.resource_id}
    assert stand.login("web-1", "all", **named).auth["metadata"]["resource_id"] == vm.resource_id
    short = vm.resource_id.replace("/providers/", "/")
    assert stand.login("web-1", "all", **named | {"resource_id": short}).ok


def test_keys_and_own_token_are_fetched_once(stand) -> None:
    for _ in range(3):
        assert stand.login(role="web").ok

    assert stand.asked == ["openid-configuration", "keys", "token", "web-1", "web-1", "web-1"]


def test_without_bounds_on_machines_nothing_is_asked_of_them(stand) -> None:
    for fields in ({}, {"vm_name": ""}, {"vm_name": "web-2"}):
        assert stand.login(**fields).ok

    assert stand.asked == ["openid-configuration", "keys"]


def test_what_nobody_confirmed_is_not_in_the_metadata(stand) -> None:
    unconfirmed = {"xms_mirid": None, "xms_az_rid": None}
    for fields in ({"vm_name": "web-2"}, {"resource_group_name": "data"}, {"claims": unconfirmed}):
        assert stand.login(**fields).auth["metadata"].keys() == {"role", "app_id"}, fields
    assert stand.login(vmss_name="").auth["metadata"]["vm_name"] == "web-1"


# ---- refused before any token is looked at


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("role", ["", None]),
        ("jwt", ["", None, {}, "x" * 16_385, "a.b", "a.b.c.d.e", "..", ".b.c", '{"payload":"x"}']),
        ("subscription_id", ["", "..", "1cece170-c236-4011-921d-4ed4de04fd2g", "1cece170c2364011921d4ed4de04fd20"]),
        ("resource_group_name", ["", "a/b", "a.", "..", "a%2fb", "a\n", "web?x", "a" * 257]),
        ("vm_name", ["real/../../x", "1a", "a.", "a-", "a\n", "a%2f", "w\u0435b-1", "a" * 257]),
        ("vmss_name", ["../x", "a b", "a?"]),
        ("resource_id", ["x", "/subscriptions/x", "RID?x=1", "RID#x", "RID/..", "RID//x", "RID%2e%2e", "RID/x"]),
    ],
)
def test_what_cannot_be_is_400_with_a_text_of_its_own(stand, field, values) -> None:
    for value in values:
        if isinstance(value, str):
            value = value.replace("RID", stand.cloud.vm("web-1").resource_id)
        sent = {"vm_name": "", field: value} if field == "resource_id" else {field: value}
        refused = stand.login(**sent)
        assert refused.status == 400, (field, value)
        assert field in refused.errors[0] or "role" in refused.errors[0], refused.errors
    assert stand.fetched == []


def test_names_that_are_odd_but_can_be(stand) -> None:
    for fields in ({"vm_name": "a.._.._b"}, {"resource_group_name": "группа-(1)_x"}, {"vmss_name": "a"}):
        assert stand.login(**fields).ok, fields


def test_only_who_holds_a_valid_token_learns_that_a_role_is_unknown(stand) -> None:
    assert stand.login(role="nobody").errors == ['invalid role name "nobody"']
    for fields in (
        {"claims": {"aud": "x"}},
        {"claims": {"exp": 1}},
        {"headers": {"kid": "x"}},
        {"headers": {"alg": "x"}},
    ):
        assert [stand.login(role=role, **fields).body for role in ("nobody", "sp", "web")] == [DENIED] * 3, fields
    token = stand.cloud.mint("web-1")
    assert stand.login(role="nobody", jwt=token[:-6]).body == DENIED
    assert stand.login(role="nobody", claims={"iss": "https://x/"}).body == DENIED


def test_a_name_that_only_looks_the_same_is_another_one(stand) -> None:
    """The Kelvin sign is a k by ``str.lower``."""
    inventory = stand.cloud.inventory
    subscription = next(iter(inventory.subscriptions.values()))
    group = inventory.add_resource_group("kitchen", subscription)
    name = f"oven-{len(inventory.machines)}"
    inventory.add_machine(name, group, "westeurope")
    machine, fake = stand.cloud.vm(name), "\u212aitchen"
    stand.role("kitchen", bound_resource_groups="kitchen")
    stand.role("fake", bound_resource_groups=fake)
    claims = {"xms_mirid": machine.resource_id.replace("kitchen", fake)}

    assert stand.login(name, "kitchen", resource_group_name="KITCHEN").ok
    assert stand.login(name, "kitchen", resource_group_name=fake, claims=claims).body == DENIED
    assert stand.login(name, "kitchen", resource_group_name=fake).body == DENIED
    assert stand.login(name, "fake", resource_group_name=fake, claims=claims).body == DENIED
    assert stand.reasons == ["resource_group", "resource_group", "machine_missing"]
    stand.role("kelvin", bound_service_principal_ids=machine.principal_id)
    assert stand.login(name, "\u212aelvin").status == 400


def test_without_a_configuration_it_says_so(stand) -> None:
    stand.vault.delete("auth/cloud/config")
    refused = stand.login()

    assert (refused.status, refused.errors[0][:21]) == (400, "tenant_id is required")


# ---- attacks on tokens: each is refused for its reason, whatever else it does right

CLAIMS: dict[str, list[dict[str, Any]]] = {
    "missing_claim": [{name: None} for name in ("exp", "iss", "aud", "oid", "tid")] + [{"oid": ""}, {"aud": []}],
    "claim_form": [
        *[{"exp": value} for value in ("4000000000", True, float("nan"), float("inf"), -1, 1e300, [1])],
        {"nbf": "1"},
        {"iat": []},
        {"oid": ["x"]},
        {"tid": 5},
        {"nbf": False},
    ],
    "issuer": [
        {"iss": "https://sts.cloud.test/TENANT"},
        {"iss": "https://login.cloud.test/TENANT/v2.0"},
        {"iss": ["https://sts.cloud.test/TENANT/"]},
        {"iss": "https://sts.china.cloud.test/TENANT/"},
        {"iss": "https://sts.cloud.test/other/"},
    ],
    "audience": [
        {"aud": "https://management.cloud.test"},
        {"aud": "HTTPS://MANAGEMENT.CLOUD.TEST/"},
        {"aud": ["x", "y"]},
        {"aud": {"https://management.cloud.test/": 1}},
        {"aud": "https://management.cloud.test/x"},
    ],
    "expired": [{"exp": 1}, {"exp": -60}, {"exp": -61}, {"exp": 0}],
    "early": [{"nbf": +61}, {"nbf": +3_600}],
    "issued_later": [{"iat": +61, "nbf": None}],
    "lifetime": [{"exp": +27 * 3_600, "nbf": None, "iat": None}, {"exp": +10 * DAY_S}],
    "tenant": [{"tid": "72f988bf-0000-4000-8000-000000000001"}, {"tid": "common"}],
    "not_application": [{"idtyp": "user"}, {"idtyp": None, "scp": "x"}, {"idtyp": None, "upn": "a@b"}, {"upn": ""}],
    "service_principal": [{"oid": "33333333-0000-4000-8000-000000000001"}],
}

RELATIVE = ("exp", "nbf", "iat")


def meant(stand, claims: dict[str, Any]) -> dict[str, Any]:
    """Claims with their times, where these are near zero, taken from now on, and the tenant put in."""
    now_s = stand.clock.now_ns // 1_000_000_000
    tenant = stand.cloud.vm("web-1").tenant_id
    shown = json.loads(json.dumps(claims).replace("TENANT", tenant))
    return {
        name: now_s + value if name in RELATIVE and type(value) is int and 1 < abs(value) < 10**7 else value
        for name, value in shown.items()
    }


@pytest.mark.parametrize("reason", CLAIMS)
def test_a_token_with_other_claims_is_refused_for_its_reason(stand, reason) -> None:
    for claims in CLAIMS[reason]:
        refused = stand.login(claims=meant(stand, claims))
        assert (refused.status, refused.body) == (403, DENIED), claims
        assert stand.reasons[-1] == reason, claims


def test_claims_that_are_as_good(stand) -> None:
    audience = "https://management.cloud.test/"
    for claims in (
        {"aud": ["x", audience]},
        {"iat": None},
        {"nbf": None, "iat": None},
        {"exp": -59},
        {"nbf": +60},
        {"iat": +60},
        {"idtyp": None},
        {"oid": stand.cloud.vm("web-1").principal_id.upper()},
    ):
        assert stand.login(claims=meant(stand, claims)).ok, claims
    assert stand.login(claims={"exp": stand.clock.now_ns / 1_000_000_000 + 0.5}).ok


HEADERS: dict[str, list[dict[str, Any]]] = {
    "algorithm": [
        *[{"alg": name} for name in ("none", "nOnE", "HS256", "HS512", "RS512", "PS256", "rs256", 5)],
        {"alg": None},
    ],
    "critical": [{"crit": ["exp"]}, {"crit": []}, {"b64": False}, {"b64": False, "crit": ["b64"]}],
    "type": [{"typ": "JWE"}, {"typ": 5}, {"typ": "secevent+jwt"}],
    "no_key": [{"kid": None}],
    "unknown_key": [{"kid": "other"}, {"kid": "None"}],
}


@pytest.mark.parametrize("reason", HEADERS)
def test_a_token_with_another_header_is_refused_for_its_reason(stand, reason) -> None:
    for headers in HEADERS[reason]:
        refused = stand.login(headers=headers)
        assert (refused.status, refused.body) == (403, DENIED), headers
        assert stand.reasons[-1] == reason, headers


def test_what_is_ignored_in_a_header(stand) -> None:
    own = stand.cloud.jwks()["keys"][0]
    for headers in ({"jku": "https://evil.example/"}, {"jwk": own}, {"x5u": "x", "x5c": ["x"]}, {"typ": "at+jwt"}):
        assert stand.login(headers=headers).ok, headers


@pytest.mark.parametrize("key_id", [5, ["x"], "x" * 257, "../keys", "a\nb", "", "ü"])
def test_a_name_of_a_key_that_none_can_have_is_400(stand, key_id) -> None:
    refused = stand.login(headers={"kid": key_id})

    assert (refused.status, refused.errors[0][:8]) == (400, "jwt: kid")
    assert stand.fetched == []


def forgeries(token: str) -> Iterator[tuple[str, int, str]]:
    """Texts made of an honest token, with the status and reason that each is refused with."""
    head, claims, signature = token.split(".")
    spare = {"A": "B", "Q": "R", "g": "h", "w": "x"}
    yield f"{head}.{claims}.", 403, "signature"
    yield f"{head}.{claims}.{signature[:-6]}", 403, "signature"
    yield f"{head}.{claims}.{signature[:-9]}{'A' if signature[-9] != 'A' else 'B'}{signature[-8:]}", 403, "signature"
    yield f"{head}.{claims}.{signature}==", 403, "encoding"
    yield f"{head}.{claims}=.{signature}", 403, "encoding"
    yield f"{head}.{claims}.{signature[:-1]}{spare[signature[-1]]}", 403, "encoding"
    yield f"{head}.{claims}.{signature}\n", 403, "encoding"
    yield f"{head} .{claims}.{signature}", 403, "encoding"
    yield f"{head}.{claims}.{signature[:20]}!{signature[20:]}", 403, "encoding"
    yield f"{head}.{claims}", 400, "three parts"
    yield f"{head}.{claims}.{signature}.", 400, "three parts"
    yield f"{head}..{signature}", 400, "three parts"
    yield f"{claims}.{claims}.{signature}", 403, "algorithm"
    yield f"{coded(b'[]')}.{claims}.{signature}", 400, "the header is not an object"
    yield f"{coded(b'{')}.{claims}.{signature}", 400, "the header is not JSON"
    yield f"{coded(bytes([255]))}.{claims}.{signature}", 400, "the header is not JSON"
    twice = b'{"alg":"none","alg":"RS256","kid":"x"}'
    yield f"{coded(twice)}.{claims}.{signature}", 403, "duplicate"
    yield f"{coded(b'{' + b' ' * 2_050 + b'}')}.{claims}.{signature}", 400, "a header of more than"


def coded(value: bytes) -> str:
    """Bytes as base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def test_a_token_that_was_altered_is_refused(stand) -> None:
    token = stand.cloud.mint("web-1")
    for text, status, says in forgeries(token):
        refused = stand.login(jwt=text)
        assert refused.status == status, (says, text)
        assert says in (stand.reasons[-1] if status == 403 else refused.errors[0]), text


def test_keys_that_are_not_the_clouds(stand) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    other = rsa.generate_private_key(65_537, 2_048)
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    own = stand.cloud.jwks()["keys"][0]
    modulus = base64.urlsafe_b64decode(own["n"] + "==")
    for key, headers, reason in (
        (pem, {}, "signature"),
        (pem, {"jwk": {"kty": "RSA"}}, "signature"),
        (public, {"alg": "HS256"}, "algorithm"),
        (modulus, {"alg": "HS256"}, "algorithm"),
        (json.dumps(own).encode(), {"alg": "HS256"}, "algorithm"),
    ):
        assert stand.login(key=key, headers=headers).body == DENIED
        assert stand.reasons[-1] == reason


@pytest.mark.parametrize(
    ("claims", "status", "says"),
    [
        (b"[]", 400, "the claims are not an object"),
        (b'"x"', 400, "not an object"),
        (b"\xff", 400, "not JSON"),
        (b'{"oid":"a","oid":"b"}', 403, "duplicate"),
        (b'{"a":{"b":1,"b":2}}', 403, "duplicate"),
        (b'{"exp":' + b"9" * 5_000 + b"}", 403, "claim_form"),
        (b'{"exp":NaN}', 403, "claim_form"),
        (b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 400, "nested deeper|not JSON"),
        (b'{"a":' + b"[" * 17 + b"]" * 17 + b"}", 400, "nested deeper"),
    ],
)
def test_signed_claims_that_are_none(stand, monkeypatch, claims, status, says) -> None:
    monkeypatch.setattr("labkit.cloud.signatures.to_json", lambda value: _as(value, claims))
    refused = stand.login(claims={})

    assert refused.status == status
    found = stand.reasons[-1] if status == 403 else refused.errors[0].replace("the claims is", "the claims are")
    assert any(each in found for each in says.split("|")), found


def _as(value: dict[str, Any], claims: bytes) -> bytes:
    return json.dumps(value).encode() if "alg" in value else claims


# ---- attacks on machines


def lies(stand) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Machine, role, what it says instead, and the reason for which it is refused before any metadata is asked."""
    rid = stand.cloud.vm("web-1").resource_id
    claimed = {"xms_mirid": rid.replace("web-1", "web-10")}
    yield "web-2", "web", {"vm_name": "web-1"}, "machine_claim"
    yield "web-1", "web", {"claims": claimed}, "machine_claim"
    yield "web-1", "web", {"claims": {"xms_mirid": rid.replace("/web/", "/web-prod/")}}, "machine_claim"
    yield "web-1", "web", {"claims": {"xms_mirid": None}}, "machine_claim"
    yield "web-1", "web", {"claims": {"xms_mirid": rid + "/.."}}, "machine_claim"
    yield "web-1", "web", {"claims": {"xms_mirid": [rid]}}, "machine_claim"
    yield "web-1", "web", {"claims": {"xms_az_rid": rid.replace("web-1", "web-2")}}, "machine_claim"
    yield "web-1", "web", {"subscription_id": stand.cloud.vm("db-1").subscription_id}, "machine_claim"
    yield "web-1", "web", {"vm_name": "", "resource_id": stand.cloud.vm("web-2").resource_id}, "machine_claim"
    yield "web-1", "web", {"vmss_name": "fleet", "resource_group_name": "data"}, "resource_group"
    yield "db-1", "all", {"vmss_name": "fleet", "resource_group_name": "web"}, "machine_claim"
    yield "web-1", "web", {"vm_name": ""}, "machine_unnamed"
    yield "db-1", "web", {}, "resource_group"
    yield "db-1", "web", {"resource_group_name": "web"}, "machine_claim"
    yield "web-1", "set", {}, "scale_set"
    yield "web-1", "set", {"vmss_name": "web-1"}, "scale_set"
    yield "fleet_0", "set", {"vmss_name": "fle"}, "scale_set"
    yield "db-1", "sub", {}, "subscription"
    yield "web-1", "group", {}, "group"
    yield "web-1", "group", {"claims": {"groups": None, "_claim_names": {"groups": "src1"}}}, "group_overage"
    yield "web-1", "group", {"claims": {"groups": "staff"}}, "claim_form"
    yield "web-1", "group", {"claims": {"groups": [["staff"]]}}, "claim_form"
    yield "web-1", "group", {"claims": {"groups": ["", "sta", "staff2"]}}, "group"
    yield "web-1", "far", {}, "address"


def test_whoever_lies_about_a_machine_is_refused_before_the_cloud_is_asked(stand) -> None:
    stand.role("set", bound_scale_sets="fleet")
    stand.role("all", bound_locations="westeurope,northeurope")
    stand.role("sub", bound_subscription_ids=stand.cloud.vm("web-1").subscription_id)
    stand.role("group", bound_group_ids="staff")
    stand.role("far", bound_locations="westeurope", token_bound_cidrs="10.0.0.0/8")
    for machine, role, fields, reason in lies(stand):
        refused = stand.login(machine, role, **fields)
        assert (refused.status, refused.body) == (403, DENIED), (machine, role, fields)
        assert stand.reasons[-1] == reason, (machine, role, fields)
    assert set(stand.asked) <= {"openid-configuration", "keys"}


@pytest.mark.parametrize("scale_set", ["fleet", "web-1"])
def test_a_machine_that_names_a_scale_set_beside_it_is_looked_up_and_belongs_to_none(stand, scale_set) -> None:
    assert stand.login(vmss_name=scale_set, role="web").body == DENIED
    assert stand.reasons == ["not_in_scale_set"]
    assert stand.asked == ["openid-configuration", "keys", "token", "web-1"]


def test_who_belongs_to_a_scale_set_is_what_the_cloud_says_never_a_name(stand) -> None:
    """A machine called like an instance, with the identity of the set; and an instance called like none."""
    inventory = stand.cloud.inventory
    group = next(each for each in inventory.resource_groups.values() if each.name == "web")
    name = f"pool{len(inventory.machines)}"
    shared = inventory.add_identity(f"shared-{name}", group, "westeurope")
    pool = inventory.add_scale_set(name, group, "westeurope", "Flexible", (shared,))
    instance = inventory.add_instances(pool, 1)[0]
    alike = inventory.add_machine(f"{name}_x", group, "northeurope", (shared,))
    other = inventory.add_machine(f"other-{name}", group, "westeurope", (shared,))
    inventory.keep_machine(other._replace(scale_set=pool.resource_id))
    stand.role("pool", bound_scale_sets=name, bound_locations="westeurope")

    assert stand.login(instance.name, "pool").ok
    assert stand.login(other.name, "pool").ok
    assert stand.login(alike.name, "pool", vmss_name=name, vm_name="").body == DENIED
    assert stand.reasons == ["not_in_scale_set"]
    unbound = stand.login(alike.name, vmss_name=name, claims={"oid": stand.cloud.vm("web-1").principal_id})
    assert unbound.auth["metadata"].keys() == {"role", "app_id"}, "nobody asked the cloud, so it is not confirmed"


def test_groups_are_those_of_the_token(stand) -> None:
    stand.role("group", bound_group_ids="staff,other")

    assert stand.login(role="group", claims={"groups": ["x", "STAFF"]}).ok


def changed(path: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Response | None]:
    """An answer of the cloud in which something is changed."""

    def answer(fetch: Any) -> Response | None:
        return change(fetch) if path in fetch.request.path else None

    return answer


def answering(body: dict[str, Any], fetch: Any) -> Response:
    """Answer with this body."""
    return respond(200, body)


METADATA: list[tuple[dict[str, Any], str]] = [
    ({"location": "westeurope"}, "identity"),
    ({"location": "westeurope", "identity": {}}, "identity"),
    ({"location": "westeurope", "identity": {"principalId": ""}}, "identity"),
    ({"location": "westeurope", "identity": {"principalId": "another"}}, "identity"),
    (
        {"location": "westeurope", "identity": {"userAssignedIdentities": {"x": {}, "y": {"principalId": ""}}}},
        "identity",
    ),
    ({"location": "westeurope", "identity": "odd"}, "identity"),
    ({"identity": {"principalId": "OWN"}}, "location"),
    ({"location": "West Europe", "identity": {"principalId": "OWN"}}, "location"),
    ({"location": ["westeurope"], "identity": {"principalId": "OWN"}}, "location"),
]


def test_a_machine_that_is_another_one_now_is_refused(stand) -> None:
    principal = stand.cloud.vm("web-1").principal_id
    for metadata, reason in METADATA:
        body = json.loads(json.dumps(metadata).replace("OWN", principal))
        stand.instead[:] = [changed("/virtualmachines/", partial(answering, body))]
        assert stand.login(role="web").body == DENIED, metadata
        assert stand.reasons[-1] == reason, metadata
    stand.instead[:] = [changed("/virtualmachines/", lambda fetch: respond(404, {"error": {}}))]
    assert stand.login(role="web").body == DENIED
    assert stand.reasons[-1] == "machine_missing"


def test_identities_whose_principal_is_not_said_are_looked_up(stand) -> None:
    principal = stand.cloud.vm("web-1").principal_id
    folder = stand.cloud.vm("web-1").resource_id.partition("/providers/")[0]
    identity = f"{folder}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/own"
    block: dict[str, Any] = {"userAssignedIdentities": {"https://evil.example/x": {}, identity: {}}}
    stand.instead[:] = [
        changed("/virtualmachines/", lambda fetch: respond(200, {"location": "westeurope", "identity": block})),
        changed("/own?", lambda fetch: respond(200, {"properties": {"principalId": principal.upper()}})),
    ]
    assert stand.login(role="web").ok
    stand.instead[1] = changed("/own?", lambda fetch: respond(200, {"properties": {"principalId": ""}}))
    assert stand.login(role="web").body == DENIED


# ---- faults of the cloud, and what happens meanwhile


FAILURES = (silence("x"), respond(503), respond(200, None), respond(200, {"keys": []}), respond(400))


@pytest.mark.parametrize("answer", FAILURES)
@pytest.mark.parametrize("part", ["openid-configuration", "keys", "oauth2/token"])
def test_a_cloud_that_fails_lets_nobody_in_and_is_asked_again_by_the_next_login(stand, part, answer) -> None:
    stand.instead[:] = [changed(part, lambda fetch: answer)]
    refused = stand.login(role="web")
    assert (refused.status, refused.code) == (503, "cloud_unavailable")
    assert "login.cloud.test" in refused.errors[0]
    stand.instead.clear()

    assert stand.login(role="web").ok


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "does not let the configured client read"),
        (403, "does not let"),
        (500, "answered 500"),
        (409, "answered 409"),
    ],
)
def test_metadata_that_cannot_be_read_is_not_the_callers_fault(stand, status, says) -> None:
    stand.instead[:] = [changed("/virtualmachines/", lambda fetch: respond(status, {}))]
    refused = stand.login(role="web")

    assert refused.status == 503
    assert says in refused.errors[0]
    assert stand.asked.count("token") == (2 if status == 401 else 1)


def test_a_role_that_binds_machines_needs_a_client(stand) -> None:
    stand.vault.post("auth/cloud/config", {"client_secret": ""})
    refused = stand.login(role="web")

    assert (refused.status, refused.errors[0][:15]) == (400, "not configured:")
    assert stand.login().ok


def test_a_role_that_is_changed_while_the_cloud_is_asked_lets_nobody_in_by_the_old_one(stand) -> None:
    def narrow(fetch: Any) -> None:
        stand.vault.post("auth/cloud/role/web", {"bound_locations": "elsewhere"})

    stand.instead[:] = [changed("/virtualmachines/", narrow)]
    refused = stand.login(role="web")

    assert (refused.status, "log in again" in refused.errors[0]) == (400, True)


def test_a_token_logs_in_as_often_as_it_likes_until_the_role_changes(stand) -> None:
    token = stand.cloud.vm("web-1").token()
    first, second = stand.login(jwt=token), stand.login(claims={"oid": stand.cloud.vm("web-1").principal_id.upper()})
    assert first.auth["entity_id"] == second.auth["entity_id"]
    stand.role("sp", bound_service_principal_ids="33333333-0000-4000-8000-000000000001")

    assert stand.login(jwt=token).body == DENIED


def test_the_reason_is_audited_and_the_token_is_not(stand) -> None:
    stand.vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}})
    token = stand.cloud.mint("web-1", claims={"aud": "x"})
    stand.login(jwt=token)
    stand.login()
    lines = stand.vault.files.read("audit.log").decode().splitlines()
    refused, issued = [json.loads(line) for line in lines if '"type":"response"' in line][-2:]

    assert refused["error"].endswith("audience")
    assert "error" not in issued
    assert token not in "".join(lines)
    assert stand.vault.cloud.config["client_secret"] not in "".join(lines)


def test_nothing_that_is_observed_shows_a_token(stand) -> None:
    token = stand.cloud.vm("web-1").token()
    stand.instead[:] = [changed("oauth2/token", lambda fetch: respond(500))]
    stand.login(role="web", jwt=token)
    stand.login("web-2", jwt=stand.cloud.mint("web-2"))

    assert token not in repr(stand.seen)
    assert stand.cloud.config["client_secret"] not in repr(stand.seen)
    assert stand.cloud.config["client_secret"] not in repr(stand.fetched)


# ---- what waits is judged again, and is plain data


@pytest.mark.parametrize(("passed_s", "reason"), [(1_200, ""), (2_400, "expired")])
def test_a_token_that_ends_while_the_cloud_is_asked_of_its_machine_lets_nobody_in(stand, passed_s, reason) -> None:
    token = stand.cloud.mint("web-1", claims=meant(stand, {"exp": +1_800}))

    def wait(fetch: Any) -> None:
        if "/virtualmachines/" in fetch.request.path:
            stand.clock.now_ns += passed_s * 1_000_000_000

    assert stand.login(role="web", jwt=token).ok
    stand.instead[:] = [wait]
    answer = stand.login(role="web", jwt=token)
    assert answer.ok == (not reason), answer
    assert stand.reasons == [reason] * bool(reason)


def test_a_key_that_is_taken_back_while_the_cloud_is_asked_of_its_machine_is_looked_for_again(stand) -> None:
    token = stand.cloud.mint("web-1", headers={"kid": "taken-back"})
    signs = stand.cloud.parts.keys["CloudPublicCloud"].signing.kid
    own = next(key for key in stand.cloud.jwks()["keys"] if key["kid"] == signs)
    published = [{"keys": [{**own, "kid": "taken-back"}]}]

    def answer(fetch: Any) -> Response | None:
        if "/virtualmachines/" in fetch.request.path and published:
            stand.clock.now_ns += 3_601 * 1_000_000_000
            published.clear()
        return respond(200, published[0]) if published and fetch.request.path.endswith("keys") else None

    stand.instead[:] = [answer]
    assert stand.login(role="web", jwt=token).body == DENIED
    assert stand.reasons[-1] in ("unknown_key", "signature")
    assert "web-1" in stand.asked


def test_a_login_that_waited_is_issued_as_its_mount_is_tuned_by_then(stand) -> None:
    def tune(fetch: Any) -> None:
        if "/virtualmachines/" in fetch.request.path:
            stand.vault.post("sys/auth/cloud/tune", {"max_lease_ttl": "60s", "token_type": "batch"}).raise_for_status()

    assert stand.login(role="web").auth["lease_duration"] == 2_764_800
    stand.instead[:] = [tune]
    auth = stand.login(role="web").auth
    assert (auth["token_type"], auth["lease_duration"]) == ("batch", 60)


def test_a_login_that_is_replayed_at_each_question_is_the_same(stand) -> None:
    """Every live generator is dropped: the request goes on from its tape, and does nothing twice (R2)."""
    path, machine = "/v1/auth/cloud/login", stand.cloud.vm("web-1")
    body = {
        "role": "web",
        "jwt": machine.token(),
        "subscription_id": machine.subscription_id,
        "resource_group_name": "web",
        "vm_name": "web-1",
    }
    failures = [respond(503), silence("x")]
    stand.instead[:] = [lambda fetch: failures.pop() if failures and len(stand.fetched) > 2 else None]
    outcome, questions = stand.vault.handle(Request("POST", path, {}, body)), 0
    while isinstance(outcome, Suspended):
        stand.vault.core.caches.generators.clear()
        questions += 1
        outcome = stand.vault.resume(outcome, stand.cloud.answer(outcome.fetch))

    assert (outcome.status, questions) == (200, 6)
    assert [kind for kind, _ in stand.seen] == ["cloud call failed"] * 2
    token = outcome.auth["client_token"]
    assert stand.vault.get("auth/token/lookup-self", token=token).data["meta"]["vm_name"] == "web-1"
    assert len(stand.vault.core.storage.list("token/id/")) == 2  # the root token's, and this one's


def test_many_first_logins_make_one_discovery_and_one_fetch_of_keys(stand) -> None:
    """They wait as in a node: whoever needs a fetch that is under way gets its answer, in their order."""
    machine = stand.cloud.vm("web-1")
    body = {
        "role": "sp",
        "jwt": machine.token(),
        "subscription_id": machine.subscription_id,
        "resource_group_name": "web",
    }
    request = Request("POST", "/v1/auth/cloud/login", {}, body)
    failures = [respond(503)]
    stand.instead[:] = [lambda fetch: failures.pop() if failures else None]
    waiting = [stand.vault.handle(request) for _ in range(120)]
    answered: list[Response] = []
    while waiting:
        first = waiting[0]
        assert isinstance(first, Suspended)
        assert all(isinstance(outcome, Suspended) and outcome.fetch == first.fetch for outcome in waiting)
        answer = stand.cloud.answer(first.fetch)
        resumed = [stand.vault.resume(outcome, answer) for outcome in waiting if isinstance(outcome, Suspended)]
        if len(answered) + len(resumed) < 240:
            resumed += [stand.vault.handle(request) for _ in range(60)]
        answered += [outcome for outcome in resumed if isinstance(outcome, Response)]
        waiting = [outcome for outcome in resumed if isinstance(outcome, Suspended)]

    assert {answer.status for answer in answered} == {200}
    assert len(answered) == 240
    assert stand.asked == ["openid-configuration", "openid-configuration", "keys"]


# ---- whatever is sent or answered, a login ends

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
UPSTREAM_NAMES = ("issuer", "jwks_uri", "keys", "access_token", "expires_in", "identity", "location")
ANSWERS = st.builds(
    lambda status, body, headers: Response(status, headers, body if type(body) is dict else None),
    st.sampled_from((0, 200, 200, 200, 204, 302, 400, 401, 403, 404, 429, 503)),
    JSON
    | st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("issuer", "jwks_uri", "keys", "access_token", "expires_in", "identity", "location"), JSON
        ),
    ),
    st.dictionaries(st.sampled_from(("Retry-After", "retry-after-ms")), st.text(max_size=12), max_size=2),
)
PARTS = ("openid-configuration", "keys", "oauth2/token", "/virtualmachines/")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.sampled_from(PARTS), answers=st.lists(ANSWERS, min_size=1, max_size=6))
def test_no_answer_of_the_cloud_is_more_than_refused(stand, part, answers) -> None:
    stand.vault.post("auth/cloud/config", {"max_retries": 2})  # forgets what was fetched
    left = list(answers)
    stand.instead[:] = [lambda fetch: left.pop() if part in fetch.request.path and left else None]

    assert stand.login(role="web").status in (200, 403, 503)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=st.dictionaries(st.sampled_from(LoginRequest._fields), JSON, max_size=4))
def test_no_field_of_a_login_is_more_than_refused(stand, fields) -> None:
    odd = {name: value for name, value in fields.items() if name != "role"}

    assert stand.login(role="web", **odd).status in (200, 400, 403)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(claims=st.dictionaries(st.sampled_from(CLAIM_NAMES), JSON, max_size=4))
def test_no_claims_are_more_than_refused(stand, claims) -> None:
    for role in ("sp", "web"):
        assert stand.login(role=role, claims=claims).status in (200, 403, 503)
