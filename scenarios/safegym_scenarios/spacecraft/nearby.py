"""A chaser near a station: the ways it has to go, what is measured, and how it looks."""

from math import atan2, cos, hypot, pi, sin

from safegym.formula.terms import Signal
from safegym.scenario.signals import Custom
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.spacecraft.craft import chaser, orbit_scene, station
from safegym_scenarios.spacecraft.env import CraftEnv, CraftSetting
from safegym_scenarios.spacecraft.rotation import Quaternion, Vector3, about, length

KEEP_OUT = Signal("station_distance", unit="m", scale=0.5, hold="min")
"""Distance from the chaser's middle to the station's, m."""
AWAY = Signal("station_farthest", unit="m", scale=0.5, hold="max")
"""The same distance, the largest since the last sample, m."""
SLOSH = Signal("slosh", unit="rad", scale=0.05, hold="max")
"""Angle of the propellant in its tank from rest, rad."""
ABORT = Signal("abort", unit="1", scale=1.0)
"""1 from the moment that the approach is to be broken off, else 0."""
SPHERE = 5.0
"""m, radius of the sphere that must not be entered."""
CIRCLE = 8.0
"""m, radius of the way round."""
PASSED = 1.5
"""m, at which a place on the way round counts as passed."""
LEFT = Signal("places_left", unit="1", scale=1.0)
"""How many places on the way still come after the next."""


class Proximity(CraftEnv):
    """Move about a station with the chaser's middle; it ends for nothing."""

    @staticmethod
    def build(setting: CraftSetting) -> str:
        """MJCF of the scene."""
        sphere = setting.layout in ("around", "inspect")
        return orbit_scene(
            setting,
            world=chaser(_TANK if setting.layout == "slosh" else "")
            + station(_SPHERE if sphere else "")
            + _MARK,
            camera='pos="-7 -14 9" xyaxes="0.9 -0.44 0 0.22 0.46 0.86"',
            center=(-1.0, 0.0, 0.0),
            extent=10.0,
        )

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        super().prepare()
        self.nose = 0.0
        self.leg = 0
        self.route: list[Vector3] = []

    def begin(self, values: dict[str, float]) -> tuple[Vector3, Vector3, Quaternion]:
        """Set up the task for these values; returns where the machine starts."""
        layout, self.leg = self.setting.layout, 0
        attitude = about((0.0, 0.6, 0.8), values["start_turn"])
        side, up = values["start_y"], values["start_z"]
        if layout == "around":
            angles = [pi - 0.6, pi - 1.4, pi - 2.2, 0.0]
            self.route = [(CIRCLE * cos(a), CIRCLE * sin(a), 0.0) for a in angles]
            start = (-CIRCLE + side, 0.0, up)
        elif layout == "inspect":
            angles = [pi - 0.35 * k for k in range(1, 5)]
            self.route = [(CIRCLE * cos(a), CIRCLE * sin(a), 0.0) for a in angles]
            start = (-CIRCLE + side, 0.0, up)
        elif layout == "slosh":
            self.model.jnt_stiffness[1:3] = values["stiffness"]
            self.route, start = [(-4.0, 0.0, 0.0)], (-9.0, side, up)
        else:
            self.route, start = [(-4.0, 0.0, 0.0)], (-10.0, side, up)
        self.goal = self.route[0]
        mark = self.model.geom("mark")
        mark.pos[:] = self.route[-1]
        return start, (0.0, 0.0, 0.0), attitude

    def move(self, time: float) -> None:
        """Bring what moves by itself to this time."""
        layout = self.setting.layout
        if layout == "inspect":
            x, y, _ = self.here()
            self.goal_attitude = about((0.0, 0.0, 1.0), atan2(-y, -x))
        elif layout == "abort":
            self.goal = (-14.0, 0.0, 0.0) if self.aborted() else self.route[0]

    def aborted(self) -> bool:
        """Whether the approach is to be broken off."""
        return bool(self.data.time >= self.values.get("abort_time", 1e9) - 1e-9)

    def progress(self) -> None:
        """Bring the task's state up to date."""
        if self.leg < len(self.route) - 1 and length(self.way()) <= PASSED:
            self.leg += 1
            self.goal = self.route[self.leg]

    def own(self) -> float:
        """Whether to break off; how much of the way round is left."""
        if self.setting.layout == "abort":
            return float(self.aborted())
        return (len(self.route) - 1 - self.leg) / 4.0

    def lean(self) -> tuple[float, float, float, float]:
        """Angles and rates of the propellant."""
        if self.setting.layout != "slosh":
            return 0.0, 0.0, 0.0, 0.0
        a, b = self.data.qpos[7:9].tolist()
        c, d = self.data.qvel[6:8].tolist()
        return -a, b, -c, d

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        distance = Custom(lambda model, data: length(self.here()))
        found = [*super().readers(), (KEEP_OUT, distance), (AWAY, distance)]
        if self.setting.layout == "slosh":
            found.append((SLOSH, Custom(lambda model, data: hypot(*data.qpos[7:9].tolist()))))
        return found

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        flag = (float(self.aborted()),) if self.setting.layout == "abort" else ()
        left = len(self.route) - 1 - self.leg
        return self.impulse, float(left), *flag


_MARK = """
    <geom name="mark" class="look" type="sphere" pos="0 0 0.1" size="0.12" material="goal"/>"""
_SPHERE = f"""
      <geom class="look" type="sphere" size="{SPHERE:g}" rgba="0.9 0.25 0.2 0.10"/>"""
_TANK = """
      <body name="tank" pos="-0.05 0 0">
        <joint name="slosh_a" type="hinge" axis="0 1 0" stiffness="1.6" damping="1.5"/>
        <joint name="slosh_b" type="hinge" axis="0 0 1" stiffness="1.6" damping="1.5"/>
        <geom name="propellant" type="sphere" pos="-0.3 0 0" size="0.22" mass="60" contype="0"
              conaffinity="0" material="blue"/>
      </body>
      <geom class="look" type="sphere" pos="-0.2 0 0" size="0.4" rgba="0.6 0.8 0.9 0.25"/>"""
