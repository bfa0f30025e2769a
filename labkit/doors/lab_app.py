"""The ASGI application of a lab: each of its ports leads to one cluster."""

from __future__ import annotations

from labkit.doors.asgi import HOME, SILENT, HttpApp, Log, Message, Receive, Send, target_of
from labkit.doors.http_exchange import API, NO_API, Answer, written
from labkit.doors.lab_driver import LabDriver
from labkit.lab.queries import Queries
from labkit.lab.runbook_effects import Ask
from labkit.service.message import Unreadable

NODE_PATHS = tuple(f"{API}sys/{name}" for name in ("health", "init", "leader", "seal-status", "unseal"))


class LabApp(HttpApp):
    """An ASGI application; ``ports`` says which cluster is asked on which port."""

    __slots__ = ("driver", "ports", "queries")

    def __init__(self, queries: Queries, driver: LabDriver, max_request_bytes: int, log: Log | None = None) -> None:
        super().__init__(max_request_bytes, log)
        self.queries, self.driver = queries, driver
        self.ports: dict[int, str] = {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; time passes from the server's start to its end."""
        if scope["type"] != "lifespan":
            await super().__call__(scope, receive, send)
            return
        await receive()
        self.driver.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.driver.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Message, headers: list[tuple[str, str]], content: bytes | Unreadable) -> Answer:
        path, target = target_of(scope)
        if path == "/":
            return Answer(200, {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}, HOME)
        if not path.startswith(API):
            return written(NO_API)
        asked = self.reader.read(scope["method"], target, headers, content)
        cluster = self.ports[scope["server"][1]]
        ask = Ask(cluster, asked.method, asked.target, asked.body, self._node(cluster, path))
        answer = await self.driver.ask(ask, asked.headers)
        return written(answer) if answer.status else SILENT

    def _node(self, cluster: str, path: str) -> str:
        """Return the node that is asked: a cluster without an active one says of itself that it is sealed."""
        queries = self.queries
        if not path.startswith(NODE_PATHS):
            return ""
        with queries.parts.turns:
            running = [node for node in queries.nodes_of(cluster) if queries.is_running(node)]
            return running[0] if running and not queries.active_node(cluster) else ""
