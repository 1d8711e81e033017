"""Reaching an aim: on a free table, among blocks, with a weak drive, biased encoders or a load.

| further observation | divided by |
|---|---|
| with a camera at the aim: way that it sees; 1 while it sees the tip | 0.5 m; 1 |
| with a load: weight at the wrist | 40 N |
| with elbow room: elbow to the left, clearance of the arm, at most 0.3 | 0.3 m |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from safegym_predicates.signals import CLEARANCE

from safegym.formula.terms import Signal
from safegym.scenario.signals import ActuatorEffort, Clearance, Custom
from safegym.scenario.signals.engine import mj
from safegym.scenario.spec import Parameter
from safegym_scenarios.manipulator.arm import ArmEnv, ArmSetting
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector

SEEN_FROM = 0.25
"""m, how far from the aim the camera sees the tip."""
DEVIATION = Signal("path_deviation", unit="m", scale=0.01, hold="max")
"""Distance of the tip from the straight line between start and aim, m."""
EFFORT = Signal("joint_torque", unit="N*m", scale=10.0, hold="max")
"""Largest torque of a drive, N m."""
SAG = Signal("sag", unit="m", scale=0.01, hold="max")
"""How far the tip is below the straight line between start and aim, m; negative above."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A thing that stands about. place, half: m."""

    place: tuple[float, float, float]
    half: tuple[float, float, float]
    paint: str = "red"


@dataclass(frozen=True, kw_only=True)
class ReachSetting(ArmSetting):
    """blocks: what stands about. camera, load: sensors of the variant. elbow: m, elbow watched."""

    blocks: tuple[Block, ...] = ()
    camera: bool = False
    load: bool = False
    elbow: bool = False
    weak: bool = False


class ReachEnv(ArmEnv):
    """Bring the tip to the aim.

    Parameters aim_ahead, aim_left, aim_up (m, from the arm's base on the table); optional ones
    act where they are declared: weak_drive and drive_left (one drive turns at a share of its
    speed), encoder_bias (rad), load (kg).
    """

    @classmethod
    def surroundings_of(cls, setting: ReachSetting) -> tuple[str, str, str]:
        """The blocks, and the load on the tool."""
        return "".join(_block(i, each) for i, each in enumerate(setting.blocks)), "", ""

    @classmethod
    def build(cls, setting: Any) -> str:
        """MJCF, with a load at the tool where there is one."""
        text = super().build(setting)
        return text.replace(cls.tool_geoms, cls.tool_geoms + _LOAD) if setting.load else text

    def prepare(self) -> None:
        """Also the load and the elbow."""
        super().prepare()
        self._load = self.model.body("load").id if self.setting.load else -1
        self._elbow = self.model.body("link 3").id if self.setting.elbow else -1
        self._begun = np.zeros(3)

    def readers(self) -> Readers:
        """Those of every arm, clearance where there are blocks, and what the variant watches."""
        found = [*super().readers()]
        setting = self.setting
        if setting.blocks:
            reach = tuple(f"arm {i}" for i in range(1, self.size) if self._there(f"arm {i}"))
            found.append((CLEARANCE, Clearance((*reach, "arm tool"), "block *", 0.3)))
        if setting.weak:
            found.append((DEVIATION, Custom(lambda model, data: self.deviation)))
        if setting.load:
            found.append((SAG, Custom(lambda model, data: self.sag)))
            found.append((EFFORT, ActuatorEffort("servo *")))
        return found

    def _there(self, geom: str) -> bool:
        return int(mj.mj_name2id(self.model, int(mj.mjtObj.mjOBJ_GEOM), geom)) >= 0

    @property
    def deviation(self) -> float:
        """Distance of the tip from the straight line between start and aim, m."""
        along, gone = self.aim - self._begun, self.place_of_tip - self._begun
        share = min(1.0, max(0.0, float(gone @ along) / float(along @ along)))
        return float(np.linalg.norm(gone - share * along))

    @property
    def sag(self) -> float:
        """How far the tip is below that line, m."""
        along, gone = self.aim - self._begun, self.place_of_tip - self._begun
        share = min(1.0, max(0.0, float(gone @ along) / float(along @ along)))
        return float(self._begun[2] + share * along[2] - self.place_of_tip[2])

    def place(self, values: dict[str, float]) -> None:
        """The aim, and what is wrong with this arm."""
        super().place(values)
        base = np.array((0.0, 0.0, self.setting.chain.base[2]))
        offset = (values["aim_ahead"], values["aim_left"], values["aim_up"])
        self.point_at(base + np.array(offset))
        self._begun[:] = self.place_of_tip
        if self.setting.load:
            mass = values["load"]
            self.model.body_mass[self._load] = mass
            self.model.body_inertia[self._load] = mass * 0.05**2 * 2.0 / 3.0
            mj.mj_setConst(self.model, self.data)
            self.data.qpos[: self.size] = self.setting.start

    def begin_here(self) -> None:
        """Straight lines begin where the tip is now."""
        mj.mj_kinematics(self.model, self.data)
        self._begun[:] = self.place_of_tip

    def command(self, action: Vector) -> None:
        """A weak drive turns at a share of what is asked."""
        super().command(action)
        if self.setting.weak:
            weak = min(self.size - 1, int(self.values["weak_drive"]))
            top = self.values["drive_left"] * self._top[weak]
            self.data.ctrl[weak] = min(top, max(-top, float(self.data.ctrl[weak])))

    def observe(self) -> Sequence[float]:
        """Those of every arm, then the variant's."""
        told = list(super().observe())
        setting = self.setting
        if setting.camera:
            way = self.aim - self.place_of_tip
            q = self.data.qpos[: self.size] + self.values["encoder_bias"]
            believed = setting.chain.tip(q.tolist())
            told[0:3] = ((believed - np.array(setting.middle)) / 0.5).tolist()
            told[6:9] = ((self.aim - believed) / 0.5).tolist()
            seen = float(np.linalg.norm(way)) <= SEEN_FROM
            told += [*(way / 0.5), 1.0] if seen else [0.0] * 4
        if setting.load:
            told.append(float(self.model.body_mass[self._load]) * 9.81 / 40.0)
        if setting.elbow:
            told += [
                float(self.data.xpos[self._elbow][1]) / 0.3,
                float(self.stepper.values[3]) / 0.3,
            ]
        return told


_LOAD = """<body name="load" pos="0 0 0.02"><inertial pos="0 0 0" mass="1"
  diaginertia="0.002 0.002 0.002"/><geom class="look" type="box" size="0.05 0.05 0.04"
  material="crate"/></body>"""


def _block(index: int, block: Block) -> str:
    place = " ".join(f"{number:g}" for number in block.place)
    half = " ".join(f"{number:g}" for number in block.half)
    return (
        f'<geom name="block {index}" class="solid" type="box" pos="{place}" size="{half}" '
        f'material="{block.paint}"/>'
    )


def aims(
    ahead: tuple[float, float], left: tuple[float, float], up: tuple[float, float]
) -> tuple[Parameter, ...]:
    """Parameters of the aim: m from the arm's base, ahead, left, up."""
    ends = (("ahead", ahead), ("left", left), ("up", up))
    return tuple(
        Parameter(f"aim_{way}", "m", low, high, (low + high) / 2.0, f"where the aim is, {way}")
        for way, (low, high) in ends
    )
