"""The configuration of the cloud auth method: ``config``.

1. It is written field by field: what is not sent stays as it was.  Nothing is asked of the cloud before a login.
2. Reading it returns the client secret too (spec, Cloud auth method), but none that a rotation has yet to promote.
3. A write or delete drops what was fetched from the cloud under the configuration before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT, ENVIRONMENTS
from labkit.service.errors import BadRequest, NotFound
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth.cloud import settings
from labkit.vault.auth.cloud.settings import CONFIG, MAX_RETRIES, ROTATION, CloudConfig

if TYPE_CHECKING:
    from labkit.vault.context import Context


class CloudConfigRequest(NamedTuple):
    """The settings that a request changes; None leaves one as it is."""

    tenant_id: str | None
    resource: str | None
    environment: str | None
    client_id: str | None
    client_secret: str | None
    max_retries: int | None
    max_retry_delay: Any
    retry_delay: Any

    def __repr__(self) -> str:
        return "CloudConfigRequest()"  # it may carry the secret


def write_config(ctx: Context, asked: CloudConfigRequest) -> None:
    """Create the configuration, or change what is sent of it."""
    sent = {name: value for name, value in asked._asdict().items() if value is not None}
    for field in ("max_retry_delay", "retry_delay"):
        if field in sent:
            sent[field] = _delay_text(field, sent[field])
    config = (settings.find_config(ctx.storage) or CloudConfig())._replace(**sent)
    if not 0 <= config.max_retries <= MAX_RETRIES:
        raise BadRequest(f"max_retries: expected a number from 0 to {MAX_RETRIES}")
    tenant_id = settings.taken(ctx.core.settings.environ, config).tenant_id
    if not settings.GUID.fullmatch(tenant_id):
        ctx.warn(f"tenant_id: expected the id of a directory of the cloud, a GUID; logins fail with {tenant_id!r}")
    settings.store_config(ctx.storage, config)
    _forget(ctx)


def _delay_text(field: str, sent: Any) -> str:
    """Return a delay as it is shown: with its unit."""
    settings.read_delay(field, sent)
    text = str(sent).strip()
    return f"{int(float(text))}s" if text.lstrip("+").replace(".", "", 1).isdigit() else text or "0s"


def read_config(ctx: Context) -> dict[str, Any]:
    """Read the configuration."""
    config = settings.find_config(ctx.storage)
    if config is None:
        raise NotFound
    return {**config._asdict(), "environment": config.environment or DEFAULT_ENVIRONMENT}


def delete_config(ctx: Context) -> None:
    """Delete the configuration with its credentials."""
    ctx.storage.delete(CONFIG)
    ctx.storage.delete(ROTATION)
    _forget(ctx)


def _forget(ctx: Context) -> None:
    """Drop what was fetched from the cloud: key sets, access tokens, notes of attempts."""
    ctx.full_storage.delete_all(ctx.mount.own_prefix)


FIELDS = (
    fields.text("tenant_id", "tenant of the cloud directory; CLOUD_TENANT_ID where it is not given"),
    fields.text("resource", "what the claim aud of a login token must name; CLOUD_AD_RESOURCE where it is not given"),
    fields.text(
        "environment",
        f"which cloud; {DEFAULT_ENVIRONMENT} unless given here or as CLOUD_ENVIRONMENT",
        choices=tuple(ENVIRONMENTS),
    ),
    fields.text("client_id", "client id that the cloud is asked with; CLOUD_CLIENT_ID where it is not given"),
    fields.text("client_secret", "its secret; CLOUD_CLIENT_SECRET where it is not given"),
    fields.integer("max_retries", "how often a failed call to the cloud is made again; 3 unless given, 0 is never"),
    fields.anything("max_retry_delay", "longest delay before a retry; 60s unless given")._replace(kind="duration"),
    fields.anything("retry_delay", "delay before the first retry, which grows; 4s unless given")._replace(
        kind="duration"
    ),
)

ROUTES = (
    Route("read", "config", read_config),
    Route("write", "config", write_config, Form(CloudConfigRequest, FIELDS)),
    Route("delete", "config", delete_config),
)
