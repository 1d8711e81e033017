"""Asking an OpenAI-compatible chat endpoint: many requests at once, bounded in every way."""

import asyncio
import json
import os
import threading
import time
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar

from safegym.errors import PolicyUnavailableError
from safegym.policy.llm.brief import one_line
from safegym.policy.llm.budget import Budget
from safegym.policy.llm.parse import loads
from safegym.policy.llm.settings import Endpoint, Limits

if TYPE_CHECKING:
    import httpx

LONGEST_BODY: Final = 4 * 1024 * 1024
"""Bytes of one answer; what is longer is no answer."""
BUSY: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may help with."""
DENIED: Final = frozenset({401, 403, 404, 405})
"""Statuses that no other request would fare better with."""
HIDDEN: Final = b"[key]"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered.

    message, finish: of the first choice; empty where the body was no chat completion, and `fault`
    says why. model, fingerprint: what it says it is, "" if nothing. tokens: (in, out) as it counted
    them. seconds: of the try that was answered. tries: requests sent for it.
    """

    message: Mapping[str, Any]
    finish: str = ""
    model: str = ""
    fingerprint: str = ""
    tokens: tuple[int, int] | None = None
    seconds: float = 0.0
    tries: int = 1
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. hopeless: whether no other request would fare better."""

    reason: str
    hopeless: bool = False
    tries: int = 1


class _TryAgainError(Exception):
    """A try that failed in a way that may pass.

    wait: seconds that the endpoint asked for. worked: whether it may have worked on an answer.
    """

    def __init__(self, reason: str, wait: float | None = None, *, worked: bool = False) -> None:
        super().__init__(reason)
        self.wait, self.worked = wait, worked


class ChatClient:
    """Sends requests from a thread of its own, at most `limits.concurrency` at once.

    The key is read from the environment when the first request is sent and kept in the connection
    alone. No redirect is followed. Raises PolicyUnavailableError without httpx, or where the key's
    variable is not set.
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, budget: Budget) -> None:
        self.endpoint, self.limits, self.budget = endpoint, limits, budget
        self._loop: asyncio.AbstractEventLoop | None = None
        self._http: httpx.AsyncClient | None = None
        self._shut: weakref.finalize[..., ChatClient] | None = None
        self._gate = asyncio.Semaphore(limits.concurrency)
        self._secret = b""
        if find_spec("httpx") is None:
            raise PolicyUnavailableError(
                "A language model is asked through httpx, which is not installed: "
                'pip install "safegym[llm]"'
            )

    def ask(self, requests: Sequence[Mapping[str, Any]]) -> list[Answer | Failure]:
        """The answers to several requests, in their order, asked for together.

        Raises PolicyUnavailableError where a budget is used up.
        """
        return self._run(self._ask_all(requests)) if requests else []

    def close(self) -> None:
        """Let go of connections and the thread; another `ask` begins anew."""
        shut, self._shut, self._loop, self._http = self._shut, None, None, None
        if shut is not None:
            shut()

    def _run(self, work: "Coroutine[Any, Any, T]") -> T:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_thread, args=(self._loop,), daemon=True, name="llm")
            thread.start()
            self._shut = weakref.finalize(self, _shut, self._loop, None)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _ask_all(self, requests: Sequence[Mapping[str, Any]]) -> list[Answer | Failure]:
        if self._http is None:
            self._http = self._connect()
            if self._shut is not None:
                self._shut.detach()
            self._shut = weakref.finalize(self, _shut, asyncio.get_running_loop(), self._http)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._caught(request)) for request in requests]
        found = [task.result() for task in tasks]
        for each in found:
            if isinstance(each, PolicyUnavailableError):
                raise each
        return [each for each in found if not isinstance(each, PolicyUnavailableError)]

    async def _caught(
        self, request: Mapping[str, Any]
    ) -> "Answer | Failure | PolicyUnavailableError":
        """A used-up budget as a value: the neighbours' answers are still waited for."""
        try:
            return await self._ask(request)
        except PolicyUnavailableError as error:
            return error

    def _connect(self) -> "httpx.AsyncClient":
        import httpx

        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        key = _key(self.endpoint)
        if key:
            headers["Authorization"] = f"Bearer {key}"
            self._secret = key.encode("ascii")
        return httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(self.limits.timeout, connect=min(10.0, self.limits.timeout)),
            limits=httpx.Limits(max_connections=self.limits.concurrency),
            follow_redirects=False,
            trust_env=not self.endpoint.is_loopback,
        )

    async def _ask(self, request: Mapping[str, Any]) -> Answer | Failure:
        body = json.dumps(request, ensure_ascii=True).encode("ascii")
        wait, reason = self.limits.backoff, ""
        for attempt in range(self.limits.retries + 1):
            try:
                async with self._gate:
                    return await self._paid(body, int(request["max_tokens"]), attempt + 1)
            except TimeoutError:
                reason, asked = f"no answer within {self.limits.timeout:g} s", None
            except _TryAgainError as error:
                reason, asked = str(error), error.wait
            if attempt < self.limits.retries:
                due = wait if asked is None else asked
                await asyncio.sleep(min(due, self.limits.longest_wait))
                wait *= 2.0
        return Failure(reason, tries=self.limits.retries + 1)

    async def _paid(self, body: bytes, most: int, tries: int) -> Answer | Failure:
        """One request within the budget. Raises what `_try` does, and TimeoutError."""
        held = self.budget.reserve(len(body), most)
        used: tuple[int, int] | None = None
        sent = False
        try:
            async with asyncio.timeout(self.limits.timeout):
                found = await self._try(body, tries)
            if isinstance(found, Answer):
                used, sent = found.tokens, True
            return found
        except TimeoutError:
            sent = True  # it may have been worked on: all that was set aside counts
            raise
        except _TryAgainError as error:
            sent = error.worked
            raise
        finally:
            self.budget.settle(held, used, sent=sent)

    async def _try(self, body: bytes, tries: int) -> Answer | Failure:
        """One request. Raises _TryAgainError where another try may help."""
        import httpx

        http = self._http
        if http is None:
            return Failure("the client was closed")
        url = self.endpoint.url.rstrip("/") + "/chat/completions"
        began = time.monotonic()
        try:
            async with http.stream(
                "POST", url, content=body, headers={"Content-Type": "application/json"}
            ) as response:
                data = self._without_key(await _read(response))
                seconds = time.monotonic() - began
                status = response.status_code
                if status == 200:
                    if data is None:
                        return _no_answer(f"it is longer than {LONGEST_BODY} bytes", seconds, tries)
                    return self._checked(_answer(data, seconds, tries))
                said = f"status {status}{_words(data)}"
                if status in BUSY or status >= 500:
                    raise _TryAgainError(said, _retry_after(response.headers.get("Retry-After")))
                return Failure(said, hopeless=status in DENIED, tries=tries)
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise TimeoutError from None
        except httpx.HTTPError as error:
            why = one_line(error, 120)
            raise _TryAgainError(f"{type(error).__name__}{': ' + why if why else ''}") from None

    def _without_key(self, data: bytes | None) -> bytes | None:
        """A body in which the endpoint does not repeat the key that it was sent."""
        return data.replace(self._secret, HIDDEN) if data and self._secret else data

    def _checked(self, answer: Answer) -> Answer:
        """An answer without the key, also where escapes hid it in the body."""
        if not self._secret:
            return answer
        told = json.dumps([answer.message, answer.finish, answer.model, answer.fingerprint])
        key = json.dumps(self._secret.decode("ascii"))[1:-1]
        if key not in told:
            return answer
        message, finish, model, fingerprint = json.loads(told.replace(key, HIDDEN.decode()))
        return replace(answer, message=message, finish=finish, model=model, fingerprint=fingerprint)


