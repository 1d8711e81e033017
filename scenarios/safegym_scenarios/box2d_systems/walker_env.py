"""Gymnasium's bipedal walker with payload, ice, weak motors and pushes; contacts read in a step."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.box2d_systems.engine import Box2D, bipedal_walker
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 1.0 / bipedal_walker.FPS
_SCALES = (0.1, 0.1, 0.1, 0.1, *(0.1, 0.2, 0.1, 0.2, 0.0) * 2, *(0.1,) * 10)
PAYLOAD = Parameter("payload", "kg", 0.4, 1.2, 0.8, "mass on the hull's back")


@dataclass(frozen=True, slots=True)
class Walker:
    """What makes this walker differ from Gymnasium's.

    horizon: in steps. hardcore: whether Gymnasium puts stumps, stairs and pits in the way.
    friction: of the ground. gusty: whether seeds draw the push. always: parameters that every seed
    draws.
    """

    horizon: int = 180
    hardcore: bool = False
    friction: float = 2.5
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Faults; the push is one number for each half second."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            self.horizon,
            self.always,
            standard_faults(DT, self.horizon, latest=0.5, steps=2, without=always),
            (Disturbance("push", "N", -1.0, 1.0, 10, 0.0, "on the hull from behind"),),
        )


@cache
def inputs_of(variant: Walker) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class _Contacts(bipedal_walker.ContactDetector):
    """Gymnasium's detector, which also keeps the hardest blow on leg or hull, N s."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)  # type: ignore[no-untyped-call] # Gymnasium's
        self.blow = 0.0

    def PostSolve(self, contact: Any, impulse: Any) -> None:
        """Called by Box2D for each contact that it solved in a step."""
        self.blow = max(self.blow, sum(impulse.normalImpulses))


class KnobbedWalker(KnobbedEnv):
    """The walker of a variant, in a world that is new in every episode."""

    def __init__(self, variant: Walker, render_mode: str | None = None) -> None:
        bare = bipedal_walker.BipedalWalker(render_mode=render_mode, hardcore=variant.hardcore)
        bare.fd_edge.friction = bare.fd_polygon.friction = variant.friction
        super().__init__(bare, inputs_of(variant), dt=DT, scales=_SCALES, gusty=variant.gusty)
        self.work = 0.0

    def prepare(self) -> None:
        """A new world: one that was used before may solve its contacts in another order."""
        self.bare.world = Box2D.b2World()
        self.bare.terrain, self.bare.hull = [], None

    def place(self, observation: Any) -> Any:
        """Load the payload, and listen to contacts. The start is Gymnasium's."""
        self.contacts = _Contacts(self.bare)
        self.bare.world.contactListener_bug_workaround = self.contacts
        self.bare.world.contactListener = self.contacts
        self.work, self._start = 0.0, float(self.bare.hull.position.x)
        mass = self.parameters.get("payload", 0.0)
        if mass:
            data = self.bare.hull.massData
            data.I *= 1.0 + mass / data.mass
            data.mass += mass
            self.bare.hull.massData = data
        return observation

    def push(self, pushes: Any) -> None:
        """A force on the hull's middle, N."""
        self.bare.hull.ApplyForceToCenter((pushes["push"], 0.0), True)

    def act(self, action: Any) -> Step:
        """The bare step with weakened motors."""
        self.contacts.blow = 0.0
        action = action if self.left == 1.0 else self.weakened(action)
        self.work += float(np.abs(action).mean()) * DT
        return self.bare.step(action)  # type: ignore[no-any-return] # Gymnasium's own tuple

    def reason(self) -> str:
        """fall: the hull has touched the ground; back: left at the rear; end: at the far end."""
        if self.bare.game_over:
            return "fall"
        return "back" if self.bare.hull.position.x < 0.0 else "end"

    @property
    def progress(self) -> float:
        """Way from the start, m."""
        return float(self.bare.hull.position.x) - self._start


def make_walker(variant: Walker, render_mode: str | None = None) -> KnobbedWalker:
    """The environment of a variant."""
    return KnobbedWalker(variant, render_mode)


def read_walker(env: Any) -> tuple[float, ...]:
    """Tilt, speed, way, fastest joint, feet down, hardest blow, hull hit, work of the motors."""
    bare, hull = env.bare, env.bare.hull
    feet = bool(bare.legs[1].ground_contact) + bool(bare.legs[3].ground_contact)
    return (
        hull.angle,
        hull.linearVelocity.x,
        env.progress,
        max(abs(joint.speed) for joint in bare.joints),
        float(feet),
        env.contacts.blow,
        1.0 if bare.game_over else 0.0,
        env.work,
    )
