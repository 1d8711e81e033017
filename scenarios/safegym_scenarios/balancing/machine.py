"""What all balancing machines have in common: the spent work, the fall, the reward."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector, standard_faults

TERMINALS: dict[str, Any] = {"fallen": "failed"}
MakePolicy = Callable[[], ScriptedPolicy]
TRAINING: dict[str, Any] = {"steps": 200_000, "learning_rate": 1e-3, "gamma": 0.98}


@dataclass(frozen=True, kw_only=True)
class BalanceSetting(Setting):
    """fall: tilt in rad from which nothing can bring the machine back."""

    timestep: float = 0.005
    substeps: int = 5
    fall: float = 0.7


def inputs(
    horizon: int,
    parameters: Sequence[Parameter],
    disturbances: Sequence[Disturbance],
    *,
    friction: bool = False,
    without: Sequence[str] = (),
    onset: float = 1.0,
) -> Inputs:
    """Parameters, the standard faults and pushes. without: faults that are parameters here.

    onset: s, by which a loss has begun, and delays are short: these machines fall within a second,
    and what comes later would change nothing.
    """
    faults = standard_faults(onset, delay=0.1, noise=0.05, bias=0.05, friction=friction)
    kept = tuple(fault for fault in faults if fault.name not in without)
    return Inputs(horizon, tuple(parameters), kept, tuple(disturbances))


def start(name: str, unit: str, most: float, meaning: str) -> Parameter:
    """A coordinate of the start, drawn in [-most, most]."""
    return Parameter(name, unit, -most, most, 0.0, meaning, "initial")


class BalancingEnv(SceneEnv):
    """A machine that has to be kept upright. Episodes end, failed, at the tilt `setting.fall`.

    A machine gives `lean` and `way` besides what a scene gives.
    """

    travel: ClassVar[float] = 1.0
    """Distance from the goal that costs as much as being half fallen, m."""

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        self.energy = 0.0

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        raise NotImplementedError

    def way(self) -> float:
        """Distance from the goal now, m >= 0."""
        return 0.0

    def tick(self) -> None:
        """Called before every physics step."""
        power = np.abs(self.data.actuator_force) @ np.abs(self.data.actuator_velocity)
        self.energy += float(power) * self.setting.timestep

    def begin(self) -> None:
        """For `place`: nothing spent yet."""
        self.energy = 0.0

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        return "fallen" if self.lean() > self.setting.fall else ""

    def reward(self, action: Vector) -> float:
        """1 at rest, upright, at the goal; -10 on falling."""
        lean = self.lean() / float(self.setting.fall)
        if lean > 1.0:
            return -10.0
        way = min(self.way() / self.travel, 2.0)
        return 1.0 - lean * lean - 0.4 * way - 0.05 * float(np.square(action).mean())


def variant(
    name: str,
    summary: str,
    kind: type[BalancingEnv],
    setting: BalanceSetting,
    signals: tuple[Signal, ...],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    terminals: Mapping[str, Any] | None = None,
) -> ScenarioSpec:
    """balance/<name>-v0. bad: last word of the claim's id -> what breaks it."""
    return declare(
        f"balance/{name}-v0",
        summary,
        kind,
        setting,
        signals=signals,
        claims=claims,
        good=good,
        bad={f"balance.{word}": policy for word, policy in bad.items()},
        terminals=TERMINALS if terminals is None else terminals,
        training=TRAINING,
    )
