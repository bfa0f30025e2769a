"""token: prints a token of a machine of the simulated cloud that a server runs beside its vault."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from labkit.commands.exit_codes import AS_EXPECTED, NOT_AS_EXPECTED, refuse

TOKEN = "metadata/identity/oauth2/token"
VERSION = "2018-02-01"
RESOURCE = "https://management.cloud.test/"
TIMEOUT_S = 10
MAX_REASON_CHARACTERS = 1_024
SCHEMES = ("http", "https")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("--vm", required=True, metavar="NAME", help="the machine, such as web-1")
    add("--url", required=True, metavar="URL", help="the cloud's, which labkit serve prints (cloud_url)")
    add("--resource", default=RESOURCE, metavar="AUDIENCE", help=f"the token's audience; {RESOURCE} unless given")
    add("--client-id", default="", metavar="ID", help="which identity, of a machine that has several")
    add("--ca-file", metavar="FILE", help="the authority to trust, of a server with --tls")


def token(given: argparse.Namespace) -> int:
    """Print a machine's token."""
    from http.client import HTTPException
    from urllib.parse import quote, urlencode

    if not _is_address(given.url):
        return refuse(f"--url: expected an address such as http://127.0.0.1:8201, got '{given.url}'")
    if given.ca_file is not None and not Path(given.ca_file).is_file():
        return refuse(f"--ca-file: expected a file with certificates in PEM form, got '{given.ca_file}'")
    query = {"api-version": VERSION, "resource": given.resource}
    if given.client_id:
        query["client_id"] = given.client_id
    url = f"{given.url.rstrip('/')}/machines/{quote(given.vm, safe='')}/{TOKEN}?{urlencode(query)}"
    try:
        status, body = _fetched(url, given.ca_file)
    except (OSError, HTTPException) as error:
        return refuse(f"no answer from {given.url}: {error}; labkit serve prints the cloud's address")
    text = body.get("access_token")
    if status == 200 and isinstance(text, str) and text.isascii() and text.isprintable():
        print(text)
        return AS_EXPECTED
    if status in (200, 404) and "error" not in body:
        return refuse(f"{given.url} is not the cloud's address, which labkit serve prints (cloud_url): {status} came")
    print(f"the cloud answered {status}: {_why(body)}", file=sys.stderr)
    return NOT_AS_EXPECTED


def _is_address(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _fetched(url: str, ca_file: str | None) -> tuple[int, dict[str, Any]]:
    """Ask, and return status and body; raise OSError when nothing answers."""
    import ssl
    from urllib.error import HTTPError
    from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

    trusted = ssl.create_default_context(cafile=ca_file)
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=trusted))
    request = Request(url, headers={"Metadata": "true"})
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return answer.status, _object(answer.read())
    except HTTPError as refused:
        with refused:
            return refused.code, _object(refused.read())


def _object(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _why(body: dict[str, Any]) -> str:
    """Return the reason that a body gives, where it gives one as text, without what a terminal would act on."""
    error, errors = body.get("error"), body.get("errors")
    inside = error.get("message") if isinstance(error, dict) else error
    reasons = (body.get("error_description"), inside, *(errors if isinstance(errors, list) else ()))
    reason: str = next((each for each in reasons if isinstance(each, str) and each), "no text")
    return "".join([character if character.isprintable() else " " for character in reason[:MAX_REASON_CHARACTERS]])
