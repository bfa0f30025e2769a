"""Joining a replication set: what is checked before anything is wiped, and ways of being pointed elsewhere."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.keymaking import make_authority, make_signing_key, read_claims, sign_es512
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import pair, triangle
from labkit.sealed_box import seal_to
from labkit.seeded import SeededEntropy
from labkit.service.errors import BadRequest, Forbidden, Unavailable
from labkit.service.message import Request, Response, respond, silence
from labkit.vault.context import Context
from labkit.vault.files import Files
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.trust import api_certificate, joining
from labkit.vault.replication.trust.activation import Bundle
from labkit.vault.replication.trust.challenge import Parties, make
from labkit.vault.replication.trust.joining import BootstrapKeys
from labkit.vault.sealing.seal import SEAL_CONFIG
from labkit.vault.storage import StoreError
from labkit.vault.storage.barrier import encrypt_keyring, new_keyring
from labkit.vault.storage.records import encode_record

SECOND_NS = 1_000_000_000
TOKEN = sign_es512(
    make_signing_key(lambda count: b"\x07" * count)[0],
    {"addr": "http://a:8200", "addrs": ["http://a:8200", "http://b:8200"], "jti": "hvs.x"},
)
MINE = "secret/data/mine"


@pytest.fixture
def issued(apart):
    """Paris is a primary that issued a token for tokyo, which does not replicate yet."""
    apart.post("paris", "primary/enable")
    apart.token = apart.activation("tokyo")
    return apart


def enable(drill, **body):
    return drill.post("tokyo", "secondary/enable", body)


# ---- a failed enable loses nothing (D4)


def refused_and_unharmed(drill, status, text, **body):
    before = drill.stored("tokyo")
    answer = enable(drill, **body)

    assert answer.status == status, answer.errors
    assert text in answer.errors[0]
    assert drill.stored("tokyo") == before
    assert drill["tokyo"].mode == "disabled"
    assert drill["tokyo"].get(MINE).data["data"] == {"of": "tokyo"}


@pytest.mark.parametrize("body", [{}, {"token": ""}])
def test_without_a_token(issued, body):
    refused_and_unharmed(issued, 400, "token must be specified", **body)


@pytest.mark.parametrize("token", ["junk", "a.b.c", "hvs.xxx", "ey.ey.ey", "....", "\u00e9\u00e9"])
def test_with_what_is_no_token(issued, token):
    refused_and_unharmed(issued, 400, "token", token=token)


def test_with_one_that_has_expired(issued):
    issued.lab.run("31m")

    text = "error response unwrapping secondary token; status code is 400"

    refused_and_unharmed(issued, 400, text, token=issued.token)


def test_with_one_that_has_not_quite_expired(issued):
    issued.lab.run("29m")

    assert enable(issued, token=issued.token).status == 200


@pytest.mark.parametrize(("ttl", "wait", "status"), [("5m", "4m", 200), ("5m", "6m", 400), (7200, "110m", 200)])
def test_a_token_lives_as_long_as_it_was_asked_to(issued, ttl, wait, status):
    token = issued.activation("other", ttl=ttl)
    issued.lab.run(wait)

    assert enable(issued, token=token).status == status


def test_with_one_that_was_used(issued):
    lab = issued.lab
    lab["paris"].request("POST", "sys/wrapping/unwrap", {}, {"X-Vault-Token": unwrapping(issued.token)})

    refused_and_unharmed(issued, 400, "error response unwrapping secondary token", token=issued.token)


def unwrapping(token):
    """What is inside an activation token: the wrapping token it stands for."""
    return read_claims(token)["jti"]


def test_with_one_whose_id_was_revoked(issued):
    issued.post("paris", "primary/revoke-secondary", {"id": "tokyo"})

    refused_and_unharmed(issued, 400, "wrapping token is not valid", token=issued.token)


def test_with_a_wrapping_token_of_something_else(issued):
    """A JWT like the primary's own, around the wrapping token of a secret."""
    wrapped = issued["paris"].get(MINE, headers={"X-Vault-Wrap-TTL": "10m"}).wrap_info["token"]
    refused_and_unharmed(issued, 400, "wrapping token is not valid", token=forged(issued.token, wrapped))


def forged(token, jti):
    """The same claims with another wrapping token, signed with another key."""
    private, _ = make_signing_key(lambda count: b"\x07" * count)
    return sign_es512(private, {**read_claims(token), "jti": jti})


def test_with_a_primary_that_cannot_be_reached(issued):
    issued.lab.partition("paris", "tokyo")
    at_ns = issued.lab.now

    refused_and_unharmed(issued, 503, "error unwrapping secondary token: Post", token=issued.token)
    assert issued.lab.now - at_ns < 25 * SECOND_NS, "each of three nodes has eight seconds"


