"""Damaged SQLite files: each is refused by name, or answers right data, or 500 for what is damaged.

    python tests/vault/storage/test_sqlite_damage.py [files] [seed]

What is damaged, and how, is a function of the seed.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from labkit import Vault
from labkit.service.message import Response
from labkit.vault.storage import StoreError

PAGE = 4_096
SECRETS = 30
EVERYDAY, MORE = 60, 2_000
SCHEMA_BYTES = 900  # at the end of the first page, where the texts of the tables are

Known = dict[str, Any]


def whole(path: Path) -> tuple[bytes, Known]:
    """Make a file; return its bytes, and what is in it."""
    with closing(Vault.open(str(path))) as vault:
        for number in range(SECRETS):
            vault.post(f"secret/data/s{number}", {"data": secret(number)})
        vault.post("transit/keys/k")
        ciphertext = vault.post("transit/encrypt/k", {"plaintext": "aGk="}).data["ciphertext"]
        vault.post("sys/policies/acl/p", {"policy": 'path "secret/*" { capabilities = ["read"] }'})
        token = vault.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
    return path.read_bytes(), {"ciphertext": ciphertext, "token": token}


def secret(number: int) -> dict[str, Any]:
    return {"n": number, "text": "y" * 20 * number}


def damaged(content: bytes, dice: Random) -> bytes:
    """Return a file's bytes with a damage of some kind."""
    altered, pages = bytearray(content), range(0, len(content), PAGE)

    def cover(start: int, length: int) -> None:
        altered[start : start + length] = dice.randbytes(len(altered[start : start + length]))

    kind = dice.randrange(8)
    if kind == 0:
        for _ in range(dice.randint(1, 3)):
            altered[dice.randrange(len(altered))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        cover(dice.randrange(len(altered)), dice.randint(1, 400))
    elif kind == 2:
        del altered[dice.randrange(len(altered)) :]
    elif kind == 3:
        start = dice.choice(pages)
        altered[start : start + PAGE] = bytes(PAGE)
    elif kind == 4:
        altered[dice.randrange(100)] = dice.randrange(256)
    elif kind == 5:
        altered[dice.choice(pages) + dice.randrange(64)] = dice.randrange(256)
    elif kind == 6:
        cover(PAGE - dice.randrange(SCHEMA_BYTES), dice.randint(1, 12))
    else:
        one, two = dice.choice(pages), dice.choice(pages)
        altered[one : one + PAGE], altered[two : two + PAGE] = altered[two : two + PAGE], altered[one : one + PAGE]
    return bytes(altered)


def outcome(path: Path, known: Known) -> str:
    """Open a file and ask for all that was in it: what it came to, beginning with ``wrong`` where that must not be."""
    try:
        vault = Vault.open(str(path))
    except StoreError as error:
        return "refused" if str(path) in str(error) else f"wrong: {error}"
    except Exception as error:
        return f"wrong: {error!r}"
    with closing(vault):
        try:
            found = {judged(*row) for row in answers(vault, known)}
        except Exception as error:
            return f"wrong: {error!r}"
    return max(found)  # "right" < "some are 500" < "wrong ..."


def answers(vault: Vault, known: Known) -> list[tuple[Response, bool]]:
    """Ask for everything; return the answers, each with whether it is right."""
    asked = []
    for number in range(SECRETS):
        read = vault.get(f"secret/data/s{number}")
        asked.append((read, read.ok and read.data["data"] == secret(number)))
    decrypted = vault.post("transit/decrypt/k", {"ciphertext": known["ciphertext"]})
    asked.append((decrypted, decrypted.ok and decrypted.data == {"plaintext": "aGk="}))
    listed = vault.list("secret/metadata")
    asked.append((listed, listed.ok and len(listed.data["keys"]) == SECRETS))
    others = vault.get("secret/data/s1", token=known["token"]), vault.post("secret/data/new", {"data": {}})
    return [*asked, *[(answer, answer.ok) for answer in others]]


def judged(answer: Response, is_right: bool) -> str:
    if is_right:
        return "right"
    return "some are 500" if answer.status == 500 and answer.errors else f"wrong: {answer.status} {answer.body}"


def play(files: int, first: int = 0) -> Counter[str]:
    """Damage files; return how often each outcome came, and of a wrong one the seed."""
    counted: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        content, known = whole(Path(folder) / "whole.db")
        for seed in range(first, first + files):
            path = Path(folder) / f"{seed}.db"
            path.write_bytes(damaged(content, Random(seed)))
            came = outcome(path, known)
            counted[f"seed {seed}: {came}" if came.startswith("wrong") else came] += 1
            for left in Path(folder).glob(f"{seed}.db*"):
                left.unlink()
    return counted


@pytest.mark.parametrize("files", [EVERYDAY, pytest.param(MORE, marks=pytest.mark.slow)])
def test_a_damaged_file_is_refused_or_right_or_says_so(files: int) -> None:
    counted = play(files)

    assert counted.keys() == {"refused", "right", "some are 500"}, [came for came in counted if "wrong" in came]


def test_a_file_with_other_keys_than_it_was_closed_with_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with closing(Vault.open(str(path))) as vault:
        vault.post("sys/mounts/kv", {"type": "kv"})
        vault.post("kv/only-here", {"a": 1})
    content = path.read_bytes()
    assert content.count(b"only-here") == 1
    path.write_bytes(content.replace(b"only-here", b"only-herf"))

    for _ in range(2):
        with pytest.raises(StoreError, match=r"lab\.db is damaged: restore it from a copy, or name another file$"):
            Vault.open(str(path))
    path.write_bytes(content)
    with closing(Vault.open(str(path))) as vault:
        assert vault.get("kv/only-here").data == {"a": 1}


def main(arguments: list[str]) -> int:
    """Damage so many files, from a seed on; print what came of them."""
    counted = play(*map(int, arguments or [str(MORE)]))
    print(dict(counted))
    return any("wrong" in came for came in counted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
