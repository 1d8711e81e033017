"""Boats with a duty: quays, speed zones, other ships, a tow, a lost engine, a wrong compass."""

from collections.abc import Sequence
from math import cos, hypot, sin

from safegym.scenario.signals import Custom
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.marine.hydrodynamics import BARGE
from safegym_scenarios.marine.surface import Boat, wrapped

QUAY = 8.0
"""y of the quay's edge, m."""
FENDER = ((-4.0, 1.45), (3.2, 1.45))
"""Corners of the fender on the quay's side, ahead and to the left of the boat's middle, m."""
ZONE = (5.0, 30.0)
"""x of the speed zone's ends, m."""
LINE = 14.0
"""Length of the towing line, m."""
LINE_STIFFNESS = 2.0e4


class StationBoat(Boat):
    """Keep a place and a heading (along x)."""

    def gauges(self) -> dict[str, Reader]:
        """And the distance from the place."""
        return {**super().gauges(), "station_distance": Custom(lambda m, d: self.goal_distance())}


class QuayBoat(Boat):
    """Come alongside a quay. Observed beyond `Boat`: gap to the quay (5 m), heading (0.5 rad)."""

    def foremost(self) -> tuple[float, float]:
        """Of the fender's corners the one that is nearest to the quay: along and across, m."""
        heading = self.pose()[2]
        c, s = cos(heading), sin(heading)
        return max(((c * x - s * y, s * x + c * y) for x, y in FENDER), key=lambda at: at[1])

    def gap(self) -> float:
        """M between fender and quay."""
        return QUAY - self.pose()[1] - self.foremost()[1]

    def gauges(self) -> dict[str, Reader]:
        """And the speed of touching."""
        return {**super().gauges(), "touch_speed": Custom(lambda model, data: self.touch_speed())}

    def touch_speed(self) -> float:
        """Of the corner that touches, m/s."""
        _, y, turning = self.motion()
        return abs(y + turning * self.foremost()[0]) if self.gap() < 0.05 else 0.0

    def more(self) -> Sequence[float]:
        """See the class."""
        return self.gap() / 5.0, wrapped(self.pose()[2]) / 0.5


class ZoneBoat(Boat):
    """Through a speed zone. Observed beyond `Boat`: way to the zone, to its end (20 m), y (5)."""

    def gauges(self) -> dict[str, Reader]:
        """And the speed in the zone."""
        return {**super().gauges(), "zone_speed": Custom(lambda model, data: self.zone_speed())}

    def zone_speed(self) -> float:
        """m/s; 0 outside."""
        x, y, _ = self.motion()
        return hypot(x, y) if ZONE[0] <= self.pose()[0] <= ZONE[1] else 0.0

    def more(self) -> Sequence[float]:
        """See the class."""
        x, y, _ = self.pose()
        return (ZONE[0] - x) / 20.0, (ZONE[1] - x) / 20.0, y / 5.0


class TrafficBoat(Boat):
    """A ship crosses; it sets out when the boat is `ship_lead` m before its course.

    Observed beyond `Boat`: the ship's x and y from the boat (20 m), its speed (3 m/s).
    """

    def place(self, values: dict[str, float]) -> None:
        """The ship waits."""
        super().place(values)
        self.ship = [values["ship_x"], values["ship_y"], 0.0]
        self.sets_out = [values["ship_lead"], values["ship_speed"]]
        self._ship = int(self.model.body("ship").mocapid[0])
        self._steam(0.0)

    def _steam(self, seconds: float) -> None:
        x, y, speed = self.ship
        self.ship[1] = y + speed * seconds
        self.data.mocap_pos[self._ship] = (x, self.ship[1], 0.0)

    def tick(self) -> None:
        """The ship goes on."""
        super().tick()
        lead, speed = self.sets_out
        if self.ship[0] - self.pose()[0] < lead:
            self.ship[2] = speed
        self._steam(self.setting.timestep)

    def terminal(self) -> str:
        """Run down, the voyage is over."""
        return "run_down" if self.told_of("clearance") <= 0.0 else super().terminal()

    def more(self) -> Sequence[float]:
        """See the class."""
        x, y, _ = self.pose()
        return (self.ship[0] - x) / 20.0, (self.ship[1] - y) / 20.0, self.ship[2] / 3.0


class LineBoat(Boat):
    """Follow the line y = 0. Observed beyond `Boat`: distance to its left (5 m)."""

    def more(self) -> Sequence[float]:
        """See the class."""
        return (self.cross_track() / 5.0,)