def test_with_a_primary_that_is_cut_off_between_the_two_trips(issued):
    """The token is used up by then, and nothing else has happened."""
    lab = issued.lab
    before = issued.stored("tokyo")
    number = lab.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", {"token": issued.token}))
    lab.run(until=lambda one: one.parts.nodes["tokyo-1"].serial == 2)
    lab.partition("paris", "tokyo")
    lab.run("25s")
    answer = lab.parts.console.answers[number]

    assert answer.status == 400, "it cannot pass later: the token is spent"
    assert "error fetching secondary bootstrap package from https://paris-1:8201" in answer.errors[0]
    assert answer.errors[0].endswith("the token is spent: revoke tokyo on the primary, and issue another one")
    assert issued.stored("tokyo") == before
    lab.heal()
    refused_and_unharmed(issued, 400, "error response unwrapping secondary token", token=issued.token)


def test_with_an_address_without_a_node(issued):
    refused_and_unharmed(
        issued, 503, "error unwrapping secondary token", token=issued.token, primary_api_addr="http://oslo-1:8200"
    )


def test_the_address_can_be_given_instead_of_the_one_in_the_token(issued):
    assert enable(issued, token=issued.token, primary_api_addr="http://paris-1:8200").status == 200


@pytest.mark.parametrize("trusted", [{"ca_file": "/ca.pem"}, {"ca_path": "/ca"}])
def test_with_an_authority_that_is_not_among_its_files(issued, trusted):
    (name, value), *_ = trusted.items()
    text = f"{name}: no file {'with a certificate in PEM form below ' if name == 'ca_path' else ''}{value} among this"

    refused_and_unharmed(issued, 400, text, token=issued.token, **trusted)


# ---- the authority of the primary's API (D13)


CA, CA_FOLDER = "/etc/trusted/paris.pem", "/etc/trusted/"
UNVERIFIED = "tls: failed to verify certificate: "


def pem_of(drill, cluster="paris"):
    """The authority of a cluster's API, as its files have it."""
    content = drill[cluster].files.read(api_certificate.AUTHORITY_FILE)
    assert content.startswith(b"-----BEGIN CERTIFICATE-----")
    return content


@pytest.mark.parametrize("named", [{"ca_file": CA}, {"ca_path": CA_FOLDER}, {"ca_path": "/etc"}])
def test_with_the_primarys_own_authority_the_token_is_unwrapped(issued, named):
    issued["tokyo"].files.write(CA, pem_of(issued))
    issued["tokyo"].files.write(CA_FOLDER + "read.me", b"what these are")

    assert enable(issued, token=issued.token, **named).status == 200


def test_one_good_authority_of_several_is_enough(issued):
    issued["tokyo"].files.write(CA, pem_of(issued, "tokyo") + pem_of(issued))

    assert enable(issued, token=issued.token, ca_file=CA).status == 200


def test_with_another_authority_nothing_is_wiped_and_nothing_spent(issued):
    """The token never left: it works once the right authority is named."""
    issued["tokyo"].files.write(CA, pem_of(issued, "tokyo"))
    sent = f'error unwrapping secondary token: Post "http://paris-1:8200{joining.UNWRAP}": {UNVERIFIED}'
    text = f"{sent}x509: certificate signed by unknown authority; the token was not sent"
    refused_and_unharmed(issued, 400, text, token=issued.token, ca_file=CA)
    refused_and_unharmed(issued, 400, text, token=issued.token, ca_path=CA_FOLDER)
    issued["tokyo"].files.write(CA, pem_of(issued))

    assert enable(issued, token=issued.token, ca_file=CA).status == 200


@pytest.mark.parametrize(
    ("content", "named", "text"),
    [
        (b"", {"ca_file": CA}, f"ca_file: {CA} holds no authority to trust: it holds no certificate in PEM form"),
        (b"", {"ca_path": CA_FOLDER}, f"ca_path: no file with a certificate in PEM form below {CA_FOLDER}"),
        (b"\xff\x00", {"ca_file": CA}, "holds no certificate in PEM form"),
        (api_certificate.BEGIN_CERTIFICATE + b"\nAAAA", {"ca_file": CA}, "what is not an X.509 certificate"),
        (api_certificate.BEGIN_CERTIFICATE + b"\nAAAA", {"ca_path": "/etc/trusted"}, f"ca_path: {CA} holds no"),
    ],
)
def test_a_file_that_is_no_authority_is_refused_before_anything_is_asked(issued, content, named, text):
    issued["tokyo"].files.write(CA, content)
    delivered = issued.lab.network.delivered

    refused_and_unharmed(issued, 400, text, token=issued.token, **named)
    assert issued.lab.network.delivered - delivered == 4, "the operator's questions and their answers only"


def test_every_name_that_is_given_must_lead_to_an_authority(issued):
    issued["tokyo"].files.write(CA, pem_of(issued))

    refused_and_unharmed(issued, 400, "ca_path: no file", token=issued.token, ca_file=CA, ca_path="/nowhere")


