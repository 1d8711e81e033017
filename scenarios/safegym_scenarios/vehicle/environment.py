"""A car on a road: it steers and brakes, others drive and walk, a trace tells what matters."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, cos, hypot, sin
from typing import Any

import numpy as np

from safegym.scenario.signals import Clearance, Custom
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import FRICTION_LOSS, Vector
from safegym_scenarios.scene.look import scene
from safegym_scenarios.vehicle import signals as told
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.scenery import looking, others, own_car
from safegym_scenarios.vehicle.surroundings import ahead_of, seen_of
from safegym_scenarios.vehicle.traffic import Start, Traffic, advanced
from safegym_scenarios.vehicle.tyres import GRAVITY, Car, braking, wheels

OWN = 12
"""Entries of an observation that tell of the car itself; four more for each road user."""
FARTHEST = 20.0
COOLING = 60.0
"""W/K from the discs to the air."""
FADING = (200.0, 400.0)
"""K above the surroundings at which brakes begin to fade, and at which a fifth is left."""


AHEAD = Path()
PLAIN = Car()


@dataclass(frozen=True, kw_only=True)
class RoadSetting(Setting):
    """path: of the lane. lanes: the edges of the road beside it, m to the right (negative) and to
    the left. limits: (from m along, limit in m/s). patches: (from, to m along, share of the grip).
    goal: m along. aim: m to the left of the path where the car is to drive, from `aim_from` m on.
    reads: names of the signals. engine: m/s^2 of braking without brakes. lag: s of the steering.
    tracked: m ahead of the centre of mass, the point that is on the path. backwards: in reverse
    gear. scenery: MJCF beside the path. eye: of the camera, m from the car; still: from the world.
    tilt: rad that the picture leans, where the scene is a slope.
    """

    path: Path = AHEAD
    lanes: tuple[float, float] = (-1.75, 5.25)
    limits: tuple[tuple[float, float], ...] = ((0.0, 30.0),)
    patches: tuple[tuple[float, float, float], ...] = ()
    goal: float = 200.0
    start: float = 0.0
    aim: float = 0.0
    aim_from: float = -1e9
    car: Car = PLAIN
    traffic: Traffic = field(default_factory=Traffic)
    reads: tuple[str, ...] = ()
    observations: int = OWN
    actions: int = 2
    timestep: float = 0.02
    substeps: int = 5
    grip: float = 0.95
    engine: float = 0.0
    lag: float = 0.1
    tracked: float = 0.0
    backwards: bool = False
    scenery: str = ""
    eye: tuple[float, float, float] = (-14.0, -9.0, 8.0)
    still: tuple[float, float, float] | None = None
    tilt: float = 0.0
    extent: float = 30.0
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stop_at_goal: bool = False


class RoadEnv(SceneEnv):
    """Action: wheel angle (left positive), and drive (positive) or brake (negative), of the most.

    Observation: offset / 2 m, heading error / 0.3 rad, speed sideways / 2 m/s, yaw rate / 0.5
    rad/s, speed / 30 m/s, curvature a third of a second ahead * 50 m, sharpest curvature on the way
    to a stop * 50 m, lowest limit on that way / 30 m/s, lowest grip on that way, distance to the
    goal / 100 m, slope, brake heat / 400 K; then of each other: ahead / 60 m, to the left / 10 m,
    speed along / 30 m/s, speed to the left / 10 m/s. Of one that meets the car's path elsewhere:
    how far the meeting point is ahead of the car and of the other, the other's speed as one from
    the side.
    """

    pushed = "car"
    setting: RoadSetting

    @staticmethod
    def build(setting: RoadSetting) -> str:
        """MJCF of the scene."""
        eye, at = setting.eye, (0.0, 0.0, 1.0)
        return scene(
            "road",
            world=(
                '<geom name="floor" type="plane" size="0 0 1" material="grass" contype="0" '
                'conaffinity="0"/>'
                f"{setting.scenery}{others(setting.traffic.actors)}{own_car(setting.car)}"
            ),
            asset='<material name="wet" rgba="0.12 0.16 0.22 1" specular="0.9" shininess="0.9"/>',
            default='<default class="hull"><geom type="box" group="4" contype="1" conaffinity="1" '
            'mass="0" rgba="0 0 0 0"/></default>',
            center=setting.center,
            extent=setting.extent,
            timestep=setting.timestep,
            camera=looking(eye, at if setting.still is None else setting.still, setting.tilt),
            floor="",
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        self.car = self.setting.car
        self.actors = self.setting.traffic.actors
        self.others: list[Start] = []
        self.eye = self.model.cam_pos[0].copy()
        self.sun = self.model.light_pos[0].copy()
        self.effort, self.angle, self.pull = 1.0, 0.0, 0.0
        self.wanted = [0.0, 0.0]
        self.along = self.offset = self.heading_error = self.curvature = 0.0
        self.forward = self.sideways = self.turning = 0.0
        self.across = self.felt = self.gap = self.headway = self.closing = 0.0
        self.grip = self.slope = self.heat = self.farthest = self.lag = 0.0
        self.aim, self.last_felt, self.jerk = 0.0, 0.0, 0.0
        self.seconds = 0.0

    def readers(self) -> Readers:
        """The signals that this setting tells of, and how they are read."""
        table: dict[str, Any] = {
            "lane_offset": (told.LANE_OFFSET, lambda: abs(self.offset - self.aim)),
            "lateral_error": (told.LATERAL_ERROR, lambda: abs(self.offset - self.aim)),
            "heading_error": (told.HEADING_ERROR, lambda: abs(self.heading_error)),
            "road_margin": (told.ROAD_MARGIN, self._margin),
            "lateral_acceleration": (told.LATERAL_ACCELERATION, lambda: abs(self.across)),
            "sideslip": (told.SIDESLIP, self._sideslip),
            "speed": (told.SPEED, self._speed),
            "overspeed": (told.OVERSPEED, lambda: self._speed() - self._limit(self.along)),
            "deceleration": (told.DECELERATION, lambda: max(0.0, -self.felt)),
            "gap": (told.GAP, lambda: self.gap),
            "headway": (told.HEADWAY, lambda: self.headway),
            "time_to_collision": (told.TIME_TO_COLLISION, lambda: self.closing),
            "rollback": (told.ROLLBACK, lambda: self.farthest - self.along),
            "brake_heat": (told.BRAKE_HEAT, lambda: self.heat),
        }
        found: list[Any] = [(signal, reading) for signal, reading in self._wanted(table)]
        first_signal, first = found[0]

        def measured(*_: Any) -> float:
            self._measure()
            return float(first())

        pairs: list[Any] = [(first_signal, Custom(measured))]
        pairs += [(signal, Custom(_ignoring(reading))) for signal, reading in found[1:]]
        if "clearance" in self.setting.reads:
            hulls = ("hull", "trailer") if self.model.nq > 3 else "hull"
            pairs.append((told.CLEARANCE, Clearance(hulls, "other_*", FARTHEST)))
        return tuple(pairs)

    def _wanted(self, table: dict[str, Any]) -> list[Any]:
        return [table[name] for name in self.setting.reads if name not in told.LAST]

    def task_signals(self) -> tuple[float, ...]:
        """Those that are read once a control step."""
        values = {"jerk": abs(self.jerk), "goal_distance": abs(self.setting.goal - self.along)}
        return tuple(
            values[name] for name in ("jerk", "goal_distance") if name in self.setting.reads
        )

    # an episode

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        setting = self.setting
        turned = np.pi if setting.backwards else 0.0
        start = setting.path.at(setting.start + values.get("start_along", 0.0))
        aside, tracked = values.get("start_offset", 0.0), setting.tracked
        yaw = start.heading + turned + values.get("start_heading", 0.0)
        speed = values.get("start_speed", 0.0)
        x = start.x - aside * sin(start.heading) - tracked * cos(yaw)
        y = start.y + aside * cos(start.heading) - tracked * sin(yaw)
        self.data.qpos[:3] = x, y, yaw
        self.data.qvel[:3] = speed * cos(yaw), speed * sin(yaw), 0.0
        self.grip = values.get("grip", setting.grip) * (1.0 - values.get(FRICTION_LOSS, 0.0))
        self.slope = values.get("slope", 0.0)
        self.lag = values.get("steering_lag", setting.lag)
        self.effort, self.angle, self.pull = 1.0, 0.0, 0.0
        self.heat = values.get("start_heat", 0.0)
        self.wanted = [0.0, 0.0]
        self.across = self.felt = self.last_felt = self.jerk = self.seconds = 0.0
        self.along = self.farthest = setting.start
        started = setting.traffic.start
        self.others = list(started(values)) if started else []
        self._move_others()
        self._measure()
        self.farthest = self.along

    def command(self, action: Vector) -> None:
        """Keep the action for the steps to come."""
        self.wanted = [float(action[0]), float(action[1])]

    def weakened(self, left: float) -> None:
        """Less wheel angle, drive and brakes."""
        self.effort = left

    def tick(self) -> None:
        """Let the others move, and the forces act."""
        dt = self.setting.timestep
        self.seconds += dt
        if self.others:
            self._drive_others(dt)
        self._drive(dt)

    def _drive(self, dt: float) -> None:
        car, data = self.car, self.data
        yaw = float(data.qpos[2])
        vx, vy, turning = data.qvel[:3].tolist()
        c, s = cos(yaw), sin(yaw)
        forward, sideways = vx * c + vy * s, vy * c - vx * s
        self.angle += (self.wanted[0] * self.effort * car.steering - self.angle) * min(
            1.0, dt / self.lag
        )
        self.pull += (self.wanted[1] - self.pull) * min(1.0, dt / 0.15)
        pull = self._pull(forward, dt) - car.drag * forward * abs(forward)
        found = wheels(car, forward, sideways, turning, self.angle, pull, self._grip_at(self.along))
        down = car.mass * GRAVITY * sin(self.slope)
        data.qfrc_applied[:3] = (
            found.along * c - found.across * s - down,
            found.along * s + found.across * c,
            found.turning,
        )

    def _pull(self, forward: float, dt: float) -> float:
        """Force along in N of the drive or the brakes, and the heat of the discs."""
        car, pedal = self.car, self.pull * self.effort
        if pedal >= 0.0:
            self.heat -= self.heat * COOLING * dt / car.discs
            return pedal * car.drive * car.mass * (-1.0 if self.setting.backwards else 1.0)
        engine = min(-pedal * car.brake, self.setting.engine)
        discs = (-pedal * car.brake - engine) * self._fade()
        self.heat += (discs * car.mass * abs(forward) - COOLING * self.heat) * dt / car.discs
        return braking((engine + discs) * car.mass, forward)

    def _fade(self) -> float:
        low, high = FADING
        return 1.0 - 0.8 * max(0.0, min(1.0, (self.heat - low) / (high - low)))

    def _grip_at(self, along: float) -> float:
        for start, end, share in self.setting.patches:
            if start <= along <= end:
                return self.grip * self.values.get("patch_grip", share)
        return self.grip

    def _limit(self, along: float) -> float:
        limit = self.setting.limits[0][1]
        for start, value in self.setting.limits:
            if along >= start:
                limit = value
        return limit

    def _drive_others(self, dt: float) -> None:
        wish = self.setting.traffic.wish
        wishes = wish(self.values, self.seconds, self.along) if wish else ()
        for k, wanted in enumerate(wishes):
            self.others[k] = advanced(self.actors[k], self.others[k], wanted, dt)
        self._move_others()

    def _move_others(self) -> None:
        for k, now in enumerate(self.others):
            here = self.actors[k].path.at(now.along)
            c, s = cos(here.heading), sin(here.heading)
            self.data.mocap_pos[k] = here.x - now.aside * s, here.y + now.aside * c, 0.0
            self.data.mocap_quat[k] = cos(here.heading / 2.0), 0.0, 0.0, sin(here.heading / 2.0)

    # what is so now

    def _measure(self) -> None:
        setting, data = self.setting, self.data
        x, y, yaw = data.qpos[:3].tolist()
        vx, vy, self.turning = data.qvel[:3].tolist()
        c, s = cos(yaw), sin(yaw)
        self.forward, self.sideways = vx * c + vy * s, vy * c - vx * s
        ax, ay = data.qacc[:2].tolist()
        self.felt, self.across = ax * c + ay * s, ay * c - ax * s
        if setting.backwards:
            self.felt = -self.felt
        tracked = setting.tracked
        self.along, self.offset, here = setting.path.nearest(
            x + tracked * c, y + tracked * s, self.along
        )
        self.farthest = max(self.farthest, self.along)
        self.aim = setting.aim if self.along >= setting.aim_from else 0.0
        turned = yaw - here.heading - (np.pi if setting.backwards else 0.0)
        self.heading_error = atan2(sin(turned), cos(turned))
        gap, speed = ahead_of(self)
        own = max(self.forward, 0.0)
        self.gap = max(-20.0, min(150.0, gap))
        self.headway = min(10.0, self.gap / own) if own > 1.0 else 10.0
        self.closing = min(10.0, self.gap / (own - speed)) if own - speed > 0.1 else 10.0

    def _speed(self) -> float:
        return hypot(self.forward, self.sideways)

    def _margin(self) -> float:
        right, left = self.setting.lanes
        reach = abs(sin(self.heading_error)) * self.car.length / 2.0 + self.car.width / 2.0
        return min(left - self.offset, self.offset - right) - reach

    def _sideslip(self) -> float:
        return abs(atan2(self.sideways, abs(self.forward))) if abs(self.forward) > 2.0 else 0.0

    def progress(self) -> None:
        """Bring up to date what is followed once a control step."""
        self.jerk = (self.felt - self.last_felt) / self.setting.dt
        self.last_felt = self.felt
        if self.setting.still is None:
            here = self.data.qpos
            self.model.cam_pos[0, :2] = self.eye[:2] + here[:2]
            self.model.light_pos[0, :2] = self.sun[:2] + here[:2]

    def observe(self) -> Sequence[float]:
        """The observation, as the class says."""
        setting, v = self.setting, abs(self.forward)
        path, along = setting.path, self.along
        stop = v * v / 4.0 + v + 8.0
        ahead = [along + stop * k / 6.0 for k in range(7)]
        sharp = max((path.at(each).curvature for each in ahead), key=abs)
        own = (
            (self.offset - self.aim) / 2.0,
            self.heading_error / 0.3,
            self.sideways / 2.0,
            self.turning / 0.5,
            v / 30.0,
            path.at(along + 0.3 * v).curvature * 50.0,
            sharp * 50.0,
            min(map(self._limit, ahead)) / 30.0,
            min(map(self._grip_at, ahead)),
            max(-5.0, min(5.0, (setting.goal - along) / 100.0)),
            self.slope,
            self.heat / 400.0,
        )
        return (*own, *seen_of(self))

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        if self._margin() < -3.0:
            return "off_road"
        if self.setting.stop_at_goal and self.along >= self.setting.goal:
            return "arrived"
        if self.others and self.data.ncon:
            return "collision"
        return ""

    def reward(self, action: Vector) -> float:
        """Progress along the path; less for offset, sideways acceleration, speeding, nearness."""
        onward = self.forward * cos(self.heading_error) * (-1.0 if self.setting.backwards else 1.0)
        cost = 0.3 * abs(self.offset - self.aim) + 0.02 * self.across**2 + 0.005 * self.felt**2
        cost += max(0.0, self._speed() - self._limit(self.along))
        near = max(0.0, 1.0 - self.headway) if self.others else 0.0
        return self.setting.dt * (onward / 10.0 - cost - 2.0 * near)


def _ignoring(reading: Any) -> Any:
    def read(model: Any, data: Any) -> float:
        return float(reading())

    return read
