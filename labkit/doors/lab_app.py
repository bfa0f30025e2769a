"""The ASGI application of a lab: each of its ports leads to one cluster."""

from __future__ import annotations

from functools import partial

from labkit.doors.asgi import NOT_NAMED, SHORT_BYTES, SILENT, LaterApp, Message, Receive, Send, target_of
from labkit.doors.bugs import Log
from labkit.doors.http_exchange import API, NO_API, Answer, Asked, first_of_each, written
from labkit.doors.lab_driver import LabDriver
from labkit.doors.other_end import OtherEnd
from labkit.doors.page import page_file
from labkit.doors.pages.kept_answers import KeptAnswers
from labkit.lab.bench import Bench
from labkit.lab.operations.runbook_effects import Ask
from labkit.service.errors import Forked, to_response
from labkit.service.limits import MAX_UNJUDGED_BYTES
from labkit.service.message import Request, Unreadable, respond
from labkit.vault.calls import Calls

NODE_PATHS = tuple([f"{API}sys/{name}" for name in ("health", "init", "leader", "seal-status", "unseal")])
FORKED = written(to_response(Forked("this lab was made")))
ASKED_FOR = "a failure that was asked for"


class LabApp(LaterApp):
    """An ASGI application; ``ports`` says which cluster is asked on which port.

    ``calls`` holds the newest requests to each cluster, ``answers`` what they were answered, ``failures`` the statuses
    of those that are to fail.
    """

    __slots__ = ("answers", "calls", "driver", "failures", "lab", "ports")

    def __init__(self, lab: Bench, driver: LabDriver, max_request_bytes: int, log: Log | None = None) -> None:
        super().__init__(max_request_bytes, log)
        self.driver = driver
        self.ports: dict[int, str] = {}
        self.answers = KeptAnswers()
        self.lead_to(lab)

    def lead_to(self, lab: Bench) -> None:
        """Let another lab answer from now on."""
        self.lab = lab
        self.calls = {cluster: Calls() for cluster in lab.clusters}
        self.failures: dict[str, list[int]] = {cluster: [] for cluster in lab.clusters}
        self.answers.clear()

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
        page = page_file(path)
        if page is not None:
            return page
        if not path.startswith(API):
            return written(NO_API)
        port, method, named = scope["server"][1], scope["method"], first_of_each(headers)
        return await self._answered(port, path, await self._read_whole(port, method, target, named, content))

    async def answer_later(
        self, method: str, target: str, named: dict[str, str], content: bytes, other: OtherEnd
    ) -> Answer:
        """Answer a request to the API that a server has read whole, and log it."""
        path, port = target.partition("?")[0], other.port
        if self.is_named(named, port):
            answer = await self._answered(port, path, await self._read_whole(port, method, target, named, content))
        else:
            answer = NOT_NAMED
        self._note(port, other.address, method, path, answer.status)
        return answer

    async def _read_whole(
        self, port: int, method: str, target: str, named: dict[str, str], content: bytes | Unreadable
    ) -> Asked:
        """Read a request's body: a large one when the active node knows its sender, and beside the loop."""
        read = partial(self.reader.read_body, method, named, content)
        if len(content) <= SHORT_BYTES or isinstance(content, Unreadable):
            return Asked(method, target, read(), dict(named))
        refused = None
        if len(content) > MAX_UNJUDGED_BYTES:
            with self.lab.parts.turns:
                refused = self.lab.queries.judge_large(self.ports[port], Request(method, target, named))
        return Asked(method, target, refused or await self.decoding.run(read), dict(named))

    def _has_cors(self, port: int) -> bool:
        return self.lab.queries.has_cors(self.ports[port])

    async def _answered(self, port: int, path: str, asked: Asked) -> Answer:
        if self.lab.parts.turns.is_forked():
            return FORKED
        cluster, calls = self.ports[port], self.calls
        if self.failures[cluster]:
            answer = respond(self.failures[cluster].pop(0), {"errors": [ASKED_FOR]})
        else:
            ask = Ask(cluster, asked.method, asked.target, asked.body, self._node(cluster, path))
            answer = await self.driver.ask(ask, asked.headers)
        calls[cluster].add(asked.method, asked.target, asked.body, None, answer)
        self.answers.add(cluster, self.lab.now, (asked.method, asked.target), answer)
        return written(answer) if answer.status else SILENT

    def _door_of(self, port: int) -> str:
        return f"{self.ports[port]}: "

    def _node(self, cluster: str, path: str) -> str:
        """Return the node that is asked: a cluster without an active one says of itself that it is sealed."""
        queries = self.lab.queries
        if not path.startswith(NODE_PATHS):
            return ""
        with queries.parts.turns:
            running = [node for node in queries.nodes_of(cluster) if queries.is_running(node)]
            return running[0] if running and not queries.active_node(cluster) else ""