def test_a_host_that_another_clusters_certificate_names_is_not_trusted(issued):
    """The certificate and key of paris on tokyo's nodes: trusted, but for other hosts."""
    for name in (api_certificate.CERTIFICATE_FILE, api_certificate.KEY_FILE):
        issued["tokyo"].files.write(name, issued["paris"].files.read(name))
    issued["tokyo"].files.write(CA, pem_of(issued))
    text = "x509: certificate is valid for paris-1, paris-2, paris-3, not tokyo-2"

    refused_and_unharmed(issued, 400, text, token=issued.token, primary_api_addr="http://tokyo-2:8200", ca_file=CA)


@pytest.mark.parametrize("name", [api_certificate.CERTIFICATE_FILE, api_certificate.KEY_FILE])
def test_a_primary_that_lost_its_certificate_is_not_trusted(issued, name):
    issued["tokyo"].files.write(CA, pem_of(issued))
    issued["paris"].files.write(name, b"lost")

    refused_and_unharmed(issued, 400, UNVERIFIED + api_certificate.NOT_PRESENTED, token=issued.token, ca_file=CA)


def test_a_certificate_that_is_over_is_not_trusted(issued):
    issued["tokyo"].files.write(CA, pem_of(issued))
    core = issued.lab.parts.nodes["tokyo-1"].core
    now = core.now
    core.now = lambda: now() + 11 * 365 * 86_400 * SECOND_NS

    refused_and_unharmed(issued, 400, "x509: certificate signed by unknown authority", token=issued.token, ca_file=CA)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_standby_shows_the_certificate_too_also_a_sealed_one(issued, sealed):
    issued["tokyo"].files.write(CA, pem_of(issued))
    if sealed:
        issued.lab.parts.nodes["paris-2"].core.keys.drop()
    answer = enable(issued, token=issued.token, ca_file=CA, primary_api_addr="http://paris-2:8200")
    shown = issued.lab.trace.select("message", what="bootstrap_request", target="paris-2", fate="delivered")

    assert len(shown) >= 1
    text = "error response unwrapping secondary token; status code is 503, message is Vault is sealed"
    assert (answer.status, answer.errors) == ((503, [text]) if sealed else (200, []))


def test_each_hop_of_a_redirection_shows_its_certificate():
    own = Files(made=api_certificate.files_of("paris", ("a", "b"), SeededEntropy(1), 0))
    asking = unwrap(
        TOKEN, "http://b:8200", api_certificate.authorities_in(own.read(api_certificate.AUTHORITY_FILE) or b"")
    )
    location = {"Location": "http://a:8200/v1/sys/wrapping/unwrap"}
    asked = next(asking)
    for host in ("b", "a"):
        assert (asked.address, asked.request.path) == (f"http://{host}:8200", api_certificate.PRESENT)
        asked = asking.send(api_certificate.present(own.read, asked.request.body["nonce"], "node-1"))
        assert (asked.address, asked.request.path) == (f"http://{host}:8200", joining.UNWRAP)
        asked = asking.send(Response(307, location)) if host == "b" else None


def test_a_silent_address_is_left_for_the_next_before_any_token_goes_there():
    asking = unwrap(TOKEN, authorities=("an authority",))
    first = next(asking)
    assert (first.address, first.channel, first.request.path) == ("http://a:8200", "cluster", "certificate")
    assert asking.send(silence("no answer")).address == "http://b:8200"

    with pytest.raises(Unavailable, match=r"a:8200.*b:8200"):
        asking.send(silence("no answer"))


def test_a_repointed_secondary_trusts_by_file_too(turned):
    turned["paris"].files.write(CA, pem_of(turned, "paris"))
    text = "x509: certificate signed by unknown authority"
    answer = update(turned, "paris", token=turned.activation("paris", primary="tokyo"), ca_file=CA)
    assert (answer.status, text in answer.errors[0]) == (400, True)
    turned["paris"].files.write(CA, pem_of(turned, "tokyo"))
    turned.post("tokyo", "primary/revoke-secondary", {"id": "paris"})

    assert update(turned, "paris", token=turned.activation("paris", primary="tokyo"), ca_file=CA).status == 200


def test_a_join_with_a_named_authority_is_the_same_cut_and_uncut(issued):
    ends = []
    for cut in (False, True):
        lab = Lab.restore(issued.lab.snapshot())
        lab["tokyo"].files.write(CA, pem_of(issued))
        body = {"token": issued.token, "ca_file": CA}
        number = lab.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", body))
        first = lab.parts.nodes["tokyo-1"].serial
        for fetched in range(first + 1, first + (5 if cut else 1)):
            lab.run(until=partial(has_fetched, fetched))
            lab = Lab.restore(lab.snapshot())
        lab.run(f"{30_000_000_000 + issued.lab.now - lab.now}ns")
        ends.append((lab.parts.console.answers[number].status, lab.now, lab.trace.digest()))

    assert ends[0] == ends[1]
    assert ends[0][0] == 200


def has_fetched(serial, lab):
    return lab.parts.nodes["tokyo-1"].serial >= serial


def test_after_a_failure_a_fresh_token_works(issued):
    issued.lab.run("31m")
    assert enable(issued, token=issued.token).status == 400
    issued.post("paris", "primary/revoke-secondary", {"id": "tokyo"})

    assert enable(issued, token=issued.activation("tokyo")).status == 200


