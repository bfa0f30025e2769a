"""Path help: what ``?help=1`` on a path answers: its operations and fields, out of the routes' own declarations.

1. It is answered to any valid token, whatever its policies: it tells about the API, not about what is stored.
2. The path of a mount alone lists the paths below it.
3. ``openapi`` has the same as a document, as ``sys/internal/specs/openapi`` describes it.
"""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

from labkit.service.errors import NotFound, one_error
from labkit.service.fields import Field
from labkit.service.routing import Route
from labkit.vault.mounts import ROOT, Mount
from labkit.vault.system.specs import TITLE, is_refused_in_namespaces, routes_of_mount

if TYPE_CHECKING:
    from labkit.vault.context import Context

STEP = "    "


def describe_path(ctx: Context) -> dict[str, Any]:
    """Describe a path: what each operation on it does, and what it takes."""
    from labkit.service.openapi import document, explains  # a manual is requested rarely

    resolved = ctx.resolved
    assert resolved is not None
    mount = resolved.mount
    if mount is None:
        raise NotFound(f'no handler for route "{resolved.path}". route entry not found.')
    routes, within = routes_of_mount(mount.kind, mount.version, ctx.namespace is ROOT), resolved.path[len(mount.path) :]
    routes = tuple([route for route in routes if not explains(route, routes)])
    if within:
        routes = _of_path(routes, within)
    if not routes:
        raise NotFound(one_error("unsupported path"))
    text = _help_of_path(resolved.path, routes) if within else _help_of_mount(mount, routes)
    mounted = [(mount.path, mount.kind, routes)]
    described = document(TITLE, ctx.core.settings.version, mounted, is_refused_in_namespaces)
    return {"help": text, "see_also": None, "openapi": described}


def _of_path(routes: tuple[Route, ...], path: str) -> tuple[Route, ...]:
    """Return the first route of each operation that a path leads to; a folder's listing has a slash at its end."""
    found: dict[str, Route] = {}
    for route in routes:
        if route.regex.fullmatch(path) or (route.operation == "list" and route.regex.fullmatch(f"{path}/")):
            found.setdefault(route.operation, route)
    return tuple(found.values())


def _help_of_path(path: str, routes: tuple[Route, ...]) -> str:
    """Write the help of a path: which route answers it, what each operation does, and what all of them take."""
    patterns = dict.fromkeys(f"^{route.pattern}$" for route in routes)
    taken = {field.name: field for route in routes for field in route.fields}
    parts = [f"Request:        {path}\nMatching Route: {', '.join(patterns)}"]
    parts += [f"{route.operation}: {_summary(route)}" for route in routes]
    if taken:
        parts.append("## PARAMETERS")
        parts += map(_parameter, taken.values())
    parts.append("## DESCRIPTION")
    parts += [f"{route.operation}\n{indent(_text(route), STEP)}" for route in routes]
    return "\n\n".join(parts) + "\n"


def _help_of_mount(mount: Mount, routes: tuple[Route, ...]) -> str:
    """Write the help of a mount: the paths below it, with what each operation on them does."""
    rows: dict[str, list[str]] = {}
    for route in routes:
        rows.setdefault(route.pattern, []).append(f"{route.operation}: {_summary(route)}")
    parts = [f"## DESCRIPTION\n\nThe {mount.shown_kind} mount at {mount.path}", "## PATHS"]
    parts.append("Each takes help=1 too; whether a token may use it is for the token's policies to say.")
    parts += [f"{STEP}^{pattern}$\n" + indent("\n".join(said), 2 * STEP) for pattern, said in rows.items()]
    return "\n\n".join(parts) + "\n"


def _parameter(field: Field) -> str:
    needed = ", required" if field.required else ""
    return f"{STEP}{field.name} ({field.kind}{needed})\n{indent(field.help, 2 * STEP)}"


def _summary(route: Route) -> str:
    return _text(route).partition("\n")[0]


def _text(route: Route) -> str:
    """Return all that a handler says of itself, without the marks of code."""
    first, _, rest = (route.handler.__doc__ or "").partition("\n")
    return f"{first.strip()}\n{dedent(rest)}".strip().replace("``", "")


# The route that stands in for any other once help is asked for.
ROUTES = (Route("read", "help", describe_path, (), "no_envelope"),)
