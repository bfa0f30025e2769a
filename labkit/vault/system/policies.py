"""Policies: ``sys/policies/acl`` and the older ``sys/policy``, which differ in the words of their answers.

Names are in lower case.  ``root`` allows everything and has no text; ``default`` may be changed, not deleted; what is
used internally cannot be changed, and is not listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.encoding import from_base64
from labkit.service.errors import BadRequest, NotFound
from labkit.service.routing import Route
from labkit.vault.policies import store as policy_store
from labkit.vault.policies import why_not_deleted, why_not_written

if TYPE_CHECKING:
    from labkit.vault.context import Context

ROOT = "root"

RULES_ARE_OLD = "'rules' is deprecated, please use 'policy' instead"


def list_acl(ctx: Context) -> dict[str, Any]:
    """List the names of the policies; ``root`` comes last."""
    return {"keys": [*policy_store.names(ctx), ROOT]}


def list_old(ctx: Context) -> dict[str, Any]:
    """List the names of the policies, twice."""
    names = [*policy_store.names(ctx), ROOT]
    return {"keys": names, "policies": list(names)}


def read_acl(ctx: Context, name: str) -> dict[str, Any]:
    """Read a policy."""
    return {"name": name.lower(), "policy": _text(ctx, name.lower())}


def read_old(ctx: Context, name: str) -> dict[str, Any]:
    """Read a policy; its text is called rules here."""
    return {"name": name.lower(), "rules": _text(ctx, name.lower())}


def write_acl(ctx: Context, name: str, policy: str | None) -> None:
    """Create or change a policy."""
    _write(ctx, name, policy)


def write_old(ctx: Context, name: str, policy: str | None, rules: str | None) -> None:
    """Create or change a policy; ``rules`` is an old name of ``policy``."""
    if not policy and rules:
        ctx.warn(RULES_ARE_OLD)
    _write(ctx, name, policy or rules)


def delete(ctx: Context, name: str) -> None:
    """Delete a policy; one that does not exist is not an error."""
    lowered = name.lower()
    why = why_not_deleted(lowered)
    if why:
        raise BadRequest(why)
    policy_store.delete(ctx, lowered)


def _text(ctx: Context, name: str) -> str:
    if name == ROOT:
        return ""
    text = policy_store.own_text(name) or policy_store.read_text(ctx, name)
    if text is None:
        raise NotFound
    return text


def _write(ctx: Context, name: str, text: str | None) -> None:
    lowered = name.lower()
    if lowered != name:
        ctx.warn(f"policy name was converted to {lowered}")
    if not text:
        raise BadRequest("'policy' parameter not supplied or empty")
    why = why_not_written(lowered)
    if why:
        raise BadRequest(why)
    text = _decoded(text)
    policy_store.check(text)
    policy_store.write_text(ctx, lowered, text)


def _decoded(text: str) -> str:
    """Return the text that base64 of UTF-8 holds, else the text itself."""
    try:
        return from_base64(text).decode()
    except ValueError:
        return text


NAME = fields.path("name", "name of the policy")
POLICY = fields.text("policy", "the policy's text, also as base64")
RULES = fields.text("rules", "old name of policy")

ROUTES = (
    Route("list", "policies/acl/", list_acl),
    Route("read", "policies/acl/<name>", read_acl, (NAME,)),
    Route("write", "policies/acl/<name>", write_acl, (NAME, POLICY)),
    Route("delete", "policies/acl/<name>", delete, (NAME,)),
    Route("list", "policy/", list_old, (), "top_level_data"),
    Route("read", "policy", list_old, (), "top_level_data"),
    Route("read", "policy/<name>", read_old, (NAME,), "top_level_data"),
    Route("write", "policy/<name>", write_old, (NAME, POLICY, RULES)),
    Route("delete", "policy/<name>", delete, (NAME,)),
)
