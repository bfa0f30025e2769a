"""Admission: how a primary judges who connects, what a secondary shows and to whom, and who is given keys."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.vault.replication.trust import activation, admission
from labkit.vault.replication.trust.challenge import LIFETIME_NS, Challenge

DAY_NS = 86_400 * 1_000_000_000
SECOND_NS = 1_000_000_000

UNSIGNED = "the signature was not made over this data with the certificate's key"
FOREIGN = "the client certificate was issued by another authority, or altered"
NOT_OWN = "the challenge was not made by this authority for this host"


@pytest.fixture
def cores(together):
    """The insides of the primary's and the secondary's active node."""
    return together.lab.parts.nodes["paris-1"].vault.core, together.lab.parts.nodes["tokyo-1"].vault.core


def shown(cores, secondary_id="tokyo"):
    """What the secondary shows for a challenge that the primary just made for it."""
    primary, secondary = cores
    return admission.credentials(secondary, admission.challenge(primary, "tokyo-1", secondary_id))


def judged(cores, given, host="tokyo-1", secondary_id="tokyo"):
    return admission.check_connection(cores[0], secondary_id, host, given)


# ---- judging a connection


def test_a_secondarys_own_credentials_are_welcome(cores):
    assert judged(cores, shown(cores)) == ""


def test_a_proof_counts_for_the_challenge_that_was_signed_only(cores):
    one, later_ns = shown(cores), cores[0].now() + 1
    cores[0].now = lambda: later_ns
    other = shown(cores)

    assert judged(cores, {**one, "challenge": other["challenge"], "seal": other["seal"]}) == UNSIGNED


def test_credentials_that_another_host_replays_are_worthless(cores):
    assert judged(cores, shown(cores), host="lima-1") == NOT_OWN


def test_a_challenge_of_the_callers_own_making_is_none(cores):
    given = shown(cores)

    assert judged(cores, {**given, "challenge": "5"}) == NOT_OWN
    assert judged(cores, {**given, "seal": bytes(64)}) == NOT_OWN


@pytest.mark.parametrize(("later_ns", "why"), [(LIFETIME_NS - 1, ""), (LIFETIME_NS, "over"), (-1, "over")])
def test_a_challenge_counts_for_a_minute(cores, later_ns, why):
    given, now_ns = shown(cores), cores[0].now() + later_ns
    cores[0].now = lambda: now_ns

    assert why in judged(cores, given)
    assert bool(why) == bool(judged(cores, given))


def test_a_challenge_is_made_for_a_known_id_only(cores):
    with pytest.raises(ValueError, match="revoked, or never issued"):
        admission.challenge(cores[0], "tokyo-1", "lima")


def test_a_secondary_proves_nothing_to_who_only_poses_as_its_primary(cores):
    primary, secondary = cores
    seen = []
    secondary.observe = lambda kind, **fields: seen.append((kind, fields))
    honest = admission.challenge(primary, "tokyo-1", "tokyo")
    to_another = admission.challenge(primary, "lima-1", "tokyo")

    for false in (Challenge("5", bytes(64)), honest._replace(text="0" + honest.text), to_another):
        with pytest.raises(ValueError, match=NOT_OWN):
            admission.credentials(secondary, false)
    assert seen == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"certificate": "x"}, "the certificate is not the one that was issued for this id"),
        ({"cluster_id": "x"}, "the cluster belongs to another replication set"),
        ({"signature": b"x" * 64}, UNSIGNED),
        ({"version": "1.15.0+ent"}, "upgrade the downstream cluster first"),
    ],
)
def test_each_part_of_them_counts(cores, changed, reason):
    why = judged(cores, {**shown(cores), **changed})

    assert why
    assert reason in why


def test_nothing_shown_is_not_enough(cores):
    assert judged(cores, {}) == "the certificate is not the one that was issued for this id"
    assert judged(cores, {}, secondary_id="lima") == admission.NEVER_ISSUED


def test_a_certificate_ends_after_ten_years(cores):
    given = shown(cores)
    later = cores[0].now() + 3_660 * DAY_NS
    cores[0].now = lambda: later

    assert "certificate" in judged(cores, given)


def test_a_new_authority_outdates_all_certificates(together, cores):
    """Demoted and promoted again, paris has another authority; the id is still listed, and not let in."""
    given = shown(cores)
    together["paris"].demote()
    together["paris"].promote()

    assert together.status("paris")["known_secondaries"] == ["tokyo"]
    assert judged(cores, given) == FOREIGN


# ---- the cluster port, before a connection


def asked(cores, **changed):
    """Ask for a challenge as tokyo does."""
    body = {"cluster_id": cores[0].replica.mode.cluster_id, "secondary_id": "tokyo", **changed}
    return admission.answer_challenge(cores[0], "tokyo-1", body)


def test_any_node_of_a_primary_makes_challenges_and_none_holds_a_key(together, cores):
    standby = together.lab.parts.nodes["paris-2"].vault.core
    answer = admission.answer_challenge(
        standby, "tokyo-1", {"cluster_id": cores[0].replica.mode.cluster_id, "secondary_id": "tokyo"}
    )

    assert (answer.status, sorted(answer.data)) == (200, ["challenge", "seal"])
    given = admission.credentials(cores[1], admission.read_challenge(answer.data))
    assert judged(cores, given) == ""


def test_who_is_not_known_or_of_another_set_gets_no_challenge(cores):
    assert (asked(cores).status, asked(cores, secondary_id="lima").status) == (200, 403)
    assert asked(cores, cluster_id="other").errors == ["this is a primary of another replication set"]


@pytest.mark.parametrize("data", [None, [], {}, *({"challenge": "5", "seal": seal} for seal in ("zz", 7, None))])
def test_an_answer_without_a_challenge_is_none(data):
    with pytest.raises(ValueError, match=r"."):
        admission.read_challenge(data)


def test_keys_are_given_until_the_activation_is_over(cores):
    assert admission.bootstrap(cores[0], "tokyo-1", shown(cores)).status == 200
    later_ns = cores[0].now() + activation.DEFAULT_TTL_S * SECOND_NS
    cores[0].now = lambda: later_ns
    refused = admission.bootstrap(cores[0], "tokyo-1", shown(cores))

    assert (refused.status, "had to be used before 20" in refused.errors[0]) == (403, True)
    assert judged(cores, shown(cores)) == "", "who joined in time stays connected"


def test_a_replayed_request_for_keys_is_refused(cores):
    given = shown(cores)

    assert admission.bootstrap(cores[0], "lima-1", given).status == 403
    now_ns = cores[0].now() + LIFETIME_NS
    cores[0].now = lambda: now_ns
    assert admission.bootstrap(cores[0], "tokyo-1", given).status == 403


# ---- what does not open (C12)


def spoil(core, key):
    stored = core.storage.get(key)
    core.storage.apply({key: stored[:-1] + bytes([stored[-1] ^ 1])}, core.leadership.term)


@pytest.mark.parametrize("what", ["the id's record", "the authority"])
def test_a_connection_is_refused_while_what_it_is_judged_by_is_damaged(cores, what):
    given = shown(cores)
    key = activation.AUTHORITY if what == "the authority" else activation.SECONDARIES + b"tokyo".hex()
    spoil(cores[0], key)

    assert key in judged(cores, given)
    for refused in (admission.bootstrap(cores[0], "tokyo-1", given), asked(cores)):
        assert (refused.status, key in refused.errors[0]) == (403, True)


def test_damaged_credentials_are_shown_to_nobody_and_reported_once(cores):
    tokyo, seen = cores[1], []
    given = [admission.challenge(cores[0], "tokyo-1", "tokyo") for _ in range(2)]
    tokyo.observe = lambda kind, **fields: seen.append((kind, fields))
    spoil(tokyo, activation.CREDENTIALS)

    for challenge in given:
        with pytest.raises(ValueError, match="no credentials of a primary"):
            admission.credentials(tokyo, challenge)
    assert seen == [("stored value damaged", {"key": activation.CREDENTIALS})]


def test_a_cluster_that_is_no_primary_or_sealed_gives_no_keys_to_anybody():
    vault = Vault.dev()
    for refused in (admission.bootstrap(vault.core, "a", {}), admission.answer_challenge(vault.core, "a", {})):
        assert (refused.status, refused.errors) == (503, [admission.NO_PRIMARY])
    vault.post("sys/replication/dr/primary/enable")
    refused = admission.bootstrap(vault.core, "a", {"secondary_id": "a"})
    never = "bootstrap refused: the activation of this id was revoked, or never issued"
    assert (refused.status, refused.errors) == (403, [never])
    vault.put("sys/seal")
    assert admission.bootstrap(vault.core, "a", {}).errors == [admission.NO_PRIMARY]
    with pytest.raises(ValueError, match="no credentials of a primary"):
        admission.credentials(vault.core, Challenge("", b""))
