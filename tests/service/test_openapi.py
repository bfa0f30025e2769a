"""The manuals: what the OpenAPI document and the reference page say is what the route tables declare."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate

from labkit.service import fields
from labkit.service.openapi import SCHEMAS, document, markdown
from labkit.service.routing import OPERATIONS, Route
from labkit.vault.mounts import CATALOGUE, Mount, routes_of
from tests.examples import examples

NAME = fields.name("name", "name of the thing")
PATH = fields.path("path", "path of the thing")
FOLDER = fields.folder("path", "folder to list")
SIZE = fields.integer("size", "how large it is", 3)
KIND = fields.text("kind", "kind | sort of the thing", choices=("round", "flat"))
METHODS = {"read": "get", "list": "get", "write": "post", "patch": "patch", "delete": "delete"}

COLLECT = """
import json
from labkit.service.openapi import document
from labkit.vault.mounts import CATALOGUE, Mount, routes_of
mounted = [(f"{kind}{version}/", kind, routes_of(Mount("", kind, "", "", options=(("version", version),))).routes)
           for kind, version in CATALOGUE]
print(json.dumps(document("t", "1", mounted)))
"""


def read_thing(ctx, name) -> dict[str, int]:
    """Read a thing.

    A thing that is gone is told as ``404``.
    """
    return {"size": 1}


def write_thing(ctx, name, size, kind) -> None:
    """Write a thing."""


def list_things(ctx, path) -> dict[str, list[str]]:
    """List the things in a folder."""
    return {"keys": []}


def read_path(ctx, path) -> dict[str, int] | None:
    """Read a path."""


def ping(ctx) -> dict[str, int]:
    """Answer."""
    return {"pong": 1}


def explain(ctx, path) -> None:
    """Explain that there is no such path."""


def written(name, size, kind) -> bool:
    return False


def of(*routes: Route, prefix: str = "things/") -> dict:
    told = document("title", "1.2", [(prefix, "thing", routes)])
    validate(told)
    return told


def everything() -> list[tuple[str, str, tuple[Route, ...]]]:
    """Every engine and auth method that can be mounted."""
    mounts = [Mount("", kind, "", "", options=(("version", version),)) for kind, version in CATALOGUE]
    return [(f"{mount.kind}{mount.version}/", mount.kind, routes_of(mount).routes) for mount in mounts]


MOUNTED = everything()
WHOLE = document("title", "1.2", MOUNTED)
ROUTES = [
    pytest.param(prefix, route, id=f"{prefix}{route.operation} {route.pattern}")
    for prefix, _, routes in MOUNTED
    for route in routes
    if route.handler.__name__ != "explain_path"
]


def test_a_published_validator_has_nothing_to_say() -> None:
    validate(WHOLE)


@pytest.mark.parametrize(("prefix", "route"), ROUTES)
def test_every_route_and_every_declared_field_is_told(prefix: str, route: Route) -> None:
    shape = re.sub(r"<\w+>", "{}", f"/{prefix}{route.pattern}").rstrip("/")
    (path,) = [path for path in WHOLE["paths"] if re.sub(r"{\w+}", "{}", path) == shape]
    item = WHOLE["paths"][path]
    operation = item[METHODS[route.operation]]
    in_path = dict(zip(re.findall(r"<(\w+)>", route.pattern), in_paths(item), strict=True))
    for field in route.fields:
        if field.name in in_path:
            parameter = in_path[field.name]
            assert (parameter["in"], parameter["required"]) == ("path", True)
            assert parameter["name"] == field.name or f"`{field.name}`" in parameter["description"]
            assert field.help in parameter["description"]
        elif route.operation in ("write", "patch"):
            (content,) = operation["requestBody"]["content"].values()
            assert content["schema"]["properties"][field.name]["description"] == field.help
        else:
            (parameter,) = [told for told in operation["parameters"] if told["name"] == field.name]
            assert (parameter["in"], parameter["description"]) == ("query", field.help)
    assert (operation["security"] == []) == ("unauthenticated" in route.flags)


def test_the_parameters_of_a_path_are_those_in_its_braces() -> None:
    for path, item in WHOLE["paths"].items():
        assert [told["name"] for told in in_paths(item)] == re.findall(r"{(\w+)}", path)


def in_paths(item: dict) -> list[dict]:
    return [told for told in item.get("parameters", []) if told.get("in") == "path"]


def test_a_path_takes_a_namespace_unless_it_is_about_the_cluster() -> None:
    routes = (Route("read", "a", ping), Route("read", "b", ping))
    told = document("title", "1.2", [("things/", "thing", routes)], lambda path: path == "/things/b")
    validate(told)
    assert told["paths"]["/things/a"]["parameters"] == [{"$ref": "#/components/parameters/Namespace"}]
    assert "parameters" not in told["paths"]["/things/b"]
    header = told["components"]["parameters"]["Namespace"]
    assert (header["name"], header["in"]) == ("X-Vault-Namespace", "header")


def test_every_operation_has_an_identifier_of_its_own() -> None:
    told = [operation["operationId"] for operation in operations(WHOLE)]
    assert sorted(set(told)) == sorted(told)
    assert all(re.fullmatch(r"[a-z]\w+", identifier, re.ASCII) for identifier in told)


def test_an_identifier_that_is_taken_gets_a_number() -> None:
    routes = [Route("read", f"a{mark}b", ping) for mark in "-._"]
    assert [operation["operationId"] for operation in operations(of(*routes))] == [
        "read_things_a_b",
        "read_things_a_b_2",
        "read_things_a_b_3",
    ]


def operations(told: dict) -> list[dict]:
    return [item[method] for item in told["paths"].values() for method in item if method != "parameters"]


def test_a_field_of_every_kind_has_a_schema() -> None:
    declared = {field.kind for _, _, routes in MOUNTED for route in routes for field in route.fields}
    assert declared <= set(SCHEMAS)


def test_a_read_a_write_and_what_they_take() -> None:
    told = of(
        Route("read", "<name>", read_thing, (NAME,)),
        Route("write", "<name>", write_thing, (NAME, SIZE, KIND), "sudo", exists=written),
    )
    assert (told["info"]["title"], told["info"]["version"]) == ("title", "1.2")
    assert told["tags"] == [{"name": "thing"}]
    item = told["paths"]["/things/{name}"]
    assert in_paths(item) == [
        {
            "name": "name",
            "in": "path",
            "required": True,
            "description": "name of the thing",
            "schema": {"type": "string", "pattern": r"^\w(?:[\w.-]*\w)?$"},
        }
    ]
    read, write = item["get"], item["post"]
    assert (read["summary"], read["description"]) == ("Read a thing.", "A thing that is gone is told as `404`.")
    assert read["tags"] == ["thing"]
    assert "requestBody" not in read
    assert "parameters" not in read
    assert write["requestBody"]["content"] == {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "description": "how large it is", "default": 3},
                    "kind": {"type": "string", "description": "kind | sort of the thing", "enum": ["round", "flat"]},
                },
            }
        }
    }
    assert "`create`" in write["description"]
    assert "`sudo`" in write["description"]
    assert read["security"] == [{"token": []}]
    assert told["components"]["securitySchemes"]["token"]["name"] == "X-Vault-Token"


def test_the_answers_are_those_that_a_handler_says_it_gives() -> None:
    told = of(
        Route("read", "<name>", read_thing, (NAME,)),
        Route("write", "<name>", write_thing, (NAME, SIZE, KIND)),
        Route("read", "at/<path>", read_path, (PATH,)),
        Route("read", "bare", ping, (), "no_envelope"),
    )["paths"]
    thing, at, bare = told["/things/{name}"], told["/things/at/{path}"], told["/things/bare"]
    refusals = ["400", "403", "404", "default"]
    assert list(thing["get"]["responses"]) == ["200", *refusals]
    assert list(thing["post"]["responses"]) == ["200", "204", *refusals]
    assert list(at["get"]["responses"]) == ["200", "204", *refusals]
    assert thing["post"]["responses"]["200"]["description"] == "Done, with warnings."
    assert schema_of(thing["get"]) == {"$ref": "#/components/schemas/Envelope"}
    assert schema_of(bare["get"]) == {"type": "object"}


def schema_of(operation: dict) -> dict:
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_a_patch_is_a_merge_patch() -> None:
    told = of(Route("patch", "<name>", write_thing, (NAME, SIZE, KIND)))
    assert list(told["paths"]["/things/{name}"]["patch"]["requestBody"]["content"]) == ["application/merge-patch+json"]


def test_a_listing_is_a_get_that_says_so() -> None:
    told = of(Route("list", "at/<path>", list_things, (FOLDER,)))["paths"]
    assert list(told) == ["/things/at", "/things/at/{path}"]  # the folder may be empty
    for path, item in told.items():
        switch, after, limit = item["get"]["parameters"]
        assert (after["name"], limit["name"], limit["in"], limit["required"]) == ("after", "limit", "query", False)
        assert (switch["name"], switch["in"], switch["required"]) == ("list", "query", True)
        assert f"LIST `{path}`" in item["get"]["description"]
        assert schema_of(item["get"]) == {"$ref": "#/components/schemas/Names"}


def test_what_can_be_read_and_listed_is_one_get() -> None:
    told = of(
        Route("list", "<path>", list_things, (FOLDER,)),
        Route("read", "<path>", read_path, (PATH,)),
    )["paths"]
    both = told["/things/{path}"]["get"]
    assert both["summary"] == "Read a path."
    assert both["description"] == "LIST `/things/{path}`: List the things in a folder."
    assert [(told["name"], told["required"]) for told in both["parameters"]] == [("list", False)]
    assert told["/things"]["get"]["parameters"][0]["required"] is True
    assert told["/things/{path}"]["parameters"][0]["description"] == (
        "path of the thing; or folder to list; may contain slashes"
    )


def test_paths_that_differ_in_names_alone_are_one() -> None:
    def of_size(ctx, size) -> dict[str, int]:
        """Make so many."""
        return {"size": 1}

    size = fields.segment("size", "how many")
    told = of(Route("read", "<name>", read_thing, (NAME,)), Route("read", "<size>", of_size, (size,)))["paths"]
    assert list(told) == ["/things/{name}"]
    (parameter,) = in_paths(told["/things/{name}"])
    assert parameter["description"] == "name of the thing; or `size`: how many"
    assert "`/things/{size}`: Make so many." in told["/things/{name}"]["get"]["description"]


def test_a_handler_of_all_operations_explains_and_is_left_out() -> None:
    anywhere = PATH._replace(pattern=".*")
    explaining = [Route(operation, "<path>", explain, (anywhere,)) for operation in OPERATIONS]
    assert list(of(Route("read", "a", ping), *explaining)["paths"]) == ["/things/a"]
    assert "/things/{path}" in of(Route("read", "a", ping), *explaining[1:])["paths"]


def test_open_to_all_needs_no_token() -> None:
    assert of(Route("read", "a", ping, (), "unauthenticated"))["paths"]["/things/a"]["get"]["security"] == []


def test_braces_and_brackets_of_a_mount_are_no_parameters() -> None:
    told = of(Route("read", "<name>", read_thing, (NAME,)), prefix="a{b}<c>/")["paths"]
    assert [re.findall(r"{(\w+)}", path) for path in told] == [["name"]]


def test_nobody_can_change_the_next_document() -> None:
    first = document("title", "1.2", MOUNTED)
    spoil(first)
    assert document("title", "1.2", MOUNTED) == WHOLE


def spoil(node: object) -> None:
    for member in list(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()):
        spoil(member)
    if isinstance(node, dict):
        node["spoilt"] = True
    elif isinstance(node, list):
        node.append("spoilt")


@settings(max_examples=examples(15))
@given(st.permutations(MOUNTED))
def test_the_order_of_the_mounts_changes_nothing(mounted: list) -> None:
    assert json.dumps(document("title", "1.2", mounted)) == json.dumps(WHOLE)
    assert markdown("title", mounted) == markdown("title", MOUNTED)


@pytest.mark.slow
def test_hash_seeds_change_nothing(checkout: Path) -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", COLLECT],
            cwd=checkout,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert json.loads(told[0])["paths"] == WHOLE["paths"]


def test_the_page_names_every_path_and_parameter() -> None:
    page = markdown("The API", MOUNTED)
    assert page.startswith("# The API\n")
    headings = re.findall(r"^### `/(.*)`$", page, re.MULTILINE)
    assert len(set(headings)) == len(headings)
    for prefix, _, routes in MOUNTED:
        assert f"\n## `{prefix}`" in page or not [*routes]  # identity/ has none
        for route in routes:
            if route.handler.__name__ != "explain_path":
                path = (prefix + route.pattern).replace("<", "{").replace(">", "}").rstrip("/")
                section = page.partition(f"\n### `/{path}`\n")[2].partition("\n#")[0]
                assert all(f"| `{field.name}` | " in section for field in route.fields), path


def test_the_page_lays_out_one_path() -> None:
    page = markdown(
        "The API",
        [
            (
                "things/",
                "thing",
                (
                    Route("list", "", ping, (), "unauthenticated"),
                    Route("write", "<name>", write_thing, (NAME, SIZE, KIND), "sudo"),
                ),
            )
        ],
    )
    assert page.partition("## `things/`")[2] == (
        " (thing)\n\n### `/things`\n\n**LIST** – Answer. No token is needed.\n\n"
        "| Parameter | In | Kind | Default | Meaning |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| `after` | query | string |  | list only names behind this one |\n"
        "| `limit` | query | integer | `0` | list at most so many names; 0 or less lists all |\n\n"
        "### `/things/{name}`\n\n**POST** – Write a thing.\n\nNeeds the `sudo` capability too.\n\n"
        "| Parameter | In | Kind | Default | Meaning |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| `name` | path | name | required | name of the thing |\n"
        "| `size` | body | integer | `3` | how large it is |\n"
        "| `kind` | body | string: round, flat |  | kind \\| sort of the thing |\n"
    )
