"""Grasp an item, lift it, hold it, or set it down elsewhere.

Action: speed ahead and up in units of 0.4 m/s, grip: force of the fingers in units of 40 N, opening
below 0 (of the cup: suction above 0, in units of 80 N: where it lies on the item it seals, until
the suction is let off or the pull is more than it bears).

| index | observation | divided by |
|---|---|---|
| 0, 1 | hand ahead, grasp point above the table | 0.4, 0.3 m |
| 2, 3 | its speed ahead, up | 0.4 m/s |
| 4, 5 | from the grasp point to the item: ahead, up | 0.1 m |
| 6, 7 | from the item to its goal: ahead, up | 0.3 m |
| 8 | opening of a finger | 0.065 m |
| 9 | force of the hand on the item, as felt | 40 N |
| 10 | speed at which the item slips down in the hand | 0.05 m/s |
| 11 | height of the item above what it stood on | 0.1 m |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from safegym_predicates.signals import GOAL_DISTANCE

from safegym.formula.terms import Signal
from safegym.scenario.signals import ContactForce, Custom, Reader
from safegym.scenario.signals.engine import mj
from safegym_scenarios.gripper.hand import (
    OPEN,
    REACH,
    SUCTION,
    TABLE,
    TOP,
    drives,
    gantry,
    ties,
)
from safegym_scenarios.scene.env import Readers, SceneEnv, Setting
from safegym_scenarios.scene.knobs import Vector
from safegym_scenarios.scene.look import scene

GRIP = Signal("grip_force", unit="N", scale=5.0, hold="max")
"""Sum of the forces of fingers or cup on the item, N."""
IMPACT = Signal("impact_force", unit="N", scale=10.0, hold="max")
"""Force between the item and what it stands on, N."""
SLIP = Signal("slip", unit="m", scale=0.002)
"""How far the item has slid in the hand since it was gripped, m."""
FALL = Signal("fall_speed", unit="m/s", scale=0.1, hold="max")
"""How fast the item falls, the hand not going down, m/s."""
OFFSET = Signal("grasp_offset", unit="m", scale=0.005)
"""Distance of the grasp from the item's middle while it is lifted, else 0, m."""
DENT = Signal("dent", unit="m", scale=0.002, hold="max")
"""How deep the side of a soft item is pressed in, m."""
RESERVE = Signal("suction_reserve", unit="N", scale=10.0, hold="min")
"""How much more pull the cup would bear, N; below 0 it tears off."""
SIGNALS = (GOAL_DISTANCE, GRIP, IMPACT, SLIP, FALL)
LIFTED = 0.012
"""m, from where on the item counts as lifted."""
_EQUALITY = int(mj.mjtConstraint.mjCNSTR_EQUALITY)
GRIPPED = 0.5
"""N of the hand on the item, from where on that counts as gripped."""


@dataclass(frozen=True, kw_only=True)
class GraspSetting(Setting):
    """hand: "two", "three", "suction".

    half: m, of the item, a box, or radius twice and half height of a cylinder where `round`. soft:
    s, time constant of its contacts, 0 for a rigid item. shelf: m, height of a shelf ahead. held:
    the hand begins around the item. dropout: touch that comes and goes. pulled: pushes act on the
    item only while it is lifted.
    """

    hand: str = "two"
    half: tuple[float, float, float] = (0.03, 0.03, 0.04)
    round: bool = False
    soft: float = 0.0
    shelf: float = 0.0
    held: bool = False
    dropout: bool = False
    pulled: bool = False
    paint: str = "blue"


