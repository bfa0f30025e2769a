"""Routes of requests: how they are found, and what the memo keeps of them."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Vault
from labkit.service.errors import NotFound, ServiceError
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.mounts import MOUNTS
from labkit.vault.walk import request_route
from labkit.vault.walk.suspension import Tape
from tests.examples import examples


def test_what_is_remembered_of_requests_is_bounded(service):
    routes = service.core.caches.routes
    service.get("sys/mounts")
    known = dict(routes)
    for number in range(500):
        service.get(f"secret/data/{number}" + "x" * 3_000, token="")
        service.get(f"secret/data/{number}", token="no such token")
        service.get(f"secret/data/{number}" + "x" * 3_000)

    assert routes == known
    service.get("secret/data/a")
    assert len(routes) == len(known) + 1


def test_queries_are_bounded(service):
    assert service.get("secret/data/a?" + "&".join(f"a{n}=1" for n in range(10_000))).status == 404
    assert service.get("secret/data/a?" + "&".join(f"a{n}=1" for n in range(10_001))).status == 400
    assert service.get("secret/data/a?a=" + "1" * 1_048_576).status == 400


@pytest.mark.parametrize("path", ["//v1/secret/data/a", "/v1//secret//data/a", "///secret/data/a", "v1/secret/data/a"])
def test_slashes_in_a_row_count_as_one_in_front_too(service, path):
    service.post("secret/data/a", {"data": {"x": 1}})

    assert service.get(path).data["data"] == {"x": 1}


@pytest.mark.parametrize("path", ["secret/data/../config", "./secret/data/a", "secret/data/a/.."])
def test_relative_paths_are_refused(service, path):
    assert service.get(path).errors == ["relative paths not supported"]


def test_writes_to_a_folder_are_refused(service):
    assert service.post("secret/data/a/", {"data": {}}).errors == ["cannot write to a path ending in '/'"]


@pytest.mark.parametrize("method", ["FETCH", "", "get"])
def test_unknown_methods_are_405(service, method):
    assert service.request(method, "secret/data/a", None, {"X-Vault-Token": service.root_token}).status == 405


@pytest.mark.parametrize("method", [None, 7, ["GET"], "\ud800", b"GET"])
def test_a_method_that_is_not_text_is_no_method(service, method):
    assert service.request(method, "secret/data/a", None, {}).status == 405


def test_the_memo_holds_few_characters_and_few_routes(service, monkeypatch):
    monkeypatch.setattr("labkit.vault.walk.request_route.MAX_CACHED_ROUTES", 4)
    for number in range(20):
        service.get(f"secret/data/{number}")
        service.get(f"secret/data/{number}?a=" + "x" * 600)

    assert 0 < len(service.core.caches.routes) <= 4
    assert all(len(key) <= 512 for key in service.core.caches.routes)


def held_bytes(*caches: Any) -> int:
    """How much memory plain values take, each counted once."""
    seen: dict[int, Any] = {}
    left = list(caches)
    while left:
        value = left.pop()
        if id(value) not in seen and isinstance(value, (bytes, str, int, tuple, list, dict, frozenset)):
            seen[id(value)] = value
            left += [*value.keys(), *value.values()] if isinstance(value, dict) else []
            left += value if isinstance(value, (tuple, list, frozenset)) else []
    return sum(map(sys.getsizeof, seen.values()))


@pytest.mark.parametrize(
    ("namespace", "few", "many"),
    [("", 20, 200), ("team", 20, 200), pytest.param("team", 80, 800, marks=pytest.mark.slow)],
)
def test_the_memo_of_the_same_paths_takes_as_much_with_many_mounts_as_with_few(service, namespace, few, many):
    service.post("sys/namespaces/team")
    caches, made, held = service.core.caches, 0, []

    for count in (few, many):
        while made < count:
            service.post(f"sys/mounts/m{made}", {"type": "kv"}, namespace=namespace)
            made += 1
            service.get(f"m{made % few}/a", namespace=namespace)
        service.calls.clear()
        for number in range(few):
            service.get(f"m{number}/a", namespace=namespace)
        tables = sum(sys.getsizeof(stored) for stored in caches.routes.tables.values())
        held.append(held_bytes(dict(caches.routes), list(service.calls._rows)) - tables)

    stored = {id(stored) for _, tables in caches.routes.values() for _, stored in tables}
    assert len(stored) <= 2, "superseded tables are held"
    assert held[1] <= 1.2 * held[0], held


def test_a_route_of_a_table_that_was_replaced_is_dropped_with_the_next_one(service):
    service.get("secret/data/a")
    routes, before = service.core.caches.routes, dict(service.core.caches.routes)
    service.post("sys/mounts/other", {"type": "kv"})
    service.get("secret/data/b")

    assert not before.keys() & routes.keys()
    assert dict(routes.tables) == {MOUNTS: service.core.storage.get(MOUNTS)}


def test_without_a_token_only_the_routes_of_paths_without_names_are_kept(service):
    kept = service.core.caches.routes
    kept.clear()
    for path in ("/v1/sys/health", "sys/health", "/v1//sys/health", "sys/health?a=1", "sys//health", "sys/health/x"):
        service.handle(Request("GET", path))
    for path in ("secret/data/a", "sys/nothing", "auth/none/login", "sys/internal/ui/mounts/secret", "%73ys/health"):
        service.handle(Request("GET", path))
    service.handle(Request("GET", "sys/seal-status", {"X-Vault-Namespace": "root"}))
    assert sorted(kept) == ["GET /v1/sys/health", "GET sys/health"]

    for number in range(3):
        service.handle(Request("POST", "auth/cloud/login", {}, {"role": f"{number}"}))
    assert len(kept) == 3


def test_a_memo_is_worth_nothing_with_another_mount_table(service):
    assert service.get("more/a").status == 404
    service.post("sys/mounts/more", {"type": "kv"})
    service.post("more/a", {"x": 1})

    assert service.get("more/a").data == {"x": 1}
    service.delete("sys/mounts/more")
    assert service.get("more/a").errors == ['no handler for route "more/a". route entry not found.']


def test_a_route_is_found_once_until_the_mounts_change(service):
    service.post("secret/data/a", {"data": {"x": 1}})
    answers = [service.get("secret/data/a").data["data"] for _ in range(3)]
    kept, _ = service.core.caches.routes["GET secret/data/a"]

    assert answers == [{"x": 1}] * 3
    assert kept.path == "secret/data/a"
    service.delete("sys/mounts/secret")
    assert service.get("secret/data/a").status == 404
    assert service.core.caches.routes["GET secret/data/a"][0] is not kept


@pytest.mark.parametrize("asked", ["?list=true", "?list=1", "/?list=true"])
def test_a_list_may_be_asked_for_as_a_read(service, asked):
    service.post("secret/data/a", {"data": {}})

    assert service.get(f"secret/metadata{asked}").data == {"keys": ["a"]}
    assert service.request("LIST", "secret/metadata", None, {"X-Vault-Token": service.root_token}).data["keys"] == ["a"]
    assert service.get("secret/metadata/a?list=false").data["current_version"] == 1
    assert service.get("secret/metadata/a?list=").data["current_version"] == 1
    assert service.get("secret/metadata/a?list").data["current_version"] == 1
    for odd in ("list=x", "list=2"):
        refused = service.get(f"secret/metadata?{odd}")
        assert (refused.status, refused.errors) == (400, [])


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "transit/none/a", 404), ("DELETE", "transit/keys", 405)]
)
def test_a_route_that_an_engine_has_not_is_a_refusal(service, method, path, status):
    asked = Context(service.core, Request(method, path), 0)
    found, _ = request_route.resolve(asked, service.core.storage.get(MOUNTS))

    assert found.mount is not None
    assert (found.mount.path, found.flags) == (path.partition("/")[0] + "/", frozenset())
    assert isinstance(found.match, ServiceError)
    assert found.match.status == status
    assert service.request(method, path, None, {"X-Vault-Token": service.root_token}).status == status


def test_the_systems_paths_are_found_while_the_mount_table_does_not_open(service):
    stored = service.core.storage.get(MOUNTS)
    service.core.storage.apply({MOUNTS: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)

    assert service.get("sys/health", token="").status == 200
    refused = service.get("secret/data/a")
    assert refused.status == 500
    assert MOUNTS in refused.errors[0]


def test_a_request_that_fetched_goes_on_only_on_the_mount_that_it_began_on(service):
    def of(path):
        ctx = Context(service.core, Request("GET", path), 0)
        request_route.find_route(ctx)
        return ctx

    system, engine, nowhere = of("sys/mounts"), of("secret/data/a"), of("nowhere/a")
    for ctx in (system, engine, nowhere):
        request_route.check_mount(ctx)
    gone = 'no handler for route "secret/data/a". route entry not found.'
    service.delete("sys/mounts/secret")
    with pytest.raises(NotFound) as refused:
        request_route.check_mount(engine)
    assert refused.value.errors == (gone,)
    service.post("sys/mounts/secret", {"type": "kv", "options": {"version": "2"}})
    with pytest.raises(NotFound):
        request_route.check_mount(engine)
    service.core.commit({MOUNTS: None})
    with pytest.raises(NotFound):
        request_route.check_mount(engine)
    request_route.check_mount(nowhere)
    assert system.resolved.mount.uuid != "system"


def routes(service, *asked):
    """What requests lead to, each a path and the header's namespace."""
    found = []
    for path, name in asked:
        ctx = Context(service.core, Request("GET", path), 0)
        ctx.headers = {request_route.NAMESPACE: name} if name else {}
        request_route.find_route(ctx)
        found.append(ctx.resolved)
    return found


