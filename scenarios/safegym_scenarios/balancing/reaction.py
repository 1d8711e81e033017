"""Machines that stand by spinning flywheels up: a pole, a cube on its edge, a cube on its corner.

Observation: lean / 0.2 rad, for each axis, lean rate / 2 rad/s for each axis (corner: three), speed
of each flywheel / its limit. Action: torque of each flywheel's motor / its limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, cos, hypot, sin
from typing import NamedTuple

from safegym.scenario.signals import ActuatorEffort, Custom
from safegym.scenario.signals.engine import mj
from safegym_scenarios.balancing.machine import BalanceSetting, BalancingEnv
from safegym_scenarios.balancing.measures import ENERGY, SPIN, TILT, TORQUE
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

SIGNALS = (TILT, TORQUE, SPIN, ENERGY)
SIDE = 0.16
"""Edge of the cube, m."""


class Form(NamedTuple):
    """torque: N m a motor. spin: rad/s that a flywheel may reach. wheels: how many."""

    torque: float
    spin: float
    wheels: int


FORMS = {"pole": Form(1.0, 120.0, 1), "edge": Form(0.6, 200.0, 1), "corner": Form(0.5, 200.0, 3)}


_EYES = {"pole": "0.75 -0.85 0.5", "edge": "0.5 -0.5 0.5", "corner": "0.5 -0.5 0.5"}


@dataclass(frozen=True, kw_only=True)
class ReactionSetting(BalanceSetting):
    """form: "pole", "edge" or "corner". off_centre: whether a weight is stuck on, to one side."""

    form: str = "pole"
    weight: float = 0.0
    fall: float = 0.6


class ReactionWheels(BalancingEnv):
    """The machine; reads start_lean, start_rate, start_side (corner), weight_place."""

    pushed = "body"

    @staticmethod
    def build(setting: ReactionSetting) -> str:
        """MJCF of the machine and what is around it."""
        form = FORMS[setting.form]
        return scene(
            "reaction",
            world=_POLE if setting.form == "pole" else _cube(setting),
            actuator="".join(
                f'<motor name="motor_{k}" joint="wheel_{k}" '
                f'ctrlrange="-{form.torque} {form.torque}"/>'
                for k in range(form.wheels)
            ),
            center=(0, 0, 0.3),
            extent=0.9,
            timestep=setting.timestep,
            camera=f'mode="targetbody" target="body" pos="{_EYES[setting.form]}"',
        )

    def prepare(self) -> None:
        """Look up ids, and set what an episode carries."""
        super().prepare()
        self._form = FORMS[self.setting.form]
        self._corner = self.setting.form == "corner"
        self._frame = self.data.xmat[self.model.body("body").id]
        self._wheels = [
            int(self.model.joint(f"wheel_{k}").dofadr[0]) for k in range(self._form.wheels)
        ]
        self._weight = self.model.body("weight").id if self.setting.weight else 0

    def readers(self) -> Readers:
        """What is read at every physics step."""
        return (
            (TILT, Custom(lambda model, data: self.lean())),
            (TORQUE, ActuatorEffort()),
            (SPIN, Custom(lambda model, data: max(abs(float(data.qvel[w])) for w in self._wheels))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Set the start of an episode from its drawn values."""
        self.begin()
        if self._weight:
            self.model.body_pos[self._weight][0] = values["weight_place"]
            mj.mj_setConst(self.model, self.data)  # before the state is set: it overwrites it
        lean, rate = values["start_lean"], values["start_rate"]
        if self._corner:
            side = values["start_side"]
            angle = hypot(lean, side) or 1e-9
            axis = (-side / angle, lean / angle, 0.0)
            self.data.qpos[:4] = (cos(angle / 2), *(sin(angle / 2) * part for part in axis))
            self.data.qvel[1] = rate
        else:
            self.data.qpos[0], self.data.qvel[0] = lean, rate

    def lean(self) -> float:
        """Tilt now, rad >= 0."""
        return acos(max(-1.0, min(1.0, float(self._frame[8]))))

    def task_signals(self) -> tuple[float, ...]:
        """Values of the signals after those of `readers`."""
        return (self.energy,)

    def observe(self) -> Sequence[float]:
        """The observation, as the module's docstring lists it."""
        v, frame = self.data.qvel, self._frame
        spins = [float(v[wheel]) / self._form.spin for wheel in self._wheels]
        if self._corner:
            leans = (
                atan2(-float(frame[6]), float(frame[8])),
                atan2(float(frame[7]), float(frame[8])),
            )
            return (*(lean / 0.2 for lean in leans), *(float(rate) / 2.0 for rate in v[:3]), *spins)
        return (float(self.data.qpos[0]) / 0.2, float(v[0]) / 2.0, *spins)


