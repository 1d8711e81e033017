"""Arms that carry with a suction cup: off a shelf, off a belt, onto a stack, into a hand.

The last action, above 0, lets the cup suck: where it lies on the item it seals, and holds it until
the suction is let off or the pull gets larger than it can bear.

| further observation | divided by |
|---|---|
| from the tip to the middle of the item's top: ahead, left, up | 0.5 m |
| from the item to where it should be: ahead, left, up | 0.5 m |
| 1 while the cup touches the item | 1 |
| velocity of the item: ahead, left | 0.6 m/s |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.signals import ContactForce, Custom
from safegym.scenario.signals.engine import mj
from safegym_scenarios.manipulator.arm import ArmEnv, ArmSetting
from safegym_scenarios.manipulator.chain import TABLE, Triple
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import Vector

HALF = 0.035
"""m, half the edge of an item."""
UP = np.array((0.0, 0.0, HALF))
SUCTION = 100.0
"""N, the pull that the cup bears."""
SEAL = 0.03
"""m, how far off the middle of the item's top the cup still seals."""
IMPACT = Signal("impact_force", unit="N", scale=10.0, hold="max")
"""Force between the item and what it stands on, N."""
FALL = Signal("fall_speed", unit="m/s", scale=0.1, hold="max")
"""How fast the item falls while the cup does not touch it, m/s."""
PULL = Signal("cup_pull", unit="N", scale=10.0, hold="max")
"""Force that pulls the item off the cup along its axis, N; negative where it is pressed on."""
SHIFT = Signal("base_shift", unit="m", scale=0.01, hold="max")
"""How far the item below has been moved, m."""
HAND_FORCE = Signal("hand_force", unit="N", scale=10.0, hold="max")
"""Force on the person's hand, N."""
HAND_DISTANCE = Signal("hand_distance", unit="m", scale=0.1, hold="min")
"""Distance of the tip from the place in the hand, m."""


@dataclass(frozen=True, kw_only=True)
class CarrySetting(ArmSetting):
    """shelves: (place, half) in m of what items stand on. belt: whether the item comes on one.

    stack: whether the goal is another item's top. hand: whether it is a person's hand.
    """

    shelves: tuple[tuple[Triple, Triple], ...] = ()
    belt: bool = False
    stack: bool = False
    hand: bool = False


