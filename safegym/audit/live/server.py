"""The server: on 127.0.0.1 only, until it is told to stop. Needs the extra `[live]`."""

import asyncio
import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from safegym.audit.live.application import application
from safegym.audit.live.site import Site
from safegym.errors import SafegymError

HOST = "127.0.0.1"
CONNECTIONS = 32
"""Connections at a time; more are answered 503."""
HEAD_BYTES = 16 * 1024
"""Largest head of a request."""
HEAD_SECONDS = 10.0
"""Time a connection has for its request; each carries one, so that this bounds every wait."""


class ServeError(SafegymError):
    """The server cannot start."""


def listen(port: int) -> socket.socket:
    """A socket that listens at this port of 127.0.0.1; 0 lets the system choose.

    Raises ServeError, naming what would work, if the port is taken or not allowed.
    """
    if not 0 <= port <= 65535:
        raise ServeError(f"Ports go from 0 to 65535; {port} was asked for. Try: --port 0")
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen(CONNECTIONS)
    except OSError as error:
        found.close()
        raise ServeError(_refused(port, error)) from error
    return found


def _refused(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {HOST} is in use: another live view may run there. Choose another "
            f"one (--port {port + 1 if port < 65535 else 0}), or any free one (--port 0)."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"You may not listen at port {port}. Choose one from 1024 (--port 0: any free one)."
    return f"Cannot listen at {HOST}:{port}: {error.strerror}."


def serve(site: Site, listening: socket.socket, *, started: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then let go of everything and return.

    started: is told the address once it answers.
    """
    port: int = listening.getsockname()[1]
    config = uvicorn.Config(
        application(site, port),
        http=_Hasty,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        backlog=CONNECTIONS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    server = _Server(config, lambda: started(f"http://{HOST}:{port}/"))
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()


class _Server(uvicorn.Server):
    """Stops at the first signal, and does not raise it again afterwards."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._told()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take SIGINT and SIGTERM while serving; give back what was there before."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Hasty(H11Protocol):
    """Closes a connection that has not asked for anything in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(HEAD_SECONDS, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        if getattr(self, "cycle", None) is None:
            self.transport.close()
