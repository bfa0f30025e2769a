"""Route tables: match a path and parse its fields.

1. A table is data; the first route whose pattern matches the whole path answers, anchored at both ends.
2. A path that matches for another operation is 405; one that matches nothing is 404.
3. A route's fields are exactly its handler's parameters after ``ctx``, or the fields of the one record that the
   handler takes instead (``Form``: more than six): checked when the table is made.
4. Values captured from the path override members of the body; members that no field names are ignored.  Both make a
   warning.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from labkit.service.errors import BadRequest, NotFound, Unsupported, one_error
from labkit.service.fields import TAKE_ANY_NAME, Field, to_text
from labkit.service.record import NamedTuple

OPERATIONS = ("read", "write", "patch", "delete", "list")

FLAGS = {
    "unauthenticated": "needs no token; any that is sent is ignored",
    "sudo": "wants the capability sudo too",
    "while_sealed": "answers while sealed",
    "on_standby": "is about the node itself: one that is not the active one answers it, and forwards it nowhere",
    "any_mode": "answers on a disaster-recovery secondary",
    "any_namespace": "answers in any namespace",
    "enterprise": "is refused by the community edition",
    "fetches": "its handler is a generator that yields Fetches",
    "may_fetch": "its handler is one for some requests: those that its ``fetches_if`` says",
    "key_shares": "takes key shares: before there are any, 400",
    "accepted": "may answer 202: what it began is done by then",
    "no_envelope": "answers without the envelope",
    "top_level_data": "copies the data's members to the top level of the envelope",
    "invalid_token_is_400": "a token that is not valid is 400, not 403",
}

Handler = Callable[..., Any]


class Form(NamedTuple):
    """The fields of a route whose handler takes one record: a NamedTuple, made of the arguments by name.

    Fields with defaults at the record's end may be missing here.
    """

    record: Any
    fields: tuple[Field, ...]


class Route:
    """One operation on one pattern: handler, fields, and who may call it.

    ``exists(ctx, **captures)`` finds what a write would update, None where it creates; without it every write is an
    update.  ``flags`` are those of ``FLAGS``.  ``front`` is what every path begins with that the pattern matches,
    ``name_field`` the only field, where it ends the path and takes any name: such a name needs no regex, and a first
    answer so none compiled (R24).
    """

    __slots__ = (
        "_regex",
        "by_name",
        "exists",
        "fetches_if",
        "fields",
        "flags",
        "front",
        "handler",
        "has_usual_envelope",
        "name_field",
        "operation",
        "pattern",
        "record",
        "rest",
    )

    def __init__(
        self,
        operation: str,
        pattern: str,
        handler: Handler,
        fields: tuple[Field, ...] | Form = (),
        *flags: str,
        exists: Handler | None = None,
    ) -> None:
        assert operation in OPERATIONS, operation
        assert set(flags) <= set(FLAGS), f"{pattern}: no such flags: {sorted(set(flags) - set(FLAGS))}"
        self.record: Any = None
        self.rest: dict[str, Any] = {}  # the defaults of the record's fields that are none of this route
        if isinstance(fields, Form):
            self.record, fields = fields
        names = [field.name for field in fields]
        declared = _parameters(handler) if self.record is None else _members(handler, self.record, len(names))
        assert declared == names, f"{pattern}: the handler takes {declared}, the fields are {names}"
        if self.record is not None:
            self.rest = {name: self.record._field_defaults[name] for name in self.record._fields[len(fields) :]}
        self.operation, self.pattern, self.handler, self.fields = operation, pattern, handler, fields
        self.flags, self.exists = frozenset(flags), exists
        self.has_usual_envelope = "no_envelope" not in flags and "top_level_data" not in flags
        self.fetches_if: Handler | None = None
        self.by_name = {field.name: field for field in fields}
        if operation == "list":
            from labkit.service.key_pages import BY_NAME  # no list, no pages (R24)

            self.by_name |= BY_NAME
        pieces = _pieces(pattern)
        unknown = set(pieces[1::2]) - self.by_name.keys()
        assert not unknown, f"{pattern}: no field is called {sorted(unknown)}"
        self._regex: re.Pattern[str] | None = None
        self.front = pieces[0].rstrip("/") if len(pieces) == 1 else pieces[0]
        ends_with_field = len(pieces) == 3 and not pieces[2]
        self.name_field = pieces[1] if ends_with_field and self.by_name[pieces[1]].pattern in TAKE_ANY_NAME else ""

    @property
    def regex(self) -> re.Pattern[str]:
        """What a whole path must match; compiled at the first request."""
        if self._regex is None:
            pattern = _pattern_to_regex(self.pattern, self.by_name)
            if self.operation == "list" and pattern.endswith("/"):
                pattern += "?"  # whoever asks otherwise leaves the slash out, and asks for the wrong operation
            self._regex = re.compile(pattern, re.ASCII | re.DOTALL)
        return self._regex

    def fetching_if(self, decide: Handler) -> Route:
        """Return this route; its handler is a generator that yields Fetches if ``decide(ctx, arguments)`` says so."""
        self.fetches_if, self.flags = decide, self.flags | {"may_fetch"}
        return self

    def __repr__(self) -> str:
        return f"Route({self.operation} {self.pattern})"


def _parameters(handler: Handler) -> list[str]:
    """Return the names of a handler's parameters after ``ctx``."""
    code = handler.__code__
    return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])


