"""Rotating the root credential: the secret in place always works, and only what is known to be old is removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.service.message import Fetch, Request, Response, Suspended, respond, silence
from labkit.vault.auth.cloud import rotation
from labkit.vault.auth.cloud.rotation import PATIENCE_NS, Rotation
from labkit.vault.context import Context

PATH = "auth/cloud/rotate-root"


def secret_of(stand) -> str:
    """The secret that is in place."""
    secret: str = stand.vault.get("auth/cloud/config").data["client_secret"]
    return secret


def key_ids(stand) -> list[str]:
    """The ids of the secrets that the directory knows."""
    application = stand.cloud.inventory.applications[stand.cloud.config["client_id"]]
    return [secret.key_id for secret in application.secrets]


def stored_rotation(stand) -> Any:
    """What is stored of the last rotation."""
    storage = Context(stand.vault.core, Request("GET", ""), 0).full_storage
    prefix = f"logical/{stand.vault.get('sys/auth').data['cloud/']['uuid']}/"
    return storage.decoded(prefix + "rotation", rotation._decode)


def failing(word: str, answer: Response) -> Any:
    """An answer in the directory's or the token endpoint's place."""
    return lambda fetch: answer if word in fetch.request.path else None


@pytest.fixture(autouse=True)
def _same_secrets(stand):
    """Leave the shared cloud with the secrets that it had."""
    application = stand.cloud.inventory.applications[stand.cloud.config["client_id"]]
    yield
    now = stand.cloud.inventory.applications[application.client_id]
    stand.cloud.inventory.keep_secrets(now, application.secrets)


def test_a_secret_takes_the_place_of_the_old_one_and_nobody_sees_it_go_by(stand) -> None:
    old, ids = secret_of(stand), key_ids(stand)
    assert stand.vault.post(PATH).status == 204
    new = secret_of(stand)

    assert new != old
    assert len(key_ids(stand)) == 1
    assert key_ids(stand) != ids
    assert stand.asked == ["token", "applications", "addPassword", "token", "removePassword"]
    stand.vault.post("auth/cloud/config", {"max_retries": 1})  # drops the access token of before
    assert stand.login(role="web").ok
    assert new not in repr((stand.seen, stand.fetched))


@pytest.mark.parametrize("path", ["cloud/rotate-root", "elsewhere/rotate-root"])
def test_it_is_asked_for_without_auth_too(stand, path) -> None:
    stand.vault.post("sys/auth/elsewhere", {"type": "cloud"})
    stand.vault.post("auth/elsewhere/config", stand.cloud.config)

    assert stand.vault.post(path).status == 204


def test_an_engine_of_that_name_wins_its_path_and_other_methods_have_none(stand) -> None:
    assert stand.vault.post("token/rotate-root").status == 404
    stand.vault.post("sys/mounts/cloud", {"type": "kv"})
    stand.vault.post("cloud/rotate-root", {"a": 1})

    assert stand.vault.get("cloud/rotate-root").data == {"a": 1}
    assert stand.fetched == []


def test_the_path_without_auth_is_judged_by_the_policy_of_the_other(stand) -> None:
    stand.vault.post(
        "sys/policies/acl/rotate", {"policy": 'path "auth/cloud/rotate-root" { capabilities = ["update"] }'}
    )
    stand.vault.post("sys/policies/acl/short", {"policy": 'path "cloud/rotate-root" { capabilities = ["update"] }'})
    tokens = [
        stand.vault.post("auth/token/create", {"policies": [name]}).auth["client_token"] for name in ("rotate", "short")
    ]

    assert [stand.vault.post("cloud/rotate-root", token=token).status for token in tokens] == [204, 403]


@pytest.mark.parametrize("change", [{"client_secret": ""}, {"client_id": ""}, {"client_id": "x' or appId eq 'y"}])
def test_without_a_client_there_is_nothing_to_rotate(stand, change) -> None:
    stand.vault.post("auth/cloud/config", change)
    refused = stand.vault.post(PATH)

    assert (refused.status, refused.errors[0][:15]) == (400, "not configured:")
    assert stand.fetched == []


@pytest.mark.parametrize(
    "answer", [silence("x"), respond(503), respond(403), respond(200, {}), respond(200, {"value": ["x"]})]
)
@pytest.mark.parametrize("word", ["/applications?", "addPassword"])
def test_a_directory_that_fails_changes_nothing(stand, word, answer) -> None:
    old, ids = secret_of(stand), key_ids(stand)
    stand.instead[:] = [failing(word, answer)]
    refused = stand.vault.post(PATH)
    stand.instead.clear()

    assert (refused.status, secret_of(stand), key_ids(stand)) == (503, old, ids)
    assert stand.vault.post(PATH).status == 204  # the next one may begin


def test_several_applications_of_one_client_are_not_guessed_at(stand) -> None:
    row = {"id": "11111111-0000-4000-8000-000000000001"}
    stand.instead[:] = [failing("/applications?", respond(200, {"value": [row, row]}))]
    refused = stand.vault.post(PATH)

    assert (refused.status, "has 2 applications" in refused.errors[0]) == (503, True)


def test_a_secret_that_spreads_slowly_is_waited_for(stand) -> None:
    refusals = [respond(401), respond(401)]
    stand.instead[:] = [
        lambda fetch: (
            refusals.pop() if stand.asked.count("token") > 1 and "token" in fetch.request.path and refusals else None
        )
    ]
    before_ns = stand.vault.now()

    assert stand.vault.post(PATH).status == 204
    assert stand.vault.now() - before_ns > 12_000_000_000


def test_a_secret_that_never_spreads_is_given_up_and_removed_by_the_next(stand) -> None:
    old, ids = secret_of(stand), key_ids(stand)
    stand.instead[:] = [
        lambda fetch: respond(401) if stand.asked.count("token") > 1 and "token" in fetch.request.path else None
    ]
    refused = stand.vault.post(PATH)
    assert (refused.status, "the old one holds" in refused.errors[0]) == (503, True)
    assert secret_of(stand) == old
    assert len(key_ids(stand)) == 2
    assert key_ids(stand)[0] == ids[0]
    stand.instead.clear()

    assert stand.vault.post(PATH).status == 204
    assert len(key_ids(stand)) == 1


def test_what_cannot_be_removed_is_left_for_the_next(stand) -> None:
    stand.instead[:] = [failing("removePassword", respond(500))]
    warned = stand.vault.post(PATH)
    assert (warned.status, len(key_ids(stand))) == (200, 2)
    assert "1 secrets that were replaced could not be removed" in warned.warnings[0]
    stand.instead.clear()

    assert stand.vault.post(PATH).status == 204
    assert len(key_ids(stand)) == 1


def test_what_is_gone_already_counts_as_removed(stand) -> None:
    stand.instead[:] = [failing("removePassword", respond(404))]

    assert stand.vault.post(PATH).status == 204


def test_secrets_of_others_are_never_removed(stand) -> None:
    from labkit.cloud.application_directory import new_secret

    application = stand.cloud.inventory.applications[stand.cloud.config["client_id"]]
    other = new_secret(stand.cloud.parts, "another", stand.clock.now_ns * 2, 0)
    twin = other._replace(key_id="twin", text=application.secrets[0].text[:3] + "x")
    stand.cloud.inventory.keep_secrets(application, (*application.secrets, other, twin))
    warned = stand.vault.post(PATH)

    assert "is not known to the directory for sure" in warned.warnings[0]
    assert key_ids(stand)[:3] == [application.secrets[0].key_id, other.key_id, "twin"]
    assert stand.vault.post(PATH).status == 204  # by then the id is known
    assert key_ids(stand)[:3] == [application.secrets[0].key_id, other.key_id, "twin"]
    assert len(key_ids(stand)) == 4


def test_one_rotation_at_a_time(stand) -> None:
    inside: list[Response] = []

    def again(fetch: Fetch) -> None:
        if "addPassword" in fetch.request.path:
            inside.append(stand.vault.post(PATH))

    stand.instead[:] = [again]
    assert stand.vault.post(PATH).status == 204
    assert [(answer.status, answer.errors[0][:22]) for answer in inside] == [(400, "a rotation is under wa")]


def test_a_configuration_that_is_changed_meanwhile_holds(stand) -> None:
    def change(fetch: Fetch) -> None:
        if "addPassword" in fetch.request.path:
            stand.vault.post("auth/cloud/config", {"client_secret": "another"})

    stand.instead[:] = [change]
    refused = stand.vault.post(PATH)

    assert (refused.status, secret_of(stand)) == (400, "another")
    added = key_ids(stand)[1]
    stand.instead.clear()
    stand.vault.post("auth/cloud/config", {"client_secret": stand.cloud.config["client_secret"]})
    assert stand.vault.post(PATH).ok
    assert added not in key_ids(stand)


@pytest.mark.parametrize("word", ["/applications?", "addPassword", "removePassword"])
@pytest.mark.parametrize("deleted", [True, False])
def test_another_client_or_none_meanwhile_gets_no_secret_of_the_old_one(stand, word, deleted) -> None:
    kept = stand.cloud.config
    other = {"client_id": "99999999-0000-4000-8000-000000000001", "client_secret": kept["client_secret"]}

    def change(fetch: Fetch) -> None:
        if word in fetch.request.path and len(stand.instead) == 1:
            stand.instead.append(lambda fetch: None)
            if deleted:
                stand.vault.delete("auth/cloud/config")
            else:
                stand.vault.post("auth/cloud/config", other)

    stand.instead[:] = [change]
    answer = stand.vault.post(PATH)
    stand.instead.clear()

    assert answer.status == (204 if word == "removePassword" else 400), answer
    assert not answer.errors or "the configuration was" in answer.errors[0]
    if deleted:
        assert stored_rotation(stand) is None
        assert stand.vault.get("auth/cloud/config").status == 404
    else:
        stored = stored_rotation(stand)
        assert (stored.began_ns, stored.secret, stored.key_id) == (0, "", "")
        assert secret_of(stand) == kept["client_secret"]
    secrets = stand.cloud.inventory.applications[kept["client_id"]].secrets
    stand.vault.post("auth/cloud/config", {**kept, "client_secret": secrets[-1].text})
    assert stand.vault.post(PATH).ok  # nothing is under way any more


@pytest.mark.parametrize("word", ["/applications?", "addPassword", "removePassword"])
def test_a_token_that_is_revoked_meanwhile_rotates_no_further(stand, word) -> None:
    token = stand.vault.post("auth/token/create", {"policies": ["root"]}).auth["client_token"]

    def revoke(fetch: Fetch) -> None:
        if word in fetch.request.path:
            stand.vault.post("auth/token/revoke", {"token": token})

    stand.instead[:] = [revoke]
    refused = stand.vault.post(PATH, token=token)
    stand.instead.clear()

    assert refused.status == 403
    assert stand.vault.post(PATH).status == 400  # how far the other one came is as its last step left it
    stand.clock.now_ns += PATIENCE_NS
    assert stand.vault.post(PATH).ok


def test_a_node_that_stops_at_any_question_leaves_a_secret_that_works(stand) -> None:
    """A stopped node answers nothing more; the store is as its last step left it."""
    headers = {"X-Vault-Token": stand.vault.root_token}
    for stop_after in range(6):
        outcome = stand.vault.handle(Request("POST", f"/v1/{PATH}", headers, {}))
        for _ in range(stop_after):
            if isinstance(outcome, Suspended):
                outcome = stand.vault.resume(outcome, stand.cloud.answer(outcome.fetch))
        secrets = [each.text for each in stand.cloud.inventory.applications[stand.cloud.config["client_id"]].secrets]
        assert secret_of(stand) in secrets, stop_after
        stand.clock.now_ns += PATIENCE_NS
        assert stand.vault.post(PATH).ok, stop_after
        assert secret_of(stand) != "", stop_after
    assert len(key_ids(stand)) <= 2  # one may be left of a node that stopped before it knew what it had added


def questions(stand, outcome: Any, count: int) -> Any:
    """Answer so many of a rotation's questions; return how it stands then, or how it ended."""
    for _ in range(count):
        if not isinstance(outcome, Suspended):
            break
        outcome = stand.vault.resume(outcome, stand.cloud.answer(outcome.fetch))
    return outcome


