"""A start is light (R24): what a fresh process loads before its first answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FRONT_DOOR = {
    "pandas",
    "numpy",
    "ipywidgets",
    "IPython",
    "anywidget",
    "networkx",
    "simpy",
    "pytest",
    "hypothesis",
}

VAULT = FRONT_DOOR | {
    *("pydantic", "yaml", "jwt", "msgspec", "tqdm"),
    *("cryptography.x509", "cryptography.hazmat.primitives.serialization", "pysequoia", "uvicorn"),
    *("logging", "uuid", "dataclasses", "inspect", "argparse", "asyncio", "http.client", "urllib.request"),
}

# What only a patch, a lab's fault, an aimed failure, a managed key, a page of help, a wrong argument, an answer that is
# shown, a page of a list, a token that is not root's, or a mount with a cache of its own asks for.
UNASKED = {
    *("heapq", "bisect", "struct", "labkit.vault.engines.kv.merge", "labkit.vault.storage.interruption"),
    *("labkit.service.silence", "labkit.service.key_store_address", "labkit.front.shown_names"),
    *(
        "_bisect",
        "_datetime",
        "_heapq",
        "_struct",
        "binascii",
        "importlib",
        "labkit.service.arguments",
        "labkit.service.masked",
    ),
    *("labkit.service.wire_size", "labkit.service.encoding", "labkit.service.key_pages", "labkit.vault.token_index"),
    *("labkit.vault.policies.access_list", "labkit.vault.policies.rules", "labkit.vault.storage.recent_records"),
    *("labkit.vault.audit", "labkit.vault.quotas", "labkit.vault.managed_keys", "labkit.vault.namespaces"),
}

FIRST_ANSWER = """
from labkit import Vault
vault = Vault.dev()
vault.post("secret/data/app", {"data": {"user": "ada"}})
assert vault.get("secret/data/app").data["data"] == {"user": "ada"}
"""

FIRST_CIPHERTEXT = """
from labkit import Vault
assert Vault.dev().post("transit/encrypt/k", {"plaintext": "AAAA"}).ok
"""
# What only key pairs, managed keys, batches, settings, refusals and reads of keys ask transit for.
NO_PLAIN_ENCRYPTION = {
    *("labkit.rsa_keys", "pathlib", "cryptography.hazmat.primitives.serialization"),
    *(f"labkit.vault.engines.transit.{name}" for name in ("pairs", "hash_algorithms", "signatures", "external")),
    *(f"labkit.vault.engines.transit.{name}" for name in ("batch", "derivation", "refusals", "settings", "shown_keys")),
    *("labkit.vault.engine_context", "labkit.vault.managed_keys"),
}


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import labkit", FRONT_DOOR),
        ("from labkit import Vault", VAULT),
        (FIRST_ANSWER, FRONT_DOOR | UNASKED | {"pydantic", "yaml", "msgspec", "cryptography.x509"}),
        (FIRST_CIPHERTEXT, FRONT_DOOR | NO_PLAIN_ENCRYPTION),
    ],
    ids=["front door", "vault", "first answer", "first ciphertext"],
)
def test_nothing_heavy_is_loaded(code: str, heavy: set[str], checkout: Path) -> None:
    assert sorted(loaded_by(code, checkout) & heavy) == []


def test_what_is_loaded_is_seen(checkout: Path) -> None:
    loaded = loaded_by("import xml.dom.minidom", checkout)

    assert {"xml", "xml.dom.minidom"} <= loaded
    assert "sys" not in loaded


@pytest.mark.parametrize("code", [FIRST_ANSWER, FIRST_CIPHERTEXT], ids=["first answer", "first ciphertext"])
def test_nothing_is_compiled_from_text(code: str, checkout: Path) -> None:
    floor = "import json, cryptography.hazmat.primitives.ciphers.aead\n"
    watched = "import sys; sys.addaudithook(lambda event, given: event == 'compile' and print(given[1], given[0]))\n"

    said = said_by(f"{floor}{watched}eval('1 + 1')\n{code}", checkout)

    assert [line for line in said.splitlines() if line.startswith("<string>")] == ["<string> b'1 + 1'"]


def loaded_by(code: str, checkout: Path) -> set[str]:
    """The modules that a fresh process loads to run some code, beyond what every process has."""
    watched = f"import sys; had = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - had))"
    return set(said_by(watched, checkout).split())


def said_by(code: str, checkout: Path) -> str:
    """What a fresh process prints that runs some code."""
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout
