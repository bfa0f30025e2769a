"""Refusals of a login: one and the same answer for all of them, and the reason for audit and trace only.

A caller that is refused learns nothing of which check failed (decision A3).  What is malformed is a BadRequest of its
own text instead.
"""

from __future__ import annotations

REASONS = {
    "address": "the request came from outside the role's blocks of addresses",
    "algorithm": "the token's header names another algorithm than RS256",
    "audience": "the claim aud does not name the configured resource",
    "claim_form": "a claim has another form than it must have",
    "critical": "the token's header wants an extension to be understood",
    "duplicate": "the token's header or claims have a member twice",
    "early": "the claim nbf lies in the future",
    "encoding": "a part of the token is not canonical base64url",
    "expired": "the claim exp has passed",
    "group": "no group of the token is bound to the role",
    "group_overage": "the token names none of its groups, as it would have too many",
    "identity": "the machine does not have the identity that the token shows",
    "issued_later": "the claim iat lies in the future",
    "issuer": "the claim iss is not the tenant's issuer",
    "lifetime": "the token is valid for longer than any machine's",
    "location": "the machine's location is not bound to the role",
    "machine_claim": "the token names no machine, or another one",
    "machine_missing": "the cloud knows no such machine",
    "machine_unnamed": "the role binds machines, and the request names none",
    "missing_claim": "a claim that is required is missing",
    "no_key": "the token's header names no key",
    "not_application": "the token is a user's",
    "not_in_scale_set": "the machine does not belong to the scale set",
    "resource_group": "the resource group is not bound to the role",
    "scale_set": "the scale set is not bound to the role",
    "service_principal": "the token's principal is not bound to the role",
    "signature": "the token was signed by another key, or altered",
    "subscription": "the subscription is not bound to the role",
    "tenant": "the claim tid is not the configured tenant",
    "type": "the token's header says that it is something else",
    "unknown_key": "the cloud publishes no key of the name in the token's header",
}
"""{reason code: what it means}."""


class LoginRefused(Exception):
    """A login that is not allowed; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        assert reason in REASONS, reason
        super().__init__(reason)
        self.reason = reason
