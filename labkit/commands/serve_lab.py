"""Serving a lab: every cluster of a scenario on a port of its own, with a page that shows the lab.

Its timeline is played once a client or a page is there, at the speed of a clock unless another is given; what clients
ask comes on top.  Its tokens and keys follow from the seed: the same every time.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from labkit.commands import serving
from labkit.commands.exit_codes import refuse, report_bug
from labkit.commands.own_name import own_name
from labkit.commands.scenario_files import scenario_file
from labkit.commands.serve_options import NOW
from labkit.commands.terminal import say

if TYPE_CHECKING:
    from labkit.doors.served_lab import ServedLab
    from labkit.doors.server_thread import DoorSettings
    from labkit.doors.tls_files import TlsFiles

BANNER = """\
labkit serves the clusters of "{title}":
"""
PREDICTABLE = """\
It is a simulation with seed {seed}: its tokens and keys are the same in every run, so anybody can know them.
Do not store real secrets in it. {time}
"""
MACHINE_TOKEN = """\

a token of a machine of its cloud:
    {name} token --vm web-1 --url {url}"""


def serve_lab(given: argparse.Namespace, tls: TlsFiles | None) -> int:
    """Serve a lab until the process is asked to stop."""
    from labkit.front.lab import Lab
    from labkit.scenario.problems import ScenarioError

    speed: float = 1 if given.speed is None else given.speed

    def door_to(settings: DoorSettings) -> ServedLab:
        return Lab.load(scenario_file(given.lab), given.seed).serve(given.port, speed=speed, settings=settings)

    settings = serving.settings_of(given, tls, lambda: serving.log(f"the page's next address: {door.page}"))
    try:
        door = door_to(settings)
    except (ScenarioError, ValueError, OSError) as error:
        return refuse(str(error))
    if given.cloud_port is not None and not door.lab.parts.clouds:
        return refuse(f"--cloud-port goes with a lab that has a cloud, which {given.lab} has not")
    if given.start != NOW:
        door.driver.wait_for_somebody()
    door.again = lambda: door_to(settings)
    with serving.until_stopped() as stop:
        return serve_until(stop, door, given, tls, "labkit serve")


def serve_until(
    stop: serving.ServerStop, door: ServedLab, given: argparse.Namespace, tls: TlsFiles | None, command: str
) -> int:
    """Open the door of a lab, say how it is reached, and close it once that is asked for; return the exit code."""
    from labkit.doors.server_thread import NoServer

    door.driver.failed = stop.set
    try:
        door.open()
    except NoServer as error:
        return refuse(str(error))
    announce(door, given, tls)
    serving.wait(stop)
    door.close()
    cause = door.driver.cause
    return report_bug(cause, command) if isinstance(cause, Exception) else stop.exit_code


def announce(door: ServedLab, given: argparse.Namespace, tls: TlsFiles | None) -> None:
    """Say how the clusters, the page and the control interface are reached."""
    clusters = {
        name: {"url": url, "root_token": cluster.root_token, "unseal_keys": list(cluster.unseal_keys)}
        for (name, url), cluster in zip(door.urls.items(), door.lab.clusters.values(), strict=True)
    }
    first = next(iter(clusters.values()))
    control = {"url": f"{first['url']}/control", "key": door.control.guard.key} if given.control else None
    if given.json:
        beside = {"ca_file": tls.authority if tls else None, "cloud_url": door.cloud_url or None}
        said: dict[str, Any] = {**first, **beside}
        print(json.dumps({**said, "clusters": clusters, "page": door.page, "control": control}), flush=True)
        return
    title = door.lab.scenario.title if door.lab.scenario is not None else given.lab
    say(BANNER.format(title=title))
    for name, row in clusters.items():
        say(f"    {name}: {row['url']} with root token {row['root_token']}")
    if door.cloud_url:
        say(MACHINE_TOKEN.format(name=own_name(), url=door.cloud_url))
    if tls:
        say(f"\n    export VAULT_CACERT={tls.authority}")
    speed: float = 1 if given.speed is None else given.speed
    passes = f"Its time passes {speed:g} times as fast as yours" if speed else "Its time passes for requests only"
    begins = "" if given.start == NOW or not speed else ", from the first request or page on; it stands until then"
    say("")
    say(PREDICTABLE.format(seed=door.lab.seed, time=f"{passes}{begins}."), end="")
    say(f"\na page that shows it{' and has its verbs' if control else ''}, for this machine only, opened once:")
    say(f"    {door.page}")
    if control:
        say(f"control at {control['url']}/ with the header\n    X-Labkit-Key: {control['key']}")
    say("\nCtrl-C stops it.", flush=True)
