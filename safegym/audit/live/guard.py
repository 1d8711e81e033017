"""What every request must pass before anything looks at it, and what every answer carries.

The pages are for one person on this machine. A page from elsewhere, open in the same browser, must
not read them: it has another Host or Origin. Nothing is written, so nothing but GET and HEAD is
served, and no request has a body.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Refusal = tuple[int, str, tuple[tuple[bytes, bytes], ...]]

LONGEST_PATH = 256
STRICTEST = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = (
    (b"connection", b"close"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")


class Guard:
    """An ASGI application around another one. port: the only one at which requests are meant."""

    def __init__(self, inner: Application, port: int) -> None:
        self._inner = inner
        hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost")]
        if port == 80:
            hosts += ["127.0.0.1", "localhost"]
        self._hosts = frozenset(host.encode("ascii") for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with the answer's headers completed."""
        if scope["type"] != "http":
            return
        refused = self._refusal(scope)
        if refused is None:
            await self._inner(scope, receive, _completed(send))
        else:
            await _refuse(refused, _completed(send))

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = _values(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server answers for 127.0.0.1 and localhost only.", ()
        if any(origin.lower() not in self._origins for origin in _values(headers, b"origin")):
            return 403, "Pages from elsewhere may not read this server.", ()
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "This server is read-only: GET and HEAD.", ((b"allow", b"GET, HEAD"),)
        lengths = _values(headers, b"content-length")
        if _values(headers, b"transfer-encoding") or any(item != b"0" for item in lengths):
            return 413, "A request has no body here.", ()
        return _path_refusal(scope)


def _path_refusal(scope: Scope) -> Refusal | None:
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    if len(path) > LONGEST_PATH:
        return 414, "No address here is that long.", ()
    if not _PLAIN.issuperset(path) or b".." in path or b"//" in path:
        return 400, "No address here is written like that.", ()
    return None


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for found, value in headers if found.lower() == name]


def _completed(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            if not _values(own, b"content-security-policy"):
                own.append((b"content-security-policy", STRICTEST))
            message["headers"] = [*own, *HEADERS]
        await send(message)

    return sent


async def _refuse(refused: Refusal, send: Send) -> None:
    status, words, more = refused
    body = words.encode("utf-8") + b"\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode("ascii")),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