class CarryEnv(ArmEnv):
    """Fetch the item, carry it to its goal, let go.

    Parameters item_ahead, item_left (m), item_mass (kg), goal_ahead, goal_left (m); belt_speed
    (m/s) where there is a belt. Heights follow from what the item stands on.
    """

    slippery = ("item",)
    tool_geoms = (
        '<geom class="look" type="capsule" size="0.012" fromto="0 0 -0.09 0 0 -0.02" '
        'material="dark"/><geom name="cup" class="solid" type="box" size="0.027 0.027 0.008" '
        'pos="0 0 -0.008" mass="0.2" material="rubber"/>'
        '<site name="tip" pos="0 0 0" size="0.006" rgba="0.1 0.9 0.5 1"/>'
    )

    @classmethod
    def surroundings_of(cls, setting: Any) -> tuple[str, str, str]:
        """Shelves, items, belt or hand; the cup's suction and the belt's drive."""
        world = "".join(_shelf(i, *each) for i, each in enumerate(setting.shelves))
        world += _item("item", "crate") + (_item("under", "blue") if setting.stack else "")
        actuator = ""
        if setting.belt:
            world += _BELT
            actuator = '<velocity joint="belt" kv="2000" ctrlrange="-0.5 0.5"/>'
        return world + (_HAND if setting.hand else ""), actuator, _SUCTION

    def prepare(self) -> None:
        """Also the items."""
        super().prepare()
        model = self.model
        self._item = model.body("item").id
        self._cup, self._box = model.geom("cup").id, model.geom("item").id
        self._free = int(model.joint("item").qposadr[0])
        self._dof = int(model.joint("item").dofadr[0])
        self._tool, self._bond = model.body("tool").id, model.equality("suction").id
        self._sucking, self._pull = False, 0.0
        self.goal = np.zeros(3)
        self._under_begun = np.zeros(3)
        if self.setting.hand:
            self._hand = self.mocap("hand")

    def readers(self) -> Readers:
        """Those of every arm, impact and fall of the item, and what the variant watches."""
        found = [*super().readers()]
        setting = self.setting
        below = ["table", *(f"support {i}" for i in range(len(setting.shelves)))]
        below += ["belt"] * setting.belt + ["under"] * setting.stack + ["hand"] * setting.hand
        found.append((IMPACT, ContactForce("item", tuple(below))))
        found.append((FALL, Custom(lambda model, data: self._falling())))
        found.append((PULL, Custom(lambda model, data: self._pulled(), "force")))
        if setting.stack:
            found.append((SHIFT, Custom(lambda model, data: self._shifted())))
        if setting.hand:
            found.append((HAND_FORCE, ContactForce("hand", ("item", "cup"))))
            found.append((HAND_DISTANCE, Custom(lambda model, data: self._to_hand())))
        return found

    @property
    def place_of_item(self) -> Vector:
        """Middle of the item, (3,) in m."""
        found: Vector = self.data.xpos[self._item]
        return found

    @property
    def off(self) -> float:
        """Distance from the item to its goal in m."""
        return float(np.linalg.norm(self.goal - self.place_of_item))

    @property
    def held(self) -> bool:
        """Whether the cup has sealed on the item."""
        return bool(self.data.eq_active[self._bond])

    @property
    def touching(self) -> bool:
        """Whether the cup touches the item."""
        if self.held:
            return True
        pair = {self._cup, self._box}
        contact = self.data.contact
        rows = zip(contact.geom.tolist(), contact.dist.tolist(), strict=True)
        return any({one, two} == pair and dist <= 0.0 for (one, two), dist in rows)

    def _pulled(self) -> float:
        data = self.data
        mine = (data.efc_type == _EQUALITY) & (data.efc_id == self._bond)
        force = data.efc_force[mine][:3]
        # a seal that has just been made bears nothing yet
        self._pull = float(force @ data.xmat[self._tool][[2, 5, 8]]) if len(force) else 0.0
        return self._pull

    def tick(self) -> None:
        """The seal: made where the cup lies on the item, torn by too much pull."""
        data, can = self.data, SUCTION * self.surroundings.effort_left
        if self.held:
            data.eq_active[self._bond] = self._sucking and self._pull <= can
        elif self._sucking and can > 0.0 and self.touching:
            turned = data.xmat[self._item].reshape(3, 3)
            off = self.place_of_item + turned @ UP - self.place_of_tip
            if float(np.linalg.norm(off)) <= SEAL:
                self._seal()

    def _seal(self) -> None:
        """Item and cup stay as they are to each other."""
        data, kept = self.data, self.model.eq_data[self._bond]
        back = np.zeros(4)
        mj.mju_negQuat(back, data.xquat[self._tool])
        kept[:3] = 0.0
        mj.mju_rotVecQuat(kept[3:6], data.xpos[self._item] - data.xpos[self._tool], back)
        mj.mju_mulQuat(kept[6:10], back, data.xquat[self._item])
        data.eq_active[self._bond] = 1

    def _falling(self) -> float:
        speed = -float(self.data.qvel[self._dof + 2])
        return 0.0 if speed <= 0.0 or self.touching else speed

    def _shifted(self) -> float:
        return float(np.linalg.norm((self.data.body("under").xpos - self._under_begun)[:2]))

    def _to_hand(self) -> float:
        return float(np.linalg.norm(self.goal + UP - self.place_of_tip))

    def place(self, values: dict[str, float]) -> None:
        """Items, goal, mass and belt."""
        super().place(values)
        self._sucking, self._pull = False, 0.0
        mass = values["item_mass"]
        self.model.body_mass[self._item] = mass
        self.model.body_inertia[self._item] = mass * (2.0 * HALF) ** 2 / 6.0
        mj.mj_setConst(self.model, self.data)
        self.data.qpos[: self.size] = self.setting.start
        item = self._on_shelf(values["item_ahead"], values["item_left"])
        goal = self._on_shelf(values["goal_ahead"], values["goal_left"])
        self.data.qpos[self._free : self._free + 7] = (*item, 1.0, 0.0, 0.0, 0.0)
        if self.setting.stack:
            at = int(self.model.joint("under").qposadr[0])
            self.data.qpos[at : at + 7] = (*goal, 1.0, 0.0, 0.0, 0.0)
            self._under_begun[:] = goal
            goal = (goal[0], goal[1], goal[2] + 2.0 * HALF)
        if self.setting.hand:
            goal = (goal[0], goal[1], TABLE + values["hand_up"] + HALF)
            self.data.mocap_pos[self._hand] = (goal[0], goal[1], goal[2] - HALF)
        if self.setting.belt:
            self.data.qvel[self._dof + 1] = values["belt_speed"]
            self.data.qvel[int(self.model.joint("belt").dofadr[0])] = values["belt_speed"]
        self.goal[:] = goal
        self.point_at((goal[0], goal[1], goal[2] + HALF))

    def _on_shelf(self, x: float, y: float) -> Triple:
        """Middle of an item that stands at (x, y), on the highest thing there."""
        height = TABLE
        for (px, py, pz), (hx, hy, hz) in self.setting.shelves:
            if abs(x - px) <= hx and abs(y - py) <= hy:
                height = max(height, pz + hz)
        belt = self.setting.belt and abs(x - 0.5) < 0.09
        return x, y, (BELT if belt else height) + HALF

    def command(self, action: Vector) -> None:
        """Servos, suction, belt."""
        super().command(action)
        self._sucking = bool(action[3] > 0.0)
        if self.setting.belt:
            self.data.ctrl[self.size] = self.values["belt_speed"]

    def observe(self) -> Sequence[float]:
        """Those of every arm, then the item."""
        item = self.place_of_item
        to_item = (item + UP - self.place_of_tip) / 0.5
        to_goal = (self.goal - item) / 0.5
        speed = self.data.qvel[self._dof : self._dof + 2] / 0.6
        return (*super().observe(), *to_item, *to_goal, float(self.touching), *speed)


