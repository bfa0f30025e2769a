"""Namespaces: names, what is made with one, and what is gone after its end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Vault
from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault import namespaces
from labkit.vault.context import Context
from labkit.vault.mounts import Namespace, read_table
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.tokens import INVALID_TOKEN
from tests.examples import examples


def step(service):
    return Context(service.core, Request("POST", ""), service.now())


@pytest.mark.parametrize("sent", ["team", "team/", "/team", "Team.1", "ä", "+"])
def test_a_name_is_one_segment(sent):
    assert namespaces.name_of(sent) == sent.strip("/") + "/"


@pytest.mark.parametrize("sent", [*namespaces.RESERVED, "a b", "a/b", " "])
def test_a_name_that_no_namespace_has(sent):
    with pytest.raises(BadRequest):
        namespaces.name_of(sent)


def test_one_is_made_in_one_transaction_with_what_it_has(service):
    ctx = step(service)
    made = namespaces.create(ctx, "team/", (("a", "b"),))

    assert sorted(key.removeprefix(made.prefix) for key in ctx.writes) == [
        *("core/mounts", "core/mounts", "policy/text/default")
    ]
    assert [mount.path for mount in read_table(StorageView(ctx, made.prefix)).mounts] == [
        *("auth/token/", "cubbyhole/", "identity/", "sys/")
    ]
    assert read_table(ctx.full_storage).child("team/x") == Namespace("team/", made.id, (("a", "b"),))


def test_a_number_that_is_taken_is_drawn_again(service, monkeypatch):
    drawn = iter(["aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr(namespaces, "base62", lambda entropy, digits: next(drawn))

    assert [service.post(f"sys/namespaces/{name}").data["id"] for name in ("a", "b")] == ["aaaaa", "bbbbb"]


def test_one_is_changed_in_place_and_deleted_from_its_parent_only(service):
    ctx = step(service)
    made = namespaces.create(ctx, "team/", ())
    namespaces.replace(ctx, made._replace(metadata=(("a", "b"),)))
    assert read_table(ctx.full_storage).namespaces == (made._replace(metadata=(("a", "b"),)),)
    namespaces.delete(ctx, made)
    assert read_table(ctx.full_storage).namespaces == ()
    assert {key for key, value in ctx.writes.items() if value is not None} == {"core/mounts"}


def test_what_is_too_deep_is_refused(service):
    path = ""
    for _ in range(62):
        assert service.post("sys/namespaces/a", namespace=path).ok
        path += "a/"
    refused = service.post("sys/namespaces/a", namespace=path)
    assert refused.status == 400
    assert "segments" in refused.errors[0]


def test_a_token_whose_accessor_is_damaged_is_left_and_means_nothing(service):
    service.post("sys/namespaces/team")
    auth = service.post("auth/token/create", {"policies": ["root"]}, namespace="team").auth
    key = "token/accessor/" + auth["accessor"]
    service.core.storage.apply({key: b"damaged"}, 0)

    assert service.delete("sys/namespaces/team").data == {"status": "deleted"}
    service.post("sys/namespaces/team")
    refused = service.get("sys/mounts", namespace="team", token=auth["client_token"])
    assert refused.status == 403


# ---- who may reach what, beside a plain model

NAMES: tuple[str, ...] = ("a", "b")
PATTERNS = (
    "kv/x",
    "kv/*",
    "a/kv/x",
    "a/kv/*",
    "b/*",
    "+/kv/x",
    "+/a/kv/x",
    "a/b/kv/x",
    "a/*",
    "*",
    "auth/*",
    "a/auth/*",
)


def matches(pattern, path):
    """Whether a policy's pattern names a path, in so many words."""
    ends = pattern.endswith("*")
    wanted, parts = pattern.rstrip("*").split("/"), path.split("/")
    if ends:
        *wanted, last = wanted
        return len(parts) > len(wanted) and fits(wanted, parts) and parts[len(wanted)].startswith(last)
    return len(wanted) == len(parts) and fits(wanted, parts)


def fits(wanted, parts):
    return all(one in ("+", other) for one, other in zip(wanted, parts, strict=False))


