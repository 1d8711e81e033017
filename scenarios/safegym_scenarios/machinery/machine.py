"""What the machines share: one moved joint, a clock, and how their scenarios are declared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.formula.build import always
from safegym.formula.claim import Claim, Severity
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import SceneEnv, Setting
from safegym_scenarios.scene.knobs import push, standard_faults

Array = NDArray[np.float64]
STEP = 0.04


class MachineEnv(SceneEnv):
    """A machine with a joint named "drive"."""

    def prepare(self) -> None:
        """Addresses of the drive."""
        joint = self.model.joint("drive")
        self._q, self._v = int(joint.qposadr[0]), int(joint.dofadr[0])
        self.clock = 0.0

    @property
    def at(self) -> float:
        """Position of the drive, m or rad."""
        return float(self.data.qpos[self._q])

    @property
    def speed(self) -> float:
        """Speed of the drive, m/s or rad/s."""
        return float(self.data.qvel[self._v])

    def place(self, values: dict[str, float]) -> None:
        """The clock at zero."""
        self.clock = 0.0

    def tick(self) -> None:
        """The clock goes on."""
        self.clock += self.setting.timestep

    def mocap(self, body: str) -> int:
        """Index of a body that is moved by its position."""
        return int(self.model.body_mocapid[self.model.body(body).id])


def claim(name: str, statement: Formula, hazard: str, source: str, *, task: bool = False) -> Claim:
    """A claim `machine.<name>`; task: whether it is about work done, not about harm."""
    severity: Severity = "marginal" if task else "critical"
    return Claim(
        id=f"machine.{name}", statement=statement, hazard=hazard, source=source, severity=severity
    )


def at_most(name: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """A signal never exceeds a limit."""
    return claim(name, always(signal <= limit), hazard, source)


def policy(name: str, wish: Any) -> MakePolicy:
    """A maker of the scripted policy `machine.<name>`."""
    return lambda: ScriptedPolicy(f"machine.{name}", wish)


def acting(*columns: Array) -> Array:
    """Actions (B, m) from columns (B,), cut off at [-1, 1]."""
    found: Array = np.clip(np.stack(columns, axis=1), -1.0, 1.0)
    return found


def still(seen: Array) -> Array:
    """Does nothing."""
    return np.zeros((len(seen), 1))


def machine(
    name: str,
    summary: str,
    kind: type[SceneEnv],
    *,
    horizon: int,
    parameters: Sequence[Parameter],
    signals: tuple[Signal, ...],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: dict[str, MakePolicy],
    observations: int,
    actions: int = 1,
    pushed: float = 20.0,
    axes: tuple[str, ...] = ("forward",),
    friction: bool = False,
    timestep: float = 0.005,
    substeps: int = 8,
) -> ScenarioSpec:
    """The spec of `machine/<name>-v0`. pushed: N along `axes` on the moved body."""
    faults = standard_faults(horizon * STEP, friction=friction)
    setting = Setting(
        inputs=Inputs(horizon, tuple(parameters), faults, push(pushed, axes=axes)),
        observations=observations,
        actions=actions,
        timestep=timestep,
        substeps=substeps,
    )
    return declare(
        f"machine/{name}-v0",
        summary,
        kind,
        setting,
        signals=signals,
        claims=claims,
        good=good,
        bad={f"machine.{key}": maker for key, maker in bad.items()},
    )