_EQUALITY = int(mj.mjtConstraint.mjCNSTR_EQUALITY)
_SUCTION = """<equality><weld name="suction" body1="tool" body2="item" active="false"
  solref="0.01 1"/></equality>"""
BELT = TABLE + 0.06
_BELT = f"""<body name="belt" pos="0.5 -0.2 {BELT - 0.01:g}" gravcomp="1">
  <joint name="belt" type="slide" axis="0 1 0"/>
  <geom name="belt" class="solid" type="box" size="0.08 0.6 0.01" mass="6" material="rubber"/>
  {
    "".join(
        f'<geom class="look" type="box" size="0.08 0.006 0.0005" pos="0 {y / 10:g} 0.0102" '
        'material="marking"/>'
        for y in range(-5, 6, 2)
    )
}</body>
  <geom class="look" type="box" size="0.095 0.72 0.02" pos="0.5 0 {
    TABLE + 0.02:g}" material="metal"/>"""
_HAND = """<body name="hand" mocap="true" pos="0.5 0.4 0.5">
  <geom name="hand" class="solid" type="box" size="0.06 0.06 0.012" pos="0 0 -0.012"
    material="skin"/>
  <geom class="look" type="capsule" size="0.035" fromto="0 0.06 -0.02 0.02 0.42 -0.10"
    material="blue"/>
  <geom class="look" type="capsule" size="0.16" fromto="0.1 0.62 -0.40 0.1 0.62 0.05"
    material="blue"/>
  <geom class="look" type="sphere" size="0.10" pos="0.1 0.62 0.36" material="skin"/></body>"""


def _item(name: str, paint: str) -> str:
    return (
        f'<body name="{name}" pos="0.5 0.5 1"><freejoint name="{name}"/><geom name="{name}" '
        f'class="solid" type="box" size="{HALF} {HALF} {HALF}" mass="0.5" priority="1" '
        f'friction="0.9 0.01 0.0001" material="{paint}"/></body>'
    )


def _shelf(index: int, place: Triple, half: Triple) -> str:
    words = [" ".join(f"{number:g}" for number in each) for each in (place, half)]
    return (
        f'<geom name="support {index}" class="solid" type="box" pos="{words[0]}" '
        f'size="{words[1]}" material="{"metal" if index % 2 else "green"}"/>'
    )
