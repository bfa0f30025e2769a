"""The endpoints of DR replication through a lab: each in its mode, in any other, with and without its token."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest

from labkit import Lab, Vault
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode, advance
from labkit.vault.sealing import otp

DR = "sys/replication/dr/"
ATTEMPT = "secondary/generate-operation-token/"

# everything that is asked of a primary, and of a secondary: method, path, body
OF_A_PRIMARY = [
    ("POST", "primary/demote", {}),
    ("POST", "primary/disable", {}),
    ("POST", "primary/secondary-token", {"id": "x"}),
    ("POST", "primary/revoke-secondary", {"id": "tokyo"}),
]
OF_A_SECONDARY = [
    ("POST", "secondary/promote", {"dr_operation_token": "hvs.x"}),
    ("POST", "secondary/disable", {"dr_operation_token": "hvs.x"}),
    ("POST", "secondary/update-primary", {"dr_operation_token": "hvs.x", "token": ""}),
    ("GET", ATTEMPT + "attempt", None),
    ("POST", ATTEMPT + "attempt", {}),
    ("DELETE", ATTEMPT + "attempt", None),
    ("POST", ATTEMPT + "update", {"key": "00" * 33, "nonce": "n"}),
    ("POST", "secondary/merkle-check", {"dr_operation_token": "hvs.x"}),
]
GUARDED = [
    ("secondary/promote", {}),
    ("secondary/promote", {"force": True}),
    ("secondary/disable", {}),
    ("secondary/update-primary", {"token": ""}),
    ("secondary/operation-token/delete", {}),
    ("secondary/merkle-check", {}),
]


def ask(drill, cluster, method, path, body):
    headers = {"X-Vault-Token": drill[cluster].root_token}
    return drill[cluster].request(method, DR + path, body, headers)


# ---- the wrong mode (D11)


@pytest.mark.parametrize(("method", "path", "body"), [*OF_A_PRIMARY, *OF_A_SECONDARY])
def test_where_replication_is_disabled_the_refusal_says_so_and_nothing_changes(apart, method, path, body):
    before = apart.stored("tokyo")
    answer = ask(apart, "tokyo", method, path, body)

    assert answer.status == 400
    assert "disabled" in answer.errors[0]
    assert apart.stored("tokyo") == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "primary/enable", {}),
        ("POST", "secondary/enable", {"token": "x"}),
        ("POST", "secondary/generate-public-key", {}),
        *OF_A_SECONDARY,
    ],
)
def test_on_a_primary_the_refusal_says_so_and_nothing_changes(together, method, path, body):
    before = together.stored("paris")
    answer = ask(together, "paris", method, path, body)

    assert answer.status == 400
    assert "this cluster is a DR primary" in answer.errors[0]
    assert together.stored("paris") == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "primary/enable", {}), ("POST", "secondary/enable", {"token": "x"}), *OF_A_PRIMARY],
)
def test_on_a_secondary_the_refusal_says_so_and_nothing_changes(together, method, path, body):
    before = together.stored("tokyo")
    answer = ask(together, "tokyo", method, path, body)

    assert answer.status == 400
    assert "this cluster is a DR secondary" in answer.errors[0]
    assert together.stored("tokyo") == before


def test_a_null_is_not_a_blank_token(together):
    """Sent as null, a token is not sent: the secondary keeps its primary."""
    before = together.stored("tokyo")["node/mode"]
    body = {"dr_operation_token": together.operation_token(), "token": None}
    alone = together.open_post("tokyo", "secondary/update-primary", body)
    by_address = together.open_post(
        "tokyo", "secondary/update-primary", {**body, "update_primary_addrs": ["https://paris-2:8201"]}
    )

    assert (alone.status, alone.errors) == (400, ["give token (blank: forget the primary) or update_primary_addrs"])
    assert together["tokyo"].root
    assert by_address.status == 204
    assert before != together.stored("tokyo")["node/mode"]
    together.lab.run("5s")
    assert together.status("tokyo")["connection_state"] == "ready", "a standby leads to the node that serves"


def test_a_refusal_says_what_to_do(together):
    assert "primary/demote" in together.post("paris", "primary/enable").errors[0]
    assert "secondary/promote" in together.post("tokyo", "primary/demote").errors[0]


# ---- who may ask


@pytest.mark.parametrize(("method", "path", "body"), [("POST", "primary/enable", {}), *OF_A_PRIMARY])
def test_a_primarys_calls_need_a_token(together, method, path, body):
    assert together["paris"].request(method, DR + path, body).status == 403
    assert together["paris"].request(method, DR + path, body, {"X-Vault-Token": "hvs.wrong"}).status == 403


def test_issuing_a_secondary_token_needs_sudo(together):
    policy = f'path "{DR}primary/secondary-token" {{ capabilities = [%s] }}'
    tokens = []
    for name, capabilities in (("plain", '"update"'), ("sudo", '"update", "sudo"')):
        together["paris"].put(f"sys/policies/acl/{name}", {"policy": policy % capabilities})
        tokens.append(together["paris"].post("auth/token/create", {"policies": [name]}).auth["client_token"])
    answers = [together.post("paris", "primary/secondary-token", {"id": token}, token=token) for token in tokens]

    assert [answer.status for answer in answers] == [403, 200]


@pytest.mark.parametrize(("path", "body"), GUARDED)
@pytest.mark.parametrize("token", [None, "", "hvs.wrong", 7])
def test_a_missing_or_wrong_operation_token_is_403_and_changes_nothing(together, path, body, token):
    together.operation_token()
    before = together.stored("tokyo")
    sent = body if token is None else {**body, "dr_operation_token": token}
    answer = together.open_post("tokyo", path, sent)

    assert (answer.status, answer.errors) == (403, ["dr operation token is missing or invalid"])
    assert together.stored("tokyo") == before


@pytest.mark.parametrize(("path", "body"), GUARDED)
def test_a_root_token_does_not_stand_in_for_it(together, path, body):
    assert together.post("tokyo", path, {**body, "dr_operation_token": together["tokyo"].root_token}).status == 403


# ---- namespaces (C4)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "primary/enable", {}),
        *OF_A_PRIMARY,
        ("POST", "secondary/enable", {"token": "x"}),
        ("POST", "secondary/generate-public-key", {}),
        *OF_A_SECONDARY,
        ("POST", "secondary/operation-token/delete", {"dr_operation_token": "hvs.x"}),
    ],
)
@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
def test_every_endpoint_is_of_the_root_namespace_alone(together, cluster, method, path, body):
    before = together.stored(cluster)
    headers = {"X-Vault-Token": together[cluster].root_token, "X-Vault-Namespace": "team-a"}
    answer = together[cluster].request(method, DR + path, body, headers)

    assert answer.status == 400
    assert "root namespace" in answer.errors[0]
    assert together.stored(cluster) == before


@pytest.mark.parametrize("path", [DR + "status", "sys/replication/status"])
def test_status_answers_in_any_namespace_and_without_a_token(together, path):
    for cluster in ("paris", "tokyo"):
        answer = together[cluster].request("GET", path, None, {"X-Vault-Namespace": "team-a/"})
        assert answer.status == 200


# ---- changes of mode


def test_changes_of_mode_answer_200_with_one_warning(apart):
    enabled = apart.post("paris", "primary/enable", {"primary_cluster_addr": "https://front:8201"})
    demoted = apart.post("paris", "primary/demote")
    token = apart.operation_token("paris")
    promoted = apart.open_post("paris", "secondary/promote", {"dr_operation_token": token})
    disabled = apart.post("paris", "primary/disable")

    for answer, word in ((enabled, "primary"), (demoted, "demoted"), (promoted, "promoted"), (disabled, "disabled")):
        assert (answer.status, answer.data, len(answer.warnings)) == (200, None, 1)
        assert word in answer.warnings[0]


def test_a_set_keeps_its_id_until_it_is_disabled(apart):
    apart.post("paris", "primary/enable")
    first = apart.status("paris")["cluster_id"]
    apart.post("paris", "primary/demote")
    apart.open_post("paris", "secondary/promote", {"dr_operation_token": apart.operation_token("paris")})
    assert apart.status("paris")["cluster_id"] == first
    apart.post("paris", "primary/disable")
    apart.post("paris", "primary/enable")

    assert apart.status("paris")["cluster_id"] not in ("", first)


def test_disabling_a_primary_shuts_its_secondaries_out(together):
    together.post("paris", "primary/disable")
    together["paris"].post("secret/data/new", {"data": {}})
    before = together.stored("tokyo")
    together.lab.run("60s")

    assert together.status("tokyo")["connection_state"] != "ready"
    assert together.stored("tokyo").keys() == before.keys()


def test_demotion_keeps_the_data_and_forgets_the_authority(together):
    before = {key for key in together.stored("paris") if not key.startswith("node/")}
    together.post("paris", "primary/demote")

    assert {key for key in together.stored("paris") if not key.startswith("node/")} == before
    assert "node/authority" not in together.stored("paris")
    assert together.status("paris")["state"] == "idle"


def test_promotion_takes_the_cluster_address_it_is_given(together):
    token = together.operation_token()
    together.open_post(
        "tokyo", "secondary/promote", {"dr_operation_token": token, "primary_cluster_addr": "https://front:8201"}
    )

    assert together.status("tokyo")["primary_cluster_addr"] == "https://front:8201"


def test_promotion_is_refused_while_replication_is_catching_up_and_force_goes_past_that(apart):
    """The token is checked first: force never goes past that."""
    apart.post("paris", "primary/enable")
    token = apart.activation("tokyo")
    apart.lab.slow("paris", "tokyo", latency="2s")
    enabled = apart.post("tokyo", "secondary/enable", {"token": token})
    assert enabled.status == 200
    apart.lab.parts.console.credentials["tokyo"] = apart.lab.parts.console.credentials["paris"]
    operation = apart.operation_token()
    assert apart.open_post("tokyo", "secondary/promote", {"force": True}).status == 403
    refused = apart.open_post("tokyo", "secondary/promote", {"dr_operation_token": operation})
    assert refused.status == 503
    assert refused.errors[0].startswith("replication is still catching up")
    assert '"force"' in refused.errors[0]
    assert apart.status("tokyo")["mode"] == "secondary"
    forced = apart.open_post("tokyo", "secondary/promote", {"dr_operation_token": operation, "force": True})

    assert forced.status == 200
    assert apart.status("tokyo")["mode"] == "primary"


def test_a_lost_connection_is_no_reason_to_refuse_a_promotion(together):
    together.lab.partition("paris", "tokyo")
    together.lab.run("60s")
    token = together.operation_token()

    assert together.open_post("tokyo", "secondary/promote", {"dr_operation_token": token}).status == 200


def test_a_demoted_cluster_can_be_promoted_again(together):
    together.post("paris", "primary/demote")
    token = together.operation_token("paris")

    assert together.open_post("paris", "secondary/promote", {"dr_operation_token": token}).status == 200
    assert together["paris"].get("secret/data/mine").ok


def test_a_disabled_secondary_keeps_the_data_and_serves_them(together):
    token = together.operation_token()
    answer = together.open_post("tokyo", "secondary/disable", {"dr_operation_token": token})

    assert (answer.status, len(answer.warnings)) == (200, 1)
    assert together.status("tokyo") == {"mode": "disabled"}
    assert together["tokyo"].get("secret/data/mine").data["data"] == {"of": "paris"}
    assert not [key for key in together.stored("tokyo") if key in ("node/credentials", "node/operation-token")]


# ---- client requests on a secondary (D6)


@pytest.mark.parametrize("token", [None, "", "hvs.wrong"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "secret/data/mine"), ("POST", "transit/encrypt/x"), ("LIST", "secret/metadata/"), ("GET", "sys/mounts")],
)
def test_clients_are_refused_before_their_token_is_looked_at(together, method, path, token):
    for node in together["tokyo"].nodes:
        headers = {} if token == "" else {"X-Vault-Token": token or together["tokyo"].root_token}
        answer = together["tokyo"].request(method, path, {} if method == "POST" else None, headers, node=node)

        assert (answer.status, answer.errors) == (400, ["path disabled in replication DR secondary mode"])


def test_health_is_472_on_every_node_of_a_secondary(together):
    answers = [together["tokyo"].request("GET", "sys/health", node=node) for node in together["tokyo"].nodes]

    assert [answer.status for answer in answers] == [472] * 3
    assert {answer.body["replication_dr_mode"] for answer in answers} == {"secondary"}
    assert together["tokyo"].get("sys/health?drsecondarycode=200", token="").status == 200
    assert together["paris"].get("sys/health", token="").body["replication_dr_mode"] == "primary"


@pytest.mark.parametrize("path", ["sys/seal-status", "sys/leader", "sys/init", DR + "status"])
def test_what_tells_how_a_node_is_answers_on_a_secondary(together, path):
    assert together["tokyo"].get(path, token="hvs.wrong").status == 200


def test_clients_are_served_again_after_promotion_with_the_tokens_they_had(together):
    token = together["paris"].post("auth/token/create", {"policies": ["root"]}).auth["client_token"]
    together.lab.run("1s").crash("paris")
    together["tokyo"].promote()

    assert together["tokyo"].get("secret/data/mine", token=token).data["data"] == {"of": "paris"}


# ---- secrets


def test_no_answer_or_trace_shows_a_key_or_a_token(together):
    operation, activation = together.operation_token(), together.activation("x")
    answers = [
        together.open_post("tokyo", "secondary/promote", {"dr_operation_token": operation[:-1]}),
        together.open_post("tokyo", "secondary/update-primary", {"dr_operation_token": operation, "token": "junk"}),
        together["tokyo"].get(DR + "status", token=""),
        together["paris"].get(DR + "status", token=""),
    ]
    shown = repr([answer.body for answer in answers]) + "".join(together.lab.trace.lines())

    for secret in (operation, activation, together["paris"].root_token, *together["paris"].unseal_keys):
        assert secret not in shown


def test_a_new_primary_knows_no_secondary_and_a_restored_lab_knows_the_same(together):
    together.lab.crash("paris")
    together["tokyo"].promote()

    assert together.status("tokyo")["known_secondaries"] == []
    assert Lab.restore(together.lab.snapshot())["tokyo"].status() == together.status("tokyo")


def test_a_secondary_is_pointed_at_something(together):
    token = together.operation_token("tokyo")
    for sent, text in (
        ({}, "give token (blank: forget the primary) or update_primary_addrs"),
        ({"token": "x", "update_primary_addrs": ["y"]}, "mutually exclusive"),
    ):
        refused = together.open_post("tokyo", "secondary/update-primary", {"dr_operation_token": token, **sent})
        assert refused.status == 400
        assert text in refused.errors[0]


@pytest.mark.parametrize("version", ["1.2.9+ent", "1.3.0+ent", "1.4.0+ent"])
def test_public_keys_came_with_version_1_3(version):
    vault = Vault.dev(version=version)
    made = vault.post(DR + "secondary/generate-public-key")
    vault.post(DR + "primary/enable")
    public_key = vault.core.entropy(32)
    asked = {"id": "b", "secondary_public_key": b64encode(public_key).decode()}
    issued = vault.post(DR + "primary/secondary-token", asked)

    if version.startswith("1.2"):
        assert (made.status, made.errors) == (400, ["generate-public-key needs service version 1.3 or later"])
        assert (issued.status, issued.errors) == (400, ["secondary_public_key needs service version 1.3 or later"])
    else:
        assert len(b64decode(made.data["secondary_public_key"])) == 32
        assert list(issued.data) == ["token"]


# ---- a vault alone, through every mode

BRIEFLY = "Vault will be unavailable for a brief period and will resume service shortly."


@pytest.fixture
def alone() -> Vault:
    """A primary without secondaries."""
    vault = Vault.dev()
    vault.post(DR + "primary/enable", {"primary_cluster_addr": "https://front:8201"})
    return vault


def operation_token(vault) -> str:
    """Go through the ceremony with three shares."""
    begun = vault.post(DR + ATTEMPT + "attempt", {}, token="").body
    for share in vault.unseal_keys[:3]:
        given = vault.post(DR + ATTEMPT + "update", {"key": share, "nonce": begun["nonce"]}, token="").body
    return otp.decode(given["encoded_token"], begun["otp"])


def test_each_change_of_mode_says_what_happens():
    vault = Vault.dev()
    changes = [vault.post(DR + "primary/enable"), vault.post(DR + "primary/demote")]
    token = {"dr_operation_token": operation_token(vault)}
    blank = vault.post(DR + "secondary/update-primary", {**token, "token": ""}, token="")
    changes += [blank, vault.post(DR + "secondary/promote", token, token=""), vault.post(DR + "primary/disable")]
    vault.post(DR + "primary/enable")
    vault.post(DR + "primary/demote")
    token = {"dr_operation_token": operation_token(vault)}
    changes.append(vault.post(DR + "secondary/disable", token, token=""))

    assert [change.warnings for change in changes] == [
        [f"This cluster is being enabled as a primary for replication. {BRIEFLY}"],
        [f"This cluster is being demoted to a replication secondary. {BRIEFLY}"],
        ["This secondary has no primary any more."],
        [f"This cluster is being promoted to a replication primary. {BRIEFLY}"],
        [f"Replication is being disabled on this cluster. {BRIEFLY}"],
        [f"Replication is being disabled on this cluster. {BRIEFLY}"],
    ]
    assert vault.get(DR + "status").data == {"mode": "disabled"}
    assert vault.get("sys/replication/status").data == {"dr": {"mode": "disabled"}, "performance": {"mode": "disabled"}}
    assert "authority" not in vault.core.storage.list("node/")


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("secondary-token", {}, "id must be specified: an opaque, unique name for the secondary"),
        ("secondary-token", {"id": "a", "ttl": 0}, "ttl must be positive; leave it out for 30m"),
        ("revoke-secondary", {}, "id must be specified: the name that the secondary's token was issued for"),
        ("revoke-secondary", {"id": "a"}, "no secondary with id a is known"),
    ],
)
def test_what_a_primary_refuses(alone, path, body, text):
    refused = alone.post(f"{DR}primary/{path}", body)

    assert (refused.status, refused.errors) == (400, [text])
    assert alone.get(DR + "status").data["known_secondaries"] == []


def test_an_activation_is_issued_for_half_an_hour_or_what_is_asked_and_revoked(alone):
    for name, ttl in (("a", None), ("b", "90s")):
        issued = alone.post(DR + "primary/secondary-token", {"id": name, "ttl": ttl})
        assert issued.wrap_info["ttl"] == (1_800 if ttl is None else 90)
    assert alone.get(DR + "status").data["known_secondaries"] == ["a", "b"]
    assert alone.post(DR + "primary/revoke-secondary", {"id": "a"}).status == 204
    assert alone.get(DR + "status").data["known_secondaries"] == ["b"]


def test_an_attempt_is_begun_read_and_cancelled(alone):
    alone.post(DR + "primary/demote")
    path = DR + ATTEMPT + "attempt"
    assert alone.get(path, token="").body["started"] is False
    begun = alone.post(path, {"otp": "o" * 28}, token="").body
    assert (begun["started"], begun["otp"]) == (True, "")
    given = alone.post(DR + ATTEMPT + "update", {"key": alone.unseal_keys[0], "nonce": begun["nonce"]}, token="").body
    assert (given["progress"], given["required"]) == (1, 3)
    assert alone.get(path, token="").body == {**given, "progress": 1}
    assert alone.delete(path, token="").status == 204
    assert alone.get(path, token="").body["started"] is False


def test_the_tree_is_checked_on_either_side(alone):
    checked = alone.post("sys/replication/merkle-check")
    assert list(checked.data) == ["merkle_corruption_report"]
    alone.post(DR + "primary/demote")
    token = operation_token(alone)
    for sent, status in (({"dr_operation_token": token}, 200), ({}, 403)):
        assert alone.post(DR + "secondary/merkle-check", sent, token="").status == status
    assert alone.post("sys/replication/merkle-check").status == 400
    body = {"dr_operation_token": token}
    assert alone.post(DR + "secondary/operation-token/delete", body, token="").status == 204
    assert alone.post(DR + "secondary/operation-token/delete", body, token="").status == 403


def test_a_secondary_without_credentials_is_not_moved_to_other_addresses(alone):
    alone.post(DR + "primary/demote")
    token = operation_token(alone)
    for sent, status in (
        ({"update_primary_addrs": ["https://b:8201"]}, 400),
        ({"token": "x"}, 400),
        ({"token": "x", "update_primary_addrs": ["https://b:8201"]}, 400),
        ({}, 400),
    ):
        before = alone.core.storage.state()
        refused = alone.post(DR + "secondary/update-primary", {"dr_operation_token": token, **sent}, token="")
        assert refused.status == status
        assert alone.core.storage.state() == before


def test_a_promotion_that_is_not_safe_says_why_and_how_to_force_it():
    vault = Vault.dev()
    mode = advance(Mode(), "enable_secondary", cluster_id="set", upstream_cluster_addrs=("https://p:8201",))
    vault.core.commit({MODE_KEY: vault.core.keys.encrypt(MODE_KEY, mode.to_bytes(), vault.core.entropy)})
    token = {"dr_operation_token": operation_token(vault)}
    refused = vault.post(DR + "secondary/promote", token, token="")

    assert (refused.status, refused.errors) == (
        503,
        [
            "replication is still catching up: its data is not known to be complete: no state of the primary was "
            'reached yet; try again later, or provide the "force" argument and accept the loss'
        ],
    )
    vault.post(DR + ATTEMPT + "attempt", {}, token="")
    promoted = vault.post(
        DR + "secondary/promote", {**token, "force": True, "primary_cluster_addr": "https://new:8201"}
    )
    assert promoted.ok
    assert vault.get(DR + "status").data["primary_cluster_addr"] == "https://new:8201"
    assert [name in vault.core.storage.list("node/") for name in ("attempt", "authority", "operation-token")] == [
        False,
        True,
        True,
    ]