class LameBoat(LineBoat):
    """Of two engines the left one fails at a drawn time: half the thrust, and it turns the boat.

    Observed beyond `LineBoat`: whether it has failed.
    """

    def place(self, values: dict[str, float]) -> None:
        """When."""
        super().place(values)
        self.fails_at = values["engine_fails"]

    def failed(self) -> bool:
        """Whether only the right engine is left."""
        return float(self.data.time) >= self.fails_at

    def load(self) -> tuple[float, float, float]:
        """The right engine pushes 1.1 m beside the middle."""
        ahead, left, turning = super().load()
        if self.failed():
            lost = 0.5 * self.thrust[0]
            return ahead - lost, left, turning + 1.1 * lost
        return ahead, left, turning

    def more(self) -> Sequence[float]:
        """See the class."""
        return (*super().more(), float(self.failed()))


class MisledBoat(LineBoat):
    """The compass is off by a drawn angle, and with it all that is told as ahead and left."""

    def place(self, values: dict[str, float]) -> None:
        """How far off."""
        super().place(values)
        self.off = values["compass_bias"]

    def observe(self) -> Sequence[float]:
        """All vectors of the world turned by the error of the compass."""
        told = list(super().observe())
        c, s = cos(self.off), sin(self.off)
        for first in (0, 2, 7, 9):
            ahead, left = told[first], told[first + 1]
            told[first], told[first + 1] = c * ahead + s * left, -s * ahead + c * left
        heading = self.pose()[2] + self.off
        told[5], told[6] = cos(heading), sin(heading)
        return told


class TowBoat(Boat):
    """Tow a barge on a line that only pulls.

    Observed beyond `Boat`: barge ahead and to the left of the boat (20 m), its speed along x
    (3 m/s), pull in the line (20 kN).
    """

    def prepare(self) -> None:
        """And the barge's addresses."""
        super().prepare()
        names = ("barge_x", "barge_y", "barge_heading")
        self._barge = [int(self.model.joint(name).qposadr[0]) for name in names]
        self.pull = 0.0

    def gauges(self) -> dict[str, Reader]:
        """And the line's pull, the distance between the two."""
        return {
            **super().gauges(),
            "line_tension": Custom(lambda model, data: self.line()[0] / 1000.0),
        }

    def place(self, values: dict[str, float]) -> None:
        """The barge lies astern, the line slack."""
        super().place(values)
        q = self.data.qpos
        q[self._barge[0]] = self.pose()[0] - values["barge_astern"]
        q[self._barge[1]] = self.pose()[1] + values["barge_beside"]

    def line(self) -> tuple[float, float, float]:
        """Pull (N) and its direction from the boat's stern to the barge's bow."""
        x, y, heading = self.pose()
        q = self.data.qpos
        bx, by, turn = (float(q[each]) for each in self._barge)
        dx = bx + 6.0 * cos(turn) - x + 4.1 * cos(heading)
        dy = by + 6.0 * sin(turn) - y + 4.1 * sin(heading)
        length = hypot(dx, dy)
        if length <= LINE:
            return 0.0, 0.0, 0.0
        return LINE_STIFFNESS * (length - LINE), dx / length, dy / length

    def load(self) -> tuple[float, float, float]:
        """The line pulls at the stern."""
        ahead, left, turning = super().load()
        pull, dx, dy = self.line()
        x, y = self.aboard(pull * dx, pull * dy)
        return ahead + x, left + y, turning - 4.1 * y

    def tick(self) -> None:
        """The barge moves too."""
        super().tick()
        one, two, three = self._barge
        q, v = self.data.qpos, self.data.qvel
        turn, rate = float(q[three]), float(v[three])
        c, s = cos(turn), sin(turn)
        dx, dy = float(v[one]) - self.current[0], float(v[two]) - self.current[1]
        u, w = c * dx + s * dy, -s * dx + c * dy
        pull, lx, ly = self.line()
        fx, fy = -pull * lx, -pull * ly
        ahead, left = c * fx + s * fy, -s * fx + c * fy
        surge, sway, yaw = BARGE.acceleration((u, w, rate), (ahead, left, 6.0 * left))
        a, b = surge - rate * w, sway + rate * u
        force = self.data.qfrc_applied
        force[one] = BARGE.mass * (c * a - s * b)
        force[two] = BARGE.mass * (s * a + c * b)
        force[three] = BARGE.inertia * yaw

    def more(self) -> Sequence[float]:
        """See the class."""
        x, y, _ = self.pose()
        q = self.data.qpos
        bx, by = float(q[self._barge[0]]), float(q[self._barge[1]])
        barge = self.aboard(bx - x, by - y)
        speed = float(self.data.qvel[self._barge[0]])
        return barge[0] / 20.0, barge[1] / 20.0, speed / 3.0, self.line()[0] / 2.0e4
