"""The checks of a login that need nothing but the token's claims, the role and the request, in their order.

Each is one function; it raises LoginRefused with the reason that audit and trace show.  The clocks of issuer and node
may differ by the leeway, at both ends of a token's time (decision A4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.durations import SECOND_NS
from labkit.service.folding import folded
from labkit.service.record import NamedTuple
from labkit.vault.auth.cloud.machine import MachinePlace, claimed_resource, is_same, may_belong
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.role_record import CloudRole
from labkit.vault.auth.cloud.settings import CloudSettings

MAX_LIFETIME_NS = 26 * 3_600 * SECOND_NS
OF_USERS = frozenset(("scp", "upn"))
REQUIRED = ("iss", "aud", "exp", "tid", "oid")


class Presented(NamedTuple):
    """What a login presents: verified claims, and what they are judged by."""

    claims: dict[str, Any]
    issuer: str
    settings: CloudSettings
    place: MachinePlace
    now_ns: int
    leeway_ns: int
    role: CloudRole = CloudRole()

    def __repr__(self) -> str:
        return f"Presented({self.place.kind or 'no machine'})"

    def time_ns(self, name: str) -> int | None:
        """Return a claim that is a time, in nanoseconds since the epoch, None where it is missing."""
        if name not in self.claims:
            return None
        value = self.claims[name]
        if type(value) not in (int, float) or not 0 <= value < 2**53:
            raise LoginRefused("claim_form")
        return int(value * SECOND_NS)


def check_required(login: Presented) -> None:
    """The claims that identify somebody are there (RFC 7519, 4.1)."""
    claims = login.claims
    for name in REQUIRED:
        if claims.get(name) in (None, "", []):
            raise LoginRefused("missing_claim")
    if not isinstance(claims["tid"], str) or not isinstance(claims["oid"], str):
        raise LoginRefused("claim_form")


def check_issuer(login: Presented) -> None:
    """The claim iss is, to the character, the issuer that the tenant's discovery document names (RFC 8725, 3.8)."""
    if login.claims["iss"] != login.issuer:
        raise LoginRefused("issuer")


def check_audience(login: Presented) -> None:
    """The claim aud is the configured resource, or lists it (spec, ``aud``; decision A11)."""
    audience = login.claims["aud"]
    listed = audience if isinstance(audience, list) else [audience]
    if login.settings.resource not in listed:
        raise LoginRefused("audience")


def check_expiry(login: Presented) -> None:
    """The token has not expired (RFC 7519, 4.1.4)."""
    end_ns = login.time_ns("exp")
    if end_ns is None or login.now_ns >= end_ns + login.leeway_ns:
        raise LoginRefused("expired")


def check_begin(login: Presented) -> None:
    """The token is valid already (RFC 7519, 4.1.5)."""
    begin_ns = login.time_ns("nbf")
    if begin_ns is not None and begin_ns > login.now_ns + login.leeway_ns:
        raise LoginRefused("early")


def check_issue(login: Presented) -> None:
    """The token was issued already (RFC 7519, 4.1.6)."""
    issued_ns = login.time_ns("iat")
    if issued_ns is not None and issued_ns > login.now_ns + login.leeway_ns:
        raise LoginRefused("issued_later")


def check_lifetime(login: Presented) -> None:
    """No machine's token is valid for longer than a day and some."""
    start_ns, issued_ns = login.time_ns("nbf"), login.time_ns("iat")
    if start_ns is None:
        start_ns = login.now_ns if issued_ns is None else issued_ns
    if (login.time_ns("exp") or 0) - start_ns > MAX_LIFETIME_NS:
        raise LoginRefused("lifetime")


def check_tenant(login: Presented) -> None:
    """The claim tid is the configured tenant, whatever the issuer says."""
    if folded(login.claims["tid"]) != folded(login.settings.tenant_id):
        raise LoginRefused("tenant")


def check_kind(login: Presented) -> None:
    """The token is an application's, as a machine's is, not a user's: those have a name and what they agreed to."""
    if login.claims.get("idtyp", "app") != "app" or not OF_USERS.isdisjoint(login.claims):
        raise LoginRefused("not_application")


def check_service_principal(login: Presented) -> None:
    """The token's principal is one of those bound (spec, ``bound_service_principal_ids``)."""
    if not _is_listed(login.claims["oid"], login.role.bound_service_principal_ids):
        raise LoginRefused("service_principal")


def check_group(login: Presented) -> None:
    """A group of the token is one of those bound (spec, ``bound_group_ids``); too many groups are none."""
    bound = login.role.bound_group_ids
    if not bound:
        return
    groups = login.claims.get("groups")
    if groups is None:
        raise LoginRefused("group_overage" if "_claim_names" in login.claims else "group")
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise LoginRefused("claim_form")
    if not any(group and _is_listed(group, bound) for group in groups):
        raise LoginRefused("group")


def check_named(login: Presented) -> None:
    """A role that binds machines wants one named, a scale set where it binds these (spec, ``bound_scale_sets``)."""
    if not login.role.binds_machine:
        return
    if not login.place.kind:
        raise LoginRefused("machine_unnamed")
    scale_sets = login.role.bound_scale_sets
    if scale_sets and (login.place.kind != "vmss_name" or not _is_listed(login.place.name, scale_sets)):
        raise LoginRefused("scale_set")


def check_subscription(login: Presented) -> None:
    """The subscription is one of those bound (spec, ``bound_subscription_ids``)."""
    if not _is_listed(login.place.subscription_id, login.role.bound_subscription_ids):
        raise LoginRefused("subscription")


def check_resource_group(login: Presented) -> None:
    """The resource group is one of those bound (spec, ``bound_resource_groups``)."""
    if not _is_listed(login.place.resource_group_name, login.role.bound_resource_groups):
        raise LoginRefused("resource_group")


def check_claimed_machine(login: Presented) -> None:
    """The machine that a binding role judges is the one that the token was given to (decision A6).

    Whether a machine belongs to the scale set that is named beside it, the cloud is asked later.
    """
    if not login.role.binds_machine or is_confirmed(login):
        return
    claimed = claimed_resource(login.claims)
    if claimed is None or not may_belong(login.place, claimed):
        raise LoginRefused("machine_claim")


def is_confirmed(login: Presented) -> bool:
    """Whether the token itself confirms where the request says that its machine is."""
    claimed = claimed_resource(login.claims)
    return claimed is not None and is_same(login.place, claimed)


def _is_listed(value: str, bound: tuple[str, ...]) -> bool:
    """Whether a value is in a list in any case; an empty list binds nothing."""
    return not bound or folded(value) in [folded(each) for each in bound]


TOKEN_CHECKS: tuple[Callable[[Presented], None], ...] = (
    check_required,
    check_issuer,
    check_audience,
    check_expiry,
    check_begin,
    check_issue,
    check_lifetime,
    check_tenant,
    check_kind,
)
"""Those of the token, in the order in which they are made: whoever passes them holds a valid one (decision A6)."""

ROLE_CHECKS: tuple[Callable[[Presented], None], ...] = (
    check_service_principal,
    check_group,
    check_named,
    check_subscription,
    check_resource_group,
    check_claimed_machine,
)
"""Those of what the role binds, made after them."""
