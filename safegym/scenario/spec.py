"""What a scenario declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy
from safegym.trace.model import Clock

Environment = gym.Env[Any, Any]
SignalReader = Callable[[Environment], tuple[float | NDArray[np.float64], ...]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a seed draws at reset, or that a caller sets: name, unit, [low, high], default.

    `reset(options={"parameters": {name: value}})` overrides the draw.
    """

    name: str
    unit: str
    low: float
    high: float
    default: float | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioSpec:
    """System + signals + hazards + claims + policies that separate them.

    make_env: builds an environment without a time limit of its own, so that a tail can be run.
    signals: declared signals, in the order `read_signals(env)` returns them. `read_signals` is
    called after reset and after each step, on the unwrapped environment.
    clock: control step. horizon: H in steps. terminals: reason -> "absorbed" | "failed"; an
    environment that terminates names the reason in info["terminal"] ("terminated" if it does not);
    an undeclared reason interrupts the episode.
    good / bad: makers of scripted policies; good keeps every claim, bad[claim id] violates it.
    digest: over code, assets, parameters, claims and physics version.
    """

    name: str
    summary: str
    make_env: Callable[[], Environment]
    read_signals: SignalReader
    signals: tuple[Signal, ...]
    clock: Clock
    horizon: int
    claims: tuple[Claim, ...]
    parameters: tuple[Parameter, ...] = ()
    faults: tuple[Parameter, ...] = ()
    terminals: Mapping[str, Literal["absorbed", "failed"]] = field(default_factory=dict[str, Literal["absorbed", "failed"]])
    good: Callable[[], Policy] | None = None
    bad: Mapping[str, Callable[[], Policy]] = field(default_factory=dict[str, Callable[[], Policy]])
    can_run_tail: bool = True
    pack: str = "core"
    digest: str = ""
