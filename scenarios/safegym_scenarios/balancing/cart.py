"""A cart on a track of finite length with a pole, two poles beside each other, or two in a row.

Observation: way to the goal / 1 m, its sum over time / 1 m s (counted near the goal), speed / 1
m/s, then each pole's angle from upright / 0.2 rad, then each rate / 2 rad/s, then the cart's
place / half of the track. Action (1): force on the cart / 40 N.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, cos

from safegym.scenario.signals import ActuatorEffort, Custom
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import (
    ENERGY,
    FORCE,
    GOAL_DISTANCE,
    OVERSHOOT,
    SPEED,
    TILT,
    TRACK_MARGIN,
)
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

FORCE_LIMIT = 40.0
TRACK = 1.2
"""Half of the track, m; the cart itself reaches 0.12 m to either side."""
END = TRACK - 0.12
SIGNALS = (TILT, FORCE, SPEED, TRACK_MARGIN, GOAL_DISTANCE, OVERSHOOT, ENERGY)
NEAR, WOUND = 0.3, 0.5
_COLOURS = ("orange", "blue")


@dataclass(frozen=True, kw_only=True)
class CartSetting(BalanceSetting):
    """lengths: of the poles, m. row: whether the second stands on top of the first. top: kg there.

    tilted: slope of the track, rad, up to the right.
    """

    actions: int = 1
    lengths: tuple[float, ...] = (0.6,)
    row: bool = False
    top: float = 0.0
    tilted: float = 0.0


class Cart(BalancingEnv):
    """The cart; reads start_x, start_angle, goal. The tilt is that of the pole that leans most."""

    pushed = "cart"
    travel = 0.6

    @staticmethod
    def build(setting: CartSetting) -> str:
        """MJCF of the machine and what is around it."""
        return scene(
            "cart",
            world=f'<body name="bench" '
            f'euler="0 {-setting.tilted:g} 0">{_TRACK}{_cart(setting)}</body>' + _GOAL,
            actuator=f'<motor name="drive" joint="rail" ctrlrange="-{FORCE_LIMIT} {FORCE_LIMIT}"/>',
            center=(0, 0, 0.8),
            extent=1.8,
            timestep=setting.timestep,
            camera='pos="0.5 -2.7 1.5" xyaxes="1 0.18 0 -0.03 0.18 1"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._goal, self._wound = 0.0, 0.0
        self._side = 1.0
        self._poles = len(self.setting.lengths)
        self._frames = [self.data.xmat[self.model.body(f"pole_{k}").id] for k in range(self._poles)]
        self._mark = int(self.model.body("goal").mocapid[0])

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Custom(lambda model, data: self.lean())),
            (FORCE, ActuatorEffort()),
            (SPEED, Custom(lambda model, data: abs(float(data.qvel[0])))),
            (TRACK_MARGIN, Custom(lambda model, data: END - abs(float(data.qpos[0])))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        self._wound, self._goal = 0.0, values.get("goal", 0.0)
        self.data.qpos[0] = values.get("start_x", 0.0)
        self.data.qpos[1] = self.setting.tilted + values["start_angle"]
        if not self.setting.row:
            self.data.qpos[2:] = self.data.qpos[1]
        self._side = 1.0 if self._goal >= self.data.qpos[0] else -1.0
        tilt = self.setting.tilted
        self.data.mocap_pos[self._mark] = (self._goal * cos(tilt), -0.16, 0.86 + tilt * self._goal)

    def progress(self) -> None:
        """Bring the task's state up to date after a step."""
        off = float(self.data.qpos[0]) - self._goal
        if abs(off) < NEAR and self.steps:
            self._wound = max(-WOUND, min(WOUND, self._wound + off * self.setting.dt))

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return acos(max(-1.0, min(1.0, min(float(frame[8]) for frame in self._frames))))

    def way(self) -> float:
        """Distance from the goal now, >= 0."""
        return abs(float(self.data.qpos[0]) - self._goal)

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        beyond = self._side * (float(self.data.qpos[0]) - self._goal)
        return (self.way(), beyond, self.energy)

    def terminal(self) -> str:
        """Why the episode ends now, "" if it goes on."""
        return "track_end" if abs(float(self.data.qpos[0])) > END else super().terminal()

    def reward(self, action: Vector) -> float:
        """Reward of the step that was just made; -10 for a failure."""
        return -10.0 if self.terminal() else super().reward(action)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        q, v = self.data.qpos, self.data.qvel
        angles, rates = list(q[1:] - self.setting.tilted), list(v[1:])
        if self.setting.row:
            angles[1] = q[2] + angles[0]
            rates[1] += rates[0]
        return (
            float(q[0]) - self._goal,
            self._wound,
            float(v[0]),
            *(float(angle) / 0.2 for angle in angles),
            *(float(rate) / 2.0 for rate in rates),
            float(q[0]) / END,
        )


