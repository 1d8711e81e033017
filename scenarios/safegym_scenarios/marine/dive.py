"""Underwater vehicles in the vertical plane: x along, y up from the bottom, heading is the pitch.

The equations are those of `Boat` with heave for sway and pitch for yaw; weight less buoyancy, the
righting moment of a low centre of mass, and fins (whose moment grows with the speed) come on top.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, sin
from typing import Any

from safegym.scenario.signals import Custom
from safegym.scenario.signals.extremes import Reader
from safegym_scenarios.marine.hydrodynamics import TORPEDO, Hull
from safegym_scenarios.marine.surface import Boat, SeaSetting, drawn_line
from safegym_scenarios.scene.look import scene

SURFACE = 30.0
"""Height of the surface above the bottom, m."""
GRAVITY = 9.81
RADIUS = 0.35
"""Half the height of the vehicles, m."""


@dataclass(frozen=True, kw_only=True)
class DiveSetting(SeaSetting):
    """righting: N m per rad of pitch. fins: turning comes from fins, full at 1.5 m/s. body: which
    vehicle is shown. dock: MJCF at the goal.

    ground: (x, height) corners of the bottom or the pipe, m, straight in between, where the
    variant has one; it is shifted by the parameter "shift" and scaled by "rise".
    """

    hull: Hull = TORPEDO
    thrust: tuple[float, float, float] = (60.0, 40.0, 60.0)
    righting: float = 60.0
    fins: bool = True
    lateral: bool = False
    body: str = "torpedo"
    dock: str = ""
    ground: tuple[tuple[float, float], ...] = ()
    camera: str = 'pos="14 -52 20" xyaxes="1 0 0 0 0.1 0.99"'
    middle: tuple[float, float] = (14.0, 0.0)
    timestep: float = 0.05
    substeps: int = 10


class Diver(Boat):
    """An underwater vehicle, or (see `waves`) a boat on waves.

    Observed beyond `Boat`, where the heading is now the pitch: depth (20 m); height above the
    ground at 0, 5 and 10 m ahead (10 m, 1 at most); then what variants add in `beyond`. Parameters
    beyond `Boat`'s: buoyancy (N, weight already taken off), leak (N/s) and leak_time (s), shift (m)
    and rise (1) of the ground.
    """

    pushed = "boat"
    setting: DiveSetting

    @staticmethod
    def build(setting: Any) -> str:
        """Bottom, water's surface and the vehicle."""
        bodies = {"torpedo": TORPEDO_BODY, "crawler": CRAWLER_BODY, "launch": LAUNCH_BODY}
        joints = JOINTS.format(mass=setting.hull.mass, turn=setting.hull.inertia)
        return scene(
            "underwater",
            world=f'<body name="boat">{joints}{bodies[setting.body]}</body>'
            + GOAL_BALL.format(dock=setting.dock)
            + (SEA if setting.body == "launch" else WATER)
            + setting.scenery
            + ground_geoms(setting.ground),
            camera=setting.camera,
            center=(*setting.middle, 15.0),
            extent=40.0,
            timestep=setting.timestep,
            floor="wood",
            gravity="0 0 0",
            more=drawn_line(setting.rope),
            fog=False,
        )

    def prepare(self) -> None:
        """And what weighs."""
        super().prepare()
        self.buoyancy = 0.0
        self.leak = [0.0, 0.0]
        self.ground = [0.0, 1.0]

    def gauges(self) -> dict[str, Reader]:
        """And depth, pitch, height above the ground."""
        return {
            **super().gauges(),
            "depth": Custom(lambda model, data: SURFACE - self.pose()[1]),
            "pitch": Custom(lambda model, data: abs(self.pose()[2])),
            "altitude": Custom(lambda model, data: self.altitude(0.0)),
            "stand_off": Custom(lambda model, data: self.altitude(0.0)),
        }

    def place(self, values: dict[str, float]) -> None:
        """Vehicle, weight and ground."""
        super().place(values)
        self.buoyancy = values.get("buoyancy", 0.0)
        self.leak = [values.get("leak", 0.0), values.get("leak_time", 0.0)]
        self.ground = [values.get("shift", 0.0), values.get("rise", 1.0)]
        goal = int(self.model.body("goal").mocapid[0])
        self.data.mocap_pos[goal] = (self.goal[0], 0.0, self.goal[1])
        if self.setting.ground:
            where = self.model.body("ground").mocapid[0]
            top = max(height for _, height in self.setting.ground)
            self.data.mocap_pos[where] = (self.ground[0], 0.0, (self.ground[1] - 1.0) * top)

    def cross_track(self) -> float:
        """Height above the wanted depth, m."""
        return self.pose()[1] - self.goal[1]

    def height_of_ground(self, x: float) -> float:
        """M above the bottom, at x."""
        shift, rise = self.ground
        corners = self.setting.ground
        if not corners:
            return 0.0
        lift = (rise - 1.0) * max(height for _, height in corners)
        at = x - shift
        for (x1, h1), (x2, h2) in pairwise(corners):
            if x1 <= at <= x2:
                return max(0.0, h1 + (h2 - h1) * (at - x1) / (x2 - x1) + lift)
        end = corners[-1] if at > corners[-1][0] else corners[0]
        return max(0.0, end[1] + lift)

    def altitude(self, ahead: float) -> float:
        """Height above the ground that is `ahead` m further on, m."""
        x, y, _ = self.pose()
        return y - self.height_of_ground(x + ahead)

    def disturb(self, pushes: dict[str, float]) -> None:
        """Pushes ahead and up."""
        self.push = [pushes.get("push_forward", 0.0), pushes.get("push_up", 0.0), 0.0]

    def terminal(self) -> str:
        """A slender hull is lost on the ground; what hovers just stands on it."""
        aground = self.setting.fins and self.altitude(0.0) < RADIUS
        return "aground" if aground else super().terminal()

    def weight(self) -> float:
        """Buoyancy less weight, N: what has leaked in so far taken off."""
        rate, since = self.leak
        return self.buoyancy - rate * max(0.0, float(self.data.time) - since)

    def load(self) -> tuple[float, float, float]:
        """Thrust, fins, weight and righting moment.

        What is out of the water has no buoyancy; fins act by the water's flow, astern the other
        way round.
        """
        setting, pitch = self.setting, self.pose()[2]
        ahead, up, turning = super().load()
        if setting.fins:
            x, y, _ = self.motion()
            speed = self.aboard(x - self.current[0], y - self.current[1])[0] / 1.5
            turning = turning * max(-1.0, min(1.0, speed * abs(speed)))
        out = min(1.0, max(0.0, 0.5 + 0.5 * (self.pose()[1] - SURFACE) / RADIUS))
        lift = self.weight() - out * setting.hull.mass * GRAVITY
        pressed = RADIUS - self.altitude(0.0)
        if pressed > 0.0:
            lift += max(0.0, 4000.0 * pressed - 400.0 * self.motion()[1])
        x, y = self.aboard(0.0, lift)
        return ahead + x, up + y, turning - setting.righting * sin(pitch)

    def more(self) -> Sequence[float]:
        """See the class."""
        depth = (SURFACE - self.pose()[1]) / 20.0
        heights = (min(1.0, self.altitude(each) / 10.0) for each in (0.0, 5.0, 10.0))
        return (depth, *heights, *self.beyond())

    def beyond(self) -> Sequence[float]:
        """Further entries of the observation."""
        return ()

    def tell(self) -> dict[str, float]:
        """And the way to the surface."""
        return {**super().tell(), "surface_distance": SURFACE - self.pose()[1]}