def _wheel(index: int, at: str, turn: str, radius: float, mass: float) -> str:
    """A flywheel about its own z axis, with spokes to see it turn."""
    spokes = "".join(
        f'<geom class="look" type="box" size="{0.9 * radius:g} 0.006 0.007" euler="0 0 {angle}" '
        f'material="dark"/>'
        for angle in (0.0, 1.047, 2.094)
    )
    return f"""<body name="flywheel_{index}" pos="{at}" {turn}>
      <joint name="wheel_{index}" type="hinge" axis="0 0 1" damping="0.00002"/>
      <geom type="cylinder" contype="0" conaffinity="0" size="{radius} 0.006" mass="{mass}"
        material="yellow"/>
      <geom class="look" type="cylinder" size="{0.82 * radius:g} 0.0066" material="white"/>
      {spokes}</body>"""


_POLE = f"""
  <geom class="look" type="box" size="0.12 0.06 0.03" pos="0 0 0.03" material="dark"/>
  <body name="body" pos="0 0 0.08"><joint name="foot" type="hinge" axis="0 1 0" damping="0.001"/>
    <geom type="box" contype="0" conaffinity="0" size="0.015 0.012 0.15" pos="0 0.02 0.15"
      mass="0.4" material="blue"/>
    {_wheel(0, "0 -0.01 0.3", 'euler="-1.5708 0 0"', 0.1, 0.5)}</body>"""


def _cube(setting: ReactionSetting) -> str:
    """A cube turned so that its edge or corner is below its middle; the body's z axis is up."""
    half, corner = SIDE / 2.0, setting.form == "corner"
    up = SIDE * (3**0.5 if corner else 2**0.5) / 2.0
    joint = (
        '<joint name="foot" type="ball" damping="0.004"/>'
        if corner
        else ('<joint name="foot" type="hinge" axis="0 1 0" damping="0.001"/>')
    )
    turn = 'quat="0.8880738 0.3250576 -0.3250576 0"' if corner else 'euler="0 0.785398 0"'
    frame = "".join(
        f'<geom class="look" type="capsule" size="0.006" fromto="{a} {b}" material="metal"/>'
        for a, b in _edges(half)
    )
    faces = [
        ("0 0 0.06", ""),
        ("0.06 0 0", 'euler="0 1.5708 0"'),
        ("0 0.06 0", 'euler="-1.5708 0 0"'),
    ]
    if corner:
        wheels = "".join(_wheel(k, at, way, 0.055, 0.25) for k, (at, way) in enumerate(faces))
    else:
        wheels = _wheel(0, "0 -0.06 0", 'euler="-1.5708 0 0"', 0.065, 0.35)
    weight = (
        f'<body name="weight" pos="0 0 {up:g}"><geom type="sphere" contype="0" conaffinity="0" '
        f'size="0.022" mass="{setting.weight}" material="purple"/></body>'
        if setting.weight
        else ""
    )
    return f"""
      <geom class="look" type="box" size="0.14 0.14 0.03" pos="0 0 0.03" material="dark"/>
      <body name="body" pos="0 0 0.066">{joint}{weight}
        <body name="cube" pos="0 0 {up:g}" {turn}>
          <geom type="box" contype="0" conaffinity="0" size="{half} {half} {half}" mass="0.9"
            material="glass"/>
          <geom class="look" type="box" size="0.035 0.035 0.035" material="orange"/>
          {frame}{wheels}</body></body>"""


def _edges(half: float) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for axis in range(3):
        for one in (-half, half):
            for two in (-half, half):
                ends: list[str] = []
                for along in (-half, half):
                    at = [one, two]
                    at.insert(axis, along)
                    ends.append(" ".join(f"{part:g}" for part in at))
                found.append((ends[0], ends[1]))
    return found