def _members(handler: Handler, record: Any, count: int) -> list[str]:
    """Return the names of a record's fields that a route with ``count`` fields fills."""
    parameters = _parameters(handler)
    assert len(parameters) == 1, f"the handler takes {parameters}, not one {record.__name__}"
    return [name for place, name in enumerate(record._fields) if place < count or name not in record._field_defaults]


def _pattern_to_regex(pattern: str, fields: Mapping[str, Field]) -> str:
    parts = _pieces(pattern)
    out = [re.escape(parts[0])]
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        out.append(f"(?P<{name}>{fields[name].pattern})")
        out.append(re.escape(literal))
    return "".join(out)


def _pieces(pattern: str) -> list[str]:
    """Return a pattern's literals and, between them, the names in its brackets."""
    return pattern.replace(">", "<").split("<")


class Match(NamedTuple):
    """A route that a path matched, with defaults and captures laid out as the handler's arguments, or its record's."""

    route: Route
    arguments: dict[str, Any]
    captured: dict[str, Any]

    def __repr__(self) -> str:
        return f"Match({self.route!r})"  # arguments are what callers sent


class Table:
    """The routes of one service or engine."""

    __slots__ = ("routes",)

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)

    def match(self, operation: str, path: str) -> Match:
        """Find the route of an operation on a path; raise Unsupported (405) or NotFound (404)."""
        known = False
        for route in self.routes:
            if not path.startswith(route.front):
                continue
            name, text = route.name_field, path[len(route.front) :]
            if name and text.isalnum() and text.isascii():
                texts = {name: text}
            else:
                found = route.regex.fullmatch(path)
                if found is None:
                    continue
                texts = found.groupdict()
            if route.operation != operation:
                known = True
                continue
            captured = {field: route.by_name[field].convert(given) for field, given in texts.items()}
            defaults = {field.name: field.default for field in route.fields}
            return Match(route, {**defaults, **captured, **route.rest}, captured)
        if known:
            raise Unsupported
        raise NotFound(one_error("unsupported path"))


class Groups:
    """A table whose routes are in several modules, each loaded at the first path with its first segment (R24).

    ``modules`` maps first segments to names of modules with ``ROUTES``; the module ``otherwise`` is tried where they
    have no route.
    """

    __slots__ = ("_tables", "modules", "otherwise")

    def __init__(self, modules: Mapping[str, tuple[str, ...]], otherwise: str = "") -> None:
        self.modules, self.otherwise = modules, otherwise
        self._tables: dict[str, Table] = {}  # of the segments that were asked for

    @property
    def routes(self) -> tuple[Route, ...]:
        """All routes, in the order of their modules' names: for manuals."""
        names = sorted({name for names in self.modules.values() for name in names})
        return tuple(_routes((*names, self.otherwise) if self.otherwise else names))

    def match(self, operation: str, path: str) -> Match:
        """Find the route of an operation on a path; raise Unsupported (405) or NotFound (404)."""
        try:
            return self._table(path.partition("/")[0]).match(operation, path)
        except (Unsupported, NotFound) as refused:
            if self.otherwise:
                with suppress(NotFound):
                    return Table(_routes((self.otherwise,))).match(operation, path)
            raise refused from None

    def _table(self, segment: str) -> Table:
        table = self._tables.get(segment)
        if table is None:
            table = Table(_routes(self.modules.get(segment, ())))
            if segment in self.modules:
                self._tables[segment] = table
        return table


def _routes(modules: Iterable[str]) -> list[Route]:
    return [route for module in modules for route in loaded(module).ROUTES]


def loaded(module: str) -> Any:
    """Return a module by its whole name; importlib would be one module more to load (R24)."""
    __import__(module)
    return sys.modules[module]


def parse_fields(match: Match, body: Mapping[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """Convert a body's members into the handler's arguments; raise BadRequest that names the field."""
    route, prepared, captured = match
    values, fields = prepared.copy(), route.by_name
    ignored = False
    for name, value in body.items():
        field = fields.get(name)
        if field is None or name in captured:
            ignored = True
        elif type(value) is str and field.convert is to_text:
            values[name] = value
        elif value is not None or field.kind != "duration":  # a null duration counts as not sent
            try:
                values[name] = field.convert(value)
            except ValueError as error:
                prefix = "" if route.exists is not None else "Field validation failed: "
                raise BadRequest(f'{prefix}error converting input for field "{name}": {error}') from None
    if ignored:
        _warn_of_ignored(match, body, warn)
    return values


def _warn_of_ignored(match: Match, body: Mapping[str, Any], warn: Callable[[str], None]) -> None:
    """Warn of members that no field names, and of those that the path has."""
    unknown = [name for name in body if name not in match.route.by_name]
    replaced = [name for name in body if name in match.captured]
    if unknown:
        warn(f"Endpoint ignored these unrecognized parameters: [{' '.join(sorted(unknown))}]")
    if replaced:
        warn(
            "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: "
            f"[{' '.join(sorted(replaced))}]"
        )
