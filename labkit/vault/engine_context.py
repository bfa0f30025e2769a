"""Engine context: one request as an engine sees it.  It has no full storage, no core and no other mounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from labkit.service.message import Body, Request
    from labkit.vault.managed_keys import ManagedKey
    from labkit.vault.mounts import Mount
    from labkit.vault.storage.storage_view import StorageView
    from labkit.vault.token_record import Caller


class EngineContext(Protocol):
    """What an engine may reach: of the store only its own mount's part."""

    request: Request
    request_id: str
    operation: str
    path: str
    body: Body
    now: int
    existing: Any
    is_create: bool
    caller: Caller | None
    warnings: list[str]

    @property
    def mount(self) -> Mount:
        """The mount that answers."""

    @property
    def storage(self) -> StorageView:
        """The mount's own part of the store."""

    def is_past(self, when_ns: int) -> bool:
        """Whether an instant is over, by the time of day."""

    @property
    def service_version(self) -> str:
        """The version of the service that this node runs."""

    @property
    def fips(self) -> bool:
        """Whether the service runs in FIPS 140-2 mode."""

    @property
    def nonce_limit(self) -> int:
        """How many messages a key may encrypt with random nonces before each answer warns."""

    @property
    def edition(self) -> str:
        """The edition of the service: enterprise or community."""

    @property
    def is_taped(self) -> bool:
        """Whether what is read comes from a tape: only then may the handler be a generator that yields Fetches."""

    def managed_key(self, name: str, key_id: str) -> ManagedKey | None:
        """Return the managed key of a name or, without one, of an id."""

    def entropy(self, count: int) -> bytes:
        """Draw random bytes."""

    def draw_once(self, kind: str, count: int) -> int | None:
        """Draw a number below ``count`` that this seeded world has not drawn of its kind; None with real entropy."""

    def warn(self, text: str) -> None:
        """Add a warning to the answer."""

    def observe(self, kind: str, **fields: Any) -> None:
        """Report to the node's observer; never a secret."""
