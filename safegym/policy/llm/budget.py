"""What asking a model has cost, and the limits that no request may pass."""

import time
from dataclasses import dataclass, field
from threading import Lock

from safegym.errors import PolicyUnavailableError
from safegym.policy.llm.settings import Limits

CHARACTERS_A_TOKEN = 2
"""Fewest characters that a token of a prompt is taken to have, before the endpoint has counted."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What has been used so far. estimated: requests whose tokens the endpoint did not count."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    money: float | None = None
    estimated: int = 0

    @property
    def tokens(self) -> int:
        """Of prompts and answers together."""
        return self.tokens_in + self.tokens_out


@dataclass(slots=True)
class Budget:
    """Counts what requests use. Each is reserved at its most before it is sent.

    So a budget is not passed by requests that are under way together.
    """

    limits: Limits
    _requests: int = 0
    _in: int = 0
    _out: int = 0
    _held_in: int = 0
    _held_out: int = 0
    _estimated: int = 0
    _began: float | None = None
    _lock: Lock = field(default_factory=Lock)

    def reserve(self, characters: int, answer: int) -> tuple[int, int]:
        """Set aside what a request may use at most: (tokens in, tokens out).

        characters: of the prompt. answer: max_tokens. Raises PolicyUnavailableError where a budget
        would be passed.
        """
        with self._lock:
            if self._began is None:
                self._began = time.monotonic()
            most = characters // CHARACTERS_A_TOKEN + 1, answer
            self._refuse_beyond(*most)
            self._held_in += most[0]
            self._held_out += most[1]
            return most

    def settle(self, held: tuple[int, int], used: tuple[int, int] | None, *, sent: bool) -> None:
        """Replace what was set aside by what was used; None takes all of it for used.

        sent: False for a request that no endpoint answered, which costs nothing.
        """
        with self._lock:
            self._held_in -= held[0]
            self._held_out -= held[1]
            if not sent:
                return
            self._requests += 1
            self._estimated += used is None
            found = held if used is None else used
            self._in += found[0]
            self._out += found[1]

    @property
    def spent(self) -> Spent:
        """What has been used so far."""
        with self._lock:
            seconds = 0.0 if self._began is None else time.monotonic() - self._began
            money = self._money(self._in, self._out)
            return Spent(self._requests, self._in, self._out, seconds, money, self._estimated)

    def _refuse_beyond(self, more_in: int, more_out: int) -> None:
        limits = self.limits
        tokens_in = self._in + self._held_in + more_in
        tokens_out = self._out + self._held_out + more_out
        if limits.tokens is not None and tokens_in + tokens_out > limits.tokens:
            _refuse("tokens", f"{self._in + self._out} of {limits.tokens} tokens", "tokens")
        seconds = 0.0 if self._began is None else time.monotonic() - self._began
        if limits.seconds is not None and seconds > limits.seconds:
            _refuse("seconds", f"{seconds:.0f} of {limits.seconds:g} s", "seconds")
        money, used = self._money(tokens_in, tokens_out), self._money(self._in, self._out)
        if limits.money is not None and money is not None and money > limits.money:
            _refuse("money", f"{used:.4f} of {limits.money:g}", "money")

    def _money(self, tokens_in: int, tokens_out: int) -> float | None:
        limits = self.limits
        if limits.price_in is None or limits.price_out is None:
            return None
        return (tokens_in * limits.price_in + tokens_out * limits.price_out) / 1e6


def _refuse(name: str, used: str, setting: str) -> None:
    raise PolicyUnavailableError(
        f"The budget of {name} is used up: {used}, and one more answer may pass it. Raise it "
        f"([limits] {setting} = ...) and run again: answers in a record are not asked for twice."
    )