def test_a_newer_primary_is_refused_with_the_reason_and_nothing_is_wiped(drill):
    plans = pair().clusters
    newer = replace(pair(), clusters=(replace(plans[0], version="1.17.0+ent"), plans[1]))
    lab = drill(Lab(newer))
    lab["tokyo"].post(MINE, {"data": {"of": "tokyo"}})
    lab.post("paris", "primary/enable")

    refused_and_unharmed(lab, 403, "upgrade the downstream cluster first", token=lab.activation("tokyo"))


def test_an_older_primary_is_welcome(drill):
    plans = pair().clusters
    lab = Lab(replace(pair(), clusters=(plans[0], replace(plans[1], version="1.17.0+ent"))))

    assert lab.replicate("paris", "tokyo") == "tokyo streams from paris"


def test_after_such_a_failover_the_old_primary_cannot_follow_until_it_is_upgraded(drill):
    plans = pair().clusters
    lab = Lab(replace(pair(), clusters=(plans[0], replace(plans[1], version="1.17.0+ent"))))
    lab.replicate("paris", "tokyo")
    lab["paris"].demote()
    lab["tokyo"].promote()
    one = drill(lab)
    token = one.operation_token("paris")
    body = {"dr_operation_token": token, "token": one.activation("paris", primary="tokyo")}
    answer = one.open_post("paris", "secondary/update-primary", body)

    assert answer.status == 403
    assert "upgrade the downstream cluster first" in answer.errors[0]
    assert one.status("paris")["state"] == "idle"


# ---- activation (D17)


def sealed_token(drill, **body):
    """A token encrypted to tokyo's public key."""
    drill.post("paris", "primary/enable")
    public_key = drill.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]
    issued = drill.post("paris", "primary/secondary-token", {"id": "tokyo", "secondary_public_key": public_key, **body})
    return issued.raise_for_status().data["token"]


def test_an_encrypted_bundle_has_an_end_too(apart):
    token = sealed_token(apart, ttl="5s")
    apart.lab.run("2h")

    refused_and_unharmed(apart, 400, "the token is over: the activation had to be used before 20", token=token)


def test_an_encrypted_bundle_whose_id_was_revoked_is_refused_for_good(apart):
    token = sealed_token(apart)
    apart.post("paris", "primary/revoke-secondary", {"id": "tokyo"})

    refused_and_unharmed(apart, 403, "revoked", token=token)


def test_the_primarys_clock_judges_the_end_as_well(apart):
    token = sealed_token(apart, ttl="5s")
    core = apart.lab.parts.nodes["tokyo-1"].vault.core
    then_ns = core.now()
    core.now = lambda: then_ns
    apart.lab.run("6s")

    refused_and_unharmed(apart, 403, "the activation had to be used before", token=token)


def test_no_part_of_a_token_may_be_altered(issued):
    head, payload, signature = issued.token.split(".")
    claims = read_claims(issued.token)
    other = forged(issued.token, claims["jti"])
    for token in (other, f"{head}.{payload}.{'A' * len(signature)}", f"{head}.{other.split('.')[1][:-4]}.{signature}"):
        refused_and_unharmed(issued, 400, "token", token=token)
    private, _ = make_signing_key(lambda count: b"\x07" * count)
    for changed in ({"exp": 0}, {"exp": claims["exp"] + 999}, {"addr": "http://paris-2:8200"}):
        refused_and_unharmed(issued, 400, "not valid", token=sign_es512(private, {**claims, **changed}))

    assert enable(issued, token=issued.token).status == 200, "none of them used it up"


def test_a_token_names_every_node_of_its_primary(issued):
    claims = read_claims(issued.token)
    enable(issued, token=issued.token)
    issued.lab.run("2s")

    assert claims["addrs"] == [f"http://paris-{number}:8200" for number in (1, 2, 3)]
    assert issued.status("tokyo")["known_primary_cluster_addrs"] == [f"https://paris-{n}:8201" for n in (1, 2, 3)]
    assert issued.status("tokyo")["primary_cluster_addr"] == "https://paris-1:8201"


