"""Whose an SQLite file is: a forked child takes nothing from its parent, and a file that is another is not written."""

from __future__ import annotations

import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from labkit import Vault

ROOT = str(Path(__file__).resolve().parents[3])


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    program = [sys.executable, "-c", f"import sys; sys.path.insert(0, {ROOT!r})\n{code}", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.fixture
def path(tmp_path):
    """Where a file can be made."""
    return tmp_path / "lab.db"


FORKED = """
import os, signal, sys
from labkit import Vault
path, how = sys.argv[1:]
if os.fork() == 0:
    vault = Vault.open(path)
    vault.post("secret/data/before", {"data": {}})
    if os.fork() == 0:
        refused = vault.post("secret/data/child", {"data": {}})
        print(refused.status, "before this process was forked" in refused.errors[0], flush=True)
        if how == "close":
            vault.close()
        del vault
        sys.exit(0)
    os.wait()
    print(*[vault.post(f"secret/data/after-{number}", {"data": {}}).status for number in range(3)], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
vault = Vault.open(path)
print(*[vault.get(f"secret/data/{name}").status for name in ("before", "child", "after-0", "after-2")])
"""


@pytest.mark.parametrize("how", ["close", "exit"])
def test_a_forked_child_writes_nothing_and_takes_nothing_from_its_parent(path, how):
    seen = run(FORKED, path, how)

    assert seen.stdout.splitlines() == ["500 True", "200 200 200", "200 404 200 200"], seen.stderr


@pytest.mark.parametrize("how", ["delete", "replace", "move"])
def test_nothing_is_acknowledged_when_the_file_is_another(path, tmp_path, how):
    other = tmp_path / "other.db"
    with closing(Vault.open(path)) as vault:
        if how == "delete":
            path.unlink()
        elif how == "replace":
            Vault.open(other).close()
            other.replace(path)
        else:
            path.rename(other)
        refused = vault.post("secret/data/a", {"data": {}})

        assert refused.status == 500
        moved = f"{path} was moved, deleted or replaced since it was opened"
        assert refused.errors == [f"{moved}: put it back, or open it again; nothing was changed"]
        if how == "move":
            other.rename(path)
            assert vault.post("secret/data/a", {"data": {}}).ok


def test_a_file_named_from_a_folder_stays_the_same_in_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(Vault.open("lab.db")) as vault:
        monkeypatch.chdir("/")

        assert vault.post("secret/data/a", {"data": {}}).ok


def test_a_file_made_through_a_link_is_its_owners_too(path, tmp_path):
    (tmp_path / "link.db").symlink_to(path)
    Vault.open(tmp_path / "link.db").close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
