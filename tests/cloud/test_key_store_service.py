"""Key store service: keys by label, made or read, worked with; and its state."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from labkit.front.keystore import KeyStore
from labkit.seeded import SeededEntropy
from labkit.service.errors import Forked
from labkit.service.message import Request

INPUT = b64encode(b"hi").decode()


def ask(store: KeyStore, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    answer = store.handle(Request(method, path, {}, body))
    return answer.status, answer.body


def test_a_key_is_made_once_and_read() -> None:
    store = KeyStore.dev(seed=7)
    shown = {"label": "a/b", "mechanism": "CKM_ECDSA", "size_bits": 384}

    assert ask(store, "GET", "/v1/keys/a/b") == (404, {"error": "no key of label a/b"})
    assert ask(store, "POST", "/v1/keys/a/b", {"mechanism": "CKM_ECDSA", "size_bits": 384}) == (200, shown)
    assert ask(store, "GET", "/v1/keys/a/b") == (200, shown)
    assert ask(store, "POST", "/v1/keys/a/b", {"mechanism": "CKM_ECDSA"})[0] == 409
    assert list(store.labels) == ["a/b"]
    store.delete("a/b")
    assert list(store.labels) == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/keys/k", {"mechanism": "CKM_AES_CBC_PAD"}, 400),
        ("/v1/keys/k", {"mechanism": "CKM_DES"}, 400),
        ("/v1/keys/k", None, 400),
        ("/v1/keys/k", {"mechanism": "CKM_ECDSA", "size_bits": 1}, 400),
        ("/v1/keys/" + "k" * 300, {"mechanism": "CKM_ECDSA"}, 400),
        ("/v1/operations", {"operation": "sign"}, 400),
        ("/v1/operations", {"operation": "sign", "items": ["a"]}, 400),
        ("/v1/anything", {}, 404),
    ],
)
def test_what_cannot_be_is_refused(path: str, body: Any, status: int) -> None:
    store = KeyStore.dev(seed=7)

    assert ask(store, "POST", path, body)[0] == status
    assert store.labels == ()


def test_each_item_has_its_own_result() -> None:
    store = KeyStore.dev(seed=7)
    store.generate("aes")
    store.generate("ec", "CKM_ECDSA", 256)
    iv = b64encode(bytes(12)).decode()
    items = [
        {"label": "aes", "input": INPUT, "iv": iv},
        {"label": "none", "input": INPUT},
        {"label": "ec", "input": INPUT},
        {"label": "aes", "input": INPUT},
    ]

    status, body = ask(store, "POST", "/v1/operations", {"operation": "encrypt", "items": items})

    assert status == 200
    assert [sorted(result) for result in body["results"]] == [["output"], ["error"], ["error"], ["error"]]
    assert body["results"][1] == {"error": "the key store has no key of label none"}


def test_it_goes_on_from_its_state() -> None:
    entropy = SeededEntropy(7, "store")
    store = KeyStore(entropy)
    store.generate("a")

    again = KeyStore(SeededEntropy(7, "store", counter=entropy.counter), store.state())

    for each in (store, again):
        each.generate("b")
    assert again.state() == store.state()
    assert KeyStore.dev(seed=7).state() == {"keys": {}}


@pytest.mark.parametrize(
    ("label", "mechanism", "size_bits"),
    [("", "CKM_ECDSA", 0), ("a", "CKM_DES", 0), ("a", "CKM_ECDSA", 1), ("k", "CKM_ECDSA", 0)],
)
def test_a_key_that_cannot_be_made_is_an_error(label: str, mechanism: str, size_bits: int) -> None:
    store = KeyStore.dev(seed=7)
    store.generate("k")

    with pytest.raises(ValueError, match=r"expected|exists already"):
        store.generate(label, mechanism, size_bits)
    with pytest.raises(ValueError, match="label"):
        store.delete("another")


def test_no_key_shows_in_a_repr() -> None:
    store = KeyStore.dev()
    store.generate("a")

    assert repr(store) == "KeyStore(1 keys)"


def test_a_forked_process_is_refused_and_finds_nothing_changed() -> None:
    store = KeyStore.dev(seed=7)
    store.generate("k")
    was = store.state()
    ways: list[Callable[[], Any]] = [store.state, lambda: store.labels, lambda: store.delete("k")]
    ways.append(lambda: store.generate("another"))

    store.use.is_forked = lambda: True
    for way in ways:
        with pytest.raises(Forked, match="this key store was made before this process was forked"):
            way()
    for path, body in (("/v1/keys/k", None), ("/v1/operations", {"operation": "sign", "items": []})):
        status, answer = ask(store, "POST" if body else "GET", path, body)
        assert (status, answer["error"][:24]) == (500, "this key store was made ")
    store.use.is_forked = lambda: False

    assert store.state() == was
