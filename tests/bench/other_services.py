"""Other services: what a user would pick instead for a row, measured with its own client where that is installed.

moto stands for the managed services of a cloud: its KMS encrypts, its Secrets Manager keeps secrets.  A server is any
real one behind an address that ``make bench ARGS="--server URL --token TOKEN"`` names, asked by hvac; it is written to.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.bench_vault import PLAINTEXT, SECRET

Work = Callable[[], object]

SERVER_URL, SERVER_TOKEN = "LABKIT_BENCH_SERVER", "LABKIT_BENCH_TOKEN"
"""The variables by which the options reach the processes that measure."""


class Other(NamedTuple):
    """A service: its name, what it needs that is not here (empty: nothing), what it does for a row, how often."""

    name: str
    lacks: Callable[[], str]
    work: Callable[[str], Work]
    count: int = 50  # type: ignore[assignment]  # a field of this name hides the method of a tuple


def _without_moto() -> str:
    absent = [name for name in ("moto", "boto3") if find_spec(name) is None]
    return f"{' and '.join(absent)} not installed" if absent else ""


def _moto_work(row: str) -> Work:
    boto3, moto = importlib.import_module("boto3"), importlib.import_module("moto")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "testing"
    moto.mock_aws().start()
    if "encrypt" in row:
        kms = boto3.client("kms", region_name="eu-west-3")
        key = kms.create_key()["KeyMetadata"]["KeyId"]
        return lambda: kms.encrypt(KeyId=key, Plaintext=bytes(32))
    secrets, text = boto3.client("secretsmanager", region_name="eu-west-3"), json.dumps(SECRET)
    secrets.create_secret(Name="app", SecretString=text)
    if "write" in row:
        return lambda: secrets.put_secret_value(SecretId="app", SecretString=text)
    return lambda: secrets.get_secret_value(SecretId="app")


def _without_server() -> str:
    if find_spec("hvac") is None:
        return "hvac not installed"
    return "" if os.environ.get(SERVER_URL) else "no --server"


def _server_work(row: str) -> Work:
    hvac: Any = importlib.import_module("hvac")
    client = hvac.Client(url=os.environ[SERVER_URL], token=os.environ.get(SERVER_TOKEN, ""))
    if "encrypt" in row:
        if "audit" in row:
            _audit(client)
        if "transit/" not in client.sys.list_mounted_secrets_engines()["data"]:
            client.sys.enable_secrets_engine("transit")
        client.secrets.transit.create_key(name="bench")
        return lambda: client.secrets.transit.encrypt_data(name="bench", plaintext=PLAINTEXT)
    kv = client.secrets.kv.v2
    kv.create_or_update_secret(path="bench", secret=SECRET)
    return {
        "KV write": lambda: kv.create_or_update_secret(path="bench", secret=SECRET),
        "KV read": lambda: kv.read_secret_version(path="bench", raise_on_deleted_version=True),
        "token create": lambda: client.auth.token.create(policies=["default"], ttl="1h"),
        "token lookup": client.auth.token.lookup_self,
    }[row.partition(",")[0]]


def _audit(client: Any) -> None:
    if "bench/" not in client.sys.list_enabled_audit_devices()["data"]:
        client.sys.enable_audit_device("file", path="bench", options={"file_path": os.fspath(Path(os.devnull))})


def _none(row: str) -> Work:
    raise AssertionError(f"nothing else does {row}")


MOTO = Other("moto", _without_moto, _moto_work)
SERVER = Other("a server over HTTP", _without_server, _server_work)
NO_OTHER = Other("others", lambda: "no machines log in there", _none)
