"""Policies by name: a scenario makes them when asked, not when it is listed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from safegym.policy.base import ScriptedPolicy


@dataclass(frozen=True)
class Made:
    """Makes the scripted policy of this name and function. A name of its own for each behaviour."""

    name: str
    function: Callable[[NDArray[Any]], NDArray[Any]]

    def __call__(self) -> ScriptedPolicy:
        """The policy."""
        return ScriptedPolicy(self.name, self.function)