class Beside:
    """A service, and what is known of it: namespaces with their patterns, tokens by text with their namespace."""

    def __init__(self):
        self.service = Vault.dev(seed=1)
        self.namespaces: dict[str, tuple[str, ...]] = {"": ()}
        self.mounted: set[str] = set()
        self.tokens: dict[str, str] = {}
        self.ended: set[str] = set()  # tokens of deleted namespaces: another one may stand at the path

    def create(self, parent, name, patterns, mounted):
        path = f"{parent}{name}/"
        if parent not in self.namespaces or path in self.namespaces:
            return
        assert self.service.post(f"sys/namespaces/{name}", namespace=parent).ok
        self.namespaces[path] = patterns
        self.fill(path, patterns, mounted)

    def fill(self, path, patterns, mounted):
        if mounted:
            assert self.service.post("sys/mounts/kv", {"type": "kv"}, namespace=path).ok
            assert self.service.post("kv/x", {"at": path}, namespace=path).ok
            self.mounted.add(path)
        text = "".join(f'path "{pattern}" {{ capabilities = ["read"] }}\n' for pattern in patterns)
        assert self.service.put("sys/policies/acl/p", {"policy": text or "# none"}, namespace=path).ok
        for kind in ("service", "batch"):
            made = self.service.post("auth/token/create", {"policies": ["p"], "type": kind}, namespace=path)
            self.tokens[made.auth["client_token"]] = path

    def delete(self, path):
        if not path or path not in self.namespaces:
            return
        name = path.split("/")[-2]
        parent = path.removesuffix(name + "/")
        answer = self.service.delete(f"sys/namespaces/{name}", namespace=parent)
        if any(other.startswith(path) and other != path for other in self.namespaces):
            assert answer.status == 400
            return
        assert answer.status == 200
        del self.namespaces[path]
        self.mounted.discard(path)
        self.ended |= {token for token, home in self.tokens.items() if home == path}

    def check(self, token, path, split):
        """Read kv/x in a namespace whose path is partly in the header, and compare with what is known."""
        home, parts = self.tokens[token], path.split("/")[:-1]
        header, rest = "/".join(parts[:split]), "/".join([*parts[split:], "kv/x"])
        answer = self.service.get(rest, namespace=header, token=token)
        if path not in self.namespaces:
            assert answer.status in (403, 404)
            assert answer.data is None
            return
        if token in self.ended:
            assert answer.errors == [INVALID_TOKEN]
            return
        named = path.removeprefix(home) + "kv/x"
        allowed = path.startswith(home) and any(matches(pattern, named) for pattern in self.namespaces[home])
        expected = 403 if not allowed else 200 if path in self.mounted else 404
        assert answer.status == expected, (home, self.namespaces[home], path, answer)
        if expected == 200:
            assert answer.data == {"at": path}

    def check_listings(self):
        for path in self.namespaces:
            mounts = self.service.get("sys/mounts", namespace=path).data
            assert ("kv/" in mounts) == (path in self.mounted)
            children = {other for other in self.namespaces if other[:-1].rpartition("/")[0] == path[:-1] and other}
            listed = self.service.list("sys/namespaces", namespace=path)
            assert {path + key for key in (listed.data or {"keys": ()})["keys"]} == children
            accessors = self.service.list("auth/token/accessors", namespace=path).data["keys"]
            assert len(accessors) == (1 if path else 2)  # the service token, and the root token


PATH = st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: "".join(name + "/" for name in names))
PATTERN_LISTS = st.lists(st.sampled_from(PATTERNS), max_size=3, unique=True)
STEPS = st.lists(
    st.tuples(st.just("create"), PATH, st.sampled_from(NAMES), PATTERN_LISTS, st.booleans())
    | st.tuples(st.just("delete"), PATH),
    min_size=3,
    max_size=12,
)


@settings(max_examples=examples(100), deadline=None)
@given(PATTERN_LISTS, STEPS, st.data())
def test_who_may_reach_what_agrees_with_a_plain_model(patterns, steps, data):
    beside = Beside()
    beside.namespaces[""] = tuple(patterns)
    beside.fill("", patterns, True)
    for kind, *what in steps:
        getattr(beside, kind)(*what)
    for _ in range(12):
        path = data.draw(PATH)
        beside.check(
            data.draw(st.sampled_from(sorted(beside.tokens, key=beside.tokens.__getitem__))),
            path,
            data.draw(st.integers(0, 3)),
        )
    for token in beside.tokens:
        for path in beside.namespaces:
            beside.check(token, path, path.count("/"))
    beside.check_listings()


def test_root_s_requests_do_not_see_how_many_namespaces_there_are(service):
    """A path without a memo is found in about the same time: counted in the records that are looked at."""
    for number in range(200):
        assert service.post(f"sys/namespaces/n{number}").ok
    table = read_table(step(service).full_storage)
    assert all(table.child(f"n{number}/a") == service_child(table, number) for number in range(200))
    assert table.child("n200/a") is table.child("m/a") is table.child("z/a") is None


def service_child(table, number):
    return next(child for child in table.namespaces if child.name == f"n{number}/")
