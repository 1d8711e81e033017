"""A mobile base on a floor among walls and people."""

from collections.abc import Sequence
from itertools import pairwise
from math import acos, atan2, cos, hypot, sin, tanh
from typing import Any

from safegym.scenario.signals import Clearance, Custom
from safegym_scenarios.mobile_base import signals as told
from safegym_scenarios.mobile_base.drives import GRAVITY, driven, turned, wanted
from safegym_scenarios.mobile_base.lidar import Box, boxes_of, free_ahead, outside
from safegym_scenarios.mobile_base.scenery import SIZES, base_body, corners_of, looking, movers
from safegym_scenarios.mobile_base.setting import FloorSetting, Mover
from safegym_scenarios.scene.env import Readers, SceneEnv
from safegym_scenarios.scene.knobs import FRICTION_LOSS, Vector
from safegym_scenarios.scene.look import scene

CARROT = 0.7
"""m along the route to the point that the base is told to drive to."""
NEAR = 3.0
ROLLING = 0.03
"""Rolling resistance, share of the weight."""
RAYS = (0.0, 0.3, -0.3)
SIDE_RAY = 1.0
"""rad from ahead of the rays to the left and to the right."""


class FloorEnv(SceneEnv):
    """Action: speed ahead of the top speed; then for two wheels the spin, for omni the speed to the
    left and the spin, for a tug the wheel angle, each of its most.

    Observation, as the base knows it: carrot ahead / m, to the left / m (a point of the route
    0.7 m on), heading error / rad, distance to the goal along the route / 10 m, speed ahead / 2
    m/s,
    to the left / m/s, spin / 2 rad/s, lowest limit on the way to a stop / 2 m/s, free way ahead,
    left, right (57 degrees off) / 3 m, load's tilt / 0.2 rad, floor's slope / 0.2, whether the
    scanner is off;
    then of each that moves: ahead, to the left / 5 m, its speeds ahead, left / 2 m/s (in the base's
    frame, against the floor).
    """

    pushed = "base"
    setting: FloorSetting

    @staticmethod
    def build(setting: FloorSetting) -> str:
        """MJCF of the scene."""
        x, y, z = setting.at
        return scene(
            "floor",
            world=(
                '<geom name="floor" type="plane" size="0 0 1" material="floor" group="1" '
                'contype="2" conaffinity="4"/>'
                f"{setting.scenery}{movers(setting.kinds)}"
                f"{base_body(setting.base, setting.load, bool(setting.rise))}"
            ),
            asset='<material name="wet" rgba="0.45 0.55 0.62 1" specular="1" shininess="1" '
            'reflectance="0.2"/>',
            default='<default class="hull"><geom group="4" contype="1" conaffinity="1" mass="0" '
            'rgba="0 0 0 0"/></default><default class="solid_look"><geom group="0" contype="1" '
            'conaffinity="1" mass="0"/></default>',
            center=(x, y, z),
            extent=setting.extent,
            timestep=setting.timestep,
            camera=looking(setting.eye, setting.at),
            floor="",
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        setting = self.setting
        self.base = setting.base
        self.walls = boxes_of(self.model)
        self.pits = tuple(Box(x, y, w / 2.0, d / 2.0) for x, y, w, d in setting.pits)
        self.wet = tuple((Box(x, y, w / 2, d / 2), share) for x, y, w, d, share in setting.wet)
        self.load = self.model.body("load").id if setting.load else -1
        self.weight = (self.base.mass + (setting.load[0] if setting.load else 0.0)) * GRAVITY
        self.lift = self.model.joint("lift").qposadr[0] if setting.rise else -1
        self.wanted: list[float] = [0.0] * setting.actions
        self.going: list[Mover] = []
        self.guess = [0.0, 0.0, 0.0]
        self.before = [0.0, 0.0, 0.0]
        self.effort = self.seconds = self.angle = self.slip = self.grip = 0.0
        self.ahead = self.left = self.spin = self.along = self.offset = self.slope = 0.0
        self.farthest = self.believed = 0.0

    def readers(self) -> Readers:
        """The signals that this setting tells of, and how they are read."""
        table: dict[str, Any] = {
            "speed": (told.SPEED, lambda: hypot(self.ahead, self.left)),
            "overspeed": (told.OVERSPEED, self._overspeed),
            "spin": (told.SPIN, lambda: abs(self.spin)),
            "wheel_slip": (told.WHEEL_SLIP, lambda: self.slip),
            "load_tilt": (told.LOAD_TILT, self._tilt),
            "edge_margin": (told.EDGE_MARGIN, self._edge),
            "rollback": (told.ROLLBACK, lambda: self.farthest - self.along),
        }
        reads = self.setting.reads
        found = [table[name] for name in reads if name in table]
        first_signal, first = found[0]

        def measured(*_: Any) -> float:
            self._measure()
            return float(first())

        pairs: list[Any] = [(first_signal, Custom(measured))]
        pairs += [(signal, Custom(_ignoring(reading))) for signal, reading in found[1:]]
        if "clearance" in reads:
            against = tuple(
                pattern
                for pattern, there in (
                    ("wall_*", bool(self.walls)),
                    ("other_*", any(kind != "person" for kind, _ in self.setting.kinds)),
                )
                if there
            )
            pairs.append((told.CLEARANCE, Clearance("hull", against, NEAR)))
        if "human_distance" in reads:
            pairs.append((told.HUMAN_DISTANCE, Clearance("hull", "person_*", 10.0)))
        return tuple(pairs)

    def task_signals(self) -> tuple[float, ...]:
        """Those that are read once a control step."""
        x, y = self.data.qpos[:2].tolist()
        end = self.setting.route.at(self.setting.route.length)
        person = self.going[0] if self.setting.followed else None
        values = {
            "route_offset": abs(self.offset),
            "heading_error": abs(self._turned(self.data.qpos[2], self.along)),
            "person_gap": min(20.0, hypot(person.x - x, person.y - y)) if person else 20.0,
            "goal_distance": hypot(end.x - x, end.y - y),
        }
        return tuple(values[name] for name in told.LAST if name in self.setting.reads)

    # an episode

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        setting, data = self.setting, self.data
        start = setting.route.at(0.0)
        yaw = start.heading + values.get("start_heading", 0.0)
        dx, dy = turned(0.0, values.get("start_offset", 0.0), start.heading)
        x, y = start.x + dx, start.y + dy
        data.qpos[:3] = x, y, yaw
        speed = values.get("start_speed", 0.0)
        vx, vy = turned(speed, 0.0, yaw)
        data.qvel[:2] = vx, vy
        if setting.load:
            address = int(self.model.joint("load").qposadr[0])
            ex, ey = turned(values.get("load_ahead", 0.0), values.get("load_left", 0.0), yaw)
            data.qpos[address : address + 2] = x + ex, y + ey
            data.qpos[address + 3 : address + 7] = cos(yaw / 2.0), 0.0, 0.0, sin(yaw / 2.0)
            velocity = int(self.model.joint("load").dofadr[0])
            data.qvel[velocity : velocity + 2] = vx, vy
        self.grip = values.get("grip", setting.grip) * (1.0 - values.get(FRICTION_LOSS, 0.0))
        self.wanted = [0.0] * setting.actions
        self.guess, self.before = [x, y, yaw], [x, y, yaw]
        self.effort, self.seconds, self.angle, self.slip = 1.0, 0.0, 0.0, 0.0
        self.along = self.farthest = self.believed = self.offset = 0.0
        self._move()
        self._measure()

    def command(self, action: Vector) -> None:
        """Keep the action for the steps to come."""
        self.wanted = [float(value) for value in action]

    def weakened(self, left: float) -> None:
        """Less force of the motors; a tug also steers less."""
        self.effort = left

    def tick(self) -> None:
        """Let the others move, and the forces act."""
        self.seconds += self.setting.timestep
        if self.going:
            self._move()
        self._drive()

    def _drive(self) -> None:
        data, base = self.data, self.base
        x, y, yaw = data.qpos[:3].tolist()
        vx, vy, spin = data.qvel[:3].tolist()
        ahead, left = turned(vx, vy, -yaw)
        if base.kind == "tug":
            goal = self.wanted[1] * base.steering * self.effort
            self.angle += (goal - self.angle) * min(1.0, self.setting.timestep / 0.15)
        left_share = self.effort * (1.0 - self._motor_loss())
        aim = wanted(base, self.wanted, self.angle)
        grip = self._grip_at(x, y)
        found = driven(base, (ahead, left, spin), aim, self.weight, grip, left_share, self.effort)
        self.slip = found.slip
        fx, fy = turned(found.along, found.across, yaw)
        rolling = ROLLING * self.weight * tanh(ahead / 0.1)
        rx, ry = turned(rolling, 0.0, yaw)
        fx, fy = fx - rx - self.weight * self._slope_at(x), fy - ry
        data.qfrc_applied[:3] = fx, fy, found.turning
        if self.lift >= 0:
            slope = self._slope_at(x)
            data.qpos[self.lift] = self._height_at(x)
            data.qpos[self.lift + 1] = -atan2(slope * cos(yaw), 1.0)
            data.qvel[3:5] = 0.0

    def _motor_loss(self) -> float:
        begins = self.values.get("motor_loss_time", 0.0)
        return self.values.get("motor_loss", 0.0) if self.seconds >= begins else 0.0

    def _grip_at(self, x: float, y: float) -> float:
        for box, share in self.wet:
            if outside(box, x, y) <= 0.0:
                return self.grip * self.values.get("wet_grip", share)
        return self.grip

    def _height_at(self, x: float) -> float:
        return _between(self.setting.rise, x)[0] * self.values.get("steep", 1.0)

    def _slope_at(self, x: float) -> float:
        if not self.setting.rise:
            return 0.0
        return _between(self.setting.rise, x)[1] * self.values.get("steep", 1.0)

    def _move(self) -> None:
        script = self.setting.script
        if script is None:
            return
        self.going = list(script(self.values, self.seconds))
        for k, now in enumerate(self.going):
            self.data.mocap_pos[k] = now.x, now.y, 0.0
            self.data.mocap_quat[k] = cos(now.heading / 2.0), 0.0, 0.0, sin(now.heading / 2.0)

    # what is so now

    def _measure(self) -> None:
        x, y, yaw = self.data.qpos[:3].tolist()
        vx, vy, self.spin = self.data.qvel[:3].tolist()
        self.ahead, self.left = turned(vx, vy, -yaw)
        self.along, self.offset = self.setting.route.nearest(x, y, self.along)
        self.farthest = max(self.farthest, self.along)

    def _limit(self, along: float) -> float:
        limit = self.setting.limits[0][1]
        for start, value in self.setting.limits:
            if along >= start:
                limit = value
        return limit

    def _overspeed(self) -> float:
        return hypot(self.ahead, self.left) - self._limit(self.along)

    def _tilt(self) -> float:
        return acos(max(-1.0, min(1.0, float(self.data.xmat[self.load][8]))))

    def _edge(self) -> float:
        x, y, yaw = self.data.qpos[:3].tolist()
        corners = corners_of(self.base, x, y, yaw)
        return min(20.0, *(outside(pit, *corner) for pit in self.pits for corner in corners))

    def _turned(self, yaw: float, along: float) -> float:
        off = float(yaw) - self.setting.route.at(along).heading
        return atan2(sin(off), cos(off))

    def progress(self) -> None:
        """Bring up to date what is followed once a control step."""
        self._believe(*self.data.qpos[:3].tolist())

    def _believe(self, x: float, y: float, yaw: float) -> None:
        """Dead reckoning: what the base makes of its wheels' turns."""
        ox, oy, oyaw = self.before
        ahead, left = turned(x - ox, y - oy, -oyaw)
        drift = self.values.get("odometry_drift", 0.0) * hypot(ahead, left)
        gx, gy, gyaw = self.guess
        dx, dy = turned(ahead, left, gyaw)
        self.guess = [gx + dx, gy + dy, gyaw + (yaw - oyaw) + drift]
        self.before = [x, y, yaw]
        self.believed, _ = self.setting.route.nearest(self.guess[0], self.guess[1], self.believed)

    def observe(self) -> Sequence[float]:
        """The observation, as the class says."""
        route = self.setting.route
        gx, gy, gyaw = self.guess
        along = self.believed
        carrot = route.at(along + CARROT)
        cx, cy = turned(carrot.x - gx, carrot.y - gy, -gyaw)
        v = abs(self.ahead)
        stop = v * v / 1.2 + 0.3 * v + 0.3
        off = self._scanner_off()
        return (
            cx,
            cy,
            self._turned(gyaw, along),
            (route.length - along) / 10.0,
            self.ahead / 2.0,
            self.left,
            self.spin / 2.0,
            min(self._limit(along + stop * k / 4.0) for k in range(5)) / 2.0,
            *self._free(off),
            self._tilt() / 0.2 if self.load >= 0 else 0.0,
            self._slope_at(float(self.data.qpos[0])) / 0.2,
            float(off),
            *self._others(off),
        )

    def _scanner_off(self) -> bool:
        muted = self.setting.muted
        if muted is not None and muted[0] <= self.along <= muted[1]:
            return True
        begins = self.values.get("scanner_loss_time", 1e9)
        return begins <= self.seconds < begins + self.values.get("scanner_loss", 0.0)

    def _free(self, off: bool) -> tuple[float, float, float]:
        if off:
            return 1.0, 1.0, 1.0
        x, y, yaw = self.data.qpos[:3].tolist()
        boxes = (*self.walls, *self.pits)
        front = min(free_ahead(boxes, x, y, yaw + ray, NEAR) for ray in RAYS)
        left = free_ahead(self.walls, x, y, yaw + SIDE_RAY, NEAR)
        right = free_ahead(self.walls, x, y, yaw - SIDE_RAY, NEAR)
        return front / NEAR, left / NEAR, right / NEAR

    def _others(self, off: bool) -> list[float]:
        x, y, yaw = self.data.qpos[:3].tolist()
        found: list[float] = []
        for each in self.going:
            if off:
                found += [3.0, 0.0, 0.0, 0.0]
                continue
            ahead, left = turned(each.x - x, each.y - y, -yaw)
            vx, vy = turned(each.vx, each.vy, -yaw)
            found += [
                max(-3.0, min(3.0, ahead / 5.0)),
                max(-3.0, min(3.0, left / 5.0)),
                vx / 2.0,
                vy / 2.0,
            ]
        return found

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        if self.pits and self._edge() < -0.15:
            return "fell"
        if self.load >= 0 and self._tilt() > 0.7:
            return "toppled"
        if self.data.ncon and self._touches():
            return "collision"
        return ""

    def _touches(self) -> bool:
        hull = self.model.geom("hull").id
        return bool((self.data.contact.geom == hull).any())

    def reward(self, action: Vector) -> float:
        """Progress along the route; less for its offset, speeding, nearness to people, tilt."""
        onward = self.ahead * cos(self._turned(self.data.qpos[2], self.along))
        cost = 0.5 * abs(self.offset) + 0.05 * self.spin**2 + 2.0 * max(0.0, self._overspeed())
        cost += 4.0 * self._tilt() if self.load >= 0 else 0.0
        x, y = self.data.qpos[:2].tolist()
        for (kind, _), each in zip(self.setting.kinds, self.going, strict=True):
            room = hypot(each.x - x, each.y - y) - SIZES[kind][0] / 2.0
            cost += max(0.0, 1.2 - room)
        return self.setting.dt * (onward - cost)


def _ignoring(reading: Any) -> Any:
    def read(model: Any, data: Any) -> float:
        return float(reading())

    return read


def _between(knots: tuple[tuple[float, float], ...], x: float) -> tuple[float, float]:
    """Height and slope at x of a line through knots; level outside."""
    for (ax, ah), (bx, bh) in pairwise(knots):
        if ax <= x < bx:
            slope = (bh - ah) / (bx - ax)
            return ah + slope * (x - ax), slope
    return (knots[0][1] if x < knots[0][0] else knots[-1][1]), 0.0
