"""Schema: the JSON Schema of scenario files, for editors; it is made from the models that check them.

1. A model says what a value is once it was read: a duration is a number of nanoseconds.  The schema says what is
   written: ``WRITTEN`` has a row for each function that reads one.
2. What no schema can say is left to ``labkit check``: the names that a file declares, the order of steps, sums.
3. ``$(matrix.…)`` may stand for any plain value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from labkit.places import SCENARIO_SUFFIXES
from labkit.scenario.documents.matrix import EXCLUDE, INCLUDE, MATRIX
from labkit.scenario.expect_keys import CountRange, ExpectPart, TimeRange
from labkit.scenario.file_parts import MAX_TIMELINE_STEPS, FilePart, LabPart, MatrixPart, fields_of
from labkit.scenario.timed.points import NAMED_STEP
from labkit.scenario.timed.timed_conditions import TIMED_PARTS
from labkit.scenario.value_types import BITS, BYTES, DURATION, LAG, NAME, NUMBER, SHARE
from labkit.scenario.verb import Verb
from labkit.scenario.verbs import VERBS, model_of

Schema: TypeAlias = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
ANYTHING: Schema = {}
MARK = "x-written"


def _text(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^{pattern}$"}


MATRIX_VALUE = _text(r"\$\(matrix\.[^()]+\)")
A_VALUE: Schema = {"anyOf": [{"type": ["number", "boolean"]}, _text(r"(?!.*\$\().*")]}


def _defined(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


A_CLUSTER: Schema = {"type": "string"}
DEFINITIONS: Mapping[str, Schema] = {
    "duration": _text(DURATION),
    "offset": _text(f"-?{DURATION}"),
    "share": _text(SHARE),
    "drift": _text(f"-?{SHARE}"),
    "bandwidth": _text(f"{NUMBER}({'|'.join(BITS)})"),
    "size": _text(f"{NUMBER}({'|'.join(BYTES)})"),
    "lag": _text(LAG),
    "clusters": {"anyOf": [A_CLUSTER, {"type": "array", "items": A_CLUSTER}]},
    "fails": {"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1}]},
    "after": {"anyOf": [_defined("duration"), _defined("point")]},
    "point": {"anyOf": [_text(NAMED_STEP), _defined("step_point")]},
    "step_point": {
        "type": "object",
        "properties": {
            "step": {"type": ["string", "integer"]},
            "began": _defined("duration"),
            "ended": _defined("duration"),
        },
        "required": ["step"],
        "additionalProperties": False,
    },
    "when": {"anyOf": [{"enum": ["done", "refused"]}, _defined("ExpectPart")]},
    "until": {"anyOf": [_defined("lag"), _defined("ExpectPart")]},
    "shared": {"anyOf": [{"type": "boolean"}, _text(NAME)]},
}
"""What is written, by a name of its own."""

WRITTEN: Mapping[str, str] = {
    **{f"read_{name}": name for name in ("duration", "offset", "share", "drift", "bandwidth", "size")},
    "_clusters": "clusters",
    "_fails": "fails",
    "_after": "after",
    "read_point": "point",
    "_when": "when",
    "_share": "shared",
    "read_until": "until",
}
"""{function that reads a value: what is written for it}."""

SHORT_FORMS: Mapping[type[BaseModel], Schema] = {
    CountRange: {"type": "integer", "minimum": 0},
    TimeRange: _defined("duration"),
}
"""{model: what may be written in place of its mapping}."""


def schema() -> Schema:
    """Return the schema of a scenario file."""
    models: list[type[BaseModel]] = [FilePart, LabPart, ExpectPart, MatrixPart, *TIMED_PARTS.values()]
    models += map(model_of, VERBS)
    references, found = models_json_schema([(model, "validation") for model in models], schema_generator=_Generator)
    definitions = {name: _open(_bare(part)) for name, part in found["$defs"].items()}
    whole, matrix = definitions.pop("FilePart"), _bare(found["$defs"]["MatrixPart"])
    path = _text(rf"(?!/)[^$]*{SCENARIO_SUFFIXES[0].replace('.', chr(92) + '.')}")
    sections: Schema = {
        "seeds": _bare(found["$defs"]["FilePart"]["properties"]["seeds"]),
        MATRIX: _matrix(matrix),
        "lab": {"anyOf": [_defined("LabPart"), path]},
        "timeline": {"type": "array", "maxItems": MAX_TIMELINE_STEPS, "items": _defined("step")},
        "expect": _defined("ExpectPart"),
        **{key: _list_of(references[model, "validation"]) for key, model in TIMED_PARTS.items()},
    }
    described = {key: {"description": fields_of(FilePart)[key], **part} for key, part in sections.items()}
    steps = {name: references[model_of(name), "validation"] for name in VERBS}
    del definitions["MatrixPart"]
    return {
        "$schema": DIALECT,
        "title": "A scenario file of labkit",
        **whole,
        "description": "A lab, what happens in it, and what is expected at the end.",
        "properties": {**whole["properties"], **described},
        "allOf": [_not_both("seed", "seeds"), _not_both("end", "settle")],
        "$defs": {**definitions, **_open(dict(DEFINITIONS)), "step": _step(steps), "matrix_value": MATRIX_VALUE},
    }


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "maxItems": 100, "items": item}


def _step(models: Mapping[str, Schema]) -> Schema:
    """A step is what the model of its verb says; of a verb that comes from a matrix nothing is known."""
    return {
        "type": "object",
        "required": ["do"],
        "properties": {"do": {"anyOf": [{"enum": list(models)}, _defined("matrix_value")]}},
        "allOf": [
            {"if": {"required": ["do"], "properties": {"do": {"const": name}}}, "then": _branch(VERBS[name], model)}
            for name, model in models.items()
        ],
    }


def _branch(verb: Verb, model: Schema) -> Schema:
    """What a step with this verb is: its model, and of some parameters only one, or one of them at least."""
    rules = [_not_both("at", "after")]
    if verb.one_of:
        rules.append(_not_both(*verb.one_of))
    if verb.needs_one:
        rules.append({"anyOf": [{"required": [name]} for name in verb.one_of]})
    return {"allOf": [model, *rules]}


def _not_both(*keys: str) -> Schema:
    return {"not": {"required": list(keys)}}


def _matrix(beside: Schema) -> Schema:
    rows: Schema = {"type": "array", "items": {"type": "object", "minProperties": 1, "additionalProperties": A_VALUE}}
    return {
        "type": "object",
        "properties": {key: {**beside["properties"][key], **rows} for key in (EXCLUDE, INCLUDE)},
        "propertyNames": _text(NAME),
        "additionalProperties": {"type": "array", "minItems": 1, "uniqueItems": True, "items": A_VALUE},
        "minProperties": 1,
    }


def _marked(read: str) -> Schema:
    """A place for what is written, which is put in when the models are done."""
    return {MARK: WRITTEN[read]} if read in WRITTEN else ANYTHING


class _Generator(GenerateJsonSchema):
    """Makes what is written out of what is read."""

    def nullable_schema(self, schema: Any) -> Schema:
        """A key may be left out, not left empty."""
        return self.generate_inner(schema["schema"])

    def function_before_schema(self, schema: Any) -> Schema:
        """What is written for a function that reads it; that of a range reads its short form."""
        read = schema["function"]["function"].__name__
        return self.generate_inner(schema["schema"]) if read == "_plain" else _marked(read)

    def model_schema(self, schema: Any) -> Schema:
        """The mapping of a model, or its short form."""
        mapping = super().model_schema(schema)
        return {"anyOf": [SHORT_FORMS[schema["cls"]], mapping]} if schema["cls"] in SHORT_FORMS else mapping

    def function_wrap_schema(self, schema: Any) -> Schema:
        """What is written for a function that reads it."""
        return _marked(schema["function"]["function"].__name__)

    def function_after_schema(self, schema: Any) -> Schema:
        """A name is one of those that its check knows, where these do not follow from the file."""
        check, inner = schema["function"]["function"], self.generate_inner(schema["schema"])
        if isinstance(check, partial) and check.func.__name__ in ("_check_one_of", "_check_known"):
            return {**inner, "enum": list(check.args[1])}
        return _text(NAME) if getattr(check, "__name__", "") == "_name" else inner


def _bare(part: Any) -> Any:
    """A schema without titles and defaults, which are those of what is read."""
    if isinstance(part, list):
        return [_bare(item) for item in part]
    if not isinstance(part, dict):
        return part
    members = {key: inner for key, inner in part.items() if key not in ("title", "default")}
    return {
        key: {name: _bare(value) for name, value in inner.items()} if key == "properties" else _bare(inner)
        for key, inner in members.items()
    }


def _open(part: Any) -> Any:
    """A schema that takes a value from a matrix for each plain value."""
    if isinstance(part, list):
        return [_open(item) for item in part]
    if not isinstance(part, dict):
        return part
    if MARK in part:
        return {key: value for key, value in part.items() if key == "description"} | _defined(part[MARK])
    if "const" in part or "enum" in part or part.get("type") in ("string", "integer", "number", "boolean"):
        if "const" not in part and "enum" not in part and part["type"] == "string" and "pattern" not in part:
            return part
        about = {"description": part["description"]} if "description" in part else {}
        bare = {key: value for key, value in part.items() if key != "description"}
        return {**about, "anyOf": [bare, _defined("matrix_value")]}
    return {
        key: {name: _open(value) for name, value in inner.items()} if key == "properties" else _open(inner)
        for key, inner in part.items()
        if key != "propertyNames"
    } | ({"propertyNames": part["propertyNames"]} if "propertyNames" in part else {})
