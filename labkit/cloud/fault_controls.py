"""Fault controls: the verbs by which a cloud is made to fail, in pairs, and its keys are rolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.cloud.failures import ENDPOINTS, CloudFailures, PlannedFailure
from labkit.cloud.parts import CloudParts
from labkit.cloud.shared_use import SharedUse
from labkit.cloud.signing_keys import SigningKeys
from labkit.service.arguments import MAX_FAILURES, duration_ns, flag, offset_ns, one_of, whole_number, wrong
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT, ENVIRONMENTS

MAX_RATE = 1_000_000


class FaultControls:
    """Gives a cloud the verbs that make it fail; an endpoint that is not named stands for all of them."""

    parts: CloudParts
    failures: CloudFailures
    observe: Callable[..., None]  # is given what was done: its kind, and fields
    use: SharedUse

    def fail_next(
        self, endpoint: str, status: int = 503, times: int = 1, retry_after: str = "", *, page: bool = False
    ) -> None:
        """Let the next requests to an endpoint fail with a status, as JSON or as a page.

        ``retry_after`` is the header's text: seconds, a date, or 1500ms, which has a header of its own.
        """
        _endpoint(endpoint)
        whole_number("status", "a status from 300 to 599", status, 300, 599)
        whole_number("times", f"a whole number from 1 to {MAX_FAILURES}", times, 1, MAX_FAILURES)
        if not isinstance(retry_after, str) or not retry_after.isprintable():
            raise wrong("retry_after", "the text of a header such as 10, or none", retry_after)
        flag("page", page)
        with self.use:
            self.failures.plan(endpoint, PlannedFailure(status, retry_after, page), times)
        self.observe("cloud fails", endpoint=endpoint, status=status, times=times)

    def outage(self, *endpoints: str) -> None:
        """Let endpoints answer nothing, until ``recover``."""
        for endpoint in self._endpoints(endpoints):
            self.failures.down[endpoint] = True
            self.observe("cloud outage", endpoint=endpoint)

    def recover(self, *endpoints: str) -> None:
        """End an outage, and failures that are still to come."""
        for endpoint in self._endpoints(endpoints):
            self.failures.down.pop(endpoint, None)
            self.failures.planned.pop(endpoint, None)
            self.observe("cloud recovered", endpoint=endpoint)

    def slow(self, delay: str, *endpoints: str) -> None:
        """Let endpoints take so long for each answer, until ``restore``; outside a lab the vault's clock moves."""
        delay_ns = duration_ns("delay", delay)
        for endpoint in self._endpoints(endpoints):
            self.failures.delays_ns[endpoint] = delay_ns
            self.observe("cloud slow", endpoint=endpoint, delay_ns=delay_ns)

    def restore(self, *endpoints: str) -> None:
        """Let endpoints answer at once again."""
        for endpoint in self._endpoints(endpoints):
            self.failures.delays_ns.pop(endpoint, None)
            self.observe("cloud restored", endpoint=endpoint)

    def throttle(self, endpoint: str, per_second: int, burst: int) -> None:
        """Let ``per_second`` requests a second pass, and ``burst`` at once; others are 429 with Retry-After."""
        _endpoint(endpoint)
        for name, rate in (("per_second", per_second), ("burst", burst)):
            whole_number(name, f"a whole number from 1 to {MAX_RATE}", rate, 1, MAX_RATE)
        with self.use:
            self.failures.limit(endpoint, per_second, burst, self.parts.now())
        self.observe("cloud throttled", endpoint=endpoint, per_second=per_second, burst=burst)

    def unthrottle(self, *endpoints: str) -> None:
        """Let every request pass again."""
        for endpoint in self._endpoints(endpoints):
            self.failures.limits.pop(endpoint, None)
            self.observe("cloud unthrottled", endpoint=endpoint)

    def roll_keys(self) -> str:
        """Sign with the next key, which is published already, and publish another; return the id of the one that signs.

        Machines forget the tokens that they keep, here and wherever another key signs.
        """
        with self.use:
            return self._signs_now("keys rolled", self._keys.roll())

    def use_unpublished_key(self) -> str:
        """Sign with a key that is not published, until ``publish_key``; return its id."""
        with self.use:
            return self._signs_now("key unpublished", self._keys.use_unpublished())

    def publish_key(self) -> None:
        """Publish the key that signs."""
        with self.use:
            self._keys.publish()
        self.observe("key published")

    def revoke_key(self) -> str:
        """Take the signing key back at once; return the id of the one that signs from now on."""
        with self.use:
            return self._signs_now("key revoked", self._keys.revoke())

    def hold_key_set(self) -> None:
        """Let the published keys stay as they are, as a stale replica does, until ``release_key_set``."""
        with self.use:
            self._keys.hold()
        self.observe("key set held")

    def release_key_set(self) -> None:
        """Publish the keys there are."""
        with self.use:
            self._keys.release()
        self.observe("key set released")

    def spread_secrets(self, delay: str) -> None:
        """Let a new secret be known to the token endpoint only after so long; 0s: at once."""
        self.use.refuse_forked()
        spread_ns = self.parts.settings["spread_ns"] = duration_ns("delay", delay)
        self.observe("secrets spread", delay_ns=spread_ns)

    def set_clock_ahead(self, offset: str) -> None:
        """Let the cloud's clock be ahead of the world's by a duration, behind with a leading hyphen; 0s: right."""
        self.use.refuse_forked()
        ahead_ns = self.parts.settings["ahead_ns"] = offset_ns("offset", offset)
        self.observe("cloud clock", ahead_ns=ahead_ns)

    def _signs_now(self, what: str, kid: str) -> str:
        self.parts.kept_tokens.clear()
        self.observe(what, kid=kid)
        return kid

    @property
    def _keys(self) -> SigningKeys:
        return self.parts.keys[self.own_environment]

    @property
    def own_environment(self) -> str:
        """The name of the environment that the first tenant is in."""
        used = [tenant.environment for tenant in self.parts.inventory.tenants.values()]
        return used[0] if used else DEFAULT_ENVIRONMENT

    def _environment(self, name: Any) -> str:
        return one_of("environment", "a cloud environment", name, ENVIRONMENTS) if name else self.own_environment

    def _endpoints(self, names: tuple[Any, ...]) -> tuple[str, ...]:
        self.use.refuse_forked()
        return tuple(map(_endpoint, names)) or ENDPOINTS


def _endpoint(name: Any) -> str:
    return one_of("endpoint", "an endpoint of the cloud", name, ENDPOINTS)
