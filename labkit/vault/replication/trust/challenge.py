"""Challenges: what a secondary signs when it connects, made and signed by its primary (decisions D5, D17).

1. A primary signs a challenge with its authority's key, for one replication set and one host, and keeps none of them:
   one is its own when that signature is, and it counts for a minute.  Its text is the instant at which it was made.
2. A secondary signs only what its own primary made for it.  Whoever poses as the primary gets no proof out of it, and
   a proof that another host shows is worthless.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.service.durations import SECOND_NS

LIFETIME_NS = 60 * SECOND_NS


class Challenge(NamedTuple):
    """A text to be signed, and the authority's own signature over it."""

    text: str
    seal: bytes


class Parties(NamedTuple):
    """Between whom a challenge holds: a replication set's primary, and the host that wants to connect."""

    cluster_id: str
    host: str


def make(authority_private: bytes, parties: Parties, now_ns: int) -> Challenge:
    """Make a challenge for a host."""
    from labkit.keymaking import sign

    text = str(now_ns)
    return Challenge(text, sign(authority_private, _sealed(parties, text)))


def check_origin(challenge: Challenge, parties: Parties, authority: str) -> None:
    """Return if an authority (its certificate, PEM) made this challenge for these parties; else raise ValueError."""
    from labkit.keymaking import verify

    try:
        verify(authority, _sealed(parties, challenge.text), challenge.seal)
    except ValueError:
        raise ValueError("the challenge was not made by this authority for this host") from None


def check_age(challenge: Challenge, now_ns: int) -> None:
    """Return if a challenge of this primary's own is not over yet; else raise ValueError."""
    if not 0 <= now_ns - int(challenge.text) < LIFETIME_NS:
        raise ValueError("the challenge is over: each counts for a minute")


def prove(private: bytes, secondary_id: str, challenge: Challenge) -> bytes:
    """Sign a challenge as the holder of an id's certificate."""
    from labkit.keymaking import sign

    return sign(private, _proof(secondary_id, challenge))


def check_proof(certificate: str, secondary_id: str, challenge: Challenge, proof: bytes) -> None:
    """Return if the holder of a certificate signed a challenge as this id; else raise ValueError."""
    from labkit.keymaking import verify

    verify(certificate, _proof(secondary_id, challenge), proof)


def _sealed(parties: Parties, text: str) -> bytes:
    return f"labkit replication challenge {text} of {parties.cluster_id} to {parties.host}".encode()


def _proof(secondary_id: str, challenge: Challenge) -> bytes:
    return f"labkit replication connection {challenge.text} of {secondary_id}".encode()
