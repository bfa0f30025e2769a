"""Cloud link: the simulated cloud beside a vault outside a lab, made when it is first asked for (R24).

1. The vault's login method for clouds is configured for it then, unless it is already; one that is sealed, or has no
   such method, stays as it is and is looked at again the next time.
2. What a request fetches from a host of the cloud is answered here, in process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.cloud_environments import is_of_cloud
from labkit.service.message import Fetch, Request, Response, Suspended, respond

CONFIG = "/v1/auth/cloud/config"


Handle = Callable[[Request], Response | Suspended]


class CloudLink:
    """A vault's cloud: the one it was given, or what ``make`` makes.

    With ``replaces`` a configuration that was stored for another cloud, one of an earlier process, gives way.  Without
    ``configures`` the vault's is left alone.
    """

    __slots__ = ("_given", "_is_kept", "_made", "_make", "_replaces", "is_configured")

    def __init__(
        self, make: Callable[[], Any], given: Any = None, replaces: bool = False, configures: bool = True
    ) -> None:
        self._make, self._given, self._made, self._replaces = make, given, given, replaces
        self._is_kept, self.is_configured = False, not configures

    def connect(self, handle: Handle, root_token: str) -> Any:
        """Return the cloud, for which the vault that ``handle`` leads to is configured."""
        if self._made is None:
            self._made = self._make()
        if not self.is_configured:
            self.is_configured = self._configure(handle, {"X-Vault-Token": root_token})
        return self._made

    @property
    def made(self) -> Any:
        """The cloud, if there is one already, or one is kept; else None."""
        if self._made is None and self._is_kept:
            self._made = self._make()
        return self._made

    @property
    def own(self) -> Any:
        """The cloud, if there is one already and it was not given; else None."""
        return None if self._given is not None and self.made is self._given else self.made

    def take_over(self, made: Any, link: CloudLink) -> None:
        """Lead to a cloud of one's own that another link's was copied to, for a vault that is configured as its is."""
        self._made, self.is_configured = made, link.is_configured

    def lead_to(self, make: Callable[[], Any], is_configured: bool) -> None:
        """Lead to a cloud that was kept, for a vault that was configured for it or not."""
        self._make, self._made, self._is_kept, self.is_configured = make, None, True, is_configured

    def fetch(self, fetch: Fetch, otherwise: Callable[[Fetch], Response]) -> Response:
        """Answer a fetch, one that leads elsewhere by ``otherwise``."""
        if fetch.channel != "api" or not is_of_cloud(fetch.address):
            return otherwise(fetch)
        if self._made is None:
            self._made = self._make()
        answer: Response = self._made.answer(fetch)
        return answer

    def takes_ns(self, fetch: Fetch) -> int:
        """Return how long the answer to a fetch takes; 0 where it leads elsewhere."""
        takes_ns: int = 0 if self._made is None else self._made.takes_ns(fetch)
        return takes_ns

    def _configure(self, handle: Handle, headers: dict[str, str]) -> bool:
        """Configure the login method, if that is possible and wanted; return whether nothing is left to do."""
        found = _answer(handle, Request("GET", CONFIG, headers))
        if found.status not in (200, 404):
            return False
        if found.ok and (not self._replaces or found.data.get("tenant_id") == self._made.config["tenant_id"]):
            return True
        return _answer(handle, Request("POST", CONFIG, headers, self._made.config)).ok


def _answer(handle: Handle, request: Request) -> Response:
    outcome = handle(request)
    return respond(503) if isinstance(outcome, Suspended) else outcome  # a configuration is written without any fetch
