"""Settings of a mount of the cloud auth method: what is stored, and what holds after the environment filled it up.

1. What is stored wins; where it says nothing, the environment that the service was started with says it.  What came
   from there is never stored or shown.
2. The client secret is stored encrypted like every value, and shown by reading the configuration only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from labkit.service.cloud_environments import (
    DEFAULT_ENVIRONMENT,
    ENVIRONMENTS,
    CloudEnvironment,
    environment_named,
)
from labkit.service.durations import parse_duration
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.identifiers import sha256
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

CONFIG, ROTATION = "config", "rotation"
MAX_RETRIES = 100
FINGERPRINT_CHARACTERS = 40

FALL_BACKS = {
    "tenant_id": "CLOUD_TENANT_ID",
    "resource": "CLOUD_AD_RESOURCE",
    "environment": "CLOUD_ENVIRONMENT",
    "client_id": "CLOUD_CLIENT_ID",
    "client_secret": "CLOUD_CLIENT_SECRET",
}
"""{field: variable of the environment} (spec, Cloud auth method)."""

GUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_TENANT = re.compile(r"[0-9a-z](?:[0-9a-z._-]{0,253}[0-9a-z])?", re.ASCII | re.IGNORECASE)


class StoredConfig(NamedTuple):
    """What is stored of a mount's configuration; an empty text was never given."""

    tenant_id: str = ""
    resource: str = ""
    environment: str = ""
    client_id: str = ""
    client_secret: str = ""
    max_retries: int = 3
    max_retry_delay: str = "60s"
    retry_delay: str = "4s"

    def __repr__(self) -> str:
        return f"CloudConfig(tenant_id={self.tenant_id!r}, resource={self.resource!r})"


class CloudConfig(StoredConfig):
    """A mount's configuration, and what was found to hold with it on this node (5 % of a login)."""

    @cached_property
    def effective(self) -> list[CloudSettings]:
        """The settings that hold, once they were asked for: settings of a node never change."""
        return []


class RetryPolicy(NamedTuple):
    """How often a call to the cloud that failed is made again, and after which delays."""

    max_retries: int
    retry_delay_ns: int
    max_retry_delay_ns: int


class SettingsInForce(NamedTuple):
    """What holds for a mount; ``client_id`` and ``client_secret`` may be empty, the rest is there."""

    tenant_id: str
    resource: str
    environment: CloudEnvironment
    client_id: str
    client_secret: str
    retries: RetryPolicy

    def __repr__(self) -> str:
        return f"CloudSettings({self.tenant_id}, {self.environment.name})"

    @property
    def client(self) -> tuple[str, ...]:
        """As whom the cloud is asked, and which."""
        return self.environment.name, self.tenant_id, self.client_id, self.client_secret


class CloudSettings(SettingsInForce):
    """What holds for a mount, and what stands for it."""

    @cached_property
    def fingerprints(self) -> dict[tuple[str, bool], str]:
        """The fingerprints that were asked for."""
        return {}

    def fingerprint(self, of: str, *, client: bool = False) -> str:
        """Return what stands for this tenant, resource and ``of``, with ``client`` for the client too (decision A12).

        What was fetched under one is not used under another.
        """
        known = self.fingerprints.get((of, client))
        if known is None:
            fetched_for = (self.environment.name, self.tenant_id, self.resource, of)
            row = [*fetched_for, *self.client[2:]] if client else [*fetched_for]
            known = sha256(encode_record(row)).hexdigest()[:FINGERPRINT_CHARACTERS]
            self.fingerprints[of, client] = known
        return known


def find_config(storage: StorageView) -> CloudConfig | None:
    """Return what is stored of a mount's configuration, or None."""
    return storage.decoded(CONFIG, _decode)


def store_config(storage: StorageView, config: CloudConfig) -> None:
    """Store a mount's configuration."""
    storage.put(CONFIG, encode_record(list(config)))


def _decode(stored: bytes) -> CloudConfig:
    return CloudConfig(*decode_record(stored))


def settings_of(ctx: Context) -> CloudSettings:
    """Return what holds for the request's mount; raise BadRequest when something needed is missing."""
    return effective(ctx, find_config(ctx.storage) or CloudConfig())


def is_current(ctx: Context, settings: CloudSettings) -> bool:
    """Whether the mount still has the client that a request began with: another one may have come meanwhile."""
    try:
        return settings_of(ctx).client == settings.client
    except BadRequest:  # it has none at all
        return False


def effective(ctx: Context, config: CloudConfig) -> CloudSettings:
    """Return what holds for a mount with this configuration; raise BadRequest for what is missing or cannot be."""
    known = config.effective
    if not known:
        found = taken(ctx.core.settings.environ, config)
        if not GUID.fullmatch(found.tenant_id):  # a token names its tenant by the id, never by a domain
            raise BadRequest(f"tenant_id: expected the id of a directory of the cloud, a GUID, got {found.tenant_id!r}")
        known.append(found)
    return known[0]


def taken(environ: Mapping[str, str], config: CloudConfig) -> CloudSettings:
    """Return what a configuration says, also of a tenant that no token names; raise BadRequest for what cannot be."""
    given = {field: getattr(config, field) or environ.get(variable, "") for field, variable in FALL_BACKS.items()}
    for field in ("tenant_id", "resource"):
        if not given[field]:
            raise BadRequest(f"{field} is required: give it here, or {FALL_BACKS[field]} in the service's environment")
    if not _TENANT.fullmatch(given["tenant_id"]):  # it stands in the paths of what is fetched
        raise BadRequest("tenant_id: expected the id of a directory of the cloud, a GUID")
    chosen = given["environment"] or DEFAULT_ENVIRONMENT
    environment = ENVIRONMENTS.get(chosen) or environment_named(chosen)
    if environment is None:
        raise BadRequest(f"environment: expected one of {', '.join(ENVIRONMENTS)}")
    retries = RetryPolicy(
        config.max_retries,
        read_delay("retry_delay", config.retry_delay),
        read_delay("max_retry_delay", config.max_retry_delay),
    )
    return CloudSettings(
        given["tenant_id"], given["resource"], environment, given["client_id"], given["client_secret"], retries
    )


_nanoseconds = lru_cache(maxsize=64)(parse_duration)


def read_delay(field: str, sent: object) -> int:
    """Read a delay as nanoseconds; raise BadRequest for anything else, and for a negative one."""
    try:
        delay_ns = _nanoseconds(sent) if type(sent) is str else parse_duration(sent)
    except ValueError as error:
        raise BadRequest(f"{field}: {error}") from None
    if delay_ns < 0:
        raise BadRequest(f"{field} cannot be negative")
    return delay_ns
