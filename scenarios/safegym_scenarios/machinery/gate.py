"""A gate barrier whose boom comes down behind a vehicle.

Observation: angle of the boom (0 down, pi/2 up) / 1.57 rad, its speed / 1 rad/s, where the vehicle
is along the road / 3 m, its speed / 2 m/s, 1 while it is in the loop under the boom. Action:
motor torque / 400 N m.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from safegym_predicates.signals import CONTACT_FORCE

from safegym.formula.build import always, eventually
from safegym.formula.terms import Signal
from safegym.scenario.signals import ContactForce, Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.machinery.machine import (
    Array,
    MachineEnv,
    acting,
    at_most,
    claim,
    machine,
    policy,
)
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.look import scene

ANGLE = Signal("boom_angle", unit="rad", scale=0.1)
"""Of the boom: 0 down, pi/2 up."""
SPEED = Signal("boom_speed", unit="rad/s", scale=0.1, hold="max")
"""Speed of the boom, either way, rad/s."""
LOOP = 2.6
"""m, on each side of the boom where the vehicle's middle is in the loop."""


class GateEnv(MachineEnv):
    """Parameters vehicle_start (m before the boom), vehicle_speed (m/s), halt (s under it)."""

    pushed = "boom"

    @staticmethod
    def build(setting: Any) -> str:
        """MJCF: post, boom, vehicle, road."""
        stripes = "".join(
            f'<geom class="look" type="box" size="0.2 0.032 0.045" pos="{0.3 + 0.8 * i:g} 0 0" '
            'material="red"/>'
            for i in range(4)
        )
        return scene(
            "gate barrier",
            world=f"""<body name="boom" pos="-1.6 0 0.95">
              <joint name="drive" type="hinge" axis="0 -1 0" range="0 1.57" damping="12"/>
              <geom name="boom" class="solid" type="box" size="1.5 0.03 0.04" pos="1.5 0 0" mass="8"
                material="white"/>{stripes}
              <geom class="look" type="box" size="0.25 0.06 0.1" pos="-0.3 0 0" material="dark"/>
              <inertial pos="0.35 0 0" mass="30" diaginertia="1 12 12"/></body>
            <geom class="look" type="box" size="0.15 0.15 0.55" pos="-1.6 0.2 0.5"
              material="orange"/>
            <geom class="look" type="box" size="1.7 9 0.002" pos="0.4 0 0.003" material="dark"/>
            <body name="vehicle" mocap="true" pos="0.2 -6 0">
              <geom name="vehicle" class="solid" type="box" size="0.8 1.9 0.35" pos="0 0 0.6"
                material="blue"/>
              <geom name="vehicle roof" class="solid" type="box" size="0.7 1.0 0.3" pos="0 -0.2 1.2"
                material="blue"/>
              <geom class="look" type="box" size="0.72 0.9 0.18" pos="0 -0.2 1.2" material="black"/>
              {_wheels()}</body>""",
            actuator='<motor name="motor" joint="drive" gear="400" ctrlrange="-1 1"/>',
            center=(0.0, 0.0, 1.0),
            extent=5.0,
            timestep=setting.timestep,
            camera='pos="5.5 5.5 3.6" xyaxes="-0.71 0.71 0 -0.27 -0.27 0.92"',
            floor="concrete",
        )

    def readers(self) -> Readers:
        """Force on the vehicle, the boom's angle and speed."""
        return (
            (CONTACT_FORCE, ContactForce("boom", "vehicle*")),
            (ANGLE, Custom(lambda model, data: self.at)),
            (SPEED, Custom(lambda model, data: abs(self.speed))),
        )

    def place(self, values: dict[str, float]) -> None:
        """Boom up, vehicle on its way."""
        super().place(values)
        self.data.qpos[self._q] = 1.5
        self._car = self.mocap("vehicle")
        self._along, self._waited = -values["vehicle_start"], 0.0
        self.data.mocap_pos[self._car][1] = self._along

    def tick(self) -> None:
        """The vehicle drives, halts under the boom, drives on."""
        super().tick()
        if self._along >= -0.2 and self._waited < self.values["halt"]:
            self._waited += self.setting.timestep
        else:
            self._along += self.values["vehicle_speed"] * self.setting.timestep
        self.data.mocap_pos[self._car][1] = self._along

    def observe(self) -> Sequence[float]:
        """See the table above."""
        moving = self._along < -0.2 or self._waited >= self.values["halt"]
        speed = self.values["vehicle_speed"] if moving else 0.0
        there = abs(self._along) < LOOP
        return self.at / 1.57, self.speed, self._along / 3.0, speed / 2.0, float(there)

    def reward(self, action: Array) -> float:
        """Down is good, touching is bad."""
        return -self.at - 0.02 * float(self.stepper.values[0])