@pytest.mark.parametrize(
    ("given", "first"), [("https://paris-3:8201", "paris-3"), ("https://nowhere:8201", "paris-1"), ("", "paris-1")]
)
def test_an_address_that_the_primary_was_given_is_asked_before_the_node_that_unwrapped(apart, given, first):
    apart.post("paris", "primary/enable", {"primary_cluster_addr": given})
    token = apart.post("paris", "primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    enable(apart, token=token)

    asked = [event.target for event in apart.lab.trace.select("message", what="bootstrap_request")]
    assert asked[0] == first


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("restarted", [False, True])
def test_an_activation_issued_before_a_takeover_still_works(apart, encrypted, restarted):
    token = sealed_token(apart)
    if not encrypted:
        token = apart.activation("other")
    lab = apart.lab
    lab.crash("paris-1")
    lab.run("6s")
    if restarted:
        lab.restart("paris-1")
        lab["paris"].unseal()
        lab.run("2s")
    assert lab["paris"].active == "paris-2"

    assert enable(apart, token=token).status == 200
    lab.run("5s")
    assert apart.status("tokyo")["state"] == "stream-wals"


def unwrap(token, address="", authorities=()):
    """The unwrap of a token, with its fetches."""
    ctx: Any = Context(Vault.dev().core, Request("", ""), 0) if authorities else None
    return joining._unwrap(ctx, token, address, authorities)


def test_an_unwrap_follows_a_standby_that_names_the_active_node():
    asking = unwrap(TOKEN, "http://b:8200")
    asked = next(asking)
    assert (asked.address, asked.request.headers) == ("http://b:8200", {"X-Vault-Token": TOKEN})
    location = {"Location": "http://a:8200/v1/sys/wrapping/unwrap"}
    assert asking.send(Response(307, location)).address == "http://a:8200"
    with pytest.raises(BadRequest, match="status code is 400"):
        asking.send(respond(400, {"errors": ["used"]}))


@pytest.mark.parametrize("location", ["", "http://a:8200/v1/other"])
def test_a_redirection_to_elsewhere_is_not_followed(location):
    asking = unwrap(TOKEN, "http://b:8200")
    next(asking)

    with pytest.raises(Unavailable, match="status code is 307"):
        asking.send(Response(307, {"Location": location}))


def test_redirections_in_a_circle_come_to_an_end():
    asking = unwrap(TOKEN, "http://b:8200")
    next(asking)
    for name in ("n1", "n2"):
        location = {"Location": f"http://{name}:8200/v1/sys/wrapping/unwrap"}
        assert asking.send(Response(307, location)).address == f"http://{name}:8200"

    with pytest.raises(Unavailable, match="status code is 307"):
        asking.send(Response(307, location))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        *((respond(status, {"errors": ["x"]}), Unavailable) for status in (307, 429, 472, 473, 503)),
        *((respond(status, {"errors": ["x"]}), BadRequest) for status in (400, 403, 404, 500)),
    ],
)
def test_only_what_may_pass_later_is_503(answer, kind):
    asking = unwrap(TOKEN, "http://b:8200")
    next(asking)

    with pytest.raises(kind, match=f"error response unwrapping secondary token; status code is {answer.status}"):
        asking.send(answer)


def test_silent_addresses_of_a_token_are_left_for_the_next():
    asking = unwrap(TOKEN)
    assert next(asking).address == "http://a:8200"
    assert asking.send(silence("no answer")).address == "http://b:8200"

    with pytest.raises(Unavailable, match=r"a:8200.*b:8200"):
        asking.send(silence("no answer"))


@pytest.mark.parametrize("claims", [{}, {"addr": 7, "addrs": "x"}, {"addrs": [7, ""]}])
def test_a_token_without_an_address_needs_one(claims):
    private, _ = make_signing_key(lambda count: b"\x07" * count)

    with pytest.raises(BadRequest, match="names no address; give primary_api_addr"):
        next(unwrap(sign_es512(private, claims)))


def test_who_only_poses_as_the_primary_learns_nothing_and_changes_nothing(issued):
    """Lima's node answers at paris-1's address, as far as tokyo can see: another authority made its challenge."""
    core = issued.lab.parts.nodes["paris-1"].vault.core
    authority = make_authority("other", core.entropy, core.now(), 60)
    token = sealed_elsewhere(issued, authority)

    refused_and_unharmed(issued, 503, "this is not the primary", token=token)
    assert issued.lab.trace.select("observed", node="tokyo-1", what="upstream_refused")


def sealed_elsewhere(drill, authority):
    """A bundle encrypted to tokyo's public key that trusts another authority than paris's."""
    public = drill.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]
    cluster_id = drill.status("paris")["cluster_id"]
    core = drill.lab.parts.nodes["paris-1"].vault.core
    addresses = ["https://paris-1:8201"]
    row = [cluster_id, "tokyo", authority.certificate, "", "01" * 32, core.now() + SECOND_NS * 60, "", addresses]
    return b64encode(seal_to(b64decode(public), encode_record(row), core.entropy)).decode()


# ---- a successful one


def test_success_wipes_everything_and_takes_over_the_primarys(issued):
    answer = enable(issued, token=issued.token)
    assert (answer.status, answer.data, len(answer.warnings)) == (200, None, 1)
    issued.lab.run("5s")
    kept = [key for key in issued.stored("tokyo") if not key.startswith("node/")]

    assert sorted(kept) == sorted(key for key in issued.stored("paris") if not key.startswith("node/"))
    assert issued.status("tokyo")["cluster_id"] == issued.status("paris")["cluster_id"]


