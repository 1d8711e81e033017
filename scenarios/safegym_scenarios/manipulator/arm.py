"""An arm on its table: what every arm scenario has.

Action: the tip's velocity ahead, left, up in units of `top` (arms that are steered by the tool),
or joint speeds in units of their largest (arms that are steered by the joints); then what the
task adds.

| observation | divided by |
|---|---|
| tip: ahead, left, up, from the middle of the workspace | 0.5 m |
| velocity of the tip (steered by the joints: of each joint) | top (of each joint) |
| way from the tip to the aim: ahead, left, up | 0.5 m |
| steered by the joints: each joint's value from mid-range; way to go of each joint | half; 1 rad |
| least distance of a joint from its limits, at most 1 | 1 rad |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safegym_predicates.signals import GOAL_DISTANCE, JOINT_LIMIT_MARGIN, TOOL_SPEED

from safegym.scenario.signals import Custom, JointLimitMargin, Speed
from safegym.scenario.signals.engine import mj
from safegym_scenarios.manipulator.chain import TABLE, Chain, Triple, bodies, servos
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

DAMPING = 0.02
"""Of the least-squares inverse of the Jacobian, in m/rad."""
STRAIGHTEN = 6.0
"""1/s, how fast a tilted tool is turned back."""
SIGNALS = (GOAL_DISTANCE, TOOL_SPEED, JOINT_LIMIT_MARGIN)
CAMERA = 'mode="targetbody" target="looked at" pos="1.45 -1.05 1.25"'


@dataclass(frozen=True, kw_only=True)
class ArmSetting(Setting):
    """chain: the arm. start: rad, its pose at the start. top: m/s, of the tip at action 1.

    joints: steered by the joints, not by the tool. down: the tool is kept pointing down (else its
    tilt is free). more: actions that the task adds. swivel: whether the last of them turns the
    elbow, the tip staying.
    """

    chain: Chain
    start: tuple[float, ...]
    top: float = 0.6
    joints: bool = False
    down: bool = False
    more: int = 0
    swivel: bool = False
    middle: Triple = (0.45, 0.0, TABLE + 0.25)


class ArmEnv(SceneEnv):
    """The arm, steered by its tool or its joints, with an aim."""

    pushed = "tool"
    tool_geoms = (
        '<geom name="arm tool" class="solid" type="capsule" size="0.014" '
        'fromto="0 0 -0.09 0 0 -0.014" mass="0.2" material="dark"/>'
        '<site name="tip" pos="0 0 0" size="0.008" rgba="0.1 0.9 0.5 1"/>'
    )

    @classmethod
    def build(cls, setting: Any) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]  # a class knows its tool
        """MJCF: arm, table, aim, then what `surroundings_of` adds."""
        chain = setting.chain
        around, actuator, more = cls.surroundings_of(setting)
        x, y, z = chain.base
        stand = (
            f'<geom class="look" type="cylinder" size="0.085 {(z - TABLE) / 2 + 0.006:g}" '
            f'pos="{x:g} {y:g} {(z + TABLE) / 2:g}" material="metal"/>'
        )
        return scene(
            chain.name,
            world=f"""{bodies(chain, cls.tool_geoms)}
            <geom name="table" class="solid" type="box" size="0.55 0.75 0.02"
              pos="0.32 0 {TABLE - 0.02:g}" material="wood"/>
            <geom class="look" type="box" size="0.48 0.66 0.18" pos="0.32 0 0.18" material="dark"/>
            {stand}
            <body name="looked at" pos="0.4 0 {TABLE + 0.18:g}"/>
            <body name="aim" mocap="true"><geom class="look" type="sphere" size="0.022"
              material="goal"/></body>
            {around}""",
            actuator=servos(chain) + actuator,
            more=more,
            center=(0.4, 0.0, TABLE + 0.2),
            extent=1.4,
            timestep=setting.timestep,
            camera=cls.camera,
        )

    camera = CAMERA

    @classmethod
    def surroundings_of(cls, setting: Any) -> tuple[str, str, str]:
        """MJCF of bodies, of further actuators, of further sections."""
        return "", "", ""

    def prepare(self) -> None:
        """Ids and room for Jacobians."""
        model, chain = self.model, self.setting.chain
        self.tip = int(model.site("tip").id)
        self.size: int = chain.size
        self._moving = np.zeros((3, model.nv))
        self._turning = np.zeros((3, model.nv))
        self._top = np.array([link.top for link in chain.links])
        low, high = (
            np.array([getattr(link, end) for link in chain.links]) for end in ("low", "high")
        )
        self._low, self._half = low, (high - low) / 2.0
        self.aim = np.zeros(3)
        self._aim = self.mocap("aim")

    def mocap(self, body: str) -> int:
        """Index of a body that is moved by its position."""
        return int(self.model.body_mocapid[self.model.body(body).id])

    def readers(self) -> Readers:
        """Goal distance, speed of the tip, joint-limit margin."""
        return (
            (GOAL_DISTANCE, Custom(lambda model, data: self.off)),
            (TOOL_SPEED, Speed("tip", "site")),
            (JOINT_LIMIT_MARGIN, JointLimitMargin(self.setting.chain.hinges)),
        )

    @property
    def place_of_tip(self) -> Vector:
        """Where the tip is, (3,) in m."""
        found: Vector = self.data.site_xpos[self.tip]
        return found

    @property
    def off(self) -> float:
        """Distance from the tip to the aim in m."""
        return float(np.linalg.norm(self.aim - self.place_of_tip))

    def point_at(self, aim: Sequence[float] | Vector) -> None:
        """Set the aim and show it."""
        self.aim[:] = aim
        self.data.mocap_pos[self._aim] = self.aim

    def place(self, values: dict[str, float]) -> None:
        """The arm in its starting pose."""
        self.data.qpos[: self.size] = self.setting.start
        mj.mj_kinematics(self.model, self.data)

    # steering

    def command(self, action: Vector) -> None:
        """Joint speeds of the servos."""
        if self.setting.joints:
            self.data.ctrl[: self.size] = action[: self.size] * self._top
            return
        swivel = float(action[-1]) if self.setting.swivel else 0.0
        self.data.ctrl[: self.size] = self.resolve(action[:3] * self.setting.top, swivel)

    def resolve(self, wish: Vector, swivel: float = 0.0) -> Vector:
        """Joint speeds for a velocity of the tip in m/s: damped least squares, none above its top.

        swivel: share of the top speed at which the elbow turns where the tip stays.
        """
        rows, rhs = self._task(wish)
        square = rows @ rows.T + DAMPING**2 * np.eye(len(rows))
        speeds = rows.T @ np.linalg.solve(square, rhs)
        if swivel:
            speeds = speeds + swivel * self._top[2] * self.swivelling(rows, square)
        excess = float(np.abs(speeds / self._top).max())
        return speeds / excess if excess > 1.0 else speeds

    def swivelling(self, rows: Vector, square: Vector) -> Vector:
        """The motion without one of the tip that turns the upper arm most."""
        still: Vector = np.eye(self.size)[2] - rows.T @ np.linalg.solve(square, rows[:, 2])
        found: Vector = still / max(0.2, float(np.abs(still).max()))
        return found

    def _task(self, wish: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mj.mj_jacSite(self.model, self.data, self._moving, self._turning, self.tip)
        moving = self._moving[:, : self.size]
        if not self.setting.down:
            return moving, wish
        x, y = self.data.site_xmat[self.tip][[2, 5]].tolist()
        turn = (-STRAIGHTEN * y, STRAIGHTEN * x)  # axis of the tool times straight down
        rows = np.concatenate((moving, self._turning[:2, : self.size]))
        return rows, np.array((*wish, *turn))

    def observe(self) -> Sequence[float]:
        """What every arm is told; see the table above."""
        qpos, qvel = self.data.qpos[: self.size], self.data.qvel[: self.size]
        tip = self.place_of_tip
        way = self.aim - tip
        middle = (tip - np.array(self.setting.middle)) / 0.5
        room = float(np.minimum(qpos - self._low, self._low + 2.0 * self._half - qpos).min())
        if not self.setting.joints:
            velocity = self._velocity() / self.setting.top
            return (*middle, *velocity, *(way / 0.5), min(1.0, room))
        angles = (qpos - self._low) / self._half - 1.0
        rows, _ = self._task(way)
        square = rows @ rows.T + DAMPING**2 * np.eye(len(rows))
        by_joint = np.clip(rows.T @ np.linalg.solve(square, way), -1.0, 1.0)
        return (*middle, *(qvel / self._top), *(way / 0.5), *angles, *by_joint, min(1.0, room))

    def _velocity(self) -> Vector:
        mj.mj_jacSite(self.model, self.data, self._moving, None, self.tip)
        found: Vector = self._moving[:, : self.size] @ self.data.qvel[: self.size]
        return found

    def reward(self, action: Vector) -> float:
        """Closer is better, quiet is better."""
        return -self.off - 0.02 * float(action @ action)


def width(setting_joints: bool, size: int, extra: int) -> int:
    """Number of observed values of an arm of so many joints, the task adding `extra`."""
    return 7 + 3 * size + extra if setting_joints else 10 + extra