class LeakDiver(Diver):
    """Water leaks in; a bottle of gas can blow the ballast out, once, by the action's third part.

    Observed beyond `Diver`: weight (20 N), whether ballast is blown.
    """

    def place(self, values: dict[str, float]) -> None:
        """The bottle is full."""
        super().place(values)
        self.blown = 0.0

    def command(self, action: Any) -> None:
        """Ballast is blown above 0.5, and stays so."""
        super().command(action[:2])
        if action[2] > 0.5:
            self.blown = 1.0

    def weight(self) -> float:
        """40 N lighter once the ballast is out."""
        return super().weight() + 40.0 * self.blown

    def beyond(self) -> Sequence[float]:
        """See the class."""
        return self.weight() / 20.0, self.blown


class TetherDiver(Diver):
    """On a tether that is paid out at 0.35 m/s at most and only pulls beyond its length.

    Observed beyond `Diver`: slack (5 m; negative: taut), pull (200 N).
    """

    STIFFNESS = 60.0
    PAID_OUT = 0.35

    def place(self, values: dict[str, float]) -> None:
        """A metre of slack."""
        super().place(values)
        self.length = self.reach() + 1.0

    def reach(self) -> float:
        """From the ship to the vehicle, m."""
        x, y, _ = self.pose()
        return hypot(x, SURFACE - y)

    def pull(self) -> float:
        """N."""
        return self.STIFFNESS * max(0.0, self.reach() - self.length)

    def gauges(self) -> dict[str, Reader]:
        """And the tether's pull."""
        return {**super().gauges(), "tether_tension": Custom(lambda model, data: self.pull())}

    def load(self) -> tuple[float, float, float]:
        """The tether pulls towards the ship."""
        ahead, up, turning = super().load()
        x, y, _ = self.pose()
        far = max(0.1, self.reach())
        one, two = self.aboard(-self.pull() * x / far, self.pull() * (SURFACE - y) / far)
        return ahead + one, up + two, turning

    def tick(self) -> None:
        """The winch keeps a metre of slack as fast as it can."""
        super().tick()
        most = self.PAID_OUT * self.setting.timestep
        self.length += min(most, max(-most, self.reach() + 1.0 - self.length))

    def beyond(self) -> Sequence[float]:
        """See the class."""
        return (self.length - self.reach()) / 5.0, self.pull() / 200.0


