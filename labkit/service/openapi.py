"""Manuals out of route tables: an OpenAPI 3.0.3 document, and a reference page in Markdown.

1. Everything comes from the declarations: patterns, fields, flags, and the handlers' docstrings and answers.
2. OpenAPI cannot name LIST, so a listing is a GET with ``list=true``, which every service of this API takes as well.
   Where a path can be read and listed, both are one GET on which ``list`` may be left out.
3. Paths that differ only in the names of their parameters are one path to OpenAPI: it has the first name, and the
   parameter's description lists the others.
4. A handler that stands for all operations of a pattern explains a wrong path: it is not an endpoint, and is left out.
5. The same tables give the same text, whatever the order of the mounts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from textwrap import dedent
from typing import Any, NamedTuple

from labkit.service.fields import Field
from labkit.service.key_pages import PAGE
from labkit.service.message import JSON_TYPE, MERGE_PATCH
from labkit.service.openapi_answers import ANSWER_SCHEMAS, TEXT, TEXTS, Node, answers_of, shared_answers
from labkit.service.routing import OPERATIONS, Route

Mounted = Iterable[tuple[str, str, Iterable[Route]]]
"""What is mounted: (prefix such as ``secret/``, kind, routes)."""

METHODS = {"read": "get", "list": "get", "write": "post", "patch": "patch", "delete": "delete"}
ORDER = tuple(METHODS)

INTRODUCTION = """\
Every path is below `/v1`. A token is sent in the header `X-Vault-Token`. PUT is accepted wherever POST is. \
A listing is a GET with `list=true` here; the method LIST does the same."""

SCHEMAS: dict[str, Node] = {
    "name": TEXT,
    "segment": TEXT,
    "path": TEXT,
    "folder": TEXT,
    "string": TEXT,
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "duration": {"anyOf": [{"type": "integer"}, TEXT]},
    "object": {"type": "object", "additionalProperties": True},
    "object of strings": {"type": "object", "additionalProperties": TEXT},
    "list of strings": TEXTS,
    "list of integers": {"type": "array", "items": {"type": "integer"}},
    "list or comma-separated string": {"anyOf": [TEXTS, TEXT]},
    "list of objects": {"type": "array", "items": {"type": "object"}},
    "any": {},
}
"""{kind of a field: the JSON Schema of what clients should send}; more is accepted, such as numbers written as text."""

COMPONENTS: Node = {
    "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Vault-Token"}},
    "parameters": {
        "Namespace": {
            "name": "X-Vault-Namespace",
            "in": "header",
            "description": "the namespace that the path is in, such as team/; without it, the root namespace",
            "schema": TEXT,
        }
    },
    "schemas": ANSWER_SCHEMAS,
}

LIST = {
    "name": "list",
    "in": "query",
    "description": "true lists the names in a folder, as the method LIST does",
    "schema": {"type": "boolean", "enum": [True]},
}


class Endpoint(NamedTuple):
    """One route at one place: its path with ``{name}`` parameters, without ``/v1``."""

    path: str
    prefix: str
    kind: str
    route: Route

    @property
    def shape(self) -> str:
        """The path without its parameters' names."""
        return _PARAMETER.sub("{}", self.path)

    @property
    def in_path(self) -> list[Field]:
        """The fields in the path, in its order."""
        return [self.route.by_name[name] for name in _PARAMETER.findall(self.path)]

    @property
    def other_fields(self) -> list[Field]:
        """The fields in the body, or in the query of an operation without one."""
        pages = PAGE if self.route.operation == "list" else ()
        return [field for field in (*self.route.fields, *pages) if f"<{field.name}>" not in self.route.pattern]


_PARAMETER = re.compile(r"\{(\w+)\}")


def endpoints(mounted: Mounted) -> list[Endpoint]:
    """Lay out what is mounted, path by path in the order of their shapes, reading before writing."""
    found: list[Endpoint] = []
    for prefix, kind, routes in mounted:
        table = tuple(routes)
        found += [
            Endpoint(path, prefix, kind, route)
            for route in table
            if not explains(route, table)
            for path in _paths(prefix, route)
        ]
    # Two patterns of one listing, with and without the last slash, are one path.
    unique = {(endpoint.path, endpoint.route.operation): endpoint for endpoint in reversed(found)}
    return sorted(unique.values(), key=_place)


def _place(endpoint: Endpoint) -> tuple[str, int, str]:
    return endpoint.shape, ORDER.index(endpoint.route.operation), endpoint.path


def explains(route: Route, table: tuple[Route, ...]) -> bool:
    """Whether a route's handler answers all operations of its pattern (rule 4)."""
    same = {other.operation for other in table if (other.pattern, other.handler) == (route.pattern, route.handler)}
    return same.issuperset(OPERATIONS)


