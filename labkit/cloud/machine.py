"""Cloud machine: the handle of one machine, which gets tokens where the machine would, and logs in with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import urlencode

from labkit.cloud.machine_endpoint import HOST, TOKEN_PATH, TOKEN_VERSION
from labkit.cloud.resources import ManagedIdentity, SystemIdentity, VirtualMachine
from labkit.service.arguments import wrong
from labkit.service.message import Request, Response


class NoToken(RuntimeError):
    """A machine got no token from its endpoint."""


class LoginTarget(Protocol):
    """What a machine logs in to: a vault, or a cluster of a lab."""

    def post(self, path: str, body: dict[str, Any], *, token: str) -> Response:
        """Create or update."""


class CloudMachine:
    """One machine of a cloud, as it was when this was made."""

    __slots__ = ("_ask", "_identity", "record", "resource", "tenant_id")

    def __init__(
        self,
        record: VirtualMachine,
        identity: SystemIdentity | ManagedIdentity | None,
        tenant_id: str,
        resource: str,
        ask: Callable[[Request], Response],
    ) -> None:
        self.record, self.tenant_id, self.resource = record, tenant_id, resource
        self._identity, self._ask = identity, ask

    def __repr__(self) -> str:
        return f"CloudMachine({self.name}, {self.resource_group}, {self.location})"

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.record.name

    @property
    def subscription_id(self) -> str:
        """The id of its subscription."""
        return self.record.group.subscription_id

    @property
    def resource_group(self) -> str:
        """The name of its resource group."""
        return self.record.group.name

    @property
    def location(self) -> str:
        """Where it stands."""
        return self.record.location

    @property
    def resource_id(self) -> str:
        """Its path below the compute API."""
        return self.record.resource_id

    @property
    def scale_set(self) -> str:
        """The name of the scale set that it is an instance of; empty without one."""
        return self.record.scale_set.rpartition("/")[2]

    @property
    def principal_id(self) -> str:
        """The id of its first identity in the directory, the claim ``oid``; empty without any."""
        return self._identity.principal_id if self._identity is not None else ""

    @property
    def client_id(self) -> str:
        """The client id of its first identity, the claim ``appid``; empty without any."""
        return self._identity.client_id if self._identity is not None else ""

    def token(self, resource: str = "", client_id: str = "") -> str:
        """Return a token for an audience, ``resource`` of this machine unless another is given, from its endpoint.

        ``client_id`` chooses among several identities.  NoToken says what the endpoint answered instead.
        """
        query = {"api-version": TOKEN_VERSION, "resource": resource or self.resource}
        if client_id:
            query["client_id"] = client_id
        headers = {"Host": HOST, "Metadata": "true"}
        path = f"{TOKEN_PATH}?{urlencode(query)}"
        answer = self._ask(Request("GET", path, headers, None, self.record.address))
        body = answer.body or {}
        if not answer.ok or "access_token" not in body:
            why = body.get("error_description") or body.get("error") or next(iter(body.get("errors") or ()), "no text")
            raise NoToken(f"{self.name} got no token; its endpoint answered {answer.status}: {why}")
        text: str = body["access_token"]
        return text

    def login(self, vault: LoginTarget, role: str, *, mount: str = "auth/cloud", **fields: Any) -> Response:
        """Log in to a vault or a cluster with a token of this machine; ``fields`` take the place of what is sent."""
        if not hasattr(vault, "post"):
            raise wrong("vault", "a vault, or a cluster of a lab such as lab['paris']", vault)
        body: dict[str, Any] = {
            "role": role,
            "subscription_id": self.subscription_id,
            "resource_group_name": self.resource_group,
            **({"vmss_name": self.scale_set} if self.scale_set else {"vm_name": self.name}),
            **fields,
        }
        if "jwt" not in body:
            body["jwt"] = self.token()
        return vault.post(f"{mount.strip('/')}/login", body, token="")
