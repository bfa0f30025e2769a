"""Admission: whether a primary lets a secondary connect, by what it shows, and what it gives it then (D5, D8, D17).

1. A connection shows the certificate that was issued for its id and a signature over a challenge of the primary's own
   making (``challenge``); it is accepted until the id is revoked.
2. A challenge is answered without proof, by any node of a primary; it holds no secret.
3. The bootstrap answer holds the root key and the keyring, with which the replicated ciphertexts are decrypted, and the
   seal configuration; it is given until the activation's expiry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import format_instant
from labkit.service.message import Response, respond
from labkit.vault.replication.trust.activation import (
    AUTHORITY,
    Bundle,
    held_bundle,
    issued,
    version_numbers,
)
from labkit.vault.replication.trust.challenge import (
    Challenge,
    Parties,
    check_age,
    check_origin,
    check_proof,
    make,
    prove,
)
from labkit.vault.sealing.seal import SEAL_CONFIG
from labkit.vault.storage.barrier import KEYRING, BarrierError
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from labkit.vault.core import Core, Settings

NEVER_ISSUED = "the activation of this id was revoked, or never issued"
NO_PRIMARY = "this cluster is not a primary now"
CHALLENGE, BOOTSTRAP = "challenge", "bootstrap"
"""What is asked of a primary's cluster port before a connection."""

EXPIRED = "the activation had to be used before {}"


# ---- the primary's side


def challenge(core: Core, host: str, secondary_id: str) -> Challenge:
    """Make a challenge for a host that wants to connect as an id; ValueError says why not.

    Any unsealed node of a primary makes them, for its whole cluster.
    """
    try:
        if issued(core, secondary_id) is None:
            raise ValueError(NEVER_ISSUED)
        stored = core.storage.get(AUTHORITY)
        if stored is None:
            raise ValueError("this cluster has no authority")
        authority = decode_record(core.keys.decrypt(AUTHORITY, stored))
    except BarrierError as error:  # what the check rests on is damaged: nobody is admitted (C12)
        raise ValueError(str(error)) from None
    return make(bytes.fromhex(authority[0]), Parties(core.replica.mode.cluster_id, host), core.now())


def check_connection(core: Core, secondary_id: str, host: str, shown: dict[str, Any]) -> str:
    """Return why a secondary's connection from a host is refused; an empty text when it is accepted."""
    try:
        return _why_refused(core, secondary_id, host, shown)
    except BarrierError as error:  # what the check rests on is damaged: nobody is admitted (C12)
        return str(error)


def _why_refused(core: Core, secondary_id: str, host: str, shown: dict[str, Any]) -> str:
    from labkit.keymaking import check_client_certificate

    record = issued(core, secondary_id)
    if record is None:
        return NEVER_ISSUED
    authority = core.storage.get(AUTHORITY)
    if authority is None or record.certificate != shown.get("certificate"):
        return "the certificate is not the one that was issued for this id"
    anchor = decode_record(core.keys.decrypt(AUTHORITY, authority))[1]
    cluster_id = core.replica.mode.cluster_id
    if shown.get("cluster_id") != cluster_id:
        return "the cluster belongs to another replication set"
    signed = Challenge(shown["challenge"], shown["seal"])
    core.time_decided = True  # dates of a certificate, and the age of a challenge
    try:
        check_client_certificate(shown["certificate"], anchor, core.now())
        check_origin(signed, Parties(cluster_id, host), anchor)
        check_age(signed, core.now())
        check_proof(shown["certificate"], secondary_id, signed, shown["signature"])
    except ValueError as error:
        return str(error)
    if _is_newer(core.settings.version, shown["version"]):
        return (
            f"this upstream runs {core.settings.version}, the secondary the older {shown['version']}: "
            "upgrade the downstream cluster first"
        )
    return ""


def answer_challenge(core: Core, host: str, asked: dict[str, Any]) -> Response:
    """Answer a host's request for a challenge; it is also how a secondary finds out which address is its primary's."""
    if core.keys.sealed or core.replica.mode.mode != "primary":
        return respond(503, {"errors": [NO_PRIMARY]})
    if asked.get("cluster_id") != core.replica.mode.cluster_id:
        return respond(403, {"errors": ["this is a primary of another replication set"]})
    try:
        made = challenge(core, host, str(asked.get("secondary_id", "")))
    except ValueError as error:
        return respond(403, {"errors": [f"no challenge is made: {error}"]})
    return respond(200, {"data": {"challenge": made.text, "seal": made.seal.hex()}})


def bootstrap(core: Core, host: str, shown: dict[str, Any]) -> Response:
    """Answer a secondary's bootstrap request: the keys that decrypt its new contents."""
    if core.keys.sealed or core.replica.mode.mode != "primary":
        return respond(503, {"errors": [NO_PRIMARY]})
    secondary_id = str(shown.get("secondary_id", ""))
    why = check_connection(core, secondary_id, host, shown)
    record = None if why else issued(core, secondary_id)
    if record is not None and core.is_past(record.expires_ns):
        why = EXPIRED.format(format_instant(record.expires_ns))
    keyring, config = core.storage.get(KEYRING), core.storage.get(SEAL_CONFIG)
    assert core.keys.root_key is not None
    if why or keyring is None or config is None:
        return respond(403, {"errors": [f"bootstrap refused: {why}"]})
    answer = {"root_key": core.keys.root_key.hex(), "keyring": keyring.hex(), "seal_config": config.hex()}
    return respond(200, {"data": answer})


# ---- the secondary's side


def read_challenge(data: Any) -> Challenge:
    """Return the challenge of an answer; ValueError for anything else."""
    try:
        return Challenge(str(data["challenge"]), bytes.fromhex(data["seal"]))
    except (KeyError, TypeError):
        raise ValueError("the answer holds no challenge") from None


def credentials(core: Core, given: Challenge) -> dict[str, Any]:
    """Return what a secondary shows when it connects, for a challenge; ValueError for one that is not its primary's."""
    bundle = held_bundle(core)
    if bundle is None:
        raise ValueError("this secondary has no credentials of a primary")
    return show(bundle, given, core.settings)


def show(bundle: Bundle, given: Challenge, settings: Settings) -> dict[str, Any]:
    """Return what a connection shows for a bundle; ValueError for a challenge that is not of the bundle's authority."""
    check_origin(given, Parties(bundle.cluster_id, settings.node), bundle.authority)
    return {
        "cluster_id": bundle.cluster_id,
        "secondary_id": bundle.secondary_id,
        "certificate": bundle.certificate,
        "challenge": given.text,
        "seal": given.seal,
        "signature": prove(bytes.fromhex(bundle.private), bundle.secondary_id, given),
        "version": settings.version,
    }


def _is_newer(one: str, other: str) -> bool:
    return version_numbers(one) > version_numbers(other)
