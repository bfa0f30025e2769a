"""Cloud host: the simulated cloud on the network of a lab; what is asked of it takes time, and may get lost.

1. It answers requests of the API to whoever asks, after the delay that it was given; its silence sends nothing.
2. Its clock is the lab's, from the instant at which wall clocks begin.
3. Any other message is refused and counted (R25).
4. The store of external keys is one of its hosts.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from labkit.cloud.cloud_service import CloudService
from labkit.cloud.development import MACHINES
from labkit.cloud.key_store_service import KeyStoreService
from labkit.cloud.machine import NoToken
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import ApiAnswer, ApiRequest, CloudAnswerTimer, malformed, size_of
from labkit.lab.wire.reports import MESSAGE_REFUSED, Observed
from labkit.service.key_store_address import KEY_STORE_HOST
from labkit.service.message import Body, Response

OF_MACHINE = ("subscription_id", "resource_group", "location", "principal_id", "resource_id", "token")
OF_CLOUD = (
    *("tenant_id", "resource", "environment", "client_id", "client_secret"),
    *(f"{machine}.{fact}" for machine in MACHINES for fact in OF_MACHINE),
)
"""What operators have of a new cloud, beneath its name (``kept_values``)."""

NO_REQUEST = "a message that is not a request"


class CloudHost:
    """The host of a lab's cloud."""

    __slots__ = ("cloud", "entropy", "keystore", "name", "refused_messages", "services", "site")

    def __init__(
        self, name: str, site: str, services: HostServices, start_wall_ns: int, state: dict[str, Any] | None = None
    ) -> None:
        state = state or {}
        self.name, self.site, self.services = name, site, services
        self.entropy = services.entropy(0, state.get("counter", 0))
        self.refused_messages: int = state.get("refused_messages", 0)

        def now() -> int:
            return start_wall_ns + services.now()

        drawn = self.entropy
        self.cloud = CloudService(now, drawn, state["cloud"]) if state else CloudService.filled(now, drawn)
        self.cloud.failures.asked = dict(state.get("asked", {}))
        self.cloud.observe = self._observe
        self.keystore = KeyStoreService(self.entropy, state.get("keystore"))

    def __repr__(self) -> str:
        return f"CloudHost({self.name} at {self.site})"

    def receive(self, source: str, message: Any) -> None:
        """Take a request; a message that is not one is refused."""
        wrong = malformed(message) if type(message) is ApiRequest else NO_REQUEST
        if wrong:
            self.refused_messages += 1
            self._observe(MESSAGE_REFUSED, source=source, reason=wrong)
            return
        request = message.request._replace(remote_address=source)
        if request.headers.get("Host") == KEY_STORE_HOST:
            self._send(source, ApiAnswer(message.correlation, self.keystore.handle(request)))
            return
        delay_ns, answer = self.cloud.delay_ns(request), self.cloud.handle(request)
        if not answer.status:
            return
        if delay_ns:
            self.services.after(delay_ns, CloudAnswerTimer(source, ApiAnswer(message.correlation, answer)))
        else:
            self._send(source, ApiAnswer(message.correlation, answer))

    def on_timer(self, timer: CloudAnswerTimer) -> None:
        """Send an answer that took its time."""
        self._send(timer.asker, timer.answer)

    def values(self) -> dict[str, Any]:
        """Return what operators have of the cloud: what a login method is configured with, and machines' tokens."""
        found = {f"{self.name}.{name}": value for name, value in self.cloud.config.items()}
        for machine in self.cloud.inventory.machines.values():
            vm = self.cloud.vm(machine.name, machine.group.name)
            facts = {name: getattr(vm, name) for name in OF_MACHINE if name != "token"}
            with suppress(NoToken):  # while its endpoint is down
                facts["token"] = vm.token()
            found.update({f"{self.name}.{vm.name}.{name}": value for name, value in facts.items()})
        return found

    def login_body(self, machine: str) -> Body:
        """Return what a machine logs in with: a token from its endpoint, and its place; nothing without a token."""
        try:
            vm = self.cloud.vm(machine)
            jwt = vm.token()
        except (NoToken, ValueError):  # its endpoint is down, or nobody has such a machine
            return {}
        where = {"vmss_name": vm.scale_set} if vm.scale_set else {"vm_name": vm.name}
        return {"jwt": jwt, "subscription_id": vm.subscription_id, "resource_group_name": vm.resource_group, **where}

    def state(self) -> dict[str, Any]:
        """Return it as plain values (R3)."""
        return {
            "site": self.site,
            "counter": self.entropy.counter,
            "refused_messages": self.refused_messages,
            "asked": dict(self.cloud.failures.asked),
            "cloud": self.cloud.state(),
            "keystore": self.keystore.state(),
        }

    def _send(self, target: str, answer: ApiAnswer) -> None:
        response: Response = answer.response
        self.services.send(self.name, target, "response", answer, size_of(response.body), aside=True)

    def _observe(self, kind: str, **fields: Any) -> None:
        self.services.emit(Observed(self.services.now(), self.name, kind, tuple(sorted(fields.items()))))