def written_again(stand) -> None:
    """The configuration is deleted, and written as it was."""
    kept = stand.vault.get("auth/cloud/config").data
    stand.vault.delete("auth/cloud/config")
    stand.vault.post("auth/cloud/config", kept).raise_for_status()


def long_after(stand) -> None:
    """The first rotation takes longer than another one waits."""
    stand.clock.now_ns += PATIENCE_NS


@pytest.mark.parametrize("between", [written_again, long_after])
def test_of_two_rotations_the_first_keeps_and_replaces_nothing_of_the_second(stand, between) -> None:
    """The first is begun and waits, the second begins; the first's answers come at every point of the second."""
    asked = Request("POST", f"/v1/{PATH}", {"X-Vault-Token": stand.vault.root_token}, {})
    for first_answers in range(6):
        for second_answers in range(7):
            case = (first_answers, second_answers)
            first = questions(stand, stand.vault.handle(asked), first_answers)
            between(stand)
            second = questions(stand, stand.vault.handle(asked), second_answers)
            path = first.fetch.request.path if isinstance(first, Suspended) else ""
            before, asked_before = stored_rotation(stand), len(stand.asked)
            first = questions(stand, first, 9)
            now = stored_rotation(stand)
            assert (now.id, now.began_ns) == (before.id, before.began_ns), case
            assert stand.asked[asked_before:].count("addPassword") == path.endswith("addPassword"), case
            second = questions(stand, second, 9)
            secrets = [
                each.text for each in stand.cloud.inventory.applications[stand.cloud.config["client_id"]].secrets
            ]
            assert second.ok, case
            assert first.ok or first.code in ("config_changed", "cloud_unavailable"), case
            assert secret_of(stand) in secrets, case
            assert stand.vault.post(PATH).ok, case
            assert key_ids(stand) == [stored_rotation(stand).key_id], case