def _paths(prefix: str, route: Route) -> list[str]:
    """Return a route's paths: a listing whose folder may be empty has one with and one without it."""
    mount = prefix.replace("{", "%7B").replace("}", "%7D")  # braces are OpenAPI's own
    whole = f"/{mount}{route.pattern.replace('<', '{').replace('>', '}')}".rstrip("/")
    head, _, name = whole.rpartition("/")
    last = route.by_name.get(name.strip("{}"))
    return [head, whole] if route.operation == "list" and last is not None and last.kind == "folder" else [whole]


def _never(path: str) -> bool:
    return False


def document(title: str, version: str, mounted: Mounted, is_root_only: Callable[[str], bool] = _never) -> Node:
    """Describe what is mounted as an OpenAPI 3.0.3 document: plain JSON values, a new object each time.

    ``is_root_only`` says of a path whether it is refused in every namespace but the root.
    """
    described = endpoints(mounted)
    shapes: dict[str, list[Endpoint]] = {}
    for endpoint in described:
        shapes.setdefault(endpoint.shape, []).append(endpoint)
    used_names: set[str] = set()
    paths = {
        same_shape[0].path: _path_item(same_shape, used_names, is_root_only(same_shape[0].path))
        for same_shape in shapes.values()
    }
    kinds = sorted({endpoint.kind for endpoint in described})
    return {
        "openapi": "3.0.3",
        "info": {"title": title, "version": version, "description": INTRODUCTION},
        "servers": [{"url": "/v1"}],
        "tags": [{"name": kind} for kind in kinds],
        "paths": paths,
        "components": {
            **_copy(COMPONENTS),
            "responses": _copy(shared_answers()),
        },
    }


def _path_item(same_shape: list[Endpoint], used_names: set[str], is_root_only: bool) -> Node:
    """Describe the operations of endpoints with the same shape; ``used_names`` are the identifiers given so far."""
    item: Node = {}
    parameters = _path_parameters(same_shape)
    if not is_root_only:
        parameters.append({"$ref": "#/components/parameters/Namespace"})
    if parameters:
        item["parameters"] = parameters
    for method in dict.fromkeys(METHODS.values()):
        of_method = [endpoint for endpoint in same_shape if METHODS[endpoint.route.operation] == method]
        if of_method:
            item[method] = {"operationId": _identifier(of_method[0], used_names), **_operation(of_method)}
    return item


def _identifier(endpoint: Endpoint, used_names: set[str]) -> str:
    """Name an operation for generated clients; a name that is in use gets a number."""
    name = endpoint.route.operation + re.sub(r"[^a-zA-Z0-9]+", "_", endpoint.path).rstrip("_")
    number, wanted = 1, name
    while name in used_names:
        number += 1
        name = f"{wanted}_{number}"
    used_names.add(name)
    return name


def _path_parameters(same_shape: list[Endpoint]) -> list[Node]:
    parameters = []
    for place, name in enumerate(_PARAMETER.findall(same_shape[0].path)):
        fields = [endpoint.in_path[place] for endpoint in same_shape]
        schemas = [_schema(field) for field in fields]
        same = all(schema == schemas[0] for schema in schemas)
        parameters.append(
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": _meanings(name, fields),
                "schema": schemas[0] if same else dict(TEXT),
            }
        )
    return parameters


def _meanings(name: str, fields: list[Field]) -> str:
    """Say what a parameter of a path is, once for each meaning and name that it has."""
    meanings = dict.fromkeys(field.help if field.name == name else f"`{field.name}`: {field.help}" for field in fields)
    text = "; or ".join(meanings)
    slashes = any(field.kind in ("path", "folder") for field in fields) and "slash" not in text
    return f"{text}; may contain slashes" if slashes else text


def _schema(field: Field) -> Node:
    """Describe a field's value."""
    schema: Node = _copy(SCHEMAS[field.kind])
    if field.choices:
        schema["enum"] = list(field.choices)
    if field.kind == "name":
        schema["pattern"] = f"^{field.pattern}$"
    if field.default is not None and field.kind != "folder":
        schema["default"] = field.default
    return schema


def _copy(schema: Any) -> Any:
    """Copy what consists of dicts and lists, so that no caller can change the constants here."""
    if isinstance(schema, dict):
        return {name: _copy(member) for name, member in schema.items()}
    return [_copy(item) for item in schema] if isinstance(schema, list) else schema


