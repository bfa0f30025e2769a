"""Testing: what tests of clients use beside the fixtures; ``labkit.testing``.

1. ``patched`` is for programs that find the service by environment variables; hvac and requests find the authority of
   a TLS port so too.
2. A vault's ``fail_next``, ``delay_next``, ``drop_next`` and ``expect`` are its own; what they raise stands here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.arguments import wrong
from labkit.service.silence import Dropped, Silence

if TYPE_CHECKING:
    from labkit.doors.served_door import ServedDoor
    from labkit.front.vault import Vault

__all__ = ["Dropped", "ServedVault", "Silence", "environment", "fill", "patched", "serve_tls"]

PREFIXES = ("VAULT_", "BAO_")
"""How the variables begin that clients of this API read."""

NO_PROXY = "127.0.0.1,localhost"
BUNDLE = "REQUESTS_CA_BUNDLE"


class ServedVault(NamedTuple):
    """A vault behind a port: its URL and, with TLS, the file of the authority that clients are to trust."""

    url: str
    authority: str = ""


@contextmanager
def patched(
    vault: Vault | None = None, *, tls: bool = False, seed: int = 7, contents: Mapping[str, Any] | None = None
) -> Iterator[Vault]:
    """Serve a vault, and let the environment variables of clients name it and its root token; undone at the end.

    ``VAULT_ADDR``, ``VAULT_TOKEN`` and with ``tls`` ``VAULT_CACERT`` are set, the same with ``BAO_``; all others that
    begin like that are taken away meanwhile.  With ``tls`` ``REQUESTS_CA_BUNDLE`` is the authority too: requests trusts
    no other then.  A vault of the seed is made unless one is given, and filled with ``contents`` as ``fill`` does; the
    one that is made has them after ``reset`` too.

    Where all went well until then, AssertionError says at the end what was asked of the vault meanwhile and has not
    happened, as ``unfired`` has it; what a call of ``before_next`` raised is raised.
    """
    from labkit.front.vault import Vault

    served = Vault.dev(seed=seed) if vault is None else vault
    fill(served, contents or {})
    if vault is None and contents:
        served.keep_for_reset()
    before = served.unfired
    with ExitStack() as ends:
        door = ends.enter_context(serve_tls(served)) if tls else ServedVault(ends.enter_context(served.serve()))
        ends.enter_context(environment(served, door))
        yield served
    left = [what for what in served.unfired if all(what is not one for one in before)]
    for what in left:
        if isinstance(what, BaseException):
            raise what
    if left:
        raise AssertionError(listed(left))


def listed(left: Sequence[object]) -> str:
    """Return what is said of what was asked for and has not happened."""
    each = "\n    ".join(map(repr, left))
    return f"this was asked for, and did not happen before the end:\n    {each}"


@contextmanager
def serve_tls(vault: Vault) -> Iterator[ServedVault]:
    """Serve a vault at ``https://localhost:PORT``, and 127.0.0.1, with a certificate that is made for the purpose."""
    with tls_door(vault) as (_, served):
        yield served


@contextmanager
def tls_door(vault: Vault) -> Iterator[tuple[ServedDoor, ServedVault]]:
    """Open a TLS door to a vault, behind which another may be put, and say how it is reached."""
    from labkit.doors.tls_files import make_tls_files

    with TemporaryDirectory() as folder:
        files = make_tls_files(Path(folder))
        door = vault.serve(tls=files)
        with door as url:
            yield door, ServedVault(url, files.authority)


def fill(vault: Vault, contents: Mapping[str, Any]) -> None:
    """Write initial contents: a mapping of paths to the bodies that are posted there; ValueError for one refused."""
    if not isinstance(contents, Mapping):
        raise wrong("contents", "a mapping of paths to the bodies that are posted there", contents)
    for path, body in contents.items():
        answer = vault.post(path, body)
        if not answer.ok:
            why = "; ".join([*answer.errors, *answer.warnings])
            raise ValueError(f"contents: POST {path} was refused with {answer.status}: {why}")


@contextmanager
def environment(vault: Vault, served: ServedVault) -> Iterator[None]:
    """Set the variables of clients to a vault that is served, and have them as they were afterwards."""
    wanted = {"ADDR": served.url, "TOKEN": vault.root_token}
    if served.authority:
        wanted["CACERT"] = served.authority
    before = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES)}
    others = {name: os.environ.get(name) for name in ("NO_PROXY", "no_proxy", BUNDLE)}
    try:
        for name in before:
            del os.environ[name]
        os.environ.update({prefix + name: value for prefix in PREFIXES for name, value in wanted.items()})
        for name in ("NO_PROXY", "no_proxy"):
            os.environ[name] = ",".join(filter(None, [others[name], NO_PROXY]))
        if served.authority:
            os.environ[BUNDLE] = served.authority
        _update_hvac()
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(PREFIXES) or name in others]:
            del os.environ[name]
        os.environ.update({**before, **{name: value for name, value in others.items() if value is not None}})
        _update_hvac()


def _update_hvac() -> None:
    """Let hvac know the authority: it reads the variable once, when it is imported."""
    for name in ("hvac.constants.client", "hvac.v1"):
        module: Any = sys.modules.get(name)
        if hasattr(module, "VAULT_CACERT"):
            module.VAULT_CACERT = os.environ.get("VAULT_CACERT")
