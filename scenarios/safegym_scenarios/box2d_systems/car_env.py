"""Gymnasium's racing car, seen by numbers and not by a picture, with wet roads, wind and faults."""

from dataclasses import dataclass
from functools import cache
from math import atan2, cos, pi, sin
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter
from safegym_scenarios.box2d_systems.engine import Box2D, car_racing
from safegym_scenarios.gym_knobs.environment import KnobbedEnv, Step
from safegym_scenarios.gym_knobs.knobs import standard_faults

DT = 1.0 / car_racing.FPS
HORIZON = 180
AHEAD = (4, 7, 10, 14, 19)
"""Tiles of 3.5 m ahead at which the policy sees the track."""
SPEED_SCALE, SIDE_SCALE, WAY_SCALE = 40.0, 10.0, 50.0
_ENTRIES = 6 + 3 * len(AHEAD)
_SCALES = (0.1, 0.05, 0.05, 0.05, 0.1, 0.1, *(0.02,) * 3 * len(AHEAD))


@dataclass(frozen=True, slots=True)
class Car:
    """What makes this car and its road differ from Gymnasium's.

    grip: of the road, as a share of Gymnasium's; its grass has 0.6, and nothing less counts.
    gusty: whether seeds draw the side wind. always: parameters that every seed draws.
    """

    grip: float = 1.0
    gusty: bool = False
    always: tuple[Parameter, ...] = ()

    @property
    def inputs(self) -> Inputs:
        """Faults; the side wind is one number for each 0.3 s."""
        always = tuple(each.name for each in self.always)
        return Inputs(
            HORIZON,
            self.always,
            standard_faults(DT, HORIZON, latest=1.0, without=always),
            (Disturbance("side_wind", "N", -150.0, 150.0, 10, 0.0, "on the hull, to the right"),),
        )


@cache
def inputs_of(variant: Car) -> Inputs:
    """The inputs of a variant, made once."""
    return variant.inputs


class _Unseen(car_racing.CarRacing):
    """Gymnasium's environment, which draws no picture while it steps."""

    def _render(self, mode: str) -> Any:
        return None if mode == "state_pixels" else super()._render(mode)


class KnobbedCar(KnobbedEnv):
    """The car of a variant, in a world that is new in every episode.

    Observation, float32 (21,): place beside the middle over the road's half width, sine and cosine
    of the heading off the road's, speed ahead, speed aside and turning rate over 40 m/s, 10 m/s and
    3 rad/s; then for each point of the track ahead its place to the right (over 10 m) and ahead
    (over 50 m) of the car, and the bend of the road up to there, rad.
    """

    def __init__(self, variant: Car, render_mode: str | None = None) -> None:
        bare = _Unseen(render_mode=render_mode)
        super().__init__(bare, inputs_of(variant), dt=DT, scales=_SCALES, gusty=variant.gusty)
        self.observation_space = spaces.Box(-10.0, 10.0, (_ENTRIES,), np.float32)
        self._grip = variant.grip
        self.offset, self.way, self.side_acceleration = 0.0, 0.0, 0.0

    def prepare(self) -> None:
        """A new world: one that was used before may solve its contacts in another order."""
        self.bare.world = Box2D.b2World((0, 0))
        self.bare.road = None

    def place(self, observation: Any) -> Any:
        """The road's grip. The start is Gymnasium's."""
        for tile in self.bare.road:
            tile.road_friction = self._grip
        self._tile, self._laps = 0, 0
        self._track = np.array([point[1:] for point in self.bare.track])
        self.side_acceleration = 0.0
        return self._seen()

    def push(self, pushes: Any) -> None:
        """A force to the right of the car, N."""
        hull = self.bare.car.hull
        hull.ApplyForceToCenter(hull.GetWorldVector((pushes["side_wind"], 0.0)), True)

    def weakened(self, action: Any) -> Any:
        """An engine that gives less; steering and brakes are whole."""
        left = np.array(action)
        left[1] *= self.left
        return left

    def act(self, action: Any) -> Step:
        """The bare step; the observation is this class's own."""
        hull = self.bare.car.hull
        heading = hull.linearVelocity.copy()
        action = action if self.left == 1.0 else self.weakened(action)
        _, reward, terminated, truncated, info = self.bare.step(np.asarray(action))
        right = hull.GetWorldVector((1.0, 0.0))
        self.side_acceleration = float((hull.linearVelocity - heading).dot(right)) / DT
        return self._seen(), reward, terminated, truncated, info

    def reason(self) -> str:
        """lap: all tiles visited; lost: outside the field."""
        x, y = self.bare.car.hull.position
        return "lap" if max(abs(x), abs(y)) < 300.0 else "lost"

    def _follow(self, x: float, y: float) -> None:
        """The tile that is nearest, sought near the last one; way along the track."""
        count = len(self._track)
        near = (self._tile + np.arange(-3, 6)) % count
        away = np.hypot(self._track[near, 1] - x, self._track[near, 2] - y)
        tile = int(near[away.argmin()])
        if tile - self._tile > count // 2:
            self._laps -= 1
        elif self._tile - tile > count // 2:
            self._laps += 1
        self._tile = tile

    def _seen(self) -> NDArray[np.float32]:
        hull = self.bare.car.hull
        x, y = hull.position
        self._follow(x, y)
        beta, middle_x, middle_y = self._track[self._tile]
        self.offset = (x - middle_x) * cos(beta) + (y - middle_y) * sin(beta)
        beyond = (y - middle_y) * cos(beta) - (x - middle_x) * sin(beta)
        count = len(self._track)
        self.way = (self._laps * count + self._tile) * car_racing.TRACK_DETAIL_STEP + beyond
        velocity = hull.GetLocalVector(hull.linearVelocity)
        off = hull.angle - beta
        seen = [
            self.offset * 6.0 / 40.0,
            sin(off),
            cos(off),
            velocity[1] / SPEED_SCALE,
            velocity[0] / SIDE_SCALE,
            hull.angularVelocity / 3.0,
        ]
        for step in AHEAD:
            bend, point_x, point_y = self._track[(self._tile + step) % count]
            right, ahead = hull.GetLocalPoint((point_x, point_y))
            turn = (bend - beta + pi) % (2.0 * pi) - pi
            seen += [right / SIDE_SCALE, ahead / WAY_SCALE, turn]
        return np.clip(np.array(seen, np.float32), -10.0, 10.0)


def make_car(variant: Car, render_mode: str | None = None) -> KnobbedCar:
    """The environment of a variant."""
    return KnobbedCar(variant, render_mode)


def read_car(env: Any) -> tuple[float, ...]:
    """Place beside the middle, speed ahead, slip, side acceleration, way, wheels off, change."""
    hull = env.bare.car.hull
    velocity = hull.GetLocalVector(hull.linearVelocity)
    slip = atan2(abs(velocity[0]), max(abs(velocity[1]), 5.0))
    off = sum(not wheel.tiles for wheel in env.bare.car.wheels)
    return (
        env.offset,
        float(velocity[1]),
        slip,
        abs(env.side_acceleration),
        env.way,
        float(off),
        env.action_change,
    )