def _operation(of_method: list[Endpoint]) -> Node:
    """Describe one method of a path: one route, or several that are one to OpenAPI."""
    first = of_method[0]
    operation: Node = {"tags": [first.kind], "summary": summary(first.route)}
    paragraphs = [text for endpoint in of_method for text in _description(endpoint, endpoint is first)]
    if paragraphs:
        operation["description"] = "\n\n".join(paragraphs)
    fields = {field.name: field for endpoint in reversed(of_method) for field in reversed(endpoint.other_fields)}
    of_pages = () if all(endpoint.route.operation == "list" for endpoint in of_method) else PAGE  # a reading has none
    other_fields = [fields[name] for name in reversed(fields) if fields[name] not in of_pages]
    listings = [endpoint for endpoint in of_method if endpoint.route.operation == "list"]
    if first.route.operation in ("write", "patch"):
        if other_fields:
            operation["requestBody"] = _body(first.route, other_fields)
    elif other_fields or listings:
        switch = [{**_copy(LIST), "required": listings == of_method}] if listings else []
        operation["parameters"] = [*switch, *map(_in_query, other_fields)]
    operation["responses"] = answers_of([endpoint.route for endpoint in of_method])
    operation["security"] = (
        [] if all("unauthenticated" in endpoint.route.flags for endpoint in of_method) else [{"token": []}]
    )
    return operation


def summary(route: Route) -> str:
    """Return the first line of a handler's docstring: what the route does."""
    return _marked((route.handler.__doc__ or repr(route)).partition("\n")[0].strip())


def _description(endpoint: Endpoint, first: bool) -> list[str]:
    """Say what the summary leaves out, a paragraph each; of a route that shares an operation, also what it does."""
    route = endpoint.route
    paragraphs = []
    if route.operation == "list":
        paragraphs.append(f"LIST `{endpoint.path}`" + ("." if first else f": {summary(route)}"))
    elif not first:
        paragraphs.append(f"`{endpoint.path}`: {summary(route)}")
    rest = dedent((route.handler.__doc__ or "").partition("\n")[2]).strip()
    if rest:
        paragraphs.append(_marked(rest))
    if route.exists is not None:
        paragraphs.append("Needs the `create` capability where nothing is there yet, `update` otherwise.")
    if "sudo" in route.flags:
        paragraphs.append("Needs the `sudo` capability too.")
    return paragraphs


def _marked(text: str) -> str:
    """Turn a docstring's code marks into those of Markdown."""
    return text.replace("``", "`")


def _body(route: Route, fields: list[Field]) -> Node:
    kind = MERGE_PATCH if route.operation == "patch" else JSON_TYPE
    schema: Node = {
        "type": "object",
        "properties": {field.name: {"description": field.help, **_schema(field)} for field in fields},
    }
    return {"content": {kind: {"schema": schema}}}


def _in_query(field: Field) -> Node:
    return {
        "name": field.name,
        "in": "query",
        "description": field.help,
        "required": field.required,
        "schema": _schema(field),
    }


def markdown(title: str, mounted: Mounted) -> str:
    """Write a reference page: a section per mount, a heading per path, and for each operation what it takes."""
    lines = [f"# {title}", "", INTRODUCTION]
    described = sorted(endpoints(mounted), key=lambda endpoint: (endpoint.prefix, *_place(endpoint)))
    prefix = path = None
    for endpoint in described:
        if endpoint.prefix != prefix:
            prefix, path = endpoint.prefix, None
            lines += ["", f"## `{prefix}` ({endpoint.kind})"]
        if endpoint.path != path:
            path = endpoint.path
            lines += ["", f"### `{path}`"]
        lines += ["", *_section(endpoint)]
    return "\n".join(lines) + "\n"


def _section(endpoint: Endpoint) -> list[str]:
    """Write down one operation: what it does, and a table of what it takes."""
    route = endpoint.route
    method = "LIST" if route.operation == "list" else METHODS[route.operation].upper()
    needed = " No token is needed." if "unauthenticated" in route.flags else ""
    lines = [f"**{method}** – {summary(route)}{needed}"]
    for paragraph in _description(endpoint, True)[route.operation == "list" :]:
        lines += ["", paragraph]
    where = "body" if route.operation in ("write", "patch") else "query"
    rows = [_row(field, "path") for field in endpoint.in_path] + [_row(field, where) for field in endpoint.other_fields]
    if rows:
        lines += ["", "| Parameter | In | Kind | Default | Meaning |", "| --- | --- | --- | --- | --- |", *rows]
    return lines


def _row(field: Field, where: str) -> str:
    kind = field.kind + (f": {', '.join(choice or '(empty)' for choice in field.choices)}" if field.choices else "")
    default = "required" if field.required else "" if field.default in (None, "") else f"`{field.default}`"
    cells = (f"`{field.name}`", where, kind, default, field.help)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
