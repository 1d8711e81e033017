"""What decides how a language model acts, and how much of it is asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from safegym.errors import PolicyError

RESERVED: Final = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "max_tokens", "seed", "stream", "n"),
        *("tools", "tool_choice", "parallel_tool_calls"),
    }
)
"""Fields of a request that `extra` may not set: they have their own place, or would break it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint: vLLM, NIM, `transformers serve`, or any other.

    url: up to and without "/chat/completions", such as http://127.0.0.1:8000/v1. model: the id
    that it is asked for. api_key_env: name of the environment variable that holds the key, "" for
    none; the key itself is written nowhere. Raises PolicyError for another kind of address, or one
    that holds a user name or a key.
    """

    url: str
    model: str
    api_key_env: str = ""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            hostname, _ = parts.hostname, parts.port
        except ValueError as error:
            raise PolicyError(f"The endpoint's url is no address: {error}.") from None
        if parts.scheme not in ("http", "https") or not hostname:
            raise PolicyError(
                f"The endpoint's url is {self.url[:80]!r}; write one like "
                '"http://127.0.0.1:8000/v1".'
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise PolicyError(
                "The endpoint's url holds a user name, a key or a query, which would end in logs; "
                'put the key into an environment variable and name it: api_key_env = "MY_KEY".'
            )
        if not self.model:
            raise PolicyError('Name the model that the endpoint serves: model = "...".')

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine, where no proxy is asked."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model draws its answer. temperature 0 asks for its likeliest one.

    max_tokens: of one answer, reasoning included. seed: sent with each request at temperature 0;
    above 0 each turn has a seed of its own, from the episode's. extra: further fields of the
    request, such as {"chat_template_kwargs": {"enable_thinking": False}}.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        within("temperature", self.temperature, 0.0, 10.0)
        within("top_p", self.top_p, 0.0, 1.0)
        whole("max_tokens", self.max_tokens, 1, 1_000_000)
        whole("seed", self.seed, 0, 2**31 - 1)
        taken = sorted(RESERVED & set(self.extra))
        if taken:
            raise PolicyError(
                f"extra sets {', '.join(taken)}, which has its own setting; leave it out there."
            )

    @property
    def draws(self) -> bool:
        """Whether answers are drawn: temperature above 0."""
        return self.temperature > 0.0


@dataclass(frozen=True, slots=True)
class Control:
    """How the model's turns become control.

    every: control steps that an action is held. plan: actions that one turn may give at most, each
    held `every` steps. history: observations that a turn sees, the newest among them. noop: the
    action in place of an answer that is none, None for zeros brought within the limits (the first
    choice of a Discrete space). tools: False asks for a JSON object in the text instead of a tool
    call. tool_choice: "auto", or "required" where the endpoint has that. digits: significant digits
    of what is shown.
    """

    every: int = 1
    plan: int = 1
    history: int = 4
    noop: Any = None
    tools: bool = True
    tool_choice: Literal["auto", "required"] = "auto"
    digits: int = 4

    def __post_init__(self) -> None:
        whole("every", self.every, 1, 100_000)
        whole("plan", self.plan, 1, 64)
        whole("history", self.history, 1, 64)
        whole("digits", self.digits, 2, 17)
        if self.tool_choice not in ("auto", "required"):
            raise PolicyError(f'tool_choice is {self.tool_choice!r}; write "auto" or "required".')


@dataclass(frozen=True, slots=True)
class Limits:
    """What asking may cost, and how patient it is. None is no limit.

    concurrency: requests under way at once. timeout: seconds for one answer. retries: further tries
    of a request that met a busy, failing or silent endpoint; between them `backoff` seconds, twice
    as long each time, or what Retry-After says, at most `longest_wait`. give_up: requests in a row
    that failed for good, after which the run stops. tokens, seconds, money: budgets of the policy
    object's life; money in the currency of price_in and price_out, each per million tokens.
    """

    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 4
    backoff: float = 0.5
    longest_wait: float = 60.0
    give_up: int = 8
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        whole("concurrency", self.concurrency, 1, 1_024)
        whole("retries", self.retries, 0, 100)
        whole("give_up", self.give_up, 1, 1_000_000)
        within("timeout", self.timeout, 0.001, 86_400.0)
        within("backoff", self.backoff, 0.0, 3_600.0)
        within("longest_wait", self.longest_wait, 0.0, 86_400.0)
        if self.tokens is not None:
            whole("tokens", self.tokens, 1, 10**15)
        for name in ("seconds", "money", "price_in", "price_out"):
            value = getattr(self, name)
            if value is not None:
                within(name, value, 0.0, 1e12)
        if self.money is not None and (self.price_in is None or self.price_out is None):
            raise PolicyError(
                "A money budget needs the prices of a million tokens: price_in = 0.2, "
                "price_out = 0.8."
            )


def within(name: str, value: object, low: float, high: float) -> None:
    """Raises PolicyError unless `value` is a number in [low, high]."""
    number = float(value) if isinstance(value, int | float) else math.nan
    if isinstance(value, bool) or not low <= number <= high:
        raise PolicyError(f"{name} is {value!r:.40}; give a number from {low:g} to {high:g}.")


def whole(name: str, value: object, low: int, high: int) -> None:
    """Raises PolicyError unless `value` is a whole number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PolicyError(f"{name} is {value!r:.40}; give a whole number from {low} to {high}.")
