"""A lander over the moon: what it weighs, how it is moved, what is measured of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan, hypot, sin

from safegym.formula.terms import Signal
from safegym.scenario.signals import Custom
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.spacecraft.craft import orbit_scene
from safegym_scenarios.spacecraft.rotation import Vector3, about

GRAVITY = 1.62
"""m/s^2 on the moon."""
MASS = 800.0
ENGINE = 3200.0
"""N, largest thrust of the engine."""
LEAN = 0.3
"""rad, largest lean that can be asked for."""
SOLES = 1.6
"""m, from the middle of the lander down to its soles."""
SITE = 4.0
"""m, radius of a landing site."""
HEIGHT_UNIT, SPEED_UNIT = 20.0, 5.0
SIZE = 13

HEIGHT = Signal("height", unit="m", scale=1.0, hold="min")
"""Height of the soles above the ground below, m."""
SINK = Signal("sink_rate", unit="m/s", scale=0.5, hold="max")
"""How fast it comes down, m/s."""
ACROSS = Signal("across_speed", unit="m/s", scale=0.2, hold="max")
"""Speed across, m/s."""
TILT = Signal("ground_tilt", unit="rad", scale=0.05, hold="max")
"""Angle between the lander's axis and the ground's, rad."""
BOULDER = Signal("boulder_distance", unit="m", scale=0.5, hold="min")
"""Distance across from the lander's middle to the nearest boulder's edge, m."""
FUEL = Signal("impulse", unit="N*s", scale=5000.0)
"""Impulse that the engine has given so far, N s."""
LANDED = Signal("landed", unit="1", scale=1.0)
"""1 once it stands on its site, else 0."""


@dataclass(frozen=True, kw_only=True)
class LanderSetting(Setting):
    """layout: "pad", "divert" (the site moves on the way down) or "slope". slope: rise over run."""

    observations: int = SIZE
    actions: int = 3
    timestep: float = 0.05
    substeps: int = 5
    layout: str = "pad"
    slope: float = 0.0


class Descent(SceneEnv):
    """Throttle and two leans; one step is 0.25 s. Ends with "landed", or "missed" elsewhere.

    | index | quantity | divided by |
    |---|---|---|
    | 0, 1, 2 | way to the site | 20 m |
    | 3, 4, 5 | velocity | 5 m/s |
    | 6, 7 | lean forward, left | 0.3 rad |
    | 8, 9 | rates of the lean | 0.3 rad/s |
    | 10, 11 | way to the nearest boulder | 20 m |
    | 12 | impulse used | 60000 N s |
    """

    pushed = "lander"

    @staticmethod
    def build(setting: LanderSetting) -> str:
        """MJCF of the scene."""
        slope = atan(setting.slope)
        return orbit_scene(
            setting,
            world=_LANDER + _ground(slope) + _MARK,
            actuator=_ENGINE,
            camera='pos="16 -22 12" xyaxes="0.81 0.59 0 -0.2 0.27 0.94"',
            center=(0.0, 0.0, 4.0),
            extent=20.0,
            gravity=f"0 0 -{GRAVITY:g}",
        )

    def prepare(self) -> None:
        """Look up addresses; start values of what an episode carries."""
        self.site: Vector3 = (0.0, 0.0, 0.0)
        self.boulders: list[tuple[float, float]] = []
        self.impulse = self.landed = self.missed = 0.0
        self._asked = [0.0, 0.0, 0.0]
        self._share = 1.0
        self._last = 0.0

    def place(self, values: dict[str, float]) -> None:
        """Start a new episode."""
        self.impulse = self.landed = self.missed = 0.0
        self._asked, self._share = [0.0, 0.0, 0.0], 1.0
        self.data.qpos[:3] = (values["start_x"], values["start_y"], values["start_z"])
        self.data.qvel[:3] = (values["start_speed"], 0.0, -2.5)
        self._choose(values)
        self._last = self._to_site()

    def _choose(self, values: dict[str, float]) -> None:
        x, y = (values["site_x"], values["site_y"]) if self._diverted() else (0.0, 0.0)
        self.site = (x, y, self.ground(x, y))
        self.boulders = []
        if self.setting.layout == "divert":
            self.boulders = [(1.5, 1.0), (-2.0, -1.5), (2.5, -2.5)]
        for geom in ("mark", "mark_ring"):
            self.model.geom(geom).pos[:] = self.site
            self.model.geom(geom).quat[:] = about((0.0, 1.0, 0.0), -atan(self.setting.slope))
        for k in range(3):
            spot = self.boulders[k] if self.boulders else (60.0 + 3 * k, 30.0)
            self.model.geom(f"boulder_{k}").pos[:] = (*spot, 0.2)

    def _diverted(self) -> bool:
        if self.setting.layout != "divert":
            return False
        return bool(self.data.time >= self.values["found_time"] - 1e-9)

    def ground(self, x: float, y: float) -> float:
        """Height of the ground there, m."""
        return float(self.setting.slope * x)

    def weakened(self, left: float) -> None:
        """Only a share of the effort is left."""
        self._share = left

    def command(self, action: Vector) -> None:
        """Take the action as what is asked for."""
        self._asked = action.tolist()
        if self.setting.layout == "divert":
            self._choose(self.values)

    def tick(self) -> None:
        """One physics step: the engine, and the small thrusters that hold the lean."""
        throttle, ahead, left = self._asked
        w, x, y, z = self.data.qpos[3:7].tolist()
        wx, wy, wz = self.data.qvel[3:6].tolist()
        lean_x, lean_y = 2.0 * (x * z + w * y), 2.0 * (y * z - w * x)
        gain, damp = 900.0, 1300.0
        torque = (
            gain * (lean_y - LEAN * left) - damp * wx,
            gain * (LEAN * ahead - lean_x) - damp * wy,
            -300.0 * 2.0 * w * z - 600.0 * wz,
        )
        thrust = ENGINE * 0.5 * (throttle + 1.0) * self._share
        self.data.ctrl[:] = (thrust, *(max(-400.0, min(400.0, part)) for part in torque))
        self.impulse += thrust * self.setting.timestep

    def height(self) -> float:
        """Metres from the soles to the ground below."""
        x, y, z = self.data.qpos[:3].tolist()
        return float(z - SOLES - self.ground(x, y))

    def tilt(self) -> float:
        """Angle in rad between the lander's axis and the ground's."""
        w, x, y, z = self.data.qpos[3:7].tolist()
        slope = atan(self.setting.slope)
        up_x, up_z = 2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y)
        return acos(max(-1.0, min(1.0, -sin(slope) * up_x + up_z * (1.0 - sin(slope) ** 2) ** 0.5)))

    def boulder(self) -> float:
        """Metres across to the nearest boulder's edge, at most 50."""
        x, y = self.data.qpos[:2].tolist()
        return float(min([hypot(x - a, y - b) - 0.8 for a, b in self.boulders], default=50.0))

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (
            (HEIGHT, Custom(lambda model, data: self.height())),
            (SINK, Custom(lambda model, data: -float(data.qvel[2]))),
            (ACROSS, Custom(lambda model, data: hypot(*data.qvel[:2].tolist()))),
            (TILT, Custom(lambda model, data: self.tilt())),
            (BOULDER, Custom(lambda model, data: self.boulder())),
        )

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals as of the sample."""
        return self.impulse, self.landed

    def progress(self) -> None:
        """Bring the task's state up to date."""
        if self.height() <= 0.12:
            x, y = self.data.qpos[:2].tolist()
            near = hypot(x - self.site[0], y - self.site[1]) <= SITE
            self.landed, self.missed = (1.0, 0.0) if near else (0.0, 1.0)

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        return "landed" if self.landed else "missed" if self.missed else ""

    def _to_site(self) -> float:
        return hypot(*(a - b for a, b in zip(self.site, self.data.qpos[:3].tolist(), strict=True)))

    def reward(self, action: Vector) -> float:
        """Metres gained on the site; at the end, less speed and tilt."""
        distance = self._to_site()
        gained, self._last = self._last - distance, distance
        ending = {"": 0.0, "missed": -20.0}.get(self.terminal())
        if ending is None:
            hard = hypot(*self.data.qvel[:3].tolist())
            ending = 20.0 - 5.0 * max(0.0, hard - 1.0) - 20.0 * self.tilt()
        return 0.1 * gained - 0.02 - 0.005 * float(action @ action) + ending

    def observe(self) -> Sequence[float]:
        """What the policy sees, see the class."""
        x, y, z = self.data.qpos[:3].tolist()
        w, a, b, c = self.data.qpos[3:7].tolist()
        rates = self.data.qvel[3:5].tolist()
        spots = sorted(self.boulders, key=lambda spot: hypot(x - spot[0], y - spot[1]))
        bx, by = (spots[0][0] - x, spots[0][1] - y) if spots else (50.0, 0.0)
        way = (self.site[0] - x, self.site[1] - y, self.site[2] + SOLES - z)
        return (
            *(part / HEIGHT_UNIT for part in way),
            *(part / SPEED_UNIT for part in self.data.qvel[:3].tolist()),
            2.0 * (a * c + w * b) / LEAN,
            2.0 * (b * c - w * a) / LEAN,
            *(rate / 0.3 for rate in rates),
            bx / HEIGHT_UNIT,
            by / HEIGHT_UNIT,
            self.impulse / 60000.0,
        )


