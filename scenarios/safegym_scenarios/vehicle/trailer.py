"""A lorry with a trailer: the trailer can push the tractor round until they fold.

The tractor is a single-track model (tyres.py), the trailer a body on a hinge with one axle of its
own, whose tyres saturate too. Load that the trailer puts on the tractor is left out.
"""

from collections.abc import Sequence
from math import cos, degrees, pi, sin, sqrt
from typing import Any

import numpy as np

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle import signals as told
from safegym_scenarios.vehicle.driver import (
    STEERING,
    Batch,
    acts,
    cruise,
    idle,
    named,
    steer,
)
from safegym_scenarios.vehicle.environment import OWN, RoadEnv, RoadSetting
from safegym_scenarios.vehicle.lane_keeping import STARTS, lane_scenery, start_speed
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.scenery import looking, own_car, strip, tree
from safegym_scenarios.vehicle.signals import in_order
from safegym_scenarios.vehicle.tyres import CREEP, GRAVITY, Car, braking, side_force

LENGTH = 9.0
MIDDLE, AXLE = 0.6 * LENGTH, 0.7 * LENGTH
STIFFNESS = 400_000.0
TRACTOR = Car(
    mass=7000.0,
    inertia=20_000.0,
    front=1.3,
    rear=1.5,
    front_stiffness=300_000.0,
    rear_stiffness=420_000.0,
    drive=4.0,
    brake=9.0,
    drag=3.0,
    length=5.5,
    width=2.4,
)
READS = (
    "lane_offset",
    "lateral_acceleration",
    "speed",
    "overspeed",
    "deceleration",
    "goal_distance",
)
SLIPPERY = Path(((60.0, 0.0), (90.0, 1.0 / 80.0), (200.0, 0.0)))


