"""Identity provider: what the host of an authority answers: discovery, published keys, and tokens for applications.

1. Discovery documents are those of both versions; the issuer that they name is the one in tokens, which are of the
   first version (issuer with a slash at the end).
2. To whoever asks at a served door a document names addresses below the origin that was reached, and keys have
   certificates (``x5c``): libraries outside want both, a vault neither.
3. An application shows its secret in the form that it sends, or by HTTP Basic (RFC 6749, 2.3.1).
"""

from __future__ import annotations

from base64 import b64decode
from hmac import compare_digest
from typing import Any
from urllib.parse import unquote_plus

from labkit.cloud.access_tokens import of_application
from labkit.cloud.parts import CloudParts, CloudRequest
from labkit.cloud.refusals import api_error, token_error
from labkit.cloud.resources import Application, ClientSecret
from labkit.service.cloud_environments import CloudEnvironment, host_of, issuer_of
from labkit.service.message import Response, respond

DISCOVERY, KEYS, TOKEN = "discovery", "keys", "token"

WRONG_SECRET, EXPIRED_SECRET, UNKNOWN_APPLICATION, UNKNOWN_TENANT = 7000215, 7000222, 700016, 90002
TEMPLATE = "{tenantid}"
SCOPE_END = "/.default"

INSTANCE = "discovery/instance"

PATHS = {
    ".well-known/openid-configuration": DISCOVERY,
    "v2.0/.well-known/openid-configuration": DISCOVERY,
    INSTANCE: DISCOVERY,
    "discovery/keys": KEYS,
    "discovery/v2.0/keys": KEYS,
    "oauth2/token": TOKEN,
    "oauth2/v2.0/token": TOKEN,
}


def endpoint_of(path: str) -> str:
    """Return which endpoint a path is of; empty for none."""
    return PATHS.get(path.strip("/").partition("/")[2], "")


def answer(parts: CloudParts, environment: CloudEnvironment, asked: CloudRequest) -> Response:
    """Answer a request to the host of an authority."""
    tenant_id, _, rest = asked.path.strip("/").partition("/")
    endpoint = PATHS.get(rest, "")
    if not endpoint:
        return api_error(404, "NotFound", f"nothing is served at /{rest}")
    tenant = parts.inventory.tenants.get(tenant_id.lower())
    is_known = tenant is not None and tenant.environment == environment.name
    if not is_known and not (tenant_id == "common" and endpoint in (DISCOVERY, KEYS)):
        return token_error(400, "invalid_tenant", f"no tenant {tenant_id[:64]} in {environment.name}", UNKNOWN_TENANT)
    if endpoint == TOKEN:
        return _token(parts, asked, tenant_id.lower())
    if asked.method != "GET":
        return api_error(405, "MethodNotAllowed", f"{endpoint} is read with GET")
    if endpoint == KEYS:
        return respond(200, {"keys": parts.keys[environment.name].key_set(certified=bool(asked.origin))})
    if rest == INSTANCE:
        return _instance(environment, asked)
    version = "/v2.0" if rest.startswith("v2.0/") else ""
    return respond(200, _discovery(environment, asked.origin, tenant_id.lower() if is_known else TEMPLATE, version))


def _instance(environment: CloudEnvironment, asked: CloudRequest) -> Response:
    """Answer which document describes an authority: the question by which clients find out whether it is one."""
    authority = asked.origin or environment.authority
    address = asked.parameter("authorization_endpoint")
    tenant_id = address.partition("://")[2].partition("/")[2].partition("/")[0]
    if not tenant_id:
        return token_error(400, "invalid_instance", "authorization_endpoint must name an authority and a tenant", 50049)
    name = host_of(authority)
    metadata = {"preferred_network": name, "preferred_cache": name, "aliases": [name]}
    found = f"{authority}/{tenant_id}/v2.0/.well-known/openid-configuration"
    return respond(200, {"tenant_discovery_endpoint": found, "api-version": "1.1", "metadata": [metadata]})


def _discovery(environment: CloudEnvironment, origin: str, tenant_id: str, version: str) -> dict[str, Any]:
    base = f"{origin or environment.authority}/{'common' if tenant_id == TEMPLATE else tenant_id}"
    more = {"token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]} if version else {}
    return {
        "issuer": issuer_of(environment, tenant_id),
        "authorization_endpoint": f"{base}/oauth2{version}/authorize",
        "token_endpoint": f"{base}/oauth2{version}/token",
        "jwks_uri": f"{base}/discovery{version}/keys",
        **more,
        "response_types_supported": ["code", "id_token", "token"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claims_supported": ["aud", "iss", "iat", "nbf", "exp", "appid", "groups", "oid", "sub", "tid", "ver"],
    }


def _token(parts: CloudParts, asked: CloudRequest, tenant_id: str) -> Response:
    """Answer an application that asks for a token with its secret (RFC 6749, 4.4)."""
    if asked.method != "POST":
        return api_error(405, "MethodNotAllowed", "a token is asked for with POST")
    if asked.sent("grant_type") != "client_credentials":
        return token_error(400, "unsupported_grant_type", "only client_credentials is taken here")
    audience = asked.sent("resource") or asked.sent("scope").removesuffix(SCOPE_END)
    if not audience:
        return token_error(400, "invalid_request", "resource or scope must name the audience of the token")
    client_id, secret = _credentials(asked)
    application = parts.inventory.applications.get(client_id.lower())
    if application is None or application.tenant_id != tenant_id:
        return token_error(400, "unauthorized_client", "no such application in this tenant", UNKNOWN_APPLICATION)
    wrong = _refused(parts, application, secret)
    if wrong:
        why = "the secret has expired" if wrong == EXPIRED_SECRET else "the secret is not one of the application's"
        return token_error(401, "invalid_client", why, wrong)
    token, claims = parts.issue(of_application(application), audience)
    left_s = claims["exp"] - parts.now_s
    return respond(200, {"token_type": "Bearer", "expires_in": left_s, "ext_expires_in": left_s, "access_token": token})


def _credentials(asked: CloudRequest) -> tuple[str, str]:
    """Return the id and the secret that an application shows: by HTTP Basic, encoded as in a form, or in the form."""
    kind, _, encoded = asked.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return asked.sent("client_id"), asked.sent("client_secret")
    try:
        name, _, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return unquote_plus(name), unquote_plus(secret)


def _refused(parts: CloudParts, application: Application, sent: str) -> int:
    """Return why a secret is refused, 0 when it is taken."""
    now_ns = parts.now()
    known = [each for each in application.secrets if _same(each, sent) and now_ns >= each.usable_ns]
    if not known:
        return WRONG_SECRET
    return 0 if any(now_ns < each.end_ns for each in known) else EXPIRED_SECRET


def _same(secret: ClientSecret, sent: str) -> bool:
    return compare_digest(secret.text.encode(), sent.encode(errors="replace"))