_ENGINE = """
    <general name="engine" site="centre" gear="0 0 1 0 0 0" ctrlrange="0 3200"/>
    <general name="turn_x" site="centre" gear="0 0 0 1 0 0" ctrlrange="-400 400"/>
    <general name="turn_y" site="centre" gear="0 0 0 0 1 0" ctrlrange="-400 400"/>
    <general name="turn_z" site="centre" gear="0 0 0 0 0 1" ctrlrange="-400 400"/>"""
_LEGS = "".join(
    f"""
      <geom class="look" type="capsule" fromto="{0.7 * a} {0.7 * b} -0.2 {1.15 * a} {1.15 * b} -1.5"
            size="0.05" material="metal"/>
      <geom name="foot_{k}" type="cylinder" pos="{1.15 * a} {1.15 * b} -1.55" size="0.22 0.05"
            mass="0" contype="1" conaffinity="1" material="metal"/>"""
    for k, (a, b) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)))
)
_LANDER = f"""
    <body name="lander" pos="0 0 30">
      <freejoint name="lander"/>
      <inertial pos="0 0 0" mass="{MASS:g}" diaginertia="500 500 500"/>
      <site name="centre" group="4" size="0.02"/>
      <geom class="look" type="cylinder" pos="0 0 -0.15" size="0.95 0.45" material="yellow"/>
      <geom class="look" type="cylinder" pos="0 0 0.65" size="0.7 0.4" material="white"/>
      <geom class="look" type="ellipsoid" pos="0 0 1.05" size="0.6 0.6 0.25" material="metal"/>
      <geom class="look" type="box" pos="0.66 0 0.7" size="0.06 0.2 0.15" material="black"/>
      <geom class="look" type="cylinder" pos="0 0 -0.85" size="0.35 0.25" material="dark"/>
      <geom class="look" type="ellipsoid" pos="0 0 -1.2" size="0.25 0.25 0.5"
            rgba="1 0.75 0.35 0.35"/>{_LEGS}
    </body>"""
