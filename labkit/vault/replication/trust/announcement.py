"""Announcements: how the new active node of a primary reaches its secondaries before they miss the old one.

1. A primary keeps the node addresses that each secondary showed when it connected, outside both trees.
2. A new active node announces itself to every known id that is not connected: cluster id, id, leadership term and
   cluster address, signed with the authority's key.
3. A secondary acts only on a valid signature, for its own id and replication set, of an address that it knows already,
   under a term above the highest that it saw.  Anything else changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labkit.service.errors import ServiceError
from labkit.vault.context import own_work
from labkit.vault.replication.trust import activation
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.core import Core
    from labkit.vault.replication.state import State


# ---- the primary's side


def keep_addresses(core: Core, secondary_id: str, addresses: list[str]) -> None:
    """Store the node addresses of a secondary that connects, unless they are those that are stored."""
    key = activation.addresses_key(secondary_id)
    if _addresses(core, key) == addresses:
        return
    try:
        core.commit({key: core.keys.encrypt(key, encode_record(addresses), core.entropy)})
    except StaleTerm:
        core.step_down()
    except ServiceError as error:
        core.observe("addresses not stored", reason="; ".join(error.errors))


def announcements(core: Core, connected: Mapping[str, str]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Return (addresses, announcement) for each known id that is not connected and whose addresses are known."""
    found: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    try:
        for secondary_id in activation.secondary_ids(own_work(core)):
            addresses = _addresses(core, activation.addresses_key(secondary_id))
            if addresses and secondary_id not in connected:
                found.append((tuple(addresses), _announcement(core, secondary_id)))
    except BarrierError as error:  # what it rests on is damaged: the secondaries find the node by themselves (C12)
        core.observe("not announced", reason=str(error))
    return found


def _announcement(core: Core, secondary_id: str) -> dict[str, Any]:
    from labkit.keymaking import sign

    message = {
        "cluster_id": core.replica.mode.cluster_id,
        "secondary_id": secondary_id,
        "term": core.leadership.term,
        "address": core.settings.cluster_address,
    }
    return {**message, "signature": sign(activation.authority_key(own_work(core)), _signed(message))}


def _addresses(core: Core, key: str) -> list[str]:
    stored = core.storage.get(key)
    if stored is None:
        return []
    try:
        addresses: list[str] = decode_record(core.keys.decrypt(key, stored))
    except BarrierError:
        core.note_damage(key)
        return []
    return addresses


# ---- the secondary's side


def why_refused(core: Core, sync: State, message: Mapping[str, Any]) -> str:
    """Return why an announcement is refused, an empty text when the secondary acts on it."""
    from labkit.keymaking import verify

    bundle = activation.held_bundle(core)
    if bundle is None or not sync.addresses:
        return "this cluster has no primary"
    if (message["cluster_id"], message["secondary_id"]) != (bundle.cluster_id, bundle.secondary_id):
        return "it is for another secondary or replication set"
    try:
        verify(bundle.authority, _signed(message), message["signature"])
    except ValueError:
        return "its signature is not the authority's"
    if message["address"] not in sync.addresses:
        return "its address is not one of the primary's"
    if message["term"] <= sync.term:
        return f"its term is {message['term']}, and {sync.term} was seen already"
    return ""


def _signed(message: Mapping[str, Any]) -> bytes:
    parts = [message[name] for name in ("cluster_id", "secondary_id", "term", "address")]
    return b"labkit replication announcement " + encode_record(parts)