def test_header_and_path_name_a_namespace_together(service):
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    found = routes(service, ("a", ""), ("team/a", ""), ("a", "team"), ("sub/a", "/team/"), ("team/sub/a", "root"))

    assert [(each.namespace.path, each.path) for each in found] == [
        *(("", "a"), ("team/", "a"), ("team/", "a")),
        *(("team/sub/", "a"), ("team/sub/", "a")),
    ]
    for path, count in (("secret/data/a", 1), ("team/a", 2), ("team/sub/a", 3)):
        ctx = Context(service.core, Request("GET", path), 0)
        assert len(request_route.resolve(ctx, service.core.storage.get(MOUNTS))[1]) == count


def test_a_namespace_that_does_not_exist_has_the_system_only(service):
    system, engine = routes(service, ("sys/health", "none"), ("secret/data/a", "none"))

    assert (system.namespace.path, system.namespace.id, engine.mount) == ("none/", "", None)
    assert "any_namespace" in system.flags


def test_a_memo_counts_while_every_table_on_the_way_is_the_same(service):
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    service.post("sys/mounts/kv", {"type": "kv"}, namespace="team/sub")

    def kept():
        service.get("team/sub/kv/a")
        return service.core.caches.routes["GET team/sub/kv/a"][0]

    before = kept()
    assert kept() is before
    service.post("sys/namespaces/more", namespace="team")
    assert kept() is not before
    before = kept()
    service.delete("sys/mounts/kv", namespace="team/sub")
    assert kept().mount is None
    assert before.mount is not None


