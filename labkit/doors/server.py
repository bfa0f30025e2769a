"""The served door: a vault, or a cluster of a lab, behind a port.

with ServedDoor(vault) as url:
    …
"""

from __future__ import annotations

from labkit.doors.asgi import App
from labkit.doors.control import Control
from labkit.doors.door import Door
from labkit.doors.http_exchange import Service
from labkit.doors.server_thread import DoorSettings
from labkit.doors.vault_control import Controlled, VaultControl


class ServedDoor(Door):
    """The door of a vault or a cluster; ``control``, where it has one, holds its keys."""

    def __init__(self, service: Service, port: int = 0, settings: DoorSettings | None = None) -> None:
        settings = settings or DoorSettings()
        self.app = App(service, settings.max_request_bytes, settings.log)
        super().__init__(self.app, port, settings)
        self.control: Control | None = None
        self._controlled: VaultControl | None = None
        if settings.control:
            if not isinstance(service, Controlled):
                raise ValueError("control: expected a vault; a cluster is controlled through lab.serve(control=True)")
            self._controlled = VaultControl(service)
            self.control = self.app.beside = Control(self._controlled.acts, settings.opened)

    def lead_to(self, service: Service) -> None:
        """Let another vault or cluster answer from now on."""
        self.app.lead_to(service)
        if self._controlled is not None and isinstance(service, Controlled):
            self._controlled.vault = service
