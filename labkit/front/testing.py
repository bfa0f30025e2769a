"""Testing: what tests of clients use beside the fixtures; ``labkit.testing``.

1. ``patched`` is for programs that find the service by environment variables.
2. A vault's ``fail_next``, ``delay_next``, ``drop_next`` and ``expect`` are its own; what they raise stands here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.silence import Dropped, Silence

if TYPE_CHECKING:
    from labkit.doors.served_door import ServedDoor
    from labkit.front.vault import Vault

__all__ = ["Dropped", "ServedVault", "Silence", "fill", "patched", "serve_tls"]

PREFIXES = ("VAULT_", "BAO_")
"""How the variables begin that clients of this API read."""

NO_PROXY = "127.0.0.1,localhost"


class ServedVault(NamedTuple):
    """A vault behind a TLS port: its URL, and the file of the authority that clients are to trust."""

    url: str
    authority: str


@contextmanager
def patched(vault: Vault | None = None, *, tls: bool = False, seed: int = 7) -> Iterator[Vault]:
    """Serve a vault, and let the environment variables of clients name it and its root token; undone at the end.

    ``VAULT_ADDR``, ``VAULT_TOKEN`` and with ``tls`` ``VAULT_CACERT`` are set, the same with ``BAO_``; all others that
    begin like that are taken away meanwhile.  A vault of the seed is made unless one is given.
    """
    from labkit.front.vault import Vault

    served = Vault.dev(seed=seed) if vault is None else vault
    if tls:
        with serve_tls(served) as door, _environment(served, door):
            yield served
        return
    with served.serve() as url, _environment(served, ServedVault(url, "")):
        yield served


@contextmanager
def serve_tls(vault: Vault) -> Iterator[ServedVault]:
    """Serve a vault at ``https://localhost:PORT`` with a certificate that is made for the purpose."""
    from labkit.doors.tls_files import make_tls_files

    with TemporaryDirectory() as folder:
        files = make_tls_files(Path(folder))
        door: ServedDoor = vault.serve(tls=files)
        with door as url:
            yield ServedVault(url, files.authority)


def fill(vault: Vault, contents: Mapping[str, Any]) -> None:
    """Write initial contents: a mapping of paths to the bodies that are posted there; ValueError for one refused."""
    for path, body in contents.items():
        answer = vault.post(path, body)
        if not answer.ok:
            raise ValueError(f"contents: POST {path} was refused with {answer.status}: {'; '.join(answer.errors)}")


@contextmanager
def _environment(vault: Vault, served: ServedVault) -> Iterator[None]:
    """Set the variables of clients, and have them as they were afterwards."""
    wanted = {"ADDR": served.url, "TOKEN": vault.root_token}
    if served.authority:
        wanted["CACERT"] = served.authority
    before = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}
    proxies = {name: os.environ.get(name) for name in ("NO_PROXY", "no_proxy")}
    try:
        for name in before:
            del os.environ[name]
        os.environ.update({prefix + name: value for prefix in PREFIXES for name, value in wanted.items()})
        for name, value in proxies.items():
            os.environ[name] = ",".join(filter(None, [value, NO_PROXY]))
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(PREFIXES) or name in proxies]:
            del os.environ[name]
        os.environ.update({**before, **{name: value for name, value in proxies.items() if value is not None}})
