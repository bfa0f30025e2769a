"""Loop server: uvicorn's server with what it leaves open: how connections are accepted, and what goes wrong there.

1. One connection is accepted a turn.  When the process has no descriptors left accepting stops, and is tried again each
   second; one line a minute says so.
2. A TLS handshake that takes longer than ``BODY_S`` seconds ends its connection; at the end of one a client has
   ``LINGER_S`` seconds to answer: one that is idle seldom does, and nobody waits for it when the server stops.
3. What goes wrong in the loop is one line without contents.
"""

from __future__ import annotations

import asyncio
import errno
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from labkit.doors.bugs import Log, note, note_bug
from labkit.doors.connections.outgoing import LINGER_S
from labkit.doors.connections.plain_connection import BODY_S, PlainConnection, SharedParts

if TYPE_CHECKING:
    import socket

QUIET_S = 60.0
LOOK_S = 0.002
_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class LoopServer(uvicorn.Server):
    """The server of one application on sockets that listen already, with room for ``backlog`` connections each."""

    def __init__(self, config: uvicorn.Config, backlog: int, log: Log | None) -> None:
        super().__init__(config)
        self._backlog, self._log, self._shared = backlog, log, SharedParts()
        self._quiet_until_s = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked = asyncio.Event()  # to stop

    def stop(self) -> None:
        """Ask it to stop; any thread may do so."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has stopped already
                self._loop.call_soon_threadsafe(self._asked.set)

    async def main_loop(self) -> None:
        """Keep the date of answers until it is asked to stop."""
        tick = 0
        while not await self.on_tick(tick):
            tick += 10  # uvicorn's tenths of a second
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), 1)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        loop = self._loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._note)
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(3)  # as uvicorn's own
        self.servers = []
        config = self.config
        handshake_s, farewell_s = (BODY_S, LINGER_S) if config.ssl else (None, None)

        def connection() -> PlainConnection:
            return PlainConnection(
                self._shared, config=config, server_state=self.server_state, app_state=self.lifespan.state
            )

        for listener in sockets or ():
            # the backlog is also how often a turn of the loop tries to accept, and fails (rule 1)
            server = await loop.create_server(
                connection,
                sock=listener,
                ssl=config.ssl,
                backlog=1,
                ssl_handshake_timeout=handshake_s,
                ssl_shutdown_timeout=farewell_s,
            )
            listener.listen(self._backlog)
            self.servers.append(server)
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; who has not read answers until the end of uvicorn's patience does not get them."""
        state = self.server_state
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        end_delays = getattr(self.config.loaded_app, "end_delays", None)
        if end_delays is not None:
            end_delays()
        for connection in [*state.connections]:
            connection.shutdown()
        patience_s = self.config.timeout_graceful_shutdown or 0
        ends_s = asyncio.get_running_loop().time() + patience_s
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < ends_s:
            await asyncio.sleep(LOOK_S)
        for task in state.tasks:
            task.cancel()
        for connection in [*state.connections]:
            connection.transport.abort()  # all are plain connections
        await asyncio.sleep(0)
        await self.lifespan.shutdown()

    def _note(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Note what went wrong in the loop (rules 1 and 3)."""
        problem = context.get("exception")
        if isinstance(problem, OSError) and problem.errno in _NO_DESCRIPTORS:
            if loop.time() >= self._quiet_until_s:
                self._quiet_until_s = loop.time() + QUIET_S
                note(self._log, f"no connection can be accepted for now: {problem.strerror}")
        elif not isinstance(problem, ConnectionError | TimeoutError):
            note_bug(self._log, problem, "in the server's loop")
