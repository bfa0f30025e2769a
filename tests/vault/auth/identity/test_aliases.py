"""Aliases: one entity for whoever logs in by a name at a mount, another for the same name elsewhere."""

from __future__ import annotations

from labkit.vault.auth.identity.aliases import entity_of, folder_of
from labkit.vault.context import Context
from labkit.vault.walk.request_route import find_route


def at(service, mount: str) -> Context:
    """A step of a request at a mount."""
    from labkit.service.message import Request

    ctx = Context(service.core, Request("GET", f"/v1/auth/{mount}/config"), 0)
    find_route(ctx)
    return ctx


def test_an_alias_has_one_entity(service) -> None:
    service.post("sys/auth/elsewhere", {"type": "cloud"})
    ctx = at(service, "cloud")
    first = entity_of(ctx, "a")
    assert entity_of(ctx, "a") == first
    service.core.commit(ctx.writes)

    assert entity_of(at(service, "cloud"), "a") == first
    assert len({first, entity_of(at(service, "cloud"), "b"), entity_of(at(service, "elsewhere"), "a")}) == 3
    assert ctx.list(folder_of(ctx.mount)) != []