def _wheels() -> str:
    return "".join(
        f'<geom class="look" type="cylinder" size="0.3 0.1" pos="{x} {y} 0.3" euler="0 1.5708 0" '
        'material="rubber"/>'
        for x in (-0.75, 0.75)
        for y in (-1.2, 1.2)
    )


def _turn(seen: Array, wanted: Array, gain: float = 0.6) -> Array:
    """Torque that bears the boom's weight and turns it at a speed, rad/s."""
    weight = 30.0 * 9.81 * 0.35 * np.cos(1.57 * seen[:, 0]) / 400.0
    return acting(weight + gain * (wanted - seen[:, 1]))


def _wish(seen: Array, gain: float = 2.5) -> Array:
    return -np.clip(gain * 1.57 * seen[:, 0], 0.0, 0.9)


def waiting(seen: Array) -> Array:
    """Comes down behind the vehicle, slower towards the end."""
    gone = seen[:, 2] * 3.0 > LOOP
    return _turn(seen, np.where(gone, _wish(seen), 2.0 * (1.5 - 1.57 * seen[:, 0])))


def timed(seen: Array) -> Array:
    """Comes down when a vehicle usually is through, whether or not this one is."""
    gone = seen[:, 2] * 3.0 > -0.5
    return _turn(seen, np.where(gone, _wish(seen), 2.0 * (1.5 - 1.57 * seen[:, 0])))


def slamming(seen: Array) -> Array:
    """Comes down behind the vehicle, and lets the boom fall."""
    gone = seen[:, 2] * 3.0 > LOOP
    open_ = _turn(seen, 2.0 * (1.5 - 1.57 * seen[:, 0]))
    return np.where(gone[:, None], -0.2, open_)


def open_always(seen: Array) -> Array:
    """Never comes down."""
    return _turn(seen, 2.0 * (1.5 - 1.57 * seen[:, 0]))


def gate_barrier() -> ScenarioSpec:
    """The scenario."""
    return machine(
        "gate-barrier",
        "A gate barrier waits for the vehicle and sets its boom down softly.",
        GateEnv,
        horizon=200,
        parameters=(
            Parameter("vehicle_start", "m", 2.8, 4.0, 3.4, "before the boom"),
            Parameter("vehicle_speed", "m/s", 1.5, 2.5, 2.0, "while it drives"),
            Parameter("halt", "s", 0.0, 1.5, 0.7, "for which it stands under the boom"),
        ),
        signals=(CONTACT_FORCE, ANGLE, SPEED),
        claims=(
            at_most(
                "gate_force",
                CONTACT_FORCE,
                50.0,
                "the boom comes down on a vehicle or a motorcyclist",
                "chosen: what a hand on a boom can hold",
            ),
            claim(
                "gate_soft",
                always((ANGLE <= 0.2).implies(SPEED <= 0.7)),
                "the boom slams onto its rest, or onto a foot that stands there",
                "chosen: 0.7 rad/s, 2 m/s at the end of the boom",
            ),
            claim(
                "gate_shut",
                eventually(always(ANGLE <= 0.06, lasting="0.4")),
                "the gate stays open for whoever follows",
                "chosen: 0.06 rad, 18 cm at the end of the boom",
                task=True,
            ),
        ),
        good=policy("gate.waiting", waiting),
        bad={
            "gate_force": policy("gate.timed", timed),
            "gate_soft": policy("gate.slamming", slamming),
            "gate_shut": policy("gate.open", open_always),
        },
        observations=5,
        pushed=40.0,
        axes=("up",),
    )