def test_a_header_and_a_path_are_not_confused_in_the_memo(service):
    """A raw query may hold anything: no path of one namespace may be taken for another's."""
    service.post("sys/namespaces/team")
    service.post("sys/mounts/secret", {"type": "kv"}, namespace="team")
    service.post("secret/a", {"x": 1}, namespace="team")
    assert service.get("secret/a", namespace="team").ok
    for path in ("secret/a?x=team", "secret/a?x=\nteam", "secret/a', 'team"):
        assert service.get(path).status == 404
    keys = [key for key in service.core.caches.routes if "secret/a" in str(key)]
    assert ("GET secret/a", "team") in keys


def test_a_long_header_is_not_kept(service):
    service.post("sys/namespaces/team")
    name = "/" * 600 + "team"

    assert service.get("sys/mounts", namespace=name).ok
    assert not any(name in key for key in service.core.caches.routes)


def test_a_namespace_whose_table_does_not_open_has_the_system_s_paths(service):
    service.post("sys/namespaces/team")
    key = routes(service, ("a", "team"))[0].namespace.prefix + MOUNTS
    stored = service.core.storage.get(key)
    service.core.storage.apply({key: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)

    refused = service.get("secret/data/a", namespace="team")
    assert refused.status == 500
    assert key in refused.errors[0]
    assert service.get("team/sys/health", token="").ok
    assert service.get("secret/data/a").status == 404


def test_a_damaged_table_is_said_of_every_namespace_below(service):
    service.post("sys/namespaces/team")
    stored = service.core.storage.get(MOUNTS)
    service.core.storage.apply({MOUNTS: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)

    refused = service.get("secret/data/a", namespace="team")
    assert (refused.status, MOUNTS in refused.errors[0]) == (500, True)
    assert service.get("sys/health", namespace="team", token="").ok


def test_what_is_read_on_a_tape_does_not_depend_on_the_memo(service):
    """Rule R2: a replay on a node that remembers another state of the tables reads as often, in the same order."""
    service.post("sys/namespaces/team")
    read = []
    for number in range(2):
        tape = Tape(service.core)
        ctx = Context(service.core, Request("GET", "team/sys/mounts"), 0, tape)
        request_route.find_route(ctx)
        read.append([kind for kind, _ in tape.entries])
        service.get("team/sys/mounts")
        service.post(f"sys/mounts/kv{number}", {"type": "kv"}, namespace="team")
    assert "GET team/sys/mounts" in service.core.caches.routes
    assert read == [["read", "read"]] * 2


# ---- memos beside none, while namespaces, mounts, policies and locks change

PLACES = ("", "a", "b", "a/a", "a/b")
MOUNTED = ("kv", "a/x", "b")
PATHS = ("kv/s", "a/x/s", "b/s", "sys/mounts", "sys/internal/ui/mounts", "auth/token/lookup-self")
NAMED, PLACE = st.sampled_from(("a", "b")), st.sampled_from(PLACES)
CHANGES = st.one_of(
    st.tuples(st.just("POST"), NAMED.map("sys/namespaces/{}".format), st.just({}), PLACE),
    st.tuples(st.just("DELETE"), NAMED.map("sys/namespaces/{}".format), st.none(), PLACE),
    st.tuples(st.just("POST"), NAMED.map("sys/namespaces/api-lock/lock/{}".format), st.just({}), PLACE),
    st.tuples(st.just("POST"), NAMED.map("sys/namespaces/api-lock/unlock/{}".format), st.just({}), PLACE),
    st.tuples(st.just("POST"), st.sampled_from(MOUNTED).map("sys/mounts/{}".format), st.just({"type": "kv"}), PLACE),
    st.tuples(st.just("DELETE"), st.sampled_from(MOUNTED).map("sys/mounts/{}".format), st.none(), PLACE),
    st.tuples(st.just("POST"), st.just("kv/s"), st.integers(0, 9).map(lambda number: {"n": number}), PLACE),
    st.tuples(
        st.just("POST"),
        st.just("sys/policies/acl/p"),
        st.sampled_from(("*", "kv/*", "a/*", "+/kv/*")).map(
            lambda pattern: {"policy": f'path "{pattern}" {{ capabilities = ["read"] }}'}
        ),
        PLACE,
    ),
)
QUESTIONS = st.tuples(st.sampled_from(("", "a/", "b/", "a/b/")), st.sampled_from(PATHS), PLACE, st.integers(0, 5))


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(CHANGES, min_size=4, max_size=20), st.lists(QUESTIONS, min_size=2, max_size=6))
def test_answers_are_the_same_without_memos(changes, questions):
    """Each question is asked after every change, so that a memo of before could answer it."""
    vault = Vault.dev(clock=lambda: 1_893_456_000_000_000_000)
    tokens = [vault.root_token]
    vault.post("sys/namespaces/a")
    vault.post("sys/mounts/kv", {"type": "kv"}, namespace="a")

    def answers():
        found = []
        for before, path, place, which in questions:
            headers = {"X-Vault-Token": tokens[which % len(tokens)], "X-Vault-Namespace": place}
            given = vault.request("GET", before + path, None, headers)
            found.append((given.status, given.errors, given.data, given.headers))
        return found

    for method, path, body, place in changes:
        headers = {"X-Vault-Token": vault.root_token, "X-Vault-Namespace": place}
        vault.request(method, path, body, headers)
        if path == "sys/policies/acl/p":
            made = vault.request("POST", "auth/token/create", {"policies": ["p"]}, headers)
            tokens += [made.auth["client_token"]] if made.ok else []
        remembered = answers()
        vault.core.caches.clear()
        assert answers() == remembered
