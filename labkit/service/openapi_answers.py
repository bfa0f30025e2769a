"""What an operation may answer, in the words of OpenAPI: results, refusals, and the forms that both have.

1. A result has the envelope, all members of which are always there, unless the route answers without one.
2. A refusal has ``errors``.  A few carry a result besides or instead: a batch of which every item failed, a version
   that is deleted, a folder's hint.  So 400 and 404 may have either form.
3. A route without an envelope answers some refusals, such as a node's health, in its own form.
"""

from __future__ import annotations

from typing import Any

from labkit.service.routing import Route

Node = dict[str, Any]

TEXT: Node = {"type": "string"}
TEXTS: Node = {"type": "array", "items": TEXT}
_OBJECT: Node = {"type": "object", "nullable": True}

ENVELOPE: Node = {
    "request_id": TEXT,
    "lease_id": TEXT,
    "renewable": {"type": "boolean"},
    "lease_duration": {"type": "integer", "description": "seconds"},
    "data": {**_OBJECT, "description": "the result"},
    "wrap_info": {**_OBJECT, "description": "where a wrapped answer is kept"},
    "warnings": {**TEXTS, "nullable": True},
    "auth": {**_OBJECT, "description": "the token, where one is issued"},
    "mount_type": TEXT,
}

ANSWER_SCHEMAS: Node = {
    "Envelope": {"type": "object", "required": list(ENVELOPE), "properties": ENVELOPE},
    "Names": {
        "allOf": [
            {"$ref": "#/components/schemas/Envelope"},
            {"properties": {"data": {**_OBJECT, "properties": {"keys": TEXTS}}}},
        ]
    },
    "Errors": {"type": "object", "required": ["errors"], "properties": {"errors": TEXTS}},
}

REFUSALS = {
    "400": ("BadRequest", "The request cannot be carried out as it was sent.", ("Errors", "Envelope")),
    "403": ("Forbidden", "No token, a token that is not valid, or one whose policies do not allow it.", ("Errors",)),
    "404": ("NotFound", "Nothing is there; or what was there is deleted.", ("Errors", "Envelope")),
    "default": ("Refused", "Any other refusal: sealed, a standby, a body that is too large.", ("Errors",)),
}
"""{status: (name, meaning, forms)} of what every operation may answer instead of its result."""


def shared_answers() -> Node:
    """Describe the refusals that every operation refers to."""
    return {name: _answer(text, *forms) for name, text, forms in REFUSALS.values()}


def answers_of(routes: list[Route]) -> Node:
    """Describe the answers of one operation: a handler's return type says whether there is a body."""
    returned = [str(route.handler.__annotations__.get("return", "")).split(" | ") for route in routes]
    silent = all(kinds == ["None"] for kinds in returned)
    forms = sorted(set(map(_form, routes)))
    answers: Node = {"200": _answer("Done, with warnings." if silent else "Done.", *forms)}
    if any("accepted" in route.flags for route in routes):
        answers["202"] = _answer("Accepted; all is done by then too.", *forms)
    if any("None" in kinds for kinds in returned):
        answers["204"] = {"description": "Done, without a body."}
    for status, (name, _, _) in REFUSALS.items():
        answers[status] = {"$ref": f"#/components/responses/{name}"}
    if "" in forms:
        answers["default"] = _answer("Any other state or refusal.", "")
    return answers


def _form(route: Route) -> str:
    """Name the schema of a route's result; empty for one that has no envelope."""
    if "no_envelope" in route.flags:
        return ""
    return "Names" if route.operation == "list" else "Envelope"


def _answer(text: str, *forms: str) -> Node:
    schemas: list[Node] = [{"$ref": f"#/components/schemas/{form}"} if form else {"type": "object"} for form in forms]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
