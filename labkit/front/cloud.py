"""Cloud: a simulated cloud to hold in the hand, with machines that log in to a vault or a lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from labkit import real, seeded
from labkit.cloud.cloud_service import CloudService
from labkit.service.arguments import one_of, wrong
from labkit.service.arguments import seed as checked_seed
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT, ENVIRONMENTS

if TYPE_CHECKING:
    from labkit.doors.cloud_door import CloudDoor
    from labkit.doors.tls_files import TlsFiles


class Cloud(CloudService):
    """One simulated cloud with its four environments, outside a lab."""

    _takes_clock = False

    def __dir__(self) -> list[str]:
        from labkit.front.shown_names import shown

        return shown("Cloud", super().__dir__())

    @classmethod
    def dev(
        cls,
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
        environment: str = DEFAULT_ENVIRONMENT,
    ) -> Self:
        """Make a cloud with machines web-1, web-2 and db-1, which is of another group and subscription, and scale set
        fleet.

        ``clock`` gives nanoseconds since the epoch; without it the cloud takes that of the vault that it is given to
        (``Vault.dev(cloud=…)``); before that it goes by the wall clock, or stands in 2030 where it has a seed.  With a
        ``seed`` ids, secrets and keys are the same every time, for lessons and tests.
        """
        one_of("environment", "a cloud environment", environment, ENVIRONMENTS)
        if clock is not None and not callable(clock):
            raise wrong("clock", "a function that gives nanoseconds since the epoch, or None", clock)
        entropy: Callable[[int], bytes]
        if seed is not None:
            checked_seed("seed", seed)
            now, entropy = seeded.start, seeded.SeededEntropy(seed, "cloud")
        else:
            now, entropy = real.now, real.entropy
        cloud = cls.filled(clock or now, entropy, environment)
        cloud._takes_clock = clock is None
        cloud.use.is_forked = real.fork_watch()
        return cloud

    @classmethod
    def beside(cls, now: Callable[[], int], seed: int | None, drawn_once: seeded.DrawnOnce | None) -> Self:
        """Make the cloud of a vault, by its clock, in a world that has drawn this, and so gives no key twice."""
        if seed is None:
            return cls.dev(clock=now)
        checked_seed("seed", seed)
        cloud = cls.filled(now, seeded.SeededEntropy(seed, "cloud", drawn_once=drawn_once))
        cloud._takes_clock = False
        cloud.use.is_forked = real.fork_watch()
        return cloud

    def serve(self, port: int = 0, *, tls: TlsFiles | None = None) -> CloudDoor:
        """Return a door on a loopback port, for a ``with`` that gives its URL; with ``tls`` it speaks TLS."""
        from labkit.doors.cloud_door import CloudDoor
        from labkit.doors.server_thread import DoorSettings

        self.use.refuse_forked()
        return CloudDoor(self.request, port, DoorSettings(tls=tls))

    def follow(self, now: Callable[[], int]) -> None:
        """Take a vault's clock, unless this cloud was made with one of its own or follows another already.

        Secrets stay as old as they were, and machines' endpoints get other tokens than they had.
        """
        self.use.refuse_forked()
        if not self._takes_clock:
            return
        self.inventory.move_secrets(now() - self.clock())
        self.parts.kept_tokens.clear()
        self.clock, self._takes_clock = now, False
