"""Gymnasium's acrobot with another forearm, a rough motor, a push at the tip, and faults."""

from dataclasses import dataclass
from functools import cache
from math import cos
from typing import Any

from gymnasium.envs.classic_control.acrobot import AcrobotEnv

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 0.2
HORIZON = 200
STARTS = ("start_angle", "start_elbow", "start_speed", "start_elbow_speed")
_SCALES = (0.1, 0.1, 0.1, 0.1, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Acrobot:
    """What makes this acrobot differ from Gymnasium's.

    forearm: mass of the second link, kg. roughness: half width of the motor's own noise, N m, of
    Gymnasium. gusty: whether seeds draw the elbow's torque from outside. always: parameters that
    every seed draws, besides the start.
    """

    forearm: float = 1.0
    roughness: float = 0.0
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Starts and faults; the elbow's torque from outside is one number for each 4 s."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            (*(_start(name) for name in STARTS), *self.always),
            standard_faults(DT, HORIZON, latest=10.0, steps=2, without=always),
            (Disturbance("elbow_torque", "N m", -0.5, 0.5, 10, 0.0, "at the elbow from outside"),),
        )


def _start(name: str) -> Parameter:
    unit = "rad/s" if name.endswith("speed") else "rad"
    return Parameter(name, unit, -0.1, 0.1, 0.0, "from hanging at rest", "initial")


@cache
def inputs_of(variant: Acrobot) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class KnobbedAcrobot(KnobbedEnv):
    """The acrobot of a variant; the starts are Gymnasium's own numbers."""

    def __init__(self, variant: Acrobot, render_mode: str | None = None) -> None:
        bare = AcrobotEnv(render_mode=render_mode)
        bare.LINK_MASS_2 = variant.forearm
        bare.torque_noise_max = variant.roughness
        super().__init__(
            bare,
            inputs_of(variant),
            dt=DT,
            scales=_SCALES,
            idle=1,
            shared=True,
            gusty=variant.gusty,
        )
        self._torque, self.effort = 0.0, 0.0

    def prepare(self) -> None:
        """No torque from outside, and none of the motor's yet."""
        self._torque, self.effort = 0.0, 0.0

    def place(self, observation: Any) -> Any:
        """The start that the parameters say; Gymnasium's own where nobody sets one."""
        self.bare.state[:] = [self.parameters[name] for name in STARTS]
        observation[:] = self.bare._get_ob()
        return observation

    def push(self, pushes: Any) -> None:
        """A torque at the elbow, N m."""
        self._torque = pushes["elbow_torque"]

    def act(self, action: Any) -> Step:
        """The bare step under the motor's torque and what acts from outside."""
        around, left = self._torque, self.left
        self.effort += abs(int(action) - 1) * DT
        self.bare.AVAIL_TORQUE = [around - left, around, around + left]
        return self.bare.step(action)  # type: ignore[no-any-return] # Gymnasium's own tuple

    def reason(self) -> str:
        """The tip has passed the line."""
        return "reached"


def make_acrobot(variant: Acrobot, render_mode: str | None = None) -> KnobbedAcrobot:
    """The environment of a variant."""
    return KnobbedAcrobot(variant, render_mode)


def read_acrobot(env: Any) -> tuple[float, ...]:
    """Tip's height over the pivot, two joint speeds, the torque's change, its integral."""
    shoulder, elbow, speed, elbow_speed = (float(number) for number in env.bare.state)
    height = -cos(shoulder) - cos(shoulder + elbow)
    return height, speed, elbow_speed, env.action_change, env.effort
