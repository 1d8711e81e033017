"""Gymnasium's cart-pole with another pole, a sticky track, a push on the cart, and faults."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 0.02
HORIZON = 250
MOTOR_FORCE = 10.0
_SCALES = (0.5, 1.0, 0.1, 1.0)


@dataclass(frozen=True, slots=True)
class CartPole:
    """What makes this cart-pole differ from Gymnasium's.

    half_length: half the pole's length, m. pole_mass: kg. gusty: whether seeds push the cart.
    always: parameters that every seed draws, besides the start.
    """

    half_length: float = 0.5
    pole_mass: float = 0.1
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Starts and faults; the cart's push is one number for each half second."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            (
                _start("start_cart_position", "m", "cart's place from the middle"),
                _start("start_cart_velocity", "m/s", "cart's velocity"),
                _start("start_pole_angle", "rad", "pole's angle from upright"),
                _start("start_pole_angular_speed", "rad/s", "pole's angular speed"),
                *self.always,
            ),
            standard_faults(DT, HORIZON, latest=0.4, steps=2, without=always),
            (Disturbance("cart_push", "N", -3.0, 3.0, 10, 0.0, "on the cart from outside"),),
        )


def _start(name: str, unit: str, meaning: str) -> Parameter:
    return Parameter(name, unit, -0.05, 0.05, 0.0, f"{meaning} at the start", "initial")


TRACK_DRAG = Parameter(
    "track_drag", "N s/m", 1.0, 3.0, 2.0, "force against the cart's motion, over its speed"
)


@cache
def inputs_of(variant: CartPole) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class KnobbedCartPole(KnobbedEnv):
    """The cart-pole of a variant; the starts are Gymnasium's own numbers."""

    def __init__(self, variant: CartPole, render_mode: str | None = None) -> None:
        bare = CartPoleEnv(render_mode=render_mode)
        bare.length, bare.masspole = variant.half_length, variant.pole_mass
        bare.total_mass = bare.masscart + bare.masspole
        bare.polemass_length = bare.masspole * bare.length
        super().__init__(
            bare,
            inputs_of(variant),
            dt=DT,
            scales=_SCALES,
            shared=True,
            gusty=variant.gusty,
        )
        self._push = 0.0

    def prepare(self) -> None:
        """No push, and the track of this episode."""
        self._push, self._drag = 0.0, self.parameters.get("track_drag", 0.0)

    def place(self, observation: Any) -> Any:
        """The start that the parameters say; Gymnasium's own where nobody sets one."""
        starts = [self.parameters[each.name] for each in self.inputs.parameters[:4]]
        self.bare.state[:] = starts
        observation[:] = starts
        return observation

    def push(self, pushes: Any) -> None:
        """A force on the cart adds to the motor's."""
        self._push = pushes["cart_push"]

    def act(self, action: Any) -> Step:
        """The bare step under the motor's force, the push and the track's drag, in N.

        An action of None, before a late first one arrives, is no force of the motor.
        """
        motor = 0.0 if action is None else MOTOR_FORCE if action == 1 else -MOTOR_FORCE
        drag = self._drag * float(self.bare.state[1])
        self.bare.force_mag = motor * self.left + self._push - drag
        return self.bare.step(1)  # type: ignore[no-any-return] # Gymnasium's own tuple


def make_cartpole(variant: CartPole, render_mode: str | None = None) -> KnobbedCartPole:
    """The environment of a variant."""
    return KnobbedCartPole(variant, render_mode)


def read_cartpole(env: Any) -> tuple[float, ...]:
    """Cart's place and velocity, pole's angle and angular speed: the state itself."""
    return tuple(env.bare.state.tolist())