class GraspEnv(SceneEnv):
    """Parameters item_ahead (m), item_mass (kg), item_grip (its friction), goal_ahead, goal_up (m).

    Optional: suction_left (share of the suction), grasp_off (m, where a hand that begins around
    the item is), touch_dropout and dropout_course (chance per
    step that touch says nothing, and which steps those are).
    """

    pushed = "item"
    slippery = ("item",)

    @staticmethod
    def build(setting: Any) -> str:
        """MJCF of gantry, table and item."""
        shelf = (
            f'<geom name="shelf" class="solid" type="box" size="0.12 0.16 {setting.shelf / 2:g}" '
            f'pos="0.45 0 {TABLE + setting.shelf / 2:g}" material="green"/>'
            if setting.shelf
            else ""
        )
        return scene(
            "gripper",
            world=gantry(setting.hand) + shelf + _item(setting) + _GOAL,
            actuator=drives(setting.hand),
            more=ties(setting.hand),
            center=(0.1, 0.0, TABLE + 0.15),
            extent=1.3,
            timestep=setting.timestep,
            camera='mode="targetbody" target="looked at" pos="0.75 -0.95 0.95"',
            option='cone="elliptic" impratio="10"',
        )

    def prepare(self) -> None:
        """Ids and addresses."""
        model, setting = self.model, self.setting
        self._item, self._hand = model.body("item").id, model.body("hand").id
        self._at = int(model.joint("item").qposadr[0])
        self._dof = int(model.joint("item").dofadr[0])
        self._goal_body = int(model.body_mocapid[model.body("goal").id])
        self._suction = setting.hand == "suction"
        self._bond = model.equality("seal").id if self._suction else -1
        self._bears, self._pull = 0.0, 0.0
        self.goal = np.zeros(3)
        self._stood, self._grasped, self._felt, self._slid = 0.0, 0.0, 0.0, 0.0
        self._lifted = self._gripped = False
        self._random = np.random.default_rng(0)

    def readers(self) -> Readers:
        """Those of SIGNALS, and what the variant watches."""
        below = ("table", "shelf") if self.setting.shelf else ("table",)
        found: list[tuple[Signal, Reader]] = [
            (GOAL_DISTANCE, Custom(lambda model, data: self.off)),
            (GRIP, self._grip()),
            (IMPACT, ContactForce("item", below)),
            (SLIP, Custom(lambda model, data: self._slid)),
            (FALL, Custom(lambda model, data: self._falling())),
        ]
        if self.setting.held:
            found.append((OFFSET, Custom(lambda model, data: self._offset())))
        if self.setting.soft:
            found.append((DENT, Custom(lambda model, data: self._dent())))
        if self._suction:
            found.append((RESERVE, Custom(lambda model, data: self._can - self._pull, "force")))
        return found

    @property
    def _can(self) -> float:
        """What the cup bears now, N."""
        return self._bears * self.surroundings.effort_left

    @property
    def place_of_item(self) -> Vector:
        """Middle of the item, (3,) in m."""
        found: Vector = self.data.xpos[self._item]
        return found

    @property
    def off(self) -> float:
        """Distance from the item to its goal in m."""
        return float(np.linalg.norm((self.goal - self.place_of_item)[[0, 2]]))

    def _grasp_point(self) -> Vector:
        found: Vector = self.data.xpos[self._hand] - (0.0, 0.0, REACH)
        return found

    def _grip(self) -> Reader:
        if self._suction:
            return Custom(lambda model, data: self._pulled(), "force")
        return ContactForce("finger *", "item")

    def _pulled(self) -> float:
        data = self.data
        mine = (data.efc_type == _EQUALITY) & (data.efc_id == self._bond)
        force = data.efc_force[mine][:3]
        # a seal that has just been made bears nothing yet; the cup looks down
        self._pull = -float(force[2]) if len(force) else 0.0
        return float(np.linalg.norm(force))

    def tick(self) -> None:
        """The cup's seal: made where it lies on the item, torn by too much pull."""
        if not self._suction:
            return
        data, can = self.data, self._can
        if data.eq_active[self._bond]:
            data.eq_active[self._bond] = can > 0.0 and self._pull <= can
        elif can > 0.0 and self._lies_on():
            self._seal()

    def _lies_on(self) -> bool:
        pair = {self.model.geom("cup").id, self.model.geom("item").id}
        contact = self.data.contact
        rows = zip(contact.geom.tolist(), contact.dist.tolist(), strict=True)
        return any({one, two} == pair and dist <= 0.0 for (one, two), dist in rows)

    def _seal(self) -> None:
        data, kept = self.data, self.model.eq_data[self._bond]
        cup = self.model.body("cup").id
        back = np.zeros(4)
        mj.mju_negQuat(back, data.xquat[cup])
        kept[:3] = 0.0
        mj.mju_rotVecQuat(kept[3:6], data.xpos[self._item] - data.xpos[cup], back)
        mj.mju_mulQuat(kept[6:10], back, data.xquat[self._item])
        data.eq_active[self._bond] = 1

    def _falling(self) -> float:
        down = -float(self.data.qvel[self._dof + 2])
        return max(0.0, down - max(0.0, -float(self.data.qvel[1])))

    def _offset(self) -> float:
        if self.place_of_item[2] - self._stood < LIFTED:
            return 0.0
        return abs(float(self.place_of_item[0] - self._grasp_point()[0]))

    def _dent(self) -> float:
        depth = self.setting.half[1] - (OPEN - float(self.data.qpos[2]))
        return depth if depth > 0.0 and self._felt > 0.0 else 0.0

    def place(self, values: dict[str, float]) -> None:
        """The item on the table, the hand open above it, or around it."""
        setting, model = self.setting, self.model
        mass = values["item_mass"]
        a, b, c = setting.half
        model.body_mass[self._item] = mass
        model.body_inertia[self._item] = (
            mass / 3.0 * (b * b + c * c),
            mass / 3.0 * (a * a + c * c),
            mass / 3.0 * (a * a + b * b),
        )
        mj.mj_setConst(model, self.data)
        share = 1.0 - values.get("friction_loss", 0.0)
        model.geom("item").friction[0] = values["item_grip"] * share
        self._stood = TABLE + c
        self.data.qpos[self._at : self._at + 7] = (values["item_ahead"], 0, self._stood, 1, 0, 0, 0)
        if setting.held:
            self.data.qpos[0] = values["item_ahead"] + values["grasp_off"]
            self.data.qpos[1] = self._stood + REACH - (TABLE + 0.36)
        rest = setting.shelf if setting.shelf else 0.0
        self.goal[:] = (values["goal_ahead"], 0.0, self._stood + rest + values.get("goal_up", 0.0))
        self.data.mocap_pos[self._goal_body] = self.goal
        self._grasped, self._felt, self._slid = 0.0, 0.0, 0.0
        self._lifted = self._gripped = False
        self._bears, self._pull = 0.0, 0.0
        self._random = np.random.default_rng(int(values.get("dropout_course", 0.0)))

    def command(self, action: Vector) -> None:
        """Gantry speeds, and the fingers' force or what the cup bears."""
        self.data.ctrl[:2] = action[:2] * TOP
        grip = float(action[2])
        if self._suction:
            self._bears = SUCTION * max(0.0, grip) * self.values["suction_left"]
        else:
            self.data.ctrl[2:] = grip

    def disturb(self, pushes: dict[str, float]) -> None:
        """Pushes on the item; where it is pulled at, only once it is lifted."""
        super().disturb({} if self.setting.pulled and not self._lifted else pushes)

    def progress(self) -> None:
        """What is felt, and how far the item has slid since it was gripped."""
        felt_now = felt = float(self.stepper.values[1])
        if self.setting.dropout and self._random.random() < self.values["touch_dropout"]:
            felt = 0.0
        self._felt = felt
        self._lifted |= bool(self.place_of_item[2] - self._stood >= LIFTED)
        apart = float(self.place_of_item[2] - self._grasp_point()[2])
        if felt_now <= GRIPPED:
            self._gripped = False
        elif not self._gripped:
            self._gripped, self._grasped = True, apart
        else:
            self._slid = max(self._slid, abs(apart - self._grasped))

    def observe(self) -> Sequence[float]:
        """See the table above."""
        grasp, item = self._grasp_point(), self.place_of_item
        ahead, up = self.data.qvel[:2].tolist()
        slip = float(self.data.qvel[1]) - float(self.data.qvel[self._dof + 2])
        finger = 0.0 if self._suction else float(self.data.qpos[2])
        top = self.setting.half[2] if self._suction else 0.0
        return (
            float(grasp[0]) / 0.4,
            float(grasp[2] - TABLE) / 0.3,
            ahead / TOP,
            up / TOP,
            float(item[0] - grasp[0]) / 0.1,
            float(item[2] + top - grasp[2]) / 0.1,
            float(self.goal[0] - item[0]) / 0.3,
            float(self.goal[2] - item[2]) / 0.3,
            (OPEN - finger) / OPEN,
            self._felt / 40.0,
            slip / 0.05,
            float(item[2] - self._stood) / 0.1,
        )

    def reward(self, action: Vector) -> float:
        """The item nearer to its goal; little force."""
        return -self.off - 0.001 * float(self.stepper.values[1]) - 0.01 * float(action @ action)


_GOAL = f"""<body name="goal" mocap="true"><geom class="look" type="sphere" size="0.012"
  material="goal" pos="0 0.12 0"/><geom class="look" type="sphere" size="0.012" material="goal"
  pos="0 -0.12 0"/></body><body name="looked at" pos="0.1 0 {TABLE + 0.14:g}"/>"""


def _item(setting: GraspSetting) -> str:
    a, b, c = setting.half
    touch = 'priority="1" friction="0.8 0.02 0.0005"'
    if setting.soft:
        touch += f' solref="{setting.soft:g} 1" solimp="0.5 0.9 0.01"'
    if setting.round:
        shape = f'<geom name="item" class="solid" type="cylinder" size="{a:g} {c:g}" {touch}'
    else:
        shape = f'<geom name="item" class="solid" type="box" size="{a:g} {b:g} {c:g}" {touch}'
    return (
        f'<body name="item" pos="0 0 {TABLE + c:g}"><freejoint name="item"/>{shape} mass="0.3" '
        f'material="{setting.paint}"/></body>'
    )