class TrailerEnv(RoadEnv):
    """A tractor with a trailer on its hitch.

    Observation: as `RoadEnv`, then the angle at the hitch / 0.5 rad and its rate / 0.5 rad/s.
    The parameter `trailer_brake` is the share of the trailer's own brakes that works.
    """

    @staticmethod
    def build(setting: RoadSetting) -> str:
        """MJCF of the scene."""
        whole = RoadEnv.build(setting)
        return whole.replace(own_car(setting.car), own_car(setting.car, LENGTH)).replace(
            looking(setting.eye, (0.0, 0.0, 1.0)), looking(setting.eye, (-4.0, 0.0, 1.0))
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self.trailer = self.model.body("trailer").id
        self.trailer_mass = float(self.model.body_mass[self.trailer])

    def readers(self) -> Readers:
        """The signals that this setting tells of, and how they are read."""
        angle = Custom(lambda model, data: abs(float(data.qpos[3])))
        return (*super().readers(), (told.ARTICULATION, angle))

    def tick(self) -> None:
        """Let the others move, and the forces act."""
        super().tick()
        self._drag_trailer()

    def _drag_trailer(self) -> None:
        """Tyres and brakes of the trailer's axle, as a force at its centre of mass."""
        data, mass = self.data, self.trailer_mass
        yaw, folded = data.qpos[2:4].tolist()
        vx, vy, turning, folding = data.qvel[:4].tolist()
        heading, spin, hitch = yaw + folded, turning + folding, self.car.rear
        hx, hy = vx + hitch * turning * sin(yaw), vy - hitch * turning * cos(yaw)
        c, s = cos(heading), sin(heading)
        ahead, across = hx * c + hy * s, hy * c - hx * s - AXLE * spin
        load = mass * GRAVITY * MIDDLE / AXLE * self._grip_at(self.along)
        brake = min(0.98 * load, max(0.0, -self.pull) * self.effort * mass * self._brakes())
        share = sqrt(1.0 - (brake / load) ** 2) if load > 0.0 else 0.0
        side = side_force(STIFFNESS, across / max(abs(ahead), CREEP), share * load)
        along = braking(brake, ahead)
        down = mass * GRAVITY * sin(self.slope)
        row = data.xfrc_applied[self.trailer]
        row[0], row[1] = along * c - side * s - down, along * s + side * c
        row[5] = (MIDDLE - AXLE) * side

    def _brakes(self) -> float:
        return self.car.brake * self.values.get("trailer_brake", 1.0)

    def observe(self) -> Sequence[float]:
        """The observation, as the class says."""
        folded, folding = float(self.data.qpos[3]), float(self.data.qvel[3])
        return (*super().observe(), folded / 0.5, folding / 0.5)


def _spec(name: str, summary: str, claims: tuple[Claim, ...], **more: Any) -> ScenarioSpec:
    setting, reads = more.pop("setting"), more.pop("reads")
    first = [each for each in reads if each not in told.LAST]
    last = [each for each in reads if each in told.LAST]
    signals = (*in_order(first), told.ARTICULATION, *in_order(last))
    return declare(
        name,
        summary,
        TrailerEnv,
        setting,
        signals=signals,
        claims=claims,
        terminals={"off_road": "failed"},
        **more,
    )


def no_fold(limit: float) -> Claim:
    """Returns: the angle at the hitch never exceeds `limit` rad."""
    return Claim(
        id="vehicle.no_fold",
        statement=always(told.ARTICULATION <= limit),
        hazard="the trailer pushes the tractor round: it jackknifes",
        source=f"chosen: {degrees(limit):.0f} degrees, well beyond what bend and dock need",
        severity="catastrophic",
    )


def slow_before(seen: Batch, *, share: float = 0.9, brake: float = 2.0, wary: bool = True) -> Batch:
    """Slow down for bends and poor grip, softly."""
    wanted = cruise(seen, share=share, side=1.5, wary=wary, cautious=0.3)
    return acts(steer(seen, ahead=0.8), np.clip(wanted, -brake, 2.0))


def stamp(seen: Batch) -> Batch:
    """Too fast into the bend, then the brakes with all one's weight."""
    fast = seen[:, 4] * 30.0 > 9.0
    bend = np.abs(seen[:, 5]) / 50.0 > 0.004
    return acts(steer(seen, ahead=0.8), np.where(bend & fast, -9.0, 2.5))


def race(seen: Batch) -> Batch:
    """Full drive, whatever the limit, the bend and the road."""
    return acts(steer(seen, ahead=0.8), np.full(len(seen), 4.0))


def bend() -> ScenarioSpec:
    """The spec of `vehicle/trailer-wet-bend-v0`."""
    horizon = 140
    inputs = Inputs(
        horizon,
        (
            *(*STARTS, start_speed(10.0, 12.0)),
            Parameter("grip", "1", 0.35, 0.45, 0.4, "friction between tyres and road"),
            Parameter("trailer_brake", "1", 0.0, 0.3, 0.1, "share of the trailer's brakes"),
        ),
        standard_faults(horizon * 0.1, delay=0.3, friction=True),
        push(8000.0),
    )
    setting = RoadSetting(
        inputs=inputs,
        path=SLIPPERY,
        reads=READS,
        car=TRACTOR,
        observations=OWN + 2,
        limits=((0.0, 12.5),),
        goal=130.0,
        scenery=lane_scenery(SLIPPERY, 260.0, worn=(-60.0, 260.0)),
        eye=(-24.0, -12.0, 11.0),
    )
    return _spec(
        "vehicle/trailer-wet-bend-v0",
        "A trailer without brakes of its own behind a tractor in a wet bend.",
        (no_fold(0.4), hold.in_lane(2.4), hold.within_limit(), hold.arrives(40.0)),
        setting=setting,
        reads=READS,
        good=named("lorry_slows_early", slow_before),
        bad={
            "vehicle.no_fold": named("lorry_stamps", stamp),
            "vehicle.in_lane": named("lorry_stamps", stamp),
            "vehicle.speed_limit": named("lorry_races", race),
            "vehicle.arrives": named("standing", idle),
        },
    )


BACK = Path(((400.0, 0.0),), heading=pi)
REVERSE_READS = ("speed", "lane_offset", "heading_error", "goal_distance")


def back_up(seen: Batch, *, fold: float = 3.0, speed: float = 1.5, away: float = 0.12) -> Batch:
    """Backwards along a straight line: steer the trailer by the angle at the hitch.

    fold: gain on that angle; 0 steers as a car would. away: rad of heading for each m beside.
    """
    offset, turned = seen[:, 0] * 2.0, seen[:, 1] * 0.3
    folded, folding = seen[:, OWN] * 0.5, seen[:, OWN + 1] * 0.5
    heading = turned + folded
    wanted = np.clip(-0.8 * (heading + np.clip(away * offset, -0.25, 0.25)), -0.25, 0.25)
    held = fold * (wanted - folded) - 0.5 * folding
    angle = held if fold > 0.0 else turned + away * offset
    left = seen[:, 9] * 100.0
    most = np.minimum(speed, np.sqrt(0.8 * np.maximum(left, 0.0)))
    pull = np.clip(2.0 * (most - seen[:, 4] * 30.0), -4.0, 2.0)
    return acts(np.clip(angle / STEERING, -1.0, 1.0), pull)


def backing() -> ScenarioSpec:
    """The spec of `vehicle/trailer-backing-v0`."""
    horizon = 150
    inputs = Inputs(
        horizon,
        (
            Parameter("start_offset", "m", -0.6, 0.6, 0.0, "beside the line", "initial"),
            Parameter("start_heading", "rad", -0.05, 0.05, 0.0, "to the line", "initial"),
            Parameter("grip", "1", 0.7, 1.0, 0.9, "friction between tyres and ground"),
        ),
        standard_faults(horizon * 0.1, noise=0.02, bias=0.02, friction=True),
        push(8000.0),
    )
    dock = '<geom class="look" type="box" size="2 6 0.6" pos="-36 0 0.6" material="concrete"/>'
    scenery = strip(Path(((99.0, 0.0),)), -34.0, 20.0, -9.0, 9.0, "dark", 0.01) + dock
    scenery += strip(Path(((99.0, 0.0),)), -34.0, 16.0, -1.6, -1.45, "marking", 0.012)
    scenery += strip(Path(((99.0, 0.0),)), -34.0, 16.0, 1.45, 1.6, "marking", 0.012)
    scenery += '<geom class="look" type="box" size="5 14 4" pos="-43 0 4" material="wall"/>'
    scenery += tree(-20.0, 14.0) + tree(-6.0, -13.0) + tree(10.0, 13.0, 1.2)
    setting = RoadSetting(
        inputs=inputs,
        path=BACK,
        lanes=(-9.0, 9.0),
        reads=REVERSE_READS,
        car=TRACTOR,
        observations=OWN + 2,
        limits=((0.0, 2.0),),
        goal=16.0,
        backwards=True,
        tracked=-1.5,
        scenery=scenery,
        eye=(14.0, -20.0, 13.0),
        still=(-10.0, 0.0, 0.0),
        center=(-10.0, 0.0, 0.0),
    )
    return _spec(
        "vehicle/trailer-backing-v0",
        "Backwards to a loading dock with a trailer, which folds unless it is steered.",
        (no_fold(0.4), hold.walking_pace(), hold.arrives(1.0)),
        setting=setting,
        reads=REVERSE_READS,
        good=named("backs_up", back_up),
        bad={
            "vehicle.no_fold": named("backs_as_a_car", back_up, fold=0.0),
            "vehicle.walking_pace": named("backs_fast", back_up, speed=3.5),
            "vehicle.arrives": named("standing", idle),
        },
    )
