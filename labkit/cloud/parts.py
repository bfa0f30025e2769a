"""Parts: what the endpoints of one cloud share, and a request as they read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.cloud.access_tokens import Subject, claims_for
from labkit.cloud.inventory import Inventory
from labkit.cloud.signatures import compact, header_of, verify_rs256
from labkit.cloud.signing_keys import SigningKeys
from labkit.service.cloud_environments import ENVIRONMENTS
from labkit.service.durations import SECOND_NS


class CloudRequest(NamedTuple):
    """A request to the cloud: method, path without query, query, headers by lower-case name, body, and who asks.

    ``origin`` is how whoever asks at a served door reached this part, such as ``https://localhost:8443``; it is empty
    in the cloud's own network.
    """

    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    body: dict[str, Any]
    remote_address: str
    origin: str = ""

    def __repr__(self) -> str:
        return f"CloudRequest({self.method} {self.path})"  # headers and body carry tokens and secrets

    def parameter(self, name: str) -> str:
        """Return a parameter of the query, the last when it came several times; empty without it."""
        value = self.query.get(name, "")
        found: str = value[-1] if isinstance(value, list) else value
        return found

    def sent(self, name: str) -> str:
        """Return a text of the body; empty for anything else."""
        value = self.body.get(name, "")
        return value if isinstance(value, str) else ""


class KeptToken(NamedTuple):
    """A token that a machine's endpoint answers again: its text, and the second at which it ends."""

    text: str
    begin_s: int
    end_s: int

    def __repr__(self) -> str:
        return f"KeptToken(until {self.end_s})"


class CloudParts(NamedTuple):
    """What the endpoints of one cloud share."""

    now: Callable[[], int]
    entropy: Callable[[int], bytes]
    inventory: Inventory
    keys: dict[str, SigningKeys]
    kept_tokens: dict[str, KeptToken]
    settings: dict[str, Any]

    def __repr__(self) -> str:
        return "CloudParts(not shown)"  # keys and tokens

    @property
    def now_s(self) -> int:
        """The cloud's clock in seconds since 1970."""
        return self.now() // SECOND_NS

    def issue(self, subject: Subject, audience: str) -> tuple[str, dict[str, Any]]:
        """Return a token for a subject, and its claims."""
        claims = claims_for(self.inventory, subject, audience, self.now(), self.entropy)
        keys = self.keys[self.inventory.tenants[subject.tenant_id].environment]
        key = keys.signing
        header = {"typ": "JWT", "alg": "RS256", "kid": key.kid, "x5t": key.kid}
        return compact(header, claims, keys.private(key)), claims

    def claims_of(self, environment: str, token: str) -> dict[str, Any] | None:
        """Return the claims of a token that an environment's keys signed; None for any other."""
        keys = self.keys[environment]
        key = keys.named(header_of(token).get("kid"))
        return None if key is None else verify_rs256(keys.private(key).public_key(), token)


def keys_of(entropy: Callable[[int], bytes], states: dict[str, Any]) -> dict[str, SigningKeys]:
    """Return the signing keys of every environment."""
    return {name: SigningKeys(entropy, states.get(name)) for name in ENVIRONMENTS}
