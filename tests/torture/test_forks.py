"""Forks: a child has nothing of what its parent made, whatever thread was busy with it, and works with its own.

    python tests/torture/test_forks.py [forks of each kind]

A child that is not done within its time waits for a lock that nobody gives back: it is ended, and counted as hanging.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Cloud, Lab, Vault
from labkit.cloud.cloud_service import CloudService
from labkit.cloud.key_store_service import KeyStoreService
from labkit.cloud.machine import NoToken
from labkit.doors.http_exchange import HttpExchange
from labkit.doors.served_door import ServedDoor
from labkit.front.keystore import KeyStore
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.service.errors import ServiceError
from labkit.service.key_store_address import KEY_STORE_ADDRESS
from labkit.service.message import Fetch, Request, Response
from labkit.vault.files import Files

CLOUDS: dict[str, Callable[[], CloudService]] = {
    "cloud": Cloud.dev,
    "cloud of a vault": lambda: Vault.dev().cloud,
    "cloud of a lab": lambda: Lab.pair(seed=7).cloud,
}
KEY_STORES: dict[str, Callable[[], KeyStoreService]] = {
    "key store": KeyStore.dev,
    "key store of a vault": lambda: Vault.dev().keystore,
    "key store of a lab": lambda: Lab(replace(pair(), cloud=CloudPlan(site="paris"))).parts.clouds[CLOUD_HOST].keystore,
}
KINDS = ("memory", "file", "door", "lab", "served lab", *CLOUDS, *KEY_STORES)
FORKS, CHILD_S, THREADS = 20, 60, 4
NAMES = {"file": "was opened before this process was forked", "lab": "this lab was made before this process was forked"}
NAME = "was made before this process was forked"

Entrances = dict[str, Callable[[], Any]]


def of_vault(vault: Vault) -> Entrances:
    """What leads into a vault."""
    return {
        "request": lambda: vault.get("secret/data/x"),
        "handle": lambda: vault.handle(Request("GET", "secret/data/x", {"X-Vault-Token": vault.root_token})),
        "cloud": lambda: vault.cloud,
        "keystore": lambda: vault.keystore,
        "serve": lambda: vault.serve(),
        "door": lambda: ServedDoor(vault).app.answer("GET", "/v1/sys/health", {}, b"", ""),
        "client": lambda: HttpExchange(vault).answer("GET", "/v1/sys/health", []),
        "advance": lambda: vault.advance("1s"),
        "tick": lambda: vault.tick(),
        "next due": lambda: vault.next_due(),
        "fail next": lambda: vault.fail_next(500),
        "unseal": lambda: vault.unseal_with(vault.unseal_keys),
        "keyring": lambda: vault.reload_keyring(),
        "files": lambda: vault.use_files(Files()),
    }


def of_lab(lab: Lab) -> Entrances:
    """What leads into a lab."""
    return {
        "request": lambda: lab["paris"].get("secret/data/x"),
        "door": lambda: ServedDoor(lab["paris"]).app.answer("GET", "/v1/sys/health", {}, b"", ""),
        "run": lambda: lab.run("1s"),
        "step": lambda: lab.step(),
        "now": lambda: lab.now,
        "fault": lambda: lab.crash("paris-1"),
        "faults": lambda: lab.faults.heal(),
        "snapshot": lambda: lab.snapshot(),
        "branch": lambda: lab.branch("x"),
        "map": lambda: lab.map(),
        "serve": lambda: lab.serve().open(),
    }


def of_cloud(cloud: CloudService) -> Entrances:
    """What leads into a cloud."""
    machine = cloud.vm("web-1")
    return {
        "handle": lambda: cloud.handle(Request("GET", "/login.cloud.test/keys")),
        "request": lambda: cloud.request("GET", "/login.cloud.test/keys"),
        "fetch": lambda: cloud.answer(Fetch("https://login.cloud.test", Request("GET", "/keys"))),
        "token": machine.token,
        "vm": lambda: cloud.vm("web-1"),
        "mint": lambda: cloud.mint(machine),
        "jwks": lambda: cloud.jwks(),
        "config": lambda: cloud.config,
        "inventory": lambda: cloud.inventory,
        "state": lambda: cloud.state(),
        "outage": lambda: cloud.outage(),
        "roll keys": lambda: cloud.roll_keys(),
        "vault": lambda: Vault.dev(cloud=cloud).cloud,
    }


def of_key_store(store: KeyStoreService) -> Entrances:
    """What leads into a key store."""
    return {
        "handle": lambda: store.handle(Request("GET", "/v1/keys/k")),
        "fetch": lambda: store.answer(Fetch(KEY_STORE_ADDRESS, Request("GET", "/v1/keys/k"))),
        "labels": lambda: store.labels,
        "generate": lambda: store.generate("another"),
        "delete": lambda: store.delete("k"),
        "state": lambda: store.state(),
        "vault": lambda: Vault.dev(keystore=store),
    }


def made(kind: str, folder: str, ends: ExitStack) -> tuple[Entrances, Any, Callable[[], Any]]:
    """Make something; return what leads into it, what lets one thread in, and what keeps a thread busy with it."""
    if kind in CLOUDS:
        cloud = CLOUDS[kind]()
        return of_cloud(cloud), cloud.use, cloud.vm("web-1").token
    if kind in KEY_STORES:
        store = KEY_STORES[kind]()
        store.generate("k")
        return of_key_store(store), store.use, lambda: store.handle(Request("GET", "/v1/keys/k"))
    if kind in ("lab", "served lab"):
        lab = Lab.pair(seed=7)
        entrances = of_lab(lab)
        if kind == "served lab":
            door = lab.serve()
            door.open()
            ends.callback(door.close)
            entrances["open"] = door.open
        return entrances, lab.parts.turns, lab.step
    vault = Vault.open(f"{folder}/lab.db") if kind == "file" else Vault.dev()
    entrances = of_vault(vault)
    if kind == "memory":
        entrances["reset"] = vault.reset
    if kind == "door":
        served = vault.serve()
        served.open()
        ends.callback(served.close)
        entrances["open"] = served.open
    vault.post("secret/data/x", {"data": {"a": 1}})
    return entrances, vault._lock, lambda: vault.get("secret/data/x")


def refusal(enter: Callable[[], Any]) -> str:
    """Return the text that an entrance refuses with, or what it gave."""
    try:
        given = enter()
    except (ServiceError, NoToken) as error:
        return str(error)
    if isinstance(given, Response):
        return str(given.body) if given.status == 500 else f"status {given.status}"
    return str(getattr(given, "content", b"").decode() if getattr(given, "status", 0) == 500 else given)


def in_child(kind: str, entrances: Entrances, folder: str) -> str:
    """Try everything in a child process; return what is wrong."""
    name = NAMES.get(kind.removeprefix("served "), NAME)
    wrong = [f"{enter}: {text[:200]}" for enter, way in entrances.items() if name not in (text := refusal(way))]
    own = Vault.dev()
    if own.get("sys/health").status != 200 or own.post("secret/data/x", {"data": {}}).status != 200:
        wrong.append("a vault of the child's own does not work")
    Vault.open(f"{folder}/{os.getpid()}.db").close()
    if kind == "lab" and Lab.pair(seed=7)["paris"].post("secret/data/x", {"data": {}}).status != 200:
        wrong.append("a lab of the child's own does not work")
    return "; ".join(wrong)


def outcome(kind: str, entrances: Entrances, folder: str, rest: Callable[[], None] = lambda: None) -> str:
    """Fork, and let threads that were busy rest; return what is wrong in the child."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writes, in_child(kind, entrances, folder).encode() or b"-")
        except BaseException as error:  # whatever it is, the parent shows it
            os.write(writes, repr(error).encode())
        finally:
            os._exit(0)
    rest()
    os.close(writes)
    is_done = bool(select.select([reads], [], [], CHILD_S)[0])
    said = os.read(reads, 65_536).decode() if is_done else "it hangs"
    if not is_done:
        os.kill(child, signal.SIGKILL)
    os.close(reads)
    os.waitpid(child, 0)
    return "" if said == "-" else said


