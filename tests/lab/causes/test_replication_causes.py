"""Replication causes: what makes a secondary lose its primary, ask, compare and go on."""

from __future__ import annotations

from labkit import Lab


def test_a_secondary_that_follows_a_new_leader_names_what_happened_to_the_old_one(calm):
    calm.crash("paris-1")
    calm.run("6s")

    found = calm.why("tokyo: connected")

    assert [step.sentence.split()[0] for step in found.steps] == ["tokyo-1", "paris-2", "paris-2", "paris-1"]
    assert "announces itself to tokyo-1" in found.steps[1].sentence


def test_a_secondary_without_answers_names_the_primary_that_stands_still(calm):
    for node in calm["paris"].nodes:
        calm.pause(node)
    calm.run("20s")

    found = calm.why("tokyo: disconnected")

    assert found.steps[0].sentence.endswith("no heartbeat was answered for 15 s")
    assert found.root.sentence == "the process of paris-1 stands still, by hand"


def test_a_secondary_that_is_refused_names_why_the_primary_did(calm):
    calm.seal("paris")
    calm.run("1500ms")

    found = calm.why("tokyo: disconnected")

    assert found.root.sentence == "an operator sends paris-1 the request that led to it, by hand"
    assert "paris-1 is sealed" in str(found)


def test_a_secondary_of_a_demoted_primary_names_the_demotion(calm):
    calm["paris"].demote()
    calm.run("2s")

    found = calm.why("tokyo: disconnected")

    assert found.steps[1].sentence == "paris is secondary, idle"
    assert found.origin == "operator"


def test_a_revoked_secondary_names_the_revocation(calm):
    calm["paris"].post("sys/replication/dr/primary/revoke-secondary", {"id": "tokyo"})
    calm.run("2s")

    found = calm.why("tokyo: disconnected")

    assert found.origin == "operator"
    assert "paris-1" in found.root.sentence


def test_a_secondary_that_is_back_names_what_brought_it_back(calm):
    calm.isolate("tokyo")
    calm.run("20s")
    calm.heal()
    calm.run("30s")

    assert calm.why("tokyo: connected").root.sentence == "cuts end (all), by hand"
    assert calm.why("tokyo: guard found").root.sentence == "tokyo is cut off from every other site, by hand"


def test_rotten_contents_name_the_damage(calm):
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s")
    calm.corrupt("tokyo", layer="storage")
    calm["tokyo"].reindex()
    calm.run("3s")

    assert calm.why("tokyo: merkle-diff").origin == "operator"  # of the reindex, without which nobody had noticed
    assert calm.why("tokyo: corrupted").root.sentence == "tokyo is damaged on purpose (storage), by hand"


def test_of_several_damages_it_says_how_many_stand(calm):
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.run("1s")
    calm.corrupt("tokyo", layer="root")
    calm.corrupt("tokyo", layer="subtree")
    calm.run("1s")

    assert "after 2 damages, any of which would do" in calm.why("tokyo: roots differ").steps[0].sentence


def test_a_refused_connection_names_the_impostor(calm):
    calm.impersonate("paris")
    calm.run("18s")

    for event in ("tokyo: message refused", "tokyo: disconnected"):
        assert calm.why(event).root.sentence.startswith("an impostor takes the place of paris-")


def test_a_cluster_that_joins_after_silent_tries_names_the_operator():
    lab = Lab.pair()
    lab["paris"].enable_primary()
    token = lab["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"}).wrap_info["token"]
    lab.crash("paris-1")
    lab.run("4s")
    lab["tokyo"].post("sys/replication/dr/secondary/enable", {"token": token})
    lab.run("3s")

    found = lab.why("tokyo: idle")

    assert found.origin == "operator"
    assert "an operator sends tokyo-1 the request that led to it" in found.root.sentence


def test_an_activation_that_ended_with_its_primary_names_the_end(calm):
    calm["paris"].disable()
    calm["paris"].enable_primary()
    calm.run("3s")

    for event in ("paris: connection_refused", "tokyo: disconnected"):
        assert calm.why(event).origin == "operator"