def _thread(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _shut(loop: asyncio.AbstractEventLoop, http: "httpx.AsyncClient | None") -> None:
    """Close the connections, then end the thread; from any thread but its own."""
    if http is not None and loop.is_running():
        closing = asyncio.run_coroutine_threadsafe(http.aclose(), loop)
        with suppress(Exception):
            closing.result(timeout=5.0)
    loop.call_soon_threadsafe(loop.stop)


def _key(endpoint: Endpoint) -> str:
    """The key, from the environment. Raises PolicyUnavailableError if its variable is not set."""
    if not endpoint.api_key_env:
        return ""
    key = os.environ.get(endpoint.api_key_env, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise PolicyUnavailableError(
            f"The endpoint's key is to be in the environment variable {endpoint.api_key_env}, "
            f"which is {'empty or not set' if not key else 'no key'}: export "
            f"{endpoint.api_key_env}=..."
        )
    return key


async def _read(response: "httpx.Response") -> bytes | None:
    """The body as it was sent; None if it is too long."""
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > LONGEST_BODY:
            return None
    return bytes(data)


def _answer(data: bytes, seconds: float, tries: int) -> Answer:
    """The first choice of a chat completion.

    Raises _TryAgainError for what is no JSON, which is a broken connection rather than an answer.
    """
    try:
        body = loads(data.decode("utf-8"))
    except ValueError as error:
        why = f"the answer is no whole JSON: {one_line(error, 80)}"
        raise _TryAgainError(why, worked=True) from None
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return _no_answer("it holds no choice with a message", seconds, tries)
    return Answer(
        message=message,
        finish=one_line(first.get("finish_reason") or "", 40),
        model=one_line(body.get("model") or "", 200),
        fingerprint=one_line(body.get("system_fingerprint") or "", 200),
        tokens=_tokens(body.get("usage")),
        seconds=seconds,
        tries=tries,
    )


def _no_answer(why: str, seconds: float, tries: int) -> Answer:
    return Answer(message={}, seconds=seconds, tries=tries, fault=f"the answer is none: {why}")


def _tokens(usage: Any) -> tuple[int, int] | None:
    """(in, out), None unless both are counted sensibly."""
    if not isinstance(usage, dict):
        return None
    asked, answered = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (type(asked) is int and type(answered) is int):
        return None
    return (asked, answered) if 0 <= asked < 10**9 and 0 <= answered < 10**9 else None


def _words(data: bytes | None) -> str:
    """What the endpoint said of an error, on one line."""
    if not data:
        return ""
    text = data[:2_000].decode("utf-8", "replace")
    try:
        body = loads(text)
        inner = body.get("error", body.get("detail", body)) if isinstance(body, dict) else body
        text = str(inner.get("message", text) if isinstance(inner, dict) else inner)
    except ValueError:
        pass
    return f" ({one_line(text, 160)})"


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its forms; None without one."""
    if not value:
        return None
    try:
        wait = float(value)
    except ValueError:
        try:
            wait = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, wait) if wait == wait else None
