"""serve: a vault behind a real HTTP port, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import AS_EXPECTED, refuse

if TYPE_CHECKING:
    from labkit.doors.server_thread import TlsFiles
    from labkit.vault.vault import Vault

PORT = 8200

BANNER = """\
labkit serves a secrets service at {url}
It is for learning and testing: keys are in memory{where}. Do not store real secrets in it.
"""
TO_USE = """
    export VAULT_ADDR={url}
    export VAULT_TOKEN={root_token}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("--data", metavar="FILE", help="keep everything in this file; without it, all ends with the process")
    add("--port", type=_port, default=PORT, metavar="N", help=f"{PORT} unless given; 0 takes a free one")
    add("--allow-remote", action="store_true", help="listen on every address of this machine, not on loopback only")
    add("--tls", action="store_true", help="speak TLS, with a certificate for localhost that is made for the purpose")
    add("--json", action="store_true", help="print url, tokens and keys as one line of JSON once requests are answered")
    add("--max-request-size", type=_size, metavar="SIZE", help="largest body, such as 1MiB; 32MiB unless given")
    add("--edition", choices=("enterprise", "community"), help="enterprise unless given")
    add("--service-version", metavar="VERSION", help="the version that it says it is, such as 1.16.3+ent")
    add("--fips", action="store_true", help="FIPS 140-2 mode: refuse key types that are not certified for it")
    add("--seed", type=int, metavar="N", help="take entropy from a seed: the same keys and tokens every time")


def serve(given: argparse.Namespace) -> int:
    """Serve a vault until the process is asked to stop."""
    from labkit.doors.server import ServedDoor
    from labkit.doors.server_thread import LOOPBACK, DoorSettings, NoServer
    from labkit.service.limits import MAX_REQUEST_BYTES
    from labkit.vault.storage import StoreError

    try:
        vault = _vault(given)
    except (ValueError, StoreError) as error:
        return refuse(str(error))
    with tempfile.TemporaryDirectory() as folder:
        tls = _tls_files(vault, Path(folder)) if given.tls else None
        door = ServedDoor(
            vault,
            given.port,
            DoorSettings(
                "0.0.0.0" if given.allow_remote else LOOPBACK,  # asked for by name
                tls,
                lambda line: print(line, file=sys.stderr, flush=True),
                given.max_request_size or MAX_REQUEST_BYTES,
            ),
        )
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        try:
            url = door.open()
        except NoServer as error:
            return refuse(str(error))
        _announce(vault, given, url, tls)
        while not stop.wait(3_600):
            pass
        door.close()
    vault.close()
    return AS_EXPECTED


def _vault(given: argparse.Namespace) -> Vault:
    from labkit.vault.vault import Vault

    chosen: dict[str, Any] = {"fips": given.fips}
    if given.edition:
        chosen["edition"] = given.edition
    if given.service_version:
        chosen["version"] = given.service_version
    if given.max_request_size:
        chosen["max_request_bytes"] = given.max_request_size
    if given.data is None:
        from labkit import real  # a seed gives entropy here, not time

        return Vault.dev(clock=real.now, seed=given.seed, **chosen)
    if given.seed is not None:
        raise ValueError("--seed goes without --data: what a file holds has entropy of its own")
    return Vault.open(given.data, **chosen)


def _tls_files(vault: Vault, folder: Path) -> TlsFiles:
    """Write a certificate for localhost, its key and its authority to a folder."""
    from labkit.doors.server_thread import TlsFiles
    from labkit.vault.replication.api_certificate import AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE, files_of

    made = files_of("labkit", ("localhost",), vault.environment.entropy, vault.now())
    paths = {name: folder / Path(name).name for name in (AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE)}
    for name, path in paths.items():
        path.touch(mode=0o600)
        path.write_bytes(made[name]())
    return TlsFiles(str(paths[CERTIFICATE_FILE]), str(paths[KEY_FILE]), str(paths[AUTHORITY_FILE]))


def _announce(vault: Vault, given: argparse.Namespace, url: str, tls: TlsFiles | None) -> None:
    where = f", and beside the data in {given.data}" if given.data else ""
    said = {
        "url": url,
        "root_token": vault.root_token,
        "unseal_keys": list(vault.unseal_keys),
        "ca_file": tls.authority if tls else None,
    }
    if given.json:
        print(json.dumps(said), flush=True)
        return
    print(BANNER.format(url=url, where=where), end="")
    if given.allow_remote:
        print("Every machine that reaches this one can talk to it.")
    print(TO_USE.format(**said), end="")
    if tls:
        print(f"    export VAULT_CACERT={tls.authority}")
    print("\nkey shares, three of which unseal it:", *vault.unseal_keys, sep="\n    ")
    print("\nCtrl-C stops it.", flush=True)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 64KiB or 32MiB, got {text!r}")
    return int(found[1]) * _BYTES[found[2]]


_SIZE = re.compile(r"([1-9]\d{0,8})(B|KiB|MiB)", re.ASCII)
_BYTES = {"B": 1, "KiB": 1_024, "MiB": 1_048_576}
