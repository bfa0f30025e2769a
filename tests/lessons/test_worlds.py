"""Worlds: what counts as done, where one began, and that a branch leaves it as it was."""

from __future__ import annotations

import pytest

from labkit import Lab, Vault
from labkit.lessons.two_primaries.fence import start as fence
from labkit.lessons.two_primaries.stall import start as stall
from labkit.lessons.worlds import KeptStart, acts_of, begins_as, branched, fingerprint, is_world

WRITE = {"data": {"n": 1}}


@pytest.mark.parametrize(
    "act",
    [
        lambda lab: lab.run("90s"),
        lambda lab: lab["paris"].get("secret/data/orders/1"),
        lambda lab: (lab.map(), lab.timeline(), lab.lag("paris", "tokyo"), lab["paris"].status()),
        lambda lab: lab.branch("x")["paris"].demote(),
    ],
)
def test_reading_drawing_and_time_are_not_done(act):
    lab = fence()
    act(lab)
    assert acts_of(lab) == acts_of(fence())


@pytest.mark.parametrize(
    "act",
    [
        lambda lab: lab["paris"].post("secret/data/x", WRITE),
        lambda lab: lab["paris"].demote(),
        lambda lab: lab["paris"].seal(),
        lambda lab: lab.heal(),
        lambda lab: lab.crash("paris-3"),
        lambda lab: lab["tokyo"].promote(),
    ],
)
def test_writes_verbs_and_faults_are_done(act):
    lab = fence()
    act(lab)
    assert acts_of(lab) != acts_of(fence())


def test_of_a_vault_writes_are_done():
    vault = Vault.dev(seed=5)
    begun = acts_of(vault)
    vault.get("secret/data/app")
    vault.list("secret/metadata")
    vault.advance("1h")
    assert acts_of(vault) == begun
    vault.post("secret/data/app", WRITE)
    assert acts_of(vault) != begun


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("secret/data/app", {"data": 5}, 400),
        ("secret/data/app", {"data": {}, "options": {"cas": 7}}, 400),
        ("nowhere/app", {}, 404),
        ("transit/decrypt/none", {"ciphertext": "vault:v1:x"}, 400),
    ],
)
def test_a_write_that_was_refused_is_done_and_a_reading_is_not(path, body, status):
    vault = Vault.dev(seed=5)
    begun = acts_of(vault)

    assert vault.get("secret/data/app").status == 404
    assert vault.get("secret/data/app", token="hvs.unknown").status == 403
    assert acts_of(vault) == begun
    assert vault.post(path, body).status == status
    assert acts_of(vault) != begun


@pytest.mark.parametrize(
    ("cluster", "path", "body", "status"),
    [
        ("tokyo", "secret/data/app", WRITE, 400),
        ("paris", "secret/data/app", {"data": 5}, 400),
        ("tokyo", "sys/replication/dr/secondary/promote", {"dr_operation_token": "hvs.x"}, 403),
        ("tokyo", "sys/replication/dr/secondary/generate-operation-token/attempt", {}, 200),
    ],
)
def test_in_a_lab_too_whoever_is_refused_has_tried_and_an_attempt_by_hand_counts(cluster, path, body, status):
    lab = fence()
    lab["paris"].get("secret/data/none")
    lab["tokyo"].get("secret/data/app")
    lab["tokyo"].merkle_check()
    assert acts_of(lab) == acts_of(fence()), "what is read, by requests or a runbook"

    assert lab[cluster].post(path, body).status == status
    assert acts_of(lab) != acts_of(fence())


def test_a_login_is_done_also_if_it_is_refused():
    vault = Vault.dev(seed=5)
    begun = acts_of(vault)

    assert vault.cloud.vm("web-1").login(vault, role="none").status == 400
    assert acts_of(vault) != begun


def test_where_one_began_is_seen_whatever_was_done_since():
    lab = fence()
    lab.crash("paris")
    lab.run("1s")
    assert begins_as(lab, fence())
    assert not begins_as(stall(), fence())
    assert not begins_as(Lab.pair(seed=61), fence())
    assert not begins_as(Vault.dev(seed=1), fence())
    assert begins_as(Vault.dev(seed=1), Vault.dev(seed=1))
    assert not begins_as(Vault.dev(seed=1), Vault.dev(seed=2))


def test_a_branch_leaves_a_lab_as_it_was():
    lab = fence()
    before, branches = lab.trace.digest(), lab.parts.branches
    branch = branched(lab)
    branch["paris"].demote()
    again = branched(lab)

    assert (lab.trace.digest(), lab.parts.branches, lab["paris"].mode) == (before, branches, "primary")
    assert again.parts.label.branch == branch.parts.label.branch != lab.parts.label.branch


def test_a_branch_leaves_a_vault_as_it_was():
    vault = Vault.dev(seed=5)
    vault.post("transit/keys/k", {})
    branch = branched(vault)
    branch.delete("secret/metadata/app")
    body = {"plaintext": "AAAA"}
    drawn = [one.post("transit/encrypt/k", body).data for one in (branched(vault), branched(vault), vault.branch("x"))]

    assert drawn[0] == drawn[1] != drawn[2]
    assert len(vault.calls) == 1


def test_a_start_is_made_once_and_given_new_each_time():
    one, other = fence(), fence()
    one.heal()

    assert one is not other
    assert other.trace.digest() == fence().trace.digest()
    assert "start" in repr(fence)


def test_labs_and_vaults_are_worlds():
    assert is_world(Vault.dev(seed=1))
    assert not is_world("paris")
    assert fingerprint(1) == fingerprint(1) != fingerprint(2)


@pytest.mark.slow
def test_a_reindex_is_something_done():
    lab = Lab.pair(seed=3)
    lab.replicate("paris", "tokyo")
    before = acts_of(lab)
    lab["paris"].reindex()

    assert acts_of(lab) != before


def test_branches_of_what_differs_draw_nothing_alike():
    vault, lab = Vault.dev(seed=5), fence()
    vault.post("transit/keys/k", {})
    body = {"plaintext": "AAAA"}
    drawn = [branched(vault).post("transit/encrypt/k", body).data["ciphertext"]]
    vault.post("secret/data/app", WRITE)
    drawn.append(branched(vault).post("transit/encrypt/k", body).data["ciphertext"])
    vault.advance("1s")
    drawn.append(branched(vault).post("transit/encrypt/k", body).data["ciphertext"])
    labels = [branched(lab).parts.label.branch]
    lab.run("1s")
    labels.append(branched(lab).parts.label.branch)

    assert len(set(drawn)) == 3
    assert len(set(labels)) == 2


def test_a_start_keeps_pictures_and_its_trace_is_as_without():
    plain = Lab.pair(seed=61)
    plain.run("1s")
    kept = KeptStart(lambda: Lab.pair(seed=61).run("1s"))()
    assert kept.trace.digest() == plain.trace.digest()
    for lab in (plain, kept):
        lab.replicate("paris", "tokyo")

    assert kept.trace.digest() == plain.trace.digest()
    assert kept.play().to_dict()["trees"]
    assert not plain.play().to_dict().get("trees")