class DockDiver(Diver):
    """Glide into a docking cone that opens to the left at the goal; docked or struck, it is over.

    The cone's mouth is 3 m before the goal and 1.2 m wide to each side, its throat 0.3 m.
    """

    def place(self, values: dict[str, float]) -> None:
        """Not docked yet."""
        super().place(values)
        self.state = ""

    def progress(self) -> None:
        """Whether it is in the throat, or beside the cone."""
        x, y, _ = self.pose()
        ahead, aside = self.goal[0] - x, abs(self.goal[1] - y)
        if ahead < 3.0 and not self.state and aside > 0.3 + 0.3 * max(0.0, ahead):
            self.state = "struck"
        if ahead < 0.3 and not self.state:
            self.state = "docked"
        super().progress()

    def terminal(self) -> str:
        """Docked or struck."""
        return self.state or super().terminal()

    def gauges(self) -> dict[str, Reader]:
        """And the speed in the throat."""
        return {**super().gauges(), "touch_speed": Custom(lambda model, data: self.touch_speed())}

    def touch_speed(self) -> float:
        """Speed over ground within 0.6 m of the dock's end, m/s."""
        x, y, _ = self.motion()
        return hypot(x, y) if self.goal[0] - self.pose()[0] < 0.6 else 0.0

    def tell(self) -> dict[str, float]:
        """And whether it docked."""
        return {**super().tell(), "docked": float(self.state == "docked")}


def ground_geoms(corners: tuple[tuple[float, float], ...]) -> str:
    """The ground's profile as slabs, on a mocap body."""
    if not corners:
        return ""
    slabs: list[str] = []
    for (x1, h1), (x2, h2) in pairwise(corners):
        steps = max(1, round((x2 - x1) / 1.0))
        for k in range(steps):
            x = x1 + (x2 - x1) * (k + 0.5) / steps
            height = h1 + (h2 - h1) * (k + 0.5) / steps
            half = 0.5 * (x2 - x1) / steps
            slabs.append(
                f'<geom class="look" type="box" size="{half:g} 5 12" '
                f'pos="{x:g} 0 {height - 12:g}" material="wood"/>'
            )
    return f'<body name="ground" mocap="true">{"".join(slabs)}</body>'


JOINTS = """<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 0 1"/>
  <joint name="heading" type="hinge" axis="0 -1 0"/>
  <inertial pos="0 0 0" mass="{mass}" diaginertia="{turn} {turn} {turn}"/>"""
WATER = """<geom class="look" type="box" size="70 2 0.03" pos="14 18 30"
  rgba="0.75 0.88 0.95 0.9"/>
  <geom class="look" type="box" size="70 0.1 15" pos="14 20 15" rgba="0.14 0.36 0.50 1"/>"""
SEA = """<geom class="look" type="box" size="70 20 0.02" pos="14 0 30"
  rgba="0.25 0.5 0.65 0.6"/>"""
GOAL_BALL = """<body name="goal" mocap="true">
  <geom class="look" type="sphere" size="0.4" material="goal"/>{dock}</body>"""
TORPEDO_BODY = """<geom class="look" type="capsule" size="0.35" fromto="-1.4 0 0 1.4 0 0"
  material="yellow"/>
  <geom class="look" type="box" size="0.25 0.9 0.05" pos="-1.3 0 0" material="dark"/>
  <geom class="look" type="box" size="0.25 0.05 0.9" pos="-1.3 0 0" material="dark"/>
  <geom class="look" type="cylinder" size="0.3 0.08" pos="-1.85 0 0" euler="0 1.5708 0"
        material="black"/>
  <geom class="look" type="sphere" size="0.2" pos="1.6 0 0" material="lamp"/>"""
CRAWLER_BODY = """<geom class="look" type="box" size="1.1 0.8 0.3" pos="0 0 0.5"
  material="yellow"/>
  <site name="tether" pos="0 0 0.8" size="0.1"/>
  <geom class="look" type="box" size="1.1 0.08 0.5" pos="0 -0.7 -0.1" material="dark"/>
  <geom class="look" type="box" size="1.1 0.08 0.5" pos="0 0.7 -0.1" material="dark"/>
  <geom class="look" type="cylinder" size="0.25 0.2" pos="-1 0 0" euler="0 1.5708 0"
        material="black"/>
  <geom class="look" type="sphere" size="0.2" pos="1.1 0 -0.1" material="lamp"/>"""
LAUNCH_BODY = """<geom class="look" type="box" size="2.9 1.4 0.55" pos="-1.2 0 0.1"
  material="red"/>
  <geom class="look" type="ellipsoid" size="2.9 1.38 0.55" pos="1.6 0 0.1" material="red"/>
  <geom class="look" type="box" size="1.1 0.95 0.75" pos="-0.6 0 1.4" material="white"/>
  <geom class="look" type="box" size="1.12 0.97 0.2" pos="-0.6 0 1.65" material="black"/>
  <geom class="look" type="box" size="1.3 1.1 0.06" pos="-0.6 0 2.2" material="orange"/>"""
