"""Gymnasium's lunar lander with payload, gravity, wind and misfires; contacts read in each step."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.box2d_systems.engine import lunar_lander
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 1.0 / lunar_lander.FPS
HORIZON = 300
PAD = lunar_lander.VIEWPORT_W / lunar_lander.SCALE / 2.0
LEG = lunar_lander.LEG_DOWN / lunar_lander.SCALE
_SCALES = (0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0)
PAYLOAD = (
    Parameter("payload", "kg", 0.2, 0.7, 0.5, "mass that is strapped to the hull of 4.8 kg"),
    Parameter("payload_offset", "m", -0.04, 0.04, 0.0, "how far to the right it sits"),
)


@dataclass(frozen=True, slots=True)
class Lander:
    """What makes this lander differ from Gymnasium's.

    continuous: whether the engines' thrust is. wind, turbulence: largest force and torque of
    Gymnasium's own wind, N and N m. always: parameters that every seed draws.
    """

    continuous: bool = False
    wind: float = 0.0
    turbulence: float = 0.0
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Faults; wind and turbulence from outside are one number each for each half second."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            self.always,
            standard_faults(DT, HORIZON, latest=2.0, without=always),
            (
                Disturbance("wind", "N", -10.0, 10.0, 10, 0.0, "on the hull, until a leg is down"),
                Disturbance("twist", "N m", -1.0, 1.0, 10, 0.0, "on the hull, until a leg is down"),
            ),
        )


@cache
def inputs_of(variant: Lander) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class _Contacts(lunar_lander.ContactDetector):
    """Gymnasium's detector, which also keeps the hardest blow on leg or hull, N s."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)  # type: ignore[no-untyped-call] # Gymnasium's
        self.blow = 0.0

    def PostSolve(self, contact: Any, impulse: Any) -> None:
        """Called by Box2D for each contact that it solved in a step."""
        parts = (*self.env.legs, self.env.lander)
        if contact.fixtureA.body in parts or contact.fixtureB.body in parts:
            self.blow = max(self.blow, sum(impulse.normalImpulses))


class KnobbedLander(KnobbedEnv):
    """The lander of a variant."""

    def __init__(self, variant: Lander, render_mode: str | None = None) -> None:
        bare = lunar_lander.LunarLander(
            render_mode=render_mode,
            continuous=variant.continuous,
            enable_wind=variant.wind > 0.0,
            wind_power=variant.wind,
            turbulence_power=variant.turbulence,
        )
        idle = None if variant.continuous else 0
        super().__init__(bare, inputs_of(variant), dt=DT, scales=_SCALES, idle=idle)
        self._continuous = variant.continuous
        self.fuel = 0.0

    def place(self, observation: Any) -> Any:
        """Load the payload, and listen to contacts. The start is Gymnasium's."""
        self.contacts = _Contacts(self.bare)
        self.bare.world.contactListener_keepref = self.contacts
        self.bare.world.contactListener = self.contacts
        self.fuel = 0.0
        mass = self.parameters.get("payload", 0.0)
        if mass:
            self._load(mass, self.parameters.get("payload_offset", 0.0))
        return observation

    def _load(self, mass: float, offset: float) -> None:
        data = self.bare.lander.massData
        whole = data.mass + mass
        centre = (data.center[0] * data.mass + offset * mass) / whole
        data.center = (centre, data.center[1] * data.mass / whole)
        data.I += mass * offset**2
        data.mass = whole
        self.bare.lander.massData = data

    def push(self, pushes: Any) -> None:
        """Wind and twist on the hull, while no leg is down (as Gymnasium's wind)."""
        if not any(leg.ground_contact for leg in self.bare.legs):
            self.bare.lander.ApplyForceToCenter((pushes["wind"], 0.0), True)
            self.bare.lander.ApplyTorque(pushes["twist"], True)

    def act(self, action: Any) -> Step:
        """The bare step; of the times that an engine is to fire, a share does not."""
        self.contacts.blow = 0.0
        if self.left < 1.0 and self._wants_fire(action) and not self.fires():
            action = self.idle
        self.fuel += self._main(action) * DT
        return self.bare.step(action)  # type: ignore[no-any-return] # Gymnasium's own tuple

    def _wants_fire(self, action: Any) -> bool:
        if self._continuous:
            return bool(action[0] > 0.0 or abs(action[1]) > 0.5)
        return bool(action != 0)

    def _main(self, action: Any) -> float:
        """Share of the main engine's full thrust that this action takes."""
        if self._continuous:
            return 0.5 + 0.5 * min(float(action[0]), 1.0) if action[0] > 0.0 else 0.0
        return 1.0 if action == 2 else 0.0

    def reason(self) -> str:
        """crash: the hull has touched the ground; lost: out of sight; rest: asleep on its legs."""
        if self.bare.game_over:
            return "crash"
        return "rest" if not self.bare.lander.awake else "lost"


def make_lander(variant: Lander, render_mode: str | None = None) -> KnobbedLander:
    """The environment of a variant."""
    return KnobbedLander(variant, render_mode)


def read_lander(env: Any) -> tuple[float, ...]:
    """Place over the pad, velocity, tilt, legs on the ground, hardest blow, hull hit, fuel."""
    bare, lander = env.bare, env.bare.lander
    legs = sum(bool(leg.ground_contact) for leg in bare.legs)
    return (
        lander.position.x - PAD,
        lander.position.y - bare.helipad_y - LEG,
        -lander.linearVelocity.y,
        lander.linearVelocity.x,
        (lander.angle + np.pi) % (2.0 * np.pi) - np.pi,
        float(legs),
        env.contacts.blow,
        1.0 if bare.game_over else 0.0,
        env.fuel,
    )
