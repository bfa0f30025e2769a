"""The cloud's door: the simulated cloud of a vault or a lab behind a port, for clients of other programs.

1. ``URL/machines/NAME`` is the endpoint as that machine sees it; ``URL/login.cloud.test/...`` is another part, and
   ``URL/TENANT/...`` the authority of a tenant.  Documents name addresses below the URL by which they were asked for.
2. Only under this machine's names, those that were named, and the cloud's own it is asked: a foreign ``Host`` that
   leads here is refused, for a page that a browser shows under that name could read tokens.
3. It listens on loopback only.
"""

from __future__ import annotations

from collections.abc import Callable

from labkit.doors.asgi import HttpApp, Message, target_of
from labkit.doors.door import Door
from labkit.doors.host_names import HostNames
from labkit.doors.http_exchange import Answer, written
from labkit.doors.server_thread import LOOPBACK, DoorSettings
from labkit.service.cloud_environments import is_of_cloud
from labkit.service.message import Response, Unreadable, respond

AskCloud = Callable[..., Response]
"""What ``Cloud.request`` takes and returns, of the cloud that stands there now."""

HOME = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>labkit cloud</title>
<h1>labkit cloud</h1>
<p>A simulated cloud: its machines get tokens here, with which they log in to the secrets service beside it.</p>
</html>
"""


class CloudApp(HttpApp):
    """An ASGI application behind which a cloud stands: the one that ``ask`` reaches at the time."""

    __slots__ = ("_ask",)

    def __init__(self, ask: AskCloud, settings: DoorSettings) -> None:
        super().__init__(settings.max_request_bytes, settings.log)
        self._ask = ask
        self.names = HostNames(settings.host_names, also=is_of_cloud)

    async def _answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        path, target = target_of(scope)
        asked = self.reader.read(scope["method"], target, headers, content)
        host = asked.headers.get("host", "")
        if path == "/" and not is_of_cloud(host):
            return Answer(200, {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}, HOME)
        if isinstance(asked.body, Unreadable):
            return written(respond(asked.body.status, {"errors": [asked.body.why]}))
        client = (scope.get("client") or ("127.0.0.1",))[0]
        origin = f"{scope.get('scheme', 'http')}://{host}" if host else ""
        return written(self._ask(*asked, remote_address=client, origin=origin))


class CloudDoor(Door):
    """The door of a cloud."""

    def __init__(self, ask: AskCloud, port: int = 0, settings: DoorSettings | None = None) -> None:
        settings = (settings or DoorSettings())._replace(host=LOOPBACK)
        super().__init__(CloudApp(ask, settings), port, settings)
