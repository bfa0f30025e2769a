"""Versions by number over the wire: delete, undelete and destroy."""

from __future__ import annotations

from typing import Any

import pytest

VERBS = ["delete", "undelete", "destroy"]


def states(service: Any) -> dict[str, tuple[bool, bool]]:
    """By number: whether a version has a deletion time, and whether it is destroyed."""
    versions = service.get("secret/metadata/app").data["versions"]
    return {number: (facts["deletion_time"] != "", facts["destroyed"]) for number, facts in versions.items()}


@pytest.fixture
def app(service: Any) -> Any:
    """The service with three versions of one secret."""
    for number in (1, 2, 3):
        service.post("secret/data/app", {"data": {"v": number}})
    return service


@pytest.mark.parametrize("versions", [[1, 3], ["1", "3"], "1,3", "1, 3", [3, 1, 3, 9, 0, -2, 10**18]])
def test_versions_are_deleted_and_undeleted_in_every_spelling(app: Any, versions: Any) -> None:
    assert app.post("secret/delete/app", {"versions": versions}).status == 204
    assert states(app) == {"1": (True, False), "2": (False, False), "3": (True, False)}
    assert [app.get(f"secret/data/app?version={number}").status for number in (1, 2, 3)] == [404, 200, 404]

    assert app.put("secret/undelete/app", {"versions": versions}).status == 204
    assert states(app) == {"1": (False, False), "2": (False, False), "3": (False, False)}
    assert app.get("secret/data/app").data["data"] == {"v": 3}


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_destroyed_is_for_good(app: Any, method: str) -> None:
    app.post("secret/delete/app", {"versions": [2]})
    send = app.put if method == "PUT" else app.post
    assert send("secret/destroy/app", {"versions": [2, 3]}).status == 204

    assert states(app) == {"1": (False, False), "2": (True, True), "3": (False, True)}
    app.post("secret/undelete/app", {"versions": [2, 3]})
    app.post("secret/delete/app", {"versions": [2, 3]})
    assert states(app) == {"1": (False, False), "2": (True, True), "3": (False, True)}
    read = app.get("secret/data/app")
    assert (read.status, read.data["data"]) == (404, None)
    assert read.data["metadata"]["destroyed"] is True
    assert app.get("secret/metadata/app").data["current_version"] == 3


def test_a_second_deletion_keeps_the_time_of_the_first(app: Any) -> None:
    app.post("secret/delete/app", {"versions": [1]})
    first = app.get("secret/metadata/app").data["versions"]["1"]["deletion_time"]
    app.advance("1h")

    app.post("secret/delete/app", {"versions": [1]})

    assert app.get("secret/metadata/app").data["versions"]["1"]["deletion_time"] == first


def test_undelete_of_a_live_version_sets_its_time_anew(app: Any) -> None:
    app.post("secret/metadata/app", {"delete_version_after": "1h"})
    app.post("secret/undelete/app", {"versions": [2]})

    assert states(app)["2"] == (True, False)
    assert app.get("secret/data/app?version=2").status == 200
    app.post("secret/metadata/app", {"delete_version_after": "0s"})
    app.post("secret/undelete/app", {"versions": [2]})
    assert states(app)["2"] == (False, False)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_not_there_counts_as_done(app: Any, verb: str) -> None:
    before = app.get("secret/metadata/app").data

    assert app.post(f"secret/{verb}/none", {"versions": [1]}).status == 204
    assert app.post(f"secret/{verb}/app", {"versions": [9, 0, -1]}).status == 204
    assert app.post(f"secret/{verb}/app", {"versions": "9,"}).status == 204

    assert app.get("secret/metadata/app").data == before
    assert app.get("secret/metadata/none").status == 404


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("body", [{}, {"versions": []}, {"versions": ""}, {"versions": None}])
def test_no_version_is_refused_before_anything_else(app: Any, verb: str, body: dict[str, Any]) -> None:
    for path in ("app", "none"):
        refused = app.post(f"secret/{verb}/{path}", body)
        assert refused.status == 400
        assert refused.errors == [("no" if verb == "destroy" else "No") + " version number provided"]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("versions", ["abc", ["x"], [1.5], [{}], {"1": 2}])
def test_versions_that_are_no_numbers_are_refused(app: Any, verb: str, versions: Any) -> None:
    refused = app.post(f"secret/{verb}/app", {"versions": versions})

    assert refused.status == 400
    assert refused.errors[0].startswith('Field validation failed: error converting input for field "versions": ')
    assert states(app) == {"1": (False, False), "2": (False, False), "3": (False, False)}


@pytest.mark.parametrize("verb", ["data", "delete", "undelete", "destroy"])
def test_what_is_so_already_is_not_written_again(service, verb):
    """The second request of the same kind is 204 and no commit: a secondary is sent nothing."""
    service.post("secret/data/app", {"data": {"a": 1}})
    service.post("secret/data/app", {"data": {"a": 2}})
    if verb == "undelete":
        service.post("secret/delete/app", {"versions": [1, 2]})

    def send():
        if verb == "data":
            return service.delete("secret/data/app")
        return service.post(f"secret/{verb}/app", {"versions": [1, 2]})

    assert send().status == 204
    service.advance("1h")
    before, commits = service.core.storage.state(), service.core.commits
    assert send().status == 204
    assert service.core.storage.state() == before
    assert service.core.commits == commits


def test_what_is_not_there_or_stays_as_it_is_keeps_none_of_the_others_from_changing(app: Any) -> None:
    app.post("secret/delete/app", {"versions": [1]})
    assert app.post("secret/delete/app", {"versions": [9, 1, 2]}).status == 204

    assert states(app) == {"1": (True, False), "2": (True, False), "3": (False, False)}