def play(kind: str, forks: int) -> list[str]:
    """Fork once while another thread is in, then while several are busy; return what is wrong."""
    with TemporaryDirectory() as folder, ExitStack() as ends:
        entrances, lock, work = made(kind, folder, ends)
        is_in, may_go = threading.Event(), threading.Event()
        may_work, is_busy, ended = threading.Event(), threading.Event(), threading.Event()

        def hold() -> None:
            with lock:
                is_in.set()
                may_go.wait()

        def be_busy() -> None:
            while not ended.is_set():
                may_work.wait()
                is_busy.set()
                work()

        def outcome_among_busy() -> str:
            is_busy.clear()
            may_work.set()
            is_busy.wait()
            return outcome(kind, entrances, folder, may_work.clear)

        holder = threading.Thread(target=hold)
        holder.start()
        is_in.wait()
        found = [outcome(kind, entrances, folder)]
        may_go.set()
        holder.join()
        work()  # what it imports: a module whose import is cut in two by a fork cannot be imported in the child
        threads = [threading.Thread(target=be_busy) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        found += [outcome_among_busy() for _ in range(forks - 1)]
        ended.set()
        may_work.set()
        for thread in threads:
            thread.join()
        work()
    return [what for what in found if what]


def played(kind: str) -> dict[str, list[str]]:
    """Play in a process of its own, which has no other threads."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", __file__, str(FORKS), kind],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_child_is_refused_though_another_thread_is_in_and_though_threads_are_busy(kind: str) -> None:
    assert played(kind) == {kind: []}


def main(arguments: list[str]) -> int:
    """Fork so often over each kind, or over one; print what is wrong."""
    forks = int(arguments[0]) if arguments else FORKS
    found = {kind: play(kind, forks) for kind in arguments[1:] or KINDS}
    print(json.dumps(found))
    return any(found.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