def test_the_standbys_seal_themselves_and_only_the_primarys_shares_open_them(issued):
    old_shares = issued["tokyo"].unseal_keys
    enable(issued, token=issued.token)
    issued.lab.run("5s")
    answers = [issued["tokyo"].request("GET", "sys/seal-status", node=node).body for node in issued["tokyo"].nodes]
    assert [body["sealed"] for body in answers] == [False, True, True]
    for share in old_shares[:3]:
        answer = issued["tokyo"].request("POST", "sys/unseal", {"key": share}, node="tokyo-2")
    assert answer.status == 400
    for share in issued["paris"].unseal_keys[:3]:
        answer = issued["tokyo"].request("POST", "sys/unseal", {"key": share}, node="tokyo-2")

    assert answer.body["sealed"] is False


def test_a_bundle_sealed_to_a_public_key_needs_no_call_to_the_primarys_api(apart):
    """The token holds everything: unwrapping is not asked for; the cluster port still is."""
    apart.post("paris", "primary/enable")
    public_key = apart.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]
    answer = apart.post("paris", "primary/secondary-token", {"id": "tokyo", "secondary_public_key": public_key})
    assert answer.wrap_info is None
    at_ns = apart.lab.now
    assert enable(apart, token=answer.data["token"]).status == 200
    apart.lab.run("5s")
    between = [e for e in apart.lab.trace.select("message") if e.source == "tokyo-1" and e.sent_ns >= at_ns]

    assert apart.status("tokyo")["state"] == "stream-wals"
    assert "request" not in {event.what for event in between}
    assert "bootstrap_request" in {event.what for event in between}


def test_a_bundle_opens_on_the_cluster_it_was_sealed_for_alone(apart):
    apart.post("paris", "primary/enable")
    public_key = apart.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]
    body = {"id": "tokyo", "secondary_public_key": public_key}
    token = apart.post("paris", "primary/secondary-token", body).data["token"]
    apart.post("tokyo", "secondary/generate-public-key")  # a new pair: the old private half is gone

    refused_and_unharmed(apart, 400, "not a secondary activation token", token=token)


def test_a_key_pair_serves_again_after_a_failure_until_it_succeeded(apart):
    apart.post("paris", "primary/enable")
    public_key = apart.post("tokyo", "secondary/generate-public-key").data["secondary_public_key"]
    body = {"id": "tokyo", "secondary_public_key": public_key}
    token = apart.post("paris", "primary/secondary-token", body).data["token"]
    apart.lab.partition("paris", "tokyo")
    assert enable(apart, token=token).status == 503
    apart.lab.heal()

    assert enable(apart, token=token).status == 200
    assert "node/exchange-key" not in apart.stored("tokyo")


# ---- update-primary


@pytest.fixture
def turned(together):
    """Tokyo is the primary now, paris a newly demoted secondary without an upstream."""
    together["paris"].demote()
    together.lab.run("1s")
    together["tokyo"].promote()
    return together


def update(drill, cluster, **body):
    body = {"dr_operation_token": drill.operation_token(cluster), **body}
    return drill.open_post(cluster, "secondary/update-primary", body)


def test_a_token_points_a_demoted_cluster_at_the_new_primary_and_wipes_nothing(turned):
    before = {key for key in turned.stored("paris") if not key.startswith("node/")}
    answer = update(turned, "paris", token=turned.activation("paris", primary="tokyo"))
    assert {key for key in turned.stored("paris") if not key.startswith("node/")} == before
    turned.lab.run("5s")

    assert (answer.status, len(answer.warnings)) == (200, 1)
    assert turned.status("paris")["state"] == "stream-wals"
    assert turned["paris"].root == turned["tokyo"].root


def test_addresses_are_refused_on_a_newly_demoted_cluster(turned):
    before = turned.stored("paris")["node/mode"]
    answer = update(turned, "paris", update_primary_addrs=["https://tokyo-1:8201"])

    assert (answer.status, answer.errors) == (
        400,
        ["update_primary_addrs cannot be used on a newly demoted cluster; supply a secondary activation token"],
    )
    assert turned.stored("paris")["node/mode"] == before


def test_a_token_and_addresses_are_refused_together(together):
    before = together.stored("tokyo")["node/mode"]
    answer = update(together, "tokyo", token="x", update_primary_addrs=["https://paris-1:8201"])

    assert (answer.status, "mutually exclusive" in answer.errors[0]) == (400, True)
    assert together.stored("tokyo")["node/mode"] == before


def test_a_blank_token_makes_it_forget_its_primary_and_stay_promotable(together):
    answer = update(together, "tokyo", token="")
    status = together.status("tokyo")

    assert answer.status == 200
    assert (status["mode"], status["state"], status["primaries"]) == ("secondary", "idle", [])
    assert "connection_state" not in status
    now_ns = together.lab.now
    together.lab.run("60s")
    sent = [event for event in together.lab.trace.select("message") if event.sent_ns > now_ns]
    assert not [event for event in sent if event.source.startswith("tokyo-")]
    assert together["tokyo"].promote() == "tokyo is the primary now"
    assert together["tokyo"].get(MINE).data["data"] == {"of": "paris"}


