"""Identity provider: what the host of an authority answers: discovery, published keys, and tokens for applications.

Its discovery document is that of the first version (issuer with a slash at the end), as tokens of machines are.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import Any

from labkit.cloud.access_tokens import of_application
from labkit.cloud.parts import CloudParts, CloudRequest
from labkit.cloud.refusals import api_error, token_error
from labkit.cloud.resources import Application, ClientSecret
from labkit.service.cloud_environments import CloudEnvironment, issuer_of
from labkit.service.message import Response, respond

DISCOVERY, KEYS, TOKEN = "discovery", "keys", "token"

WRONG_SECRET, EXPIRED_SECRET, UNKNOWN_APPLICATION, UNKNOWN_TENANT = 7000215, 7000222, 700016, 90002
TEMPLATE = "{tenantid}"
SCOPE_END = "/.default"

PATHS = {
    ".well-known/openid-configuration": DISCOVERY,
    "discovery/keys": KEYS,
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
        return respond(200, {"keys": parts.keys[environment.name].key_set()})
    return respond(200, _discovery(environment, tenant_id if is_known else TEMPLATE))


def _discovery(environment: CloudEnvironment, tenant_id: str) -> dict[str, Any]:
    base = f"{environment.authority}/{'common' if tenant_id == TEMPLATE else tenant_id}"
    return {
        "issuer": issuer_of(environment, tenant_id),
        "authorization_endpoint": f"{base}/oauth2/authorize",
        "token_endpoint": f"{base}/oauth2/token",
        "jwks_uri": f"{base}/discovery/keys",
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
    application = parts.inventory.applications.get(asked.sent("client_id").lower())
    if application is None or application.tenant_id != tenant_id:
        return token_error(400, "unauthorized_client", "no such application in this tenant", UNKNOWN_APPLICATION)
    wrong = _refused(parts, application, asked.sent("client_secret"))
    if wrong:
        why = "the secret has expired" if wrong == EXPIRED_SECRET else "the secret is not one of the application's"
        return token_error(401, "invalid_client", why, wrong)
    token, claims = parts.issue(of_application(application), audience)
    left_s = claims["exp"] - parts.now_s
    return respond(200, {"token_type": "Bearer", "expires_in": left_s, "ext_expires_in": left_s, "access_token": token})


def _refused(parts: CloudParts, application: Application, sent: str) -> int:
    """Return why a secret is refused, 0 when it is taken."""
    now_ns = parts.now()
    known = [each for each in application.secrets if _same(each, sent) and now_ns >= each.usable_ns]
    if not known:
        return WRONG_SECRET
    return 0 if any(now_ns < each.end_ns for each in known) else EXPIRED_SECRET


def _same(secret: ClientSecret, sent: str) -> bool:
    return compare_digest(secret.text.encode(), sent.encode(errors="replace"))
