"""Activation: what a primary issues and takes back, and how it judges who connects."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.keymaking import read_claims
from labkit.lab.plan.blueprint import pair
from labkit.sealed_box import seal_to
from labkit.service.errors import BadRequest
from labkit.service.message import respond
from labkit.vault.replication.trust import activation
from labkit.vault.replication.trust.activation import Authority, Bundle, version_numbers

DAY_NS = 86_400 * 1_000_000_000
FIELDS = ["token", "accessor", "ttl", "creation_time", "creation_path", "wrapped_accessor"]


def issue(drill, **body):
    return drill.post("paris", "primary/secondary-token", body)


# ---- issuing


def test_a_token_is_a_wrapped_jwt_of_half_an_hour(together):
    answer = issue(together, id="lima")
    claims = read_claims(answer.wrap_info["token"])

    assert (answer.status, answer.data) == (200, None)
    assert set(FIELDS) - {"wrapped_accessor"} <= set(answer.wrap_info)
    assert answer.wrap_info["ttl"] == claims["exp"] - claims["iat"] == 1_800
    assert answer.wrap_info["creation_path"] == "sys/replication/dr/primary/secondary-token"
    assert (claims["addr"], claims["type"]) == ("http://paris-1:8200", "wrapping")


def test_an_id_is_known_from_then_on_used_or_not(together):
    issue(together, id="lima")

    assert together.status("paris")["known_secondaries"] == ["lima", "tokyo"]
    peers = {row["node_id"]: row["connection_status"] for row in together.status("paris")["secondaries"]}
    assert peers == {"lima": "disconnected", "tokyo": "connected"}


@pytest.mark.parametrize("secondary_id", ["tokyo", "lima"])
def test_ids_are_unique(together, secondary_id):
    issue(together, id="lima")
    before = together.stored("paris")
    answer = issue(together, id=secondary_id)

    assert answer.status == 400
    assert f"a secondary with id {secondary_id} is known already" in answer.errors[0]
    assert together.stored("paris") == before


@pytest.mark.parametrize("body", [{}, {"id": ""}])
def test_an_id_is_wanted(together, body):
    assert issue(together, **body).status == 400


@pytest.mark.parametrize("secondary_id", ["a/b/../c", "ü", " ", "x" * 256, "node/mode"])
def test_any_text_may_be_an_id_and_stays_in_its_place(together, secondary_id):
    assert issue(together, id=secondary_id).status == 200
    assert secondary_id in together.status("paris")["known_secondaries"]
    assert together.post("paris", "primary/revoke-secondary", {"id": secondary_id}).status == 204
    assert together.status("paris")["known_secondaries"] == ["tokyo"]
    assert together.status("paris")["mode"] == "primary"


@pytest.mark.parametrize("ttl", [0, "0s", "-5m", "soon"])
def test_a_time_to_live_is_positive(together, ttl):
    before = together.stored("paris")

    assert issue(together, id="lima", ttl=ttl).status == 400
    assert together.stored("paris") == before


def test_with_a_public_key_the_bundle_comes_sealed_and_unwrapped(together):
    public_key = b64encode(Vault.dev().core.entropy(32)).decode()
    answer = issue(together, id="lima", secondary_public_key=public_key)

    assert answer.wrap_info is None
    assert list(answer.data) == ["token"]


@pytest.mark.parametrize("public_key", ["x", "AAAA", "!!!!", b64encode(bytes(31)).decode()])
def test_what_is_no_public_key_is_refused_and_the_id_stays_free(together, public_key):
    answer = issue(together, id="lima", secondary_public_key=public_key)

    assert answer.status == 400
    assert "secondary_public_key is not what generate-public-key returns" in answer.errors[0]
    assert issue(together, id="lima").status == 200


@pytest.mark.parametrize(("version", "status"), [("1.2.9+ent", 400), ("0.6.1", 400), ("1.3.0", 200), ("1.10.0", 200)])
def test_public_keys_need_version_1_3(drill, version, status):
    plans = pair().clusters
    lab = drill(Lab(replace(pair(), clusters=tuple(replace(plan, version=version) for plan in plans))))
    lab.post("paris", "primary/enable")
    made = lab.post("tokyo", "secondary/generate-public-key")
    assert made.status == status
    key = made.data["secondary_public_key"] if made.ok else b64encode(bytes(range(32))).decode()

    assert issue(lab, id="tokyo", secondary_public_key=key).status == status


def test_a_public_key_can_be_made_on_a_secondary_too(together):
    before = together.stored("tokyo").keys()
    key = together.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]

    assert len(key) == 44
    assert together.stored("tokyo").keys() - before == {"node/exchange-key"}
    assert together.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"] != key


# ---- revoking


def test_an_unknown_id_cannot_be_revoked(together):
    before = together.stored("paris")
    answers = [together.post("paris", "primary/revoke-secondary", body) for body in ({"id": "oslo"}, {}, {"id": ""})]

    assert [answer.status for answer in answers] == [400] * 3
    assert answers[0].errors == ["no secondary with id oslo is known"]
    assert "id must be specified" in answers[1].errors[0]
    assert together.stored("paris") == before


def test_any_node_of_the_primary_can_be_asked_to_revoke(together):
    headers = {"X-Vault-Token": together["paris"].root_token}
    path = "sys/replication/dr/primary/revoke-secondary"
    assert together["paris"].request("POST", path, {"id": "tokyo"}, headers, node="paris-2").status == 204

    assert together.status("paris")["known_secondaries"] == []


def test_revoking_an_unused_token_makes_it_worthless(together):
    issue(together, id="lima")
    together.post("paris", "primary/revoke-secondary", {"id": "lima"})

    core = together.lab.parts.nodes["paris-1"].vault.core
    assert activation.unknown_ids(core, ("tokyo", "lima")) == ["lima"]


# ---- versions, and what is shown


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1.16.3+ent", (1, 16, 3)), ("1.3", (1, 3)), ("2.0.0-rc1+ent", (2, 0, 0)), ("0.6.1", (0, 6, 1)), ("x", (0,))],
)
def test_a_version_is_compared_by_its_numbers(text, numbers):
    assert version_numbers(text) == numbers


def test_no_key_is_shown():
    bundle = Bundle("set", "tokyo", "authority", "certificate", "00ff", 9, "http://a:8200", ("https://a:8201",))

    assert repr(bundle) == "Bundle(tokyo)"
    assert repr(Authority(b"k", "c", b"t", "p")) == "Authority(keys not shown)"


def test_the_authority_never_leaves_the_cluster(together):
    """Neither its stored form nor its keys are among what the secondary stores."""
    assert "node/authority" in together.stored("paris")
    assert "node/authority" not in together.stored("tokyo")
    assert not set(together.stored("paris")["node/authority"].split()) & set(together.stored("tokyo").values())


BUNDLES: tuple[Any, ...] = (
    None,
    7,
    "seven__",
    {},
    [],
    ["a"] * 7,
    ["a"] * 8,
    [None] * 8,
    ["a", "b", "c", "d", "00" * 32, 7, "g", []],
    ["a", "b", "c", "d", "00" * 32, 7, "g", [7]],
    ["a", "b", "c", "d", "00" * 32, True, "g", ["h"]],
    ["a", "b", "c", "d", 7, 8, "g", ["h"]],
    ["a", "b", "c", "d", "00" * 32, 8, "g", ["h"] * 65],
    {"a": 1},
)
ROWS = (
    *(b"garbage", b"[1]", b"{}", b"5", b"null", b"\xff", b"[1,2,3,4,5,6,7]", b"[[],[],[],[],[],[],[]]"),
    *(b'["a","b","c","d","%s",7,"g",["h"]]' % key for key in (b"zz", b"00", b"00" * 31, b"00" * 33)),
    *(b'[NaN,"b","c","d","00",7,"g",["h"]]', b'["a","b","c","d","%s",7.5,"g",["h"]]' % (b"00" * 32)),
)


@pytest.mark.parametrize("row", ROWS)
def test_what_is_sealed_to_the_public_key_but_is_no_bundle_is_refused(row):
    vault = Vault.dev()
    public = vault.post("sys/replication/dr/secondary/generate-public-key", {}).data["secondary_public_key"]
    box = b64encode(seal_to(b64decode(public), row, vault.environment.entropy)).decode()
    answer = vault.post("sys/replication/dr/secondary/enable", {"token": box})

    assert answer.status == 400
    assert "not a secondary activation token" in answer.errors[0]
    assert vault.get("sys/replication/dr/status").data == {"mode": "disabled"}


@pytest.mark.parametrize("body", [None, {}, {"data": None}, {"data": []}, *({"data": {"bundle": b}} for b in BUNDLES)])
def test_an_unwrapped_answer_that_is_no_bundle_is_refused(body):
    with pytest.raises(BadRequest, match="not a secondary activation token"):
        activation.read_bundle(respond(200, body))


@pytest.mark.parametrize("year", [-100, 9_997, 10_001, 500_000])
def test_a_clock_that_no_certificate_can_show_is_a_refusal(year):
    vault = Vault.dev(clock=lambda: (year - 1970) * 365 * DAY_NS)
    answer = vault.post("sys/replication/dr/primary/enable", {})

    assert (answer.status, "no authority can be made now" in answer.errors[0]) == (400, True)
    assert vault.get("sys/replication/dr/status").data == {"mode": "disabled"}
    assert vault.post("secret/data/a", {"data": {"x": 1}}).ok
    assert vault.get("secret/data/a").data["metadata"]["created_time"].endswith("Z")


def test_a_certificate_that_cannot_be_issued_is_a_refusal():
    now_ns = [(9_980 - 1970) * 365 * DAY_NS]
    vault = Vault.dev(clock=lambda: now_ns[0])
    assert vault.post("sys/replication/dr/primary/enable", {}).ok
    now_ns[0] += 22 * 365 * DAY_NS
    answer = vault.post("sys/replication/dr/primary/secondary-token", {"id": "a"})

    assert (answer.status, "no certificate can be issued" in answer.errors[0]) == (400, True)


def test_a_heartbeat_is_remembered_as_it_was_reported(together):
    core = together.lab.parts.nodes["paris-1"].vault.core
    message = {
        "last_heartbeat_duration_ms": 1,
        "clock_skew_ms": 2,
        "replication_primary_canary_age_ms": 3,
        "position": 4,
    }
    activation.note_heartbeat(core, "tokyo", message, "https://tokyo-1:8201")

    noted = core.replica.secondaries["tokyo"]
    assert noted == ("tokyo", "https://tokyo-1:8201", core.now(), 1, 2, 3, 4, together.lab.now)
