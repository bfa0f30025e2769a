"""Role ids: ``role/<role_name>/role-id``, what a program names its role by when it logs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, NotFound
from labkit.service.routing import Route
from labkit.vault.auth.approle.role_fields import NO_ROLE
from labkit.vault.auth.approle.role_record import find_role, store_role
from labkit.vault.auth.approle.roles import ROLE_ID, ROLE_NAME

if TYPE_CHECKING:
    from labkit.vault.context import Context


def read_role_id(ctx: Context, role_name: str) -> dict[str, str]:
    """Read a role's id."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound
    return {"role_id": role.role_id}


def write_role_id(ctx: Context, role_name: str, role_id: str | None) -> None:
    """Change a role's id; the one that it had is free then."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound(NO_ROLE)
    if not role_id:
        raise BadRequest("missing role_id")
    store_role(ctx.storage, role_name, role._replace(role_id=role_id))


ROUTES = (
    Route("read", "role/<role_name>/role-id", read_role_id, (ROLE_NAME,)),
    Route("write", "role/<role_name>/role-id", write_role_id, (ROLE_NAME, ROLE_ID)),
)