def test_addresses_are_tried_one_at_a_time_and_the_first_that_answers_is_taken(together):
    """Paris-1 does not come back, paris-2 leads; nothing has to be compared."""
    lab = together.lab
    lab.crash("paris-1")
    lab.run("8s")
    at_ns = lab.now
    addresses = ["https://oslo-1:8201", "https://paris-1:8201", "https://paris-2:8201"]
    number = together.operation_token()
    body = {"dr_operation_token": number, "update_primary_addrs": addresses}
    answer = together["tokyo"].request("POST", "sys/replication/dr/secondary/update-primary", body, timeout="60s")
    assert answer.status == 204
    lab.run("60s")
    asked = [e.target for e in lab.trace.select("message", what="bootstrap_request") if e.sent_ns > at_ns]

    assert asked == ["paris-1", "paris-2"], "no node is at the first address"
    assert "bootstrap_answer" in {e.what for e in lab.trace.select("message") if e.sent_ns > at_ns}
    assert together.status("tokyo")["connection_state"] == "ready"
    assert together.status("tokyo")["state"] == "stream-wals"


def test_when_no_address_answers_nothing_is_changed(together):
    before = together.stored("tokyo")["node/mode"]
    answer = update(together, "tokyo", update_primary_addrs=["https://tokyo-2:8201"])

    assert answer.status == 503
    assert "nothing was changed" in answer.errors[0]
    assert together.stored("tokyo")["node/mode"] == before


def test_a_token_of_another_set_is_refused_because_its_data_cannot_live_beside_these(drill):
    lab = Lab(triangle())
    lab.replicate("paris", "tokyo")
    lab.work_through("enable-primary", cluster="lima")
    one = drill(lab)
    before = one.stored("tokyo")["node/mode"]
    answer = update(one, "tokyo", token=one.activation("tokyo", primary="lima"))

    assert answer.status == 400
    assert "another replication set" in answer.errors[0]
    assert answer.errors[0].endswith("the token is spent: revoke tokyo on the primary, and issue another one")
    assert one.stored("tokyo")["node/mode"] == before


def test_only_of_a_token_that_was_unwrapped_is_it_said_that_it_is_spent():
    with pytest.raises(Unavailable, match=r"^not now$"), joining.saying(""):
        raise Unavailable("not now")
    for error, kind in ((Unavailable("not now"), BadRequest), (Forbidden("never"), Forbidden)):
        with pytest.raises(kind, match=r"; it is spent$"), joining.saying("it is spent"):
            raise error


def test_what_opens_the_contents_is_never_shown():
    assert repr(BootstrapKeys(b"root", b"keyring", b"config")) == "BootstrapKeys(not shown)"


def test_what_leaves_a_set_forgets_all_of_it_and_nothing_else():
    vault = Vault.dev()
    of_the_set = (
        "authority",
        "token-signer",
        "credentials",
        "exchange-key",
        "operation-token",
        "attempt",
        "reigns",
        "secondaries/61",
    )
    ctx = Context(vault.core, Request("POST", ""), 0)
    for name in (*of_the_set, "other"):
        ctx.full_storage.put(f"node/{name}", b"1")
    vault.core.commit(ctx.writes)
    later = Context(vault.core, Request("POST", ""), 0)
    joining.forget(later)

    assert later.writes == {f"node/{name}": None for name in of_the_set}


GOOD = {"root_key": "00" * 32, "keyring": "00", "seal_config": b"[5,3]".hex()}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "the bootstrap package is malformed; nothing was changed"),
        ({}, "the bootstrap package is malformed; nothing was changed"),
        ({**GOOD, "root_key": "zz"}, "the bootstrap package is malformed; nothing was changed"),
        ({**GOOD, "root_key": 7}, "the bootstrap package is malformed; nothing was changed"),
        ({**GOOD, "seal_config": b"[5]".hex()}, "the bootstrap package is malformed; nothing was changed"),
        ({**GOOD, "seal_config": b"{".hex()}, "the bootstrap package is malformed; nothing was changed"),
        (GOOD, "the bootstrap package's root key does not open its keyring; nothing was changed"),
    ],
)
def test_a_bootstrap_package_that_does_not_fit_is_refused(data, text):
    with pytest.raises(BadRequest) as refused:
        joining._read_keys(data)
    assert refused.value.errors == (text,)


def test_a_step_that_joins_wipes_all_but_the_lease_and_takes_over_the_keys(service):
    ctx = Context(service.core, Request("POST", ""), 0)
    for key in ("node/lease", "node/wal", "node/other"):
        ctx.write(key, b"1")
    service.core.commit(ctx.writes)
    entropy, keyring = service.core.entropy, new_keyring(service.core.entropy, 0)
    root_key = entropy(32)
    keys = BootstrapKeys(root_key, encrypt_keyring(keyring, root_key, entropy), b"[5,3]")
    later = Context(service.core, Request("POST", ""), 0)
    joining.wipe(later, keys)

    kept = [key for key in (*service.core.storage.keys(), "node/other") if later.read(key) is not None]
    assert kept == ["core/keyring", "node/lease", "node/seal-config", "node/wal"]
    assert (later.read("node/seal-config"), later.keys.root_key) == (b"[5,3]", root_key)
    assert later.joined is later.keys
    assert service.core.keys.root_key != root_key


