"""Pages of a list: together they are the whole of it; every listing takes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Vault
from labkit.service.errors import NotFound
from labkit.service.key_pages import cut, take
from labkit.service.message import Reply

names = st.lists(st.text("abc", min_size=1, max_size=3), unique=True).map(sorted)


@pytest.mark.parametrize(
    ("after", "limit", "page"),
    [("", 0, "abd"), ("", 2, "ab"), ("a", 1, "b"), ("c", 0, "d"), ("", -1, "abd"), ("b", 9, "d")],
)
def test_a_page(after: str, limit: int, page: str) -> None:
    known = {"a": 1, "b": 2, "d": 3}
    whole: dict[str, Any] = {"keys": ["a", "b", "d"], "key_info": known}
    assert cut(whole, after, limit) == {"keys": [*page], "key_info": {name: known[name] for name in page}}
    assert cut(Reply(dict(whole)), after, limit).data["keys"] == [*page]


@pytest.mark.parametrize(("kept", "after"), [([], "a"), (["a"], "a"), (["a"], "b")])
def test_an_empty_page_is_not_found(kept: list[str], after: str) -> None:
    with pytest.raises(NotFound):
        cut({"keys": kept}, after, 0)


@pytest.mark.parametrize("answer", [None, {"other": 1}, Reply(), {"keys": None}])
def test_what_is_not_a_list_stays(answer: Any) -> None:
    assert cut(answer, "a", 1) is answer


def test_which_page_is_asked_for() -> None:
    arguments: dict[str, Any] = {"path": "x", "after": "a", "limit": 0}
    assert take(arguments) == ("a", 0)
    assert arguments == {"path": "x"}
    assert take({"after": "", "limit": -1}) is take({}) is None


@given(names, st.integers(1, 4))
def test_the_pages_are_the_list(kept: list[str], limit: int) -> None:
    found: list[str] = []
    while len(found) < len(kept):
        found += cut({"keys": kept}, found[-1] if found else "", limit)["keys"]
    assert found == kept


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("secret/metadata", ["a", "b", "c"]),
        ("secret/metadata/?list=true", ["a", "b", "c"]),
        ("kv1", ["a", "b", "c"]),
        ("transit/keys", ["a", "b", "c"]),
        ("cubbyhole", ["a", "b", "c"]),
        ("auth/token/roles", ["a", "b", "c"]),
        ("sys/policies/acl", ["a", "b", "c", "default", "root"]),
        ("sys/namespaces", ["a/", "b/", "c/"]),
    ],
)
def test_every_listing_has_pages(path: str, whole: list[str]) -> None:
    vault = Vault.dev(seed=1)
    vault.post("sys/mounts/kv1", {"type": "kv"})
    for name in "abc":
        for made, body in (
            (f"secret/data/{name}", {"data": {}}),
            (f"kv1/{name}", {"x": 1}),
            (f"transit/keys/{name}", {}),
            (f"cubbyhole/{name}", {"x": 1}),
            (f"auth/token/roles/{name}", {}),
            (f"sys/policies/acl/{name}", {"policy": 'path "x" { capabilities = ["read"] }'}),
            (f"sys/namespaces/{name}", {}),
        ):
            assert vault.post(made, body).ok, made
    headers = {"X-Vault-Token": vault.root_token}
    method, mark = ("GET", "&") if "?" in path else ("LIST", "?")

    def listed(page: str) -> Any:
        return vault.request(method, f"/v1/{path}{page}", None, headers)

    assert listed("").data["keys"] == whole
    assert listed(f"{mark}limit=2").data["keys"] == whole[:2]
    assert listed(f"{mark}after={whole[0]}&limit=1").data["keys"] == whole[1:2]
    assert listed(f"{mark}after={whole[-1]}").status == 404
    assert listed(f"{mark}limit=x").status == 400
    assert listed(f"{mark}after=&limit=0").data["keys"] == whole