def test_what_the_first_of_two_cannot_remove_the_second_does(stand) -> None:
    stand.vault.post("auth/cloud/config", {"max_retries": 0})
    asked = Request("POST", f"/v1/{PATH}", {"X-Vault-Token": stand.vault.root_token}, {})
    first = questions(stand, stand.vault.handle(asked), 4)
    assert first.fetch.request.path.endswith("removePassword")
    written_again(stand)
    second = questions(stand, stand.vault.handle(asked), 3)
    assert stand.vault.resume(first, respond(500)).ok
    assert len(key_ids(stand)) == 3

    assert questions(stand, second, 9).ok
    assert key_ids(stand) == [stored_rotation(stand).key_id]


def test_a_secret_that_is_in_place_again_is_not_removed_as_the_old_one(stand) -> None:
    """It was put back while another one was removed; a token with which the first could go on is there again."""
    old = secret_of(stand)
    stand.instead[:] = [failing("removePassword", respond(500))]
    assert stand.vault.post(PATH).ok
    stand.instead.clear()
    between = secret_of(stand)
    asked = Request("POST", f"/v1/{PATH}", {"X-Vault-Token": stand.vault.root_token}, {})
    first = questions(stand, stand.vault.handle(asked), 3)
    assert first.fetch.request.path.endswith("removePassword")
    stand.vault.delete("auth/cloud/config")
    stand.vault.post("auth/cloud/config", {**stand.cloud.config, "client_secret": between})
    questions(stand, stand.vault.handle(asked), 1)

    assert questions(stand, first, 9).ok
    texts = [each.text for each in stand.cloud.inventory.applications[stand.cloud.config["client_id"]].secrets]
    assert (old in texts, between in texts) == (False, True)