def test_a_secondary_follows_another_primary_of_its_own_set_only():
    bundle = Bundle("set", "b", "authority", "certificate", "00" * 32, 9, "http://b:8200", ("https://b:8201",))
    pointed = joining.repointed(Mode("secondary", cluster_id="set", secondary_id="a"), bundle)
    assert (pointed.secondary_id, pointed.upstream_cluster_addrs) == ("b", ("https://b:8201",))
    with pytest.raises(BadRequest, match=r"^the token is of another replication set"):
        joining.repointed(Mode("secondary", cluster_id="other", secondary_id="a"), bundle)


def test_addresses_are_asked_in_their_order_and_the_first_that_answers_comes_first(service):
    authority = make_authority("b", service.core.entropy, service.core.now(), 60)
    bundle = Bundle("set", "b", authority.certificate, "", "01" * 32, 9, "http://b:8200", ("https://b:8201",))
    ctx = Context(service.core, Request("POST", ""), 0)
    with pytest.raises(BadRequest) as refused:
        next(joining.first_that_answers(ctx, ("a",)))
    assert refused.value.errors == ("this secondary has no credentials of a primary; use a secondary activation token",)
    ctx.full_storage.put("node/exchange-key", b"1")
    joining.store_credentials(ctx, bundle)
    assert ctx.full_storage.get("node/exchange-key") is None
    for answers, ends in (((503, 200), ("b", "a", "c")), ((503, 503, 0), "none of a, b, c answered")):
        asking = joining.first_that_answers(ctx, ("a", "b", "c"))
        asked, result = [next(asking).address], None
        try:
            for status in answers:
                made = make(authority.private, Parties("set", service.core.settings.node), 0)
                data = {"challenge": made.text, "seal": made.seal.hex() if status == 200 else "00"}
                asked.append(asking.send(respond(status and 200, {"data": data})).address)
        except StopIteration as stopped:
            result = stopped.value
        except Unavailable as error:
            result = error.errors[0]
        assert asked == ["a", "b", "c"][: len(answers)]
        assert result == ends or (isinstance(result, str) and result.startswith(ends))


# ---- a join that turns out stale, or cannot be written, at its commit (R4)


@pytest.fixture(scope="module")
def joins(apart_snapshot):
    """Tokyo asks to join paris: the lab at each fetch that its request waits for."""
    lab = Lab.restore(apart_snapshot)
    lab["paris"].post("sys/replication/dr/primary/enable", {}).raise_for_status()
    issued = lab["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"})
    body = {"token": issued.wrap_info["token"]}
    asked = lab.parts.console.ask(Ask("tokyo", "POST", "sys/replication/dr/secondary/enable", body))
    node, found = lab.parts.nodes[lab["tokyo"].active], dict[int, Any]()
    while asked not in lab.parts.console.answers:
        if node.suspended:
            found.setdefault(node.serial, lab.snapshot())
        assert lab.step()
    assert lab.parts.console.answers[asked].status == 200
    return list(found.values())


def kept_by(lab):
    """What a failed join must leave as it was: the store but for the lease, ring and root key, caches, the mode."""
    core = lab.parts.nodes["tokyo-1"].core
    items = lab.parts.stores["tokyo"].state()["items"]
    stored = {key: value for key, value in items.items() if key != "node/lease"}
    return stored, core.keys.barrier, core.keys.state(), core.replica.mode, core.replica.journal.on


@pytest.mark.parametrize("reason", ["overtaken", "disk full"])
@pytest.mark.parametrize("number", [0, -1])
def test_a_join_that_fails_at_its_commit_leaves_everything_as_it_was(joins, monkeypatch, reason, number):
    """Whatever went on before: the wrapping token is spent, and the primary's keys have arrived."""
    lab = Lab.restore(joins[number])
    node, store = lab.parts.nodes["tokyo-1"], lab.parts.stores["tokyo"]
    node.vault.handle(Request("GET", "/v1/secret/data/mine", {"X-Vault-Token": lab["tokyo"].root_token}))
    records = dict(node.core.caches.records)
    before = kept_by(lab)
    if reason == "overtaken":
        store.claim(node.leadership.term + 1)
    else:
        apply = type(store).apply

        def full(self, writes, term):
            if SEAL_CONFIG in writes:
                raise StoreError("no space left on the disk")
            apply(self, writes, term)

        monkeypatch.setattr(type(store), "apply", full)
    while node.suspended:
        assert lab.step()

    assert kept_by(lab) == before
    assert kept_by(lab)[1] is before[1]
    assert records.items() <= dict(node.core.caches.records).items()
    assert records
    assert node.active == (reason == "disk full")
    lab.run("15s")
    assert not any(node.vault.sealed for node in lab.parts.nodes.values())
    assert lab["tokyo"].get(MINE).data["data"] == {"of": "tokyo"}
    assert lab["tokyo"].mode == "disabled"
    assert [entry for entry in lab["paris"].status()["secondaries"] if entry["connection_status"] == "connected"] == []
