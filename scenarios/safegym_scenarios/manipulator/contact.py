"""Arms that press: on a soft or a stiff surface, along a line, into a hole.

| further observation | divided by |
|---|---|
| largest force on the surface during the last step | 40 N |
| share of the line that is wiped | 1 |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.formula.terms import Signal
from safegym.scenario.signals import ContactForce
from safegym_scenarios.manipulator.arm import ArmEnv, ArmSetting
from safegym_scenarios.manipulator.chain import TABLE
from safegym_scenarios.scene.env import Readers

FORCE = Signal("surface_force", unit="N", scale=5.0, hold="max")
"""Force of the tool on the surface, N."""
LEAST_FORCE = Signal("least_surface_force", unit="N", scale=5.0, hold="min")
"""The same, the least since the last sample."""
WIPED = Signal("wiped", unit="1", scale=0.1)
"""Share of the line that has been wiped with enough force."""
ENOUGH = 3.0
"""N, the largest force in a control step from where on wiping cleans."""
PLATE = 0.06
"""m, height of the plate with the hole."""


@dataclass(frozen=True, kw_only=True)
class SurfaceSetting(ArmSetting):
    """stiffness: N/m, of a padded surface; 0 for a rigid one. line: m, wiped to left and right."""

    stiffness: float = 0.0
    line: float = 0.0


class PressEnv(ArmEnv):
    """Press on a block whose height nobody told, at the aim; or wipe along a line there."""

    @classmethod
    def surroundings_of(cls, setting: Any) -> tuple[str, str, str]:
        """The block, on a spring where it is soft."""
        soft, paint = setting.stiffness, "blue" if setting.stiffness else "metal"
        spring = (
            f'<joint name="pad" type="slide" axis="0 0 1" range="-0.05 0.01" '
            f'stiffness="{soft:g}" damping="{0.015 * soft:g}"/>'
            if soft
            else ""
        )
        block = f"""<body name="surface" pos="0.46 0 {TABLE + 0.1:g}" gravcomp="1">{spring}
          <geom name="surface" class="solid" type="box" size="0.12 0.28 0.02" pos="0 0 -0.02"
            mass="1.5" friction="0.3 0.005 0.0001" material="{paint}"/></body>
          <geom class="look" type="box" size="0.10 0.26 0.016" pos="0.46 0 {TABLE + 0.016:g}"
            material="dark"/>"""
        return block, "", ""

    def prepare(self) -> None:
        """Also the block."""
        super().prepare()
        self._block = self.model.body("surface").id
        self._from, self._to = np.zeros(3), np.zeros(3)
        self.wiped = 0.0

    def readers(self) -> Readers:
        """Those of every arm, and the force on the surface."""
        force = ContactForce("arm tool", "surface")
        return (*super().readers(), (FORCE, force), (LEAST_FORCE, force))

    def place(self, values: dict[str, float]) -> None:
        """The block at its height, the aim on it."""
        super().place(values)
        self.data.qpos[0] = values["start_yaw"]
        height = TABLE + values["surface_up"]
        self.model.body_pos[self._block][2] = height
        left, line = values["aim_left"], self.setting.line
        self._from[:] = (values["aim_ahead"], left - line, height)
        self._to[:] = (values["aim_ahead"], left + line, height)
        self.wiped = 0.0
        self.point_at(self._from)

    def progress(self) -> None:
        """Wiping goes on where the tool is near the aim and presses enough."""
        if not self.setting.line or not self.steps:
            return
        flat = float(np.linalg.norm((self.aim - self.place_of_tip)[:2]))
        if flat < 0.03 and float(self.stepper.values[3]) >= ENOUGH:
            self.wiped = min(1.0, self.wiped + 0.015)
            self.point_at(self._from + self.wiped * (self._to - self._from))

    def task_signals(self) -> tuple[float, ...]:
        """Share wiped, where there is a line."""
        return (self.wiped,) if self.setting.line else ()

    def observe(self) -> Sequence[float]:
        """The height of the surface is not told: the way down is that to the middle height."""
        told = list(super().observe())
        told[8] = (TABLE + 0.10 - float(self.place_of_tip[2])) / 0.5
        return (*told, float(self.stepper.values[3]) / 40.0, self.wiped)


class PegEnv(ArmEnv):
    """Put the tool into a hole that is seen a few millimetres off."""

    @classmethod
    def surroundings_of(cls, setting: Any) -> tuple[str, str, str]:
        """A plate of four bars with a square hole between them."""
        room, bar, half = 0.019, 0.04, PLATE / 2.0
        off = room + bar
        bars = (
            (off, 0.0, bar, room + 2 * bar),
            (-off, 0.0, bar, room + 2 * bar),
            (0.0, off, room, bar),
            (0.0, -off, room, bar),
        )
        plate = "".join(
            f'<geom name="plate {i}" class="solid" type="box" pos="{x:g} {y:g} {half:g}" '
            f'size="{a:g} {b:g} {half:g}" friction="0.3 0.005 0.0001" material="metal"/>'
            for i, (x, y, a, b) in enumerate(bars)
        )
        return f'<body name="plate" mocap="true" pos="0.5 0 {TABLE}">{plate}</body>', "", ""

    def prepare(self) -> None:
        """Also the plate."""
        super().prepare()
        self._plate = self.mocap("plate")
        self._seen_off = np.zeros(3)

    def readers(self) -> Readers:
        """Those of every arm, and the force on the plate."""
        return (*super().readers(), (FORCE, ContactForce("arm tool", "plate *")))

    def place(self, values: dict[str, float]) -> None:
        """The plate, and how far off it is seen."""
        super().place(values)
        self.data.qpos[0] = values["start_yaw"]
        hole = (values["aim_ahead"], values["aim_left"], TABLE)
        self.data.mocap_pos[self._plate] = hole
        self.point_at((hole[0], hole[1], TABLE + 0.015))
        self._seen_off[:2] = values["seen_off_ahead"], values["seen_off_left"]

    def observe(self) -> Sequence[float]:
        """The way is told as it is seen."""
        told = list(super().observe())
        told[6:9] = ((self.aim + self._seen_off - self.place_of_tip) / 0.5).tolist()
        return (*told, float(self.stepper.values[3]) / 40.0)
