"""Initialising a cluster: root key and its shares, keyring, mounts, the default policy and the first root token.

1. Everything is written in one transaction, and the cluster is sealed afterwards.
2. Key shares and root token are returned once, to the caller; of them only the root token's hash is stored.
"""

from __future__ import annotations

from collections.abc import Iterable

from labkit.service.message import Request
from labkit.service.record import NamedTuple
from labkit.vault import token_record, tokens
from labkit.vault.context import Context, own_work
from labkit.vault.core import Core
from labkit.vault.identifiers import uuid_text
from labkit.vault.mounts import (
    MOUNTS,
    ROOT,
    MountTable,
    encode_table,
    new_mount,
    own_mounts,
    read_table,
    write_table,
)
from labkit.vault.policies import store as policy_store
from labkit.vault.seal_keys import SealKeys
from labkit.vault.sealing.seal import SEAL_CONFIG, SealConfig, check_event, encode_config, unseal
from labkit.vault.sealing.shamir import split
from labkit.vault.storage.barrier import KEY_BYTES, KEYRING, BarrierError, encrypt_keyring, new_keyring
from labkit.vault.storage.storage_view import StorageView

CLUSTER = "core/cluster"

ROOT_TOKEN = token_record.Token("", ("root",), "auth/token/root", "root", orphan=True)

# path, kind and options of an engine or auth method to mount
Wanted = tuple[str, str, tuple[tuple[str, str], ...]]

ENGINES: tuple[Wanted, ...] = (("secret/", "kv", (("version", "2"),)), ("transit/", "transit", ()))
DEV_MOUNTS: tuple[Wanted, ...] = (*ENGINES, ("auth/cloud/", "cloud", ()))
"""What is mounted in development mode."""


class Initialised(NamedTuple):
    """What is returned once: the key shares and the first root token."""

    keys: tuple[bytes, ...]
    root_token: str

    def __repr__(self) -> str:
        return f"Initialised({len(self.keys)} key shares)"


def initialise(core: Core, shares: int, threshold: int, engines: Iterable[Wanted] = ()) -> Initialised:
    """Initialise a cluster with engines mounted; it is sealed afterwards.  BadRequest when it was done before."""
    initialised, writes = prepare(core, shares, threshold, engines)
    core.commit(writes)
    return initialised


def prepare(
    core: Core, shares: int, threshold: int, engines: Iterable[Wanted] = ()
) -> tuple[Initialised, dict[str, bytes | None]]:
    """Make everything that a new cluster starts with; return its credentials, and the writes that store it."""
    check_event(core, "init")
    entropy, now = core.entropy, core.now()
    root_key = entropy(KEY_BYTES)
    keyring = new_keyring(entropy, now)
    ctx = Context(core, Request("", ""), now)
    ctx.keys = SealKeys.opened(root_key, keyring)
    root_token = _fill(ctx, engines)
    ctx.write(KEYRING, encrypt_keyring(keyring, root_key, entropy))
    ctx.write(SEAL_CONFIG, encode_config(SealConfig(shares, threshold)))
    return Initialised(tuple(split(root_key, shares, threshold, entropy)), root_token), ctx.writes


def set_up(
    core: Core, shares: int = 5, threshold: int = 3, mounts: Iterable[Wanted] = ENGINES
) -> tuple[str, tuple[str, ...]]:
    """Initialise and unseal a new vault with engines and auth methods mounted; return root token and key shares."""
    initialised = initialise(core, shares, threshold, mounts)
    unseal(core, *initialised.keys[:threshold])
    return initialised.root_token, tuple([share.hex() for share in initialised.keys])


def complete(core: Core) -> None:
    """Mount in every namespace what all have from their beginning, where an older version stored them without it.

    All of them lack it then: what the root namespace has, the others have too.  A secondary waits for its primary's.
    """
    ctx = own_work(core)
    try:
        if not core.replica.is_secondary:
            _mount_missing(ctx)
    except BarrierError:  # a damaged record is reported by the requests that need it (C12)
        return
    if ctx.writes:
        core.commit(ctx.writes)


def _mount_missing(ctx: Context) -> None:
    namespaces = [ROOT]
    for namespace in namespaces:
        storage = StorageView(ctx, namespace.prefix)
        table = read_table(storage)
        taken = {mount.path for mount in table.mounts} | {child.name for child in table.namespaces}
        missing = [mount for mount in own_mounts(ctx.entropy) if not any(path.startswith(mount.path) for path in taken)]
        if not missing:
            return
        write_table(storage, table._replace(mounts=tuple(sorted((*table.mounts, *missing)))))
        namespaces += table.namespaces


def _fill(ctx: Context, engines: Iterable[Wanted]) -> str:
    """Write the first records under the new keyring; return the root token."""
    storage, entropy = ctx.full_storage, ctx.entropy
    mounts = [
        *own_mounts(entropy),
        *(new_mount(path, kind, entropy, options=options) for path, kind, options in engines),
    ]
    storage.put(MOUNTS, encode_table(MountTable(tuple(sorted(mounts)))))
    storage.put(CLUSTER, uuid_text(entropy).encode())
    policy_store.write_default(storage)
    text, _ = tokens.issue(ctx, ROOT_TOKEN)
    return text


def read_cluster(ctx: Context) -> dict[str, str]:
    """Return the cluster's name, which is this node's setting, and its id, which is stored; empty where it is damaged.

    The status endpoints show it, which must answer whatever is damaged (C12).
    """
    try:
        stored = ctx.full_storage.get(CLUSTER)
    except BarrierError:
        stored = None
    return {
        "cluster_name": ctx.core.settings.cluster_name,
        "cluster_id": "" if stored is None else stored.decode(),
    }
