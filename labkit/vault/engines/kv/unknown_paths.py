"""The answer to paths that version 2 of the engine does not have."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from labkit.service.errors import NotFound
from labkit.service.fields import Field, to_text
from labkit.service.message import Reply
from labkit.service.routing import OPERATIONS, Groups, Route
from labkit.vault.engines.kv.table import TABLE

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

ROOTS = frozenset(("data", "metadata", "delete", "undelete", "destroy"))
ROOT_PATH = "Non-listing operations on the root of a K/V v2 mount are not supported."
INVALID_PATH = (
    "Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate API endpoints to use. "
    "With a command-line client, use its 'kv {verb}' for this operation."
)
VERBS = {"read": "get", "write": "put", "patch": "patch", "delete": "delete", "list": "list"}

ENDPOINTS = Groups(TABLE.modules)
"""The paths that the engine has."""

ANY_PATH = Field("path", "path", to_text, "a path that the engine does not have", pattern=".*")


def explain_path(ctx: EngineContext, path: str) -> Reply:
    """Answer 404 and say which paths there are; 405 (raised) for a path that another operation has."""
    # The walk put a slash behind the path of a list; one below ``data/`` is known for all that.
    known_as = path[:-1] if ctx.operation == "list" and path.count("/") > 1 else path
    with suppress(NotFound):
        ENDPOINTS.match(ctx.operation, known_as)
    ctx.warnings.clear()  # of parameters unknown here: every one is
    ctx.warn(ROOT_PATH if path in ROOTS else INVALID_PATH.format(verb=VERBS[ctx.operation]))
    return Reply(None, 404)


ROUTES = tuple([Route(operation, "<path>", explain_path, (ANY_PATH,)) for operation in OPERATIONS])
