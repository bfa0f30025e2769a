"""Route tables: matching, captures, warnings, and the check that fields are the handler's parameters."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound, Unsupported
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Groups, Match, Route, Table, parse_fields

NAME = fields.name("name", "name")
PATH = fields.path("path", "path")
COUNT = fields.integer("count", "how many", 1)


def read_key(ctx, name):
    return name


def write_key(ctx, name, count):
    return name, count


def read_path(ctx, path):
    return path


TABLE = Table(
    (
        Route("read", "keys/<name>", read_key, (NAME,)),
        Route("write", "keys/<name>/config", write_key, (NAME, COUNT)),
        Route("read", "data/<path>", read_path, (PATH,)),
    )
)


def test_a_route_captures_from_the_path():
    match = TABLE.match("read", "data/a/b c/ü")

    assert match.route.handler(None, **match.arguments) == "a/b c/ü"


@pytest.mark.parametrize("path", ["keys/", "keys/a/b", "keys/a-", "keys/-a", "keys/a b", "other", "data/", "data/a/"])
def test_what_matches_nothing_is_404(path):
    with pytest.raises(NotFound, match="unsupported path"):
        TABLE.match("read", path)


def test_a_plain_name_at_the_end_needs_no_regex():
    route = Route("read", "keys/<name>", read_key, (NAME,))

    assert Table((route,)).match("read", "keys/orders2").captured == {"name": "orders2"}
    assert route._regex is None
    assert Table((route,)).match("read", "keys/orders-2").captured == {"name": "orders-2"}
    assert route._regex is not None


@pytest.mark.parametrize("operation", ["read", "list"])
@pytest.mark.parametrize("field", [NAME, fields.segment("name", "segment"), fields.path("name"), fields.folder("name")])
@given(path=st.from_regex(r"(keys/?)?[aZ0_./ ü²-]*", fullmatch=True))
def test_what_a_path_gives_is_what_the_regex_finds(operation, field, path):
    for pattern in ("keys/<name>", "keys/<name>/", "<name>", "keys/", "keys"):
        route = Route(operation, pattern, *((read_key, (field,)) if "<" in pattern else (lambda ctx: None,)))
        found = route.regex.fullmatch(path)
        try:
            captured = Table((route,)).match(operation, path).captured
        except NotFound:
            captured = None

        assert captured == (None if found is None else found.groupdict())


def test_a_known_path_with_another_operation_is_405():
    with pytest.raises(Unsupported):
        TABLE.match("delete", "keys/a")


def test_defaults_conversions_and_warnings():
    match = TABLE.match("write", "keys/a/config")
    told: list[str] = []

    values = parse_fields(match, {"count": "7", "zeta": 1, "alpha": 2, "name": "other"}, told.append)

    assert values == {"name": "a", "count": 7}
    assert told == [
        "Endpoint ignored these unrecognized parameters: [alpha zeta]",
        "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]
    assert parse_fields(match, {}, told.append) == {"name": "a", "count": 1}


def test_a_null_is_the_kinds_zero_value_and_for_a_duration_not_sent():
    kinds = (
        fields.duration("ttl", "", 90),
        fields.signed_duration("skew", "", -5),
        fields.integer("count", "", 7),
        fields.flag("force", "", True),
        fields.text("mode", "", "x"),
        fields.text_list("names", ""),
    )
    table = Table([Route("write", "a", lambda ctx, ttl, skew, count, force, mode, names: None, kinds)])
    sent = dict.fromkeys(("ttl", "skew", "count", "force", "mode", "names"))

    wanted = {"ttl": 90, "skew": -5, "count": 0, "force": False, "mode": "", "names": []}
    assert parse_fields(table.match("write", "a"), sent, lambda text: None) == wanted


def test_a_value_of_the_wrong_type_names_its_field():
    with pytest.raises(BadRequest, match='Field validation failed: error converting input for field "count"'):
        parse_fields(TABLE.match("write", "keys/a/config"), {"count": "x"}, lambda text: None)


def test_with_an_existence_check_the_prefix_is_left_out():
    route = Route("write", "keys/<name>/config", write_key, (NAME, COUNT), exists=lambda ctx, name: True)
    match = Match(route, {"name": "a", "count": 1}, {"name": "a"})

    with pytest.raises(BadRequest) as refused:
        parse_fields(match, {"count": "x"}, lambda text: None)
    assert refused.value.errors[0].startswith('error converting input for field "count"')


def test_matching_never_shares_its_values():
    match = TABLE.match("write", "keys/a/config")
    parse_fields(match, {"count": 9}, lambda text: None)

    assert match.arguments == {"name": "a", "count": 1}


def test_fields_must_be_the_handlers_parameters():
    with pytest.raises(AssertionError, match="the handler takes"):
        Route("write", "keys/<name>/config", write_key, (COUNT, NAME))
    with pytest.raises(AssertionError):
        Route("fly", "keys", read_key, (NAME,))
    with pytest.raises(AssertionError, match=r"no such flags: .'opne'"):
        Route("read", "keys/<name>", read_key, (NAME,), "opne")


class KeyRequest(NamedTuple):
    """Two fields, and one that only some routes fill."""

    name: str
    count: int  # type: ignore[assignment]  # a field of this name hides the method of a tuple
    note: str = ""


def write_record(ctx, asked):
    return asked


def test_a_record_is_declared_in_place_of_parameters():
    table = Table((Route("write", "keys/<name>", write_record, Form(KeyRequest, (NAME, COUNT))),))
    match = table.match("write", "keys/a")
    arguments = parse_fields(match, {"count": "7"}, lambda text: None)

    assert match.route.record(**arguments) == KeyRequest("a", 7, "")


@pytest.mark.parametrize(
    ("handler", "names"),
    [(write_record, (COUNT, NAME)), (write_record, (NAME,)), (write_key, (NAME, COUNT))],
)
def test_fields_must_be_those_of_the_record(handler, names):
    with pytest.raises(AssertionError, match="the handler takes"):
        Route("write", "keys/<name>", handler, Form(KeyRequest, names))


def test_a_route_that_fetches_for_some_requests_says_so():
    route = Route("read", "keys/<name>", read_key, (NAME,), "sudo").fetching_if(lambda ctx, arguments: True)

    assert route.flags == {"sudo", "may_fetch"}
    assert Route("read", "keys/<name>", read_key, (NAME,)).flags == frozenset()


def test_a_pattern_names_fields_alone():
    with pytest.raises(AssertionError, match=r"keys/<nmae>: no field is called .'nmae'."):
        Route("read", "keys/<nmae>", read_key, (NAME,))


@pytest.fixture
def groups(monkeypatch):
    """Two modules of routes under three first segments, and a module with one route otherwise."""
    more = (Route("read", "data/<path>/more", read_path, (PATH,)), Route("list", "keys/<path>", read_path, (PATH,)))
    for module, routes in {"group_a": TABLE.routes[:2], "group_b": TABLE.routes[2:], "group_c": more}.items():
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(ROUTES=routes))
    modules = {"keys": ("group_a",), "data": ("group_b",), "both": ("group_a", "group_b")}
    return Groups(modules, "group_c")


def test_a_group_is_loaded_by_its_segment(groups, monkeypatch):
    assert groups.match("read", "keys/a") == TABLE.match("read", "keys/a")
    monkeypatch.delitem(sys.modules, "group_b")
    assert groups.match("read", "keys/a").arguments == {"name": "a"}
    with pytest.raises(ModuleNotFoundError):
        groups.match("read", "data/a")


def test_a_group_refuses_as_a_table_does(groups):
    with pytest.raises(Unsupported):
        groups.match("patch", "keys/a")
    for path in ("keys", "data/", "other/a", ""):
        with pytest.raises(NotFound, match="unsupported path"):
            groups.match("read", path)


def test_groups_know_all_their_routes_once(groups):
    assert groups.routes[:3] == TABLE.routes
    assert [route.pattern for route in groups.routes[3:]] == ["data/<path>/more", "keys/<path>"]
    assert groups.match("read", "data/a/more").arguments == {"path": "a/more"}  # a group's own routes come first


def test_the_module_otherwise_is_for_what_the_groups_do_not_have(groups, monkeypatch):
    assert groups.match("list", "keys/a/b").arguments == {"path": "a/b"}  # nothing of a group matches the path
    assert groups.match("list", "keys/a").arguments == {"path": "a"}  # a group has the path for other operations
    monkeypatch.delitem(sys.modules, "group_c")
    assert groups.match("read", "keys/a").arguments == {"name": "a"}  # not loaded for what the groups have
    with pytest.raises(ModuleNotFoundError):
        groups.match("list", "keys/a")
