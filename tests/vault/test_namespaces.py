"""Namespaces: names, what is made with one, and what is gone after its end."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault import namespaces
from labkit.vault.context import Context
from labkit.vault.mounts import Namespace, read_table
from labkit.vault.storage.storage_view import StorageView


def step(service):
    return Context(service.core, Request("POST", ""), service.now())


@pytest.mark.parametrize("sent", ["team", "team/", "/team", "Team.1", "ä", "+"])
def test_a_name_is_one_segment(sent):
    assert namespaces.name_of(sent) == sent.strip("/") + "/"


@pytest.mark.parametrize("sent", [*namespaces.RESERVED, "a b", "a/b", " "])
def test_a_name_that_no_namespace_has(sent):
    with pytest.raises(BadRequest):
        namespaces.name_of(sent)


def test_one_is_made_in_one_transaction_with_what_it_has(service):
    ctx = step(service)
    made = namespaces.create(ctx, "team/", (("a", "b"),))

    assert sorted(key.removeprefix(made.prefix) for key in ctx.writes) == [
        *("core/mounts", "core/mounts", "policy/index", "policy/text/default")
    ]
    assert [mount.path for mount in read_table(StorageView(ctx, made.prefix)).mounts] == ["auth/token/", "sys/"]
    assert read_table(ctx.full_storage).child("team/x") == Namespace("team/", made.id, (("a", "b"),))


def test_a_number_that_is_taken_is_drawn_again(service, monkeypatch):
    drawn = iter(["aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr(namespaces, "base62", lambda entropy, digits: next(drawn))

    assert [service.post(f"sys/namespaces/{name}").data["id"] for name in ("a", "b")] == ["aaaaa", "bbbbb"]


def test_one_is_changed_in_place_and_deleted_from_its_parent_only(service):
    ctx = step(service)
    made = namespaces.create(ctx, "team/", ())
    namespaces.replace(ctx, made._replace(metadata=(("a", "b"),)))
    assert read_table(ctx.full_storage).namespaces == (made._replace(metadata=(("a", "b"),)),)
    namespaces.delete(ctx, made)
    assert read_table(ctx.full_storage).namespaces == ()
    assert {key for key, value in ctx.writes.items() if value is not None} == {"core/mounts"}


def test_what_is_too_deep_is_refused(service):
    path = ""
    for _ in range(62):
        assert service.post("sys/namespaces/a", namespace=path).ok
        path += "a/"
    refused = service.post("sys/namespaces/a", namespace=path)
    assert refused.status == 400
    assert "segments" in refused.errors[0]


def test_a_token_whose_accessor_is_damaged_is_left_and_means_nothing(service):
    service.post("sys/namespaces/team")
    auth = service.post("auth/token/create", {"policies": ["root"]}, namespace="team").auth
    key = "token/accessor/" + auth["accessor"]
    service.core.storage.apply({key: b"damaged"}, 0)

    assert service.delete("sys/namespaces/team").status == 204
    service.post("sys/namespaces/team")
    refused = service.get("sys/mounts", namespace="team", token=auth["client_token"])
    assert refused.status == 403
