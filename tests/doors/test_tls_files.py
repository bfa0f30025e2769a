"""The files of a TLS door: readable by their owner only, and an authority that clients trust."""

from __future__ import annotations

import stat
from pathlib import Path

from labkit.doors.tls_files import make_tls_files


def test_the_key_of_a_certificate_is_for_its_owner_only(tmp_path: Path) -> None:
    made = make_tls_files(tmp_path)

    assert {stat.S_IMODE(Path(path).stat().st_mode) for path in made} == {0o600}
    assert Path(made.authority).read_text().startswith("-----BEGIN CERTIFICATE-----")