_GOAL = """<body name="goal" mocap="true">
  <geom class="look" type="box" size="0.02 0.004 0.05" pos="0 0 -0.08" material="goal"/>
  <geom class="look" type="capsule" fromto="0 0 -0.13 0 0 -0.26" size="0.006"
    material="goal"/></body>"""
_TRACK = f"""
  <geom class="look" type="capsule" fromto="{-TRACK} 0.05 0.75 {TRACK} 0.05 0.75" size="0.014"
    material="metal"/>
  <geom class="look" type="capsule" fromto="{-TRACK} -0.05 0.75 {TRACK} -0.05 0.75" size="0.014"
    material="metal"/>
  <geom class="look" type="box" size="0.03 0.12 0.07" pos="{-TRACK} 0 0.78" material="red"/>
  <geom class="look" type="box" size="0.03 0.12 0.07" pos="{TRACK} 0 0.78" material="red"/>
  <geom class="look" type="box" size="{TRACK} 0.14 0.02" pos="0 0 0.67" material="wood"/>
  <geom class="look" type="box" size="0.04 0.12 0.33" pos="{-TRACK + 0.2} 0 0.33" material="dark"/>
  <geom class="look" type="box" size="0.04 0.12 0.33" pos="{TRACK - 0.2} 0 0.33"
    material="dark"/>"""


def _cart(setting: CartSetting) -> str:
    if setting.row:
        inner = _pole(1, setting.lengths[1], f"0 0 {setting.lengths[0]}", "", setting.top)
        poles = _pole(0, setting.lengths[0], "0 0 0.05", inner, 0.0)
    else:
        poles = "".join(
            _pole(k, length, f"0 {0.04 * (2 * k - len(setting.lengths) + 1)} 0.05", "", setting.top)
            for k, length in enumerate(setting.lengths)
        )
    return f"""<body name="cart" pos="0 0 0.80">
      <joint name="rail" type="slide" axis="1 0 0" damping="0.5"/>
      <geom type="box" contype="0" conaffinity="0" size="0.12 0.09 0.035" mass="1.5"
        material="dark"/>
      <geom class="look" type="cylinder" size="0.03 0.095" pos="-0.07 0 -0.03" euler="1.5708 0 0"
        material="rubber"/>
      <geom class="look" type="cylinder" size="0.03 0.095" pos="0.07 0 -0.03" euler="1.5708 0 0"
        material="rubber"/>
      {poles}</body>"""


def _pole(index: int, length: float, at: str, inner: str, top: float) -> str:
    load = (
        f'<geom type="box" contype="0" conaffinity="0" size="0.05 0.05 0.05" pos="0 0 {length}" '
        f'mass="{top}" material="crate"/>'
        if top
        else f'<geom class="look" type="sphere" size="0.028" pos="0 0 {length}" '
        f'material="{_COLOURS[index]}"/>'
    )
    return f"""<body name="pole_{index}" pos="{at}">
      <joint name="pin_{index}" type="hinge" axis="0 1 0" damping="0.002"/>
      <geom type="capsule" contype="0" conaffinity="0" fromto="0 0 0 0 0 {length}" size="0.014"
        mass="{0.4 * length:g}" material="{_COLOURS[index]}"/>
      {load}{inner}</body>"""
