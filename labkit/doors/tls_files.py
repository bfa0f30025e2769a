"""TLS files: certificate, key and authority of a door that speaks TLS, made for this machine."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class TlsFiles(NamedTuple):
    """The files of a TLS door, in PEM: certificate, key, and the authority that clients are to trust."""

    certificate: str
    key: str
    authority: str


def make_tls_files(folder: Path) -> TlsFiles:
    """Write a certificate for localhost and 127.0.0.1, its key and its authority to a folder."""
    from labkit import real
    from labkit.vault.replication.trust.api_certificate import AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE, files_of

    made = files_of("labkit", ("localhost", "127.0.0.1"), real.entropy, real.now())
    paths = {name: folder / Path(name).name for name in (AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE)}
    for name, path in paths.items():
        path.touch(mode=0o600)
        path.write_bytes(made[name]())
    return TlsFiles(str(paths[CERTIFICATE_FILE]), str(paths[KEY_FILE]), str(paths[AUTHORITY_FILE]))