_CRATERS = "".join(
    f'<geom class="look" type="ellipsoid" pos="{x} {y} {z}" size="{r} {r} 0.25" '
    'rgba="0.40 0.40 0.42 1"/>'
    for x, y, z, r in (
        *((-9, 8, -0.1, 3), (14, 12, -0.1, 4), (-14, -6, -0.1, 2.2), (9, -11, -0.1, 2.5)),
        *((-3, 16, -0.1, 2), (22, 2, -0.1, 3)),
    )
)
_MARK = """
    <geom name="mark" class="look" type="cylinder" pos="0 0 0.1" euler="0 0.1 0" size="0.5 0.06"
          material="goal"/>
    <geom name="mark_ring" class="look" type="cylinder" pos="0 0 0.1" euler="0 0.1 0" size="4 0.03"
          rgba="0.16 0.8 0.46 0.25"/>""" + (
    "".join(
        f"""
    <geom name="boulder_{k}" class="look" type="ellipsoid" pos="60 30 0" size="0.8 0.7 0.6"
          material="concrete"/>"""
        for k in range(3)
    )
)


def _ground(slope: float) -> str:
    return f"""
    <geom name="ground" type="plane" size="80 80 0.1" euler="0 {-slope:.6f} 0" contype="1"
          conaffinity="1" rgba="0.52 0.52 0.54 1"/>
    {_CRATERS if not slope else ""}"""
