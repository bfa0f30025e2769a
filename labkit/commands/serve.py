"""The command serve: a vault, or every cluster of a lab, behind real HTTP ports, until Ctrl-C.

1. With ``--json`` the first line on standard output says how it is reached, once requests are answered; everything else
   goes to the other stream.
2. It listens on loopback, and nothing is kept, unless that is asked for.
3. SIGINT or SIGTERM end it: requests under way are answered first.  Ctrl-C is exit code 130, SIGTERM 0.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import refuse
from labkit.commands.own_name import own_name
from labkit.commands.serve_options import PORT, add_arguments, judge_together, read_config
from labkit.commands.terminal import say

if TYPE_CHECKING:
    from labkit.doors.cloud_door import CloudDoor
    from labkit.doors.real_files import RealFiles
    from labkit.doors.served_door import ServedDoor
    from labkit.doors.tls_files import TlsFiles
    from labkit.front.vault import Vault
    from labkit.service.message import Response

__all__ = ["add_arguments", "serve"]

BANNER = """\
labkit serves a secrets service at {url}
It is for learning and testing: keys are in memory{where}. Do not store real secrets in it.
"""
TO_USE = """
    export VAULT_ADDR={url}
    export VAULT_TOKEN={root_token}
"""


def serve(given: argparse.Namespace) -> int:
    """Serve a vault or a lab until the process is asked to stop."""
    from labkit.doors.tls_files import make_tls_files

    try:
        given = read_config(given)
        judge_together(given)
    except ValueError as error:
        return refuse(str(error))
    given.port = PORT if given.port is None else given.port
    with tempfile.TemporaryDirectory() as folder:
        tls = make_tls_files(Path(folder)) if given.tls else None
        if given.lab is not None:
            from labkit.commands.serve_lab import serve_lab

            return serve_lab(given, tls)
        return _serve_vault(given, tls)


def _serve_vault(given: argparse.Namespace, tls: TlsFiles | None) -> int:
    from labkit.commands import serving
    from labkit.doors.cloud_door import CloudDoor
    from labkit.doors.served_door import ServedDoor
    from labkit.doors.server_thread import NoServer
    from labkit.vault.storage import StoreError

    try:
        vault = _vault(given)
        files = _audit_files(given.audit_dir)
    except (ValueError, OSError, StoreError) as error:
        return refuse(str(error))
    if files is not None:
        vault.use_files(files)
    settings = serving.settings_of(given, tls, lambda: None)

    def ask_cloud(*asked: Any, **named: Any) -> Response:
        return vault.cloud.request(*asked, **named)  # of a vault that was reset another one

    door, cloud = ServedDoor(vault, given.port, settings), CloudDoor(ask_cloud, settings.cloud_port, settings)
    with serving.until_stopped(files.reopen if files is not None else None) as stop:
        try:
            door.open()
            cloud.open()
        except NoServer as error:
            door.close()
            return refuse(str(error))
        _announce(vault, given, (door, cloud), tls)
        serving.wait(stop)
        door.close()
        cloud.close()
    vault.close()
    if files is not None:
        files.close()
    return stop.exit_code


def _audit_files(folder: str | None) -> RealFiles | None:
    if folder is None:
        return None
    from labkit.doors.real_files import RealFiles

    return RealFiles(folder)


def _vault(given: argparse.Namespace) -> Vault:
    from labkit.front.vault import Vault

    chosen: dict[str, Any] = {"fips": given.fips, "environ": _cloud_variables()}
    if given.edition:
        chosen["edition"] = given.edition
    if given.service_version:
        chosen["version"] = given.service_version
    if given.max_request_size:
        chosen["max_request_bytes"] = given.max_request_size
    if given.data is not None:
        return Vault.open(given.data, **chosen)
    from labkit import real  # a seed gives entropy here, not time

    vault = Vault.dev(clock=real.now, seed=given.seed, **chosen)
    if given.contents is not None:
        _fill(vault, given.contents)
    return vault


def _fill(vault: Vault, path: str) -> None:
    """Write what a file holds, which a reset comes back to."""
    from labkit.front.testing import fill

    try:
        fill(vault, json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    vault.keep_for_reset()


def _cloud_variables() -> dict[str, str]:
    """Return what this process's environment says of a cloud to log in from."""
    from labkit.vault.auth.cloud.settings import FALL_BACKS

    return {name: os.environ[name] for name in FALL_BACKS.values() if os.environ.get(name)}


def _announce(
    vault: Vault, given: argparse.Namespace, doors: tuple[ServedDoor, CloudDoor], tls: TlsFiles | None
) -> None:
    door, cloud = doors
    where = f", and beside the data in {given.data}" if given.data else ""
    said: dict[str, Any] = {
        "url": door.url,
        "root_token": vault.root_token,
        "unseal_keys": list(vault.unseal_keys),
        "ca_file": tls.authority if tls else None,
        "cloud_url": cloud.url,
    }
    if door.control is not None:
        said["control"] = {"url": f"{door.url}/control", "key": door.control.guard.key}
    if given.json:
        print(json.dumps(said), flush=True)
        return
    say(BANNER.format(url=door.url, where=where), end="")
    if given.allow_remote:
        say("Every machine that reaches this one can talk to it.")
    say(TO_USE.format(**said), end="")
    if tls:
        say(f"    export VAULT_CACERT={tls.authority}")
    if door.control is not None:
        say(f"\ncontrol at {door.url}/control/ with the header\n    X-Labkit-Key: {door.control.guard.key}")
    say(f"\na token of a machine of the simulated cloud:\n    {own_name()} token --vm web-1 --url {cloud.url}")
    say("\nkey shares, three of which unseal it:", *vault.unseal_keys, sep="\n    ")
    say("\nCtrl-C stops it.", flush=True)
