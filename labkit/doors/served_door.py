"""The served door: a vault, or a cluster of a lab, behind a port.

with ServedDoor(vault) as url:
    …
"""

from __future__ import annotations

from typing import Any

from labkit.doors.asgi import App
from labkit.doors.control import Control
from labkit.doors.door import Door
from labkit.doors.guard import Guard
from labkit.doors.host_names import HostNames
from labkit.doors.http_exchange import Service, moves_clock
from labkit.doors.server_thread import DoorSettings
from labkit.doors.vault_control import Controlled, VaultControl


class ServedDoor(Door):
    """The door of a vault or a cluster; ``control``, where it has one, holds its keys."""

    def __init__(self, service: Service, port: int = 0, settings: DoorSettings | None = None) -> None:
        settings = settings or DoorSettings()
        names = self._names = HostNames(settings.host_names)
        self.app = App(service, settings.max_request_bytes, settings.log)
        self.app.names = names if is_seeded(service) else None
        super().__init__(self.app, port, settings)
        self.control: Control | None = None
        self._controlled: VaultControl | None = None
        if settings.control:
            if not isinstance(service, Controlled):
                raise ValueError("control: expected a vault; a cluster is controlled through lab.serve(control=True)")
            self._controlled = VaultControl(service, self.app.steps)
            self.control = self.app.beside = Control(
                self._controlled.acts, Guard(names, settings.control_remote), settings.opened
            )

    def lead_to(self, service: Service) -> None:
        """Let another vault or cluster answer from now on."""
        self.app.lead_to(service)
        self.app.names = self._names if is_seeded(service) else None
        if self._controlled is not None and isinstance(service, Controlled):
            self._controlled.vault = service


def is_seeded(service: Service) -> bool:
    """Whether a service's tokens follow from a seed, so that everybody knows them: a cluster's always do."""
    core: Any = getattr(service, "core", None)
    return moves_clock(service) if core is None else bool(core.is_seeded)
