"""The files of a TLS door: readable by their owner only, and an authority that clients trust."""

from __future__ import annotations

import http.client
import ssl
import stat
import time
from pathlib import Path

import pytest

from labkit import Vault
from labkit.doors.tls_files import make_tls_files


def test_the_key_of_a_certificate_is_for_its_owner_only(tmp_path: Path) -> None:
    made = make_tls_files(tmp_path)

    assert {stat.S_IMODE(Path(path).stat().st_mode) for path in made} == {0o600}
    assert Path(made.authority).read_text().startswith("-----BEGIN CERTIFICATE-----")


@pytest.mark.slow
def test_a_server_stops_soon_though_a_client_keeps_its_connection(tmp_path: Path) -> None:
    files = make_tls_files(tmp_path)
    with Vault.dev(seed=7).serve(tls=files) as url:
        client = http.client.HTTPSConnection(
            url.removeprefix("https://"), timeout=9, context=ssl.create_default_context(cafile=files.authority)
        )
        client.request("GET", "/v1/sys/health")
        assert client.getresponse().read()
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 5
    client.close()
