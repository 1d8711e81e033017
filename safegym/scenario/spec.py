"""What a scenario declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy
from safegym.scenario.declaration import declaration_issues
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.fingerprint import scenario_digest, versions_of
from safegym.scenario.model import DifferentiableModel
from safegym.scenario.reward import Reward
from safegym.scenario.rollouts.declaration import Rollout
from safegym.trace.model import Clock

Environment = gym.Env[Any, Any]
SignalReader = Callable[[Environment], tuple[float | NDArray[np.float64], ...]]
TerminalKind = Literal["absorbed", "failed"]
Role = Literal["parameter", "initial"]
MakePolicy = Callable[[], Policy]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a seed draws at reset, or that a caller sets: name, unit, [low, high], default.

    `reset(options={"parameters": {name: value}})` overrides the draw. role: "initial" for a
    coordinate of the state that the episode starts from, "parameter" for anything else. A fault
    (in `spec.faults`) is never drawn: its default, or `low` without one, means that there is none.
    """

    name: str
    unit: str
    low: float
    high: float
    default: float | None = None
    meaning: str = ""
    role: Role = "parameter"

    @property
    def resting(self) -> float:
        """The value that a caller who says nothing would expect: the default, or else `low`."""
        return self.low if self.default is None else self.default


@dataclass(frozen=True, slots=True)
class ScenarioSpec:
    """System + signals + hazards + claims + policies that separate them.

    make_env: builds an environment without a time limit of its own, so that a tail can be run.
    signals: declared signals, in the order `read_signals(env)` returns them. `read_signals` is
    called after reset and after each step, on the unwrapped environment.
    clock: control step. horizon: H in steps. terminals: reason -> "absorbed" | "failed"; an
    environment that terminates names the reason in info["terminal"] ("terminated" if it does not);
    an undeclared reason interrupts the episode.
    parameters, faults, disturbances: what `reset(options=...)` takes; their names differ.
    good / bad: makers of scripted policies; good keeps every claim, bad[claim id] violates it.
    baselines: more scripted policies to compare with, by name.
    sources: further code files and assets (MJCF, meshes) that decide how it behaves; the files
    that define `make_env` and `read_signals` are always in. physics: installed distributions
    whose version decides it too. training: hyperparameters that train well here, as plain data for
    `TrainSettings.of`; not in the digest. can_run_tail: whether the simulator goes on past the
    horizon. model: the same dynamics as differentiable functions, if there are; not in the digest.
    rollout: its physics for `mujoco.rollout`, if that is all there is to it; not in the digest.
    options: further option names that its reset reads; others are refused. Not in the digest.
    reward: what a step pays instead of the environment's own reward; None leaves that.

    digest: over code, assets, parameters, faults, disturbances, signals, claims, clock, horizon,
    terminals, reward and versions; made on construction. Raises ScenarioError if a source file or
    distribution is missing.
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
    disturbances: tuple[Disturbance, ...] = ()
    terminals: Mapping[str, TerminalKind] = field(default_factory=dict[str, TerminalKind])
    good: MakePolicy | None = None
    bad: Mapping[str, MakePolicy] = field(default_factory=dict[str, MakePolicy])
    baselines: Mapping[str, MakePolicy] = field(default_factory=dict[str, MakePolicy])
    sources: tuple[Path, ...] = ()
    physics: tuple[str, ...] = ("gymnasium", "mujoco")
    training: Mapping[str, Any] = field(default_factory=dict[str, Any])
    can_run_tail: bool = True
    model: DifferentiableModel | None = None
    rollout: Rollout | None = None
    options: tuple[str, ...] = ()
    pack: str = "core"
    reward: Reward | None = None
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        reward: Any = self.reward
        if not isinstance(reward, Reward | None):
            raise ScenarioError(
                f"{self.name} has reward={reward!r:.80}; write "
                "reward=Reward((EnvironmentReward(), ...)), or None for the environment's own."
            )
        object.__setattr__(self, "digest", scenario_digest(self))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what runs the scenario, for its traces."""
        return versions_of((*self.physics, "numpy", "safegym"))

    @property
    def layout(self) -> dict[str, tuple[int, ...]]:
        """Signal name -> shape, in order."""
        return {signal.name: signal.shape for signal in self.signals}

    def validate(self) -> list[str]:
        """What is wrong with the declaration, a sentence each; empty if nothing is.

        Runs no environment; `safegym.scenario.probe.probe` does.
        """
        return declaration_issues(self)
