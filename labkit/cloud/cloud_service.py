"""Cloud service: the simulated cloud, a service of its own: a Request in, a Response out.

1. The header ``Host`` says which part answers: an environment's authority, compute API or directory, or a machine's
   endpoint.  Where the host is another, as at a served door, the first segment of the path names it; a tenant there
   stands for the host of its authority, and ``/machines/NAME`` for the endpoint as that machine sees it.
2. ``state`` returns all that it holds as plain values, and a cloud that is built from it goes on the same (R3).  Key
   objects are no state.
3. Signing keys are made when they are first needed.
4. Threads may share a cloud: it lets in one request at a time, and none in a child of its process (``shared_use``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from labkit.cloud import application_directory, compute, identity_provider, machine_endpoint
from labkit.cloud.access_tokens import claims_for, management_audience, of_machine
from labkit.cloud.failures import CloudFailures
from labkit.cloud.fault_controls import FaultControls
from labkit.cloud.inventory import Inventory
from labkit.cloud.machine import CloudMachine
from labkit.cloud.parts import CloudParts, CloudRequest, keys_of
from labkit.cloud.refusals import api_error, traced
from labkit.cloud.shared_use import SharedUse
from labkit.cloud.signatures import compact
from labkit.service.arguments import wrong
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT, ENVIRONMENTS, CloudEnvironment, host_of
from labkit.service.errors import ServiceError
from labkit.service.message import Fetch, Request, Response, silence
from labkit.service.request_path import split_path

Answerer = Callable[[CloudParts, CloudEnvironment, CloudRequest], Response]

MACHINES, MACHINE, COMMON = "machines", "machine", "common"
PARTS: dict[Answerer, str] = {compute.answer: "compute", application_directory.answer: "directory"}


def _hosts() -> dict[str, tuple[Answerer, CloudEnvironment]]:
    return {
        host_of(address): (answerer, environment)
        for environment in ENVIRONMENTS.values()
        for address, answerer in (
            (environment.authority, identity_provider.answer),
            (environment.management, compute.answer),
            (environment.directory, application_directory.answer),
        )
    }


class CloudService(FaultControls):
    """One simulated cloud with its four environments."""

    def __init__(
        self, now: Callable[[], int], entropy: Callable[[int], bytes], state: Mapping[str, Any] | None = None
    ) -> None:
        kept: Mapping[str, Any] = state or {}
        self.clock = now
        self.observe = _unwatched
        self.use = SharedUse()
        self._hosts = _hosts()
        self.failures = CloudFailures(kept.get("failures"))
        self.parts = CloudParts(
            now=lambda: self.clock() + self.parts.settings.get("ahead_ns", 0),
            entropy=entropy,
            inventory=Inventory(entropy, kept.get("inventory")),
            keys=keys_of(entropy, kept.get("keys", {})),
            kept_tokens=dict(kept.get("kept_tokens", {})),
            settings=dict(kept.get("settings", {})),
        )

    def __repr__(self) -> str:
        return f"Cloud({len(self.inventory.machines)} machines)"

    @classmethod
    def filled(
        cls, now: Callable[[], int], entropy: Callable[[int], bytes], environment: str = DEFAULT_ENVIRONMENT
    ) -> Self:
        """Make a cloud that holds what ``dev`` promises."""
        from labkit.cloud.development import fill

        cloud = cls(now, entropy)
        application = fill(cloud.parts, environment)
        cloud.parts.settings["client_id"] = application.client_id
        return cloud

    def state(self) -> dict[str, Any]:
        """Return everything as plain values (R3)."""
        self.use.refuse_forked()
        parts = self.parts
        return {
            "inventory": parts.inventory.state(),
            "keys": {name: keys.state() for name, keys in parts.keys.items()},
            "kept_tokens": dict(parts.kept_tokens),
            "settings": dict(parts.settings),
            "failures": self.failures.state(),
        }

    @property
    def inventory(self) -> Inventory:
        """What the cloud holds, with the verbs that add and take away."""
        self.use.refuse_forked()
        return self.parts.inventory

    @property
    def config(self) -> dict[str, Any]:
        """What ``auth/cloud/config`` is written with, so that a vault accepts this cloud's machines."""
        application = self.inventory.applications[self.parts.settings["client_id"]]
        environment = ENVIRONMENTS[self.inventory.tenants[application.tenant_id].environment]
        return {
            "tenant_id": application.tenant_id,
            "resource": management_audience(environment),
            "environment": environment.name,
            "client_id": application.client_id,
            "client_secret": application.secrets[-1].text if application.secrets else "",
        }

    def handle(self, request: Request) -> Response:
        """Answer a request; the header ``Host`` names the part that it is for.  Status 0 is silence."""
        return self._answered(request, "")

    def _answered(self, request: Request, origin: str) -> Response:
        """Answer a request that came from the cloud's network, or from outside by an origin."""
        use = self.use
        if use.is_forked():
            return api_error(500, "InternalError", use.forked().errors[0])
        with use:
            try:
                asked = _read(request, origin)
                endpoint, answer = self._find(asked)
            except ServiceError as error:
                return api_error(error.status, "BadRequest", error.errors[0])
            now_ns = self.parts.now()
            found = self.failures.answer(endpoint, now_ns) or answer()
            return traced(found, asked.path, now_ns) if origin else found

    def delay_ns(self, request: Request) -> int:
        """Return how long the answer to a request takes, beside the network."""
        if not self.failures.delays_ns:
            return 0
        try:
            return self.failures.delays_ns.get(self._find(_read(request))[0], 0)
        except ServiceError:
            return 0

    def answer(self, fetch: Fetch) -> Response:
        """Answer what a service fetches: silence where no host of this cloud has the address, or it takes too long."""
        if host_of(fetch.address) not in self._hosts:
            return silence(f"{fetch.address} is not reachable: no host of the simulated cloud has this name")
        answer = self.handle(_fetched(fetch))
        return answer if self.takes_ns(fetch) < fetch.timeout_ns else silence("no answer in time")

    def takes_ns(self, fetch: Fetch) -> int:
        """Return how long a service waits for what it fetches: as long as the answer takes, at most its timeout."""
        return min(self.delay_ns(_fetched(fetch)), fetch.timeout_ns) if self.failures.delays_ns else 0

    def request(
        self,
        method: str,
        path: str,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        remote_address: str = "127.0.0.1",
        origin: str = "",
    ) -> Response:
        """Send one request in process, as a served door does; silence becomes 503 there.

        ``origin``: how the door was reached, such as ``https://localhost:8443``; documents name addresses below it.
        """
        answer = self._answered(Request(method, path, headers or {}, json, remote_address), origin)
        return answer if answer.status else api_error(503, "NoAnswer", "this part of the cloud does not answer")

    def vm(self, name: str, resource_group: str = "") -> CloudMachine:
        """Return the handle of a machine; ``resource_group`` tells those of one name apart."""
        record = self.inventory.machine(name, resource_group)
        identities = machine_endpoint.identities_of(self.parts, record)
        tenant = self.inventory.tenant_of(record.group)
        audience = management_audience(ENVIRONMENTS[tenant.environment])
        return CloudMachine(record, next(iter(identities), None), tenant.tenant_id, audience, self.handle)

    def jwks(self, environment: str = "") -> dict[str, Any]:
        """Return the public keys as an environment's identity provider publishes them (RFC 7517, 5)."""
        with self.use:
            return {"keys": self.parts.keys[self._environment(environment)].key_set()}

    def mint(
        self,
        machine: str | CloudMachine,
        *,
        claims: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        key: Any = None,
    ) -> str:
        """Return a token as this machine would get one, honest or not: nothing that is asked for is refused.

        ``claims`` and ``headers`` replace those of an honest token, None takes one away.  ``key`` is bytes or a private
        key, the cloud's own when left out; for an HMAC that is its public key in PEM.
        """
        vm = machine if isinstance(machine, CloudMachine) else self.vm(machine)
        with self.use:
            identity = next(iter(machine_endpoint.identities_of(self.parts, vm.record)), None)
            if identity is None:
                raise wrong("machine", "a machine with an identity", vm.name)
            subject = of_machine(self.inventory, vm.record, identity)
            honest = claims_for(self.inventory, subject, vm.resource, self.parts.now(), self.parts.entropy)
            keys = self.parts.keys[self.inventory.tenants[vm.tenant_id].environment]
            kid = keys.signing.kid
            header = _changed({"typ": "JWT", "alg": "RS256", "kid": kid, "x5t": kid}, "headers", headers)
            own = keys.private(keys.signing) if key is None else key
            return compact(header, _changed(honest, "claims", claims), own)

    def _find(self, asked: CloudRequest) -> tuple[str, Callable[[], Response]]:
        """Return which endpoint a request is for, and what answers it."""
        host = asked.headers.get("host", "").partition(":")[0].lower()
        if host == machine_endpoint.HOST:
            at = asked.remote_address
            return MACHINE, lambda: machine_endpoint.answer(self.parts, asked, self.inventory.machine_at(at))
        if host not in self._hosts:
            first, _, rest = asked.path.lstrip("/").partition("/")
            if first == MACHINES:
                return MACHINE, lambda: self._of_machine(asked, *rest.partition("/")[::2])
            tenant = self.inventory.tenants.get(first.lower())
            if tenant is not None or first == COMMON:
                name = self.own_environment if tenant is None else tenant.environment
                host = host_of(ENVIRONMENTS[name].authority)
            else:
                host, origin = first.lower(), f"{asked.origin}/{first}" if asked.origin else ""
                asked = asked._replace(path=f"/{rest}", headers={**asked.headers, "host": first}, origin=origin)
        found = self._hosts.get(host)
        if found is None:
            return "", lambda: api_error(404, "HostNotFound", f"no host of this cloud is called {host[:64]}")
        answerer, environment = found
        endpoint = PARTS.get(answerer) or identity_provider.endpoint_of(asked.path)
        return endpoint, lambda: answerer(self.parts, environment, asked)

    def _of_machine(self, asked: CloudRequest, name: str, rest: str) -> Response:
        """Answer at a machine's endpoint, as the machine sees it."""
        try:
            machine = self.inventory.machine(name)
        except ValueError as error:
            return api_error(404, "MachineNotFound", str(error))
        return machine_endpoint.answer(self.parts, asked._replace(path=f"/{rest}"), machine)


def _unwatched(kind: str, **fields: Any) -> None:
    """Drop what was done: a cloud outside a lab has no observer."""


def _read(request: Request, origin: str = "") -> CloudRequest:
    """Read a request; a refusal says what is wrong with its path."""
    path, query = split_path(request.path)
    headers = {name.lower(): text for name, text in request.headers.items() if type(name) is type(text) is str}
    body = request.body if type(request.body) is dict else {}
    return CloudRequest(str(request.method).upper(), f"/{path}", query, headers, body, request.remote_address, origin)


def _fetched(fetch: Fetch) -> Request:
    """Return a fetch's request as its host gets it."""
    return fetch.request._replace(headers={**fetch.request.headers, "Host": host_of(fetch.address)})


def _changed(honest: dict[str, Any], name: str, changes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return members with some replaced, and without those that are None."""
    if changes is None:
        return honest
    if not isinstance(changes, Mapping) or not all(isinstance(each, str) for each in changes):
        raise wrong(name, "a mapping of names to values, None for what is taken away", changes)
    return {member: value for member, value in {**honest, **changes}.items() if value is not None}
