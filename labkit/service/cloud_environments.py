"""Cloud environments: the four clouds that a login method can be configured for, each with hosts of its own.

A token of one of them is worth nothing in another: issuers and signing keys differ.  The names end in a domain that is
reserved for tests (RFC 6761), so that none can lead to a real cloud.
"""

from __future__ import annotations

from labkit.service.record import NamedTuple

CLOUD_DOMAIN = "cloud.test"
DEFAULT_ENVIRONMENT = "CloudPublicCloud"
CLOUD, PEERS_CLOUD = "cloud", "azure"  # what names of environments begin with, here and with peers (decision A8)


class CloudEnvironment(NamedTuple):
    """One cloud: its name, and the addresses of its parts, without a slash at the end."""

    name: str
    authority: str
    issuer: str
    management: str
    directory: str


def _environment(name: str, part: str) -> CloudEnvironment:
    domain = f"{part}.{CLOUD_DOMAIN}" if part else CLOUD_DOMAIN
    return CloudEnvironment(name, *[f"https://{host}.{domain}" for host in ("login", "sts", "management", "graph")])


ENVIRONMENTS = {
    name: _environment(name, part)
    for name, part in (
        (DEFAULT_ENVIRONMENT, ""),
        ("CloudUSGovernmentCloud", "usgov"),
        ("CloudChinaCloud", "china"),
        ("CloudGermanCloud", "german"),
    )
}
"""{name: environment}."""


def environment_named(name: str) -> CloudEnvironment | None:
    """Return the environment of a name in any case, also as peers spell it (decision A8); None when there is none."""
    lower = name.lower()
    if lower.startswith(PEERS_CLOUD):
        lower = CLOUD + lower.removeprefix(PEERS_CLOUD)
    return next((environment for environment in ENVIRONMENTS.values() if environment.name.lower() == lower), None)


def issuer_of(environment: CloudEnvironment, tenant_id: str) -> str:
    """Return who issues a tenant's tokens, as their claim ``iss`` names it."""
    return f"{environment.issuer}/{tenant_id}/"


def host_of(address: str) -> str:
    """Return the host that an address such as ``https://login.cloud.test/path`` names, in lower case."""
    return address.split("//", 1)[-1].partition("/")[0].partition(":")[0].lower()


def is_of_cloud(address: str) -> bool:
    """Whether an address leads to a host of the simulated cloud."""
    host = host_of(address)
    return host == CLOUD_DOMAIN or host.endswith("." + CLOUD_DOMAIN)
