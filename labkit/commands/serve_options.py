"""Serve options: what ``labkit serve`` takes, on its command line and in a file, where both are the same."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable
from typing import Any

PORT = 8200
MAX_SPEED = 1_000_000
MAX_SIZE_BYTES = 1_073_741_824
NOW, CLIENT = "now", "client"

FLAGS = ("allow_remote", "tls", "json", "fips", "control", "control_remote")
MANY = ("host_name",)
"""Options that may be given several times; in a file they are lists."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("--config", metavar="FILE", help="read options from a TOML file, such as port = 8300; the command line wins")
    add("--data", metavar="FILE", help="keep everything in this file; without it, all ends with the process")
    add(
        "--contents",
        metavar="FILE",
        help="write this first: JSON, an object of paths and the bodies that are posted there",
    )
    about_lab = "serve every cluster of a scenario, a file or the name of a shipped one, each on its port; it is played"
    add("--lab", metavar="FILE", help=about_lab)
    about_speed = "with --lab: simulated seconds in a second, 1 unless given; with 0 time passes for requests only"
    add("--speed", type=_speed, metavar="N", help=about_speed)
    about_start = "with --lab: when it is played: client, once the first request or page is there, unless given; or now"
    add("--start", type=_start, metavar="WHEN", help=about_start)
    about_control = "offer clock, calls, failures, reset, and a lab's verbs, at /control/ to whoever has the key"
    add("--control", action="store_true", help=about_control)
    about_names = "answer under this name too, which may be given several times; names of this machine always will do"
    add("--host-name", action="append", type=_host_name, metavar="NAME", help=about_names)
    about_remote = "let other machines with the key use the control interface and the page; with --allow-remote"
    add("--control-remote", action="store_true", help=about_remote)
    add("--audit-dir", metavar="FOLDER", help="let audit devices write real files below it, to sockets and to syslog")
    add("--port", type=_port, metavar="N", help=f"{PORT} unless given; 0 takes a free one; of a lab the first")
    add("--cloud-port", type=_port, metavar="N", help="of the simulated cloud, on loopback; a free one unless given")
    add("--allow-remote", action="store_true", help="listen on every address of this machine, not on loopback only")
    add("--tls", action="store_true", help="speak TLS, with a certificate for localhost that is made for the purpose")
    add("--json", action="store_true", help="print url, tokens and keys as one line of JSON once requests are answered")
    add("--max-request-size", type=_size, metavar="SIZE", help="largest body, such as 1MiB; 32MiB unless given")
    add("--edition", type=_edition, metavar="NAME", help="enterprise unless given; or community")
    add("--service-version", metavar="VERSION", help="the version that it says it is, such as 1.16.3+ent")
    add("--fips", action="store_true", help="FIPS 140-2 mode: refuse key types that are not certified for it")
    add("--seed", type=_seed, metavar="N", help="take entropy from a seed: the same keys and tokens every time")


def read_config(given: argparse.Namespace) -> argparse.Namespace:
    """Return the options with those of the file that ``--config`` names; ValueError for a file that cannot be used."""
    if given.config is None:
        return given
    try:
        with open(given.config, "rb") as file:
            written = tomllib.load(file)
    except OSError as error:
        raise ValueError(f"{given.config}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{given.config}: {error}") from None
    whole = argparse.Namespace(**vars(given))
    for name, value in written.items():
        option = name.replace("-", "_")
        if option not in READERS and option not in FLAGS:
            known = ", ".join(sorted([*READERS, *FLAGS])).replace("_", "-")
            raise ValueError(f"{given.config}: expected an option, got {name!r}; there are: {known}")
        before = getattr(given, option)
        if before is None or before is False:  # the command line wins
            setattr(whole, option, _read(f"{given.config}: {name}", option, value))
    return whole


def judge_together(given: argparse.Namespace) -> None:
    """Raise ValueError for options that do not go together."""
    if given.lab is not None:
        for option in ("data", "contents", "edition", "service_version", "fips", "audit_dir"):
            if getattr(given, option):
                raise ValueError(
                    f"--{option.replace('_', '-')} goes without --lab: the file says what its clusters are"
                )
    elif given.speed is not None:
        raise ValueError("--speed goes with --lab: the time of a vault is that of this machine")
    elif given.start is not None:
        raise ValueError("--start goes with --lab: a vault has no timeline")
    if given.control_remote and not (given.allow_remote and (given.control or given.lab is not None)):
        raise ValueError("--control-remote goes with --allow-remote, and with --control or --lab")
    if given.contents is not None and given.data is not None:
        raise ValueError("--contents goes without --data: a file holds what was written to it")
    if given.seed is not None and given.data is not None:
        raise ValueError("--seed goes without --data: what a file holds has entropy of its own")


def _read(where: str, option: str, value: Any) -> Any:
    if option in FLAGS:
        if not isinstance(value, bool):
            raise ValueError(f"{where}: expected true or false, got {value!r}")
        return value
    if option in MANY:
        values = value if isinstance(value, list) else [value]
        return [_read_one(where, option, one) for one in values]
    return _read_one(where, option, value)


def _read_one(where: str, option: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{where}: expected a text or a number, got {value!r}")
    try:
        return READERS[option](str(value))
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{where}: {error}") from None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 64KiB or 32MiB, got {text!r}")
    size_bytes = int(found[1]) * _BYTES[found[2]]
    if size_bytes > MAX_SIZE_BYTES:
        raise argparse.ArgumentTypeError(f"expected a size of at most {MAX_SIZE_BYTES >> 20}MiB, got {text!r}")
    return size_bytes


def _host_name(text: str) -> str:
    from labkit.doors.host_names import judged_name

    try:
        return judged_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _speed(text: str) -> float:
    if not _NUMBER.fullmatch(text) or float(text) > MAX_SPEED:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {MAX_SPEED} such as 1 or 0.5, got {text!r}")
    return float(text)


def _start(text: str) -> str:
    if text not in (NOW, CLIENT):
        raise argparse.ArgumentTypeError(f"expected {NOW} or {CLIENT}, got {text!r}")
    return text


def _seed(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}")
    return int(text)


def _edition(text: str) -> str:
    if text not in ("enterprise", "community"):
        raise argparse.ArgumentTypeError(f"expected enterprise or community, got {text!r}")
    return text


READERS: dict[str, Callable[[str], Any]] = {
    "data": str,
    "contents": str,
    "lab": str,
    "speed": _speed,
    "start": _start,
    "audit_dir": str,
    "host_name": _host_name,
    "port": _port,
    "cloud_port": _port,
    "max_request_size": _size,
    "edition": _edition,
    "service_version": str,
    "seed": _seed,
}
"""How the options with a value are read, on the command line and in a file."""

_SIZE = re.compile(r"([1-9]\d{0,8})(B|KiB|MiB)", re.ASCII)
_BYTES = {"B": 1, "KiB": 1_024, "MiB": 1_048_576}
_NUMBER = re.compile(r"\d{1,7}(\.\d{1,9})?", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