def test_a_secret_that_goes_with_another_client_is_named_to_be_removed(stand) -> None:
    other = {"client_id": "99999999-0000-4000-8000-000000000001"}
    stand.instead[:] = [
        lambda fetch: (
            stand.vault.post("auth/cloud/config", other) and None if "addPassw" in fetch.request.path else None
        )
    ]
    refused = stand.vault.post(PATH)

    assert (refused.status, f"id {key_ids(stand)[1]} is of no use, remove it" in refused.errors[0]) == (400, True)
    assert stored_rotation(stand).left == ()


def test_no_representation_shows_a_secret() -> None:
    assert repr(Rotation(1, "canary-91c2", "id", ("a",))) == "Rotation(under way, 1 left)"


# ---- beside a secondary


@pytest.fixture
def replicating():
    """Paris leads, tokyo follows it; the application of the cloud has one secret."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="paris")), seed=5)
    lab["paris"].post("sys/auth/cloud", {"type": "cloud"}).raise_for_status()
    lab["paris"].post("auth/cloud/config", lab.cloud.config).raise_for_status()
    lab["paris"].post("auth/cloud/role/loc", {"bound_locations": "westeurope"}).raise_for_status()
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    return lab


def secrets_in(lab: Lab) -> list[str]:
    """The ids of the secrets that the directory knows."""
    application = lab.cloud.inventory.applications[lab.cloud.config["client_id"]]
    return [secret.key_id for secret in application.secrets]


def test_the_old_secret_stays_until_the_secondary_has_the_new_one(replicating) -> None:
    lab = replicating
    ids = secrets_in(lab)
    warned = lab["paris"].post(PATH, {})
    assert (warned.status, len(warned.warnings)) == (200, 1)
    assert "1 secrets that were replaced stay: a secondary has not applied the new one yet" in warned.warnings[0]
    first = secrets_in(lab)
    assert first[:1] == ids
    lab.run("5s")
    lab["paris"].post(PATH, {})

    assert secrets_in(lab)[:1] == first[1:], "the next rotation removes what the last one left"
    assert len(secrets_in(lab)) == 2


@pytest.mark.parametrize("rotations", [1, 2])
def test_a_secondary_that_was_cut_off_before_can_be_promoted_and_reads_machines(replicating, rotations) -> None:
    lab = replicating
    lab.partition("paris", "tokyo")
    for _ in range(rotations):
        assert lab["paris"].post(PATH, {}).ok
    lab.crash("paris")
    lab.heal()
    lab.run("1s")
    lab["tokyo"].promote(force=True)

    assert lab.cloud.vm("web-1").login(lab["tokyo"], "loc").ok


def test_who_is_not_connected_is_not_waited_for(replicating) -> None:
    lab = replicating
    lab.partition("paris", "tokyo")
    lab.run("16s")

    assert lab["paris"].post(PATH, {}).status == 204
    assert len(secrets_in(lab)) == 1


def test_a_rotation_of_which_the_clock_stands_before_the_beginning_is_over(stand) -> None:
    stand.clock.now_ns += 3_600 * 1_000_000_000
    asked = Request("POST", f"/v1/{PATH}", {"X-Vault-Token": stand.vault.root_token}, {})
    assert isinstance(stand.vault.handle(asked), Suspended)
    assert stand.vault.post(PATH).status == 400
    stand.clock.now_ns -= 3_600 * 1_000_000_000

    assert stand.vault.post(PATH).status == 204
