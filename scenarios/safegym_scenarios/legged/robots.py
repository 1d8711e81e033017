"""Our own small robots: quadruped, hexapod, biped, hopper, and a quadruped on wheels.

All drives are position servos (the wheels' are speed servos). Feet are spheres, the only parts that
touch the ground.
"""

from dataclasses import dataclass
from math import cos

THIGH = SHANK = 0.2
FOOT = 0.022
_TOUCH = 'contype="2" conaffinity="1" condim="3"'
_NONE = 'contype="0" conaffinity="0"'


@dataclass(frozen=True)
class Drive:
    """A servo: rest and span in rad (m, rad/s); kp, kd of the servo; most: N m (N)."""

    joint: str
    rest: float
    span: float
    kp: float
    kd: float
    most: float
    speed: bool = False

    def mjcf(self) -> str:
        """The actuator's line."""
        low, high = self.rest - self.span, self.rest + self.span
        limits = f'ctrlrange="{low:g} {high:g}" forcerange="-{self.most} {self.most}"'
        common = f'joint="{self.joint}" {limits}'
        if self.speed:
            return f'<velocity name="{self.joint}" kv="{self.kd}" {common}/>'
        return f'<position name="{self.joint}" kp="{self.kp}" kv="{self.kd}" {common}/>'


@dataclass(frozen=True)
class Robot:
    """mjcf: of its body "trunk". drives: in the order of the action. feet: names of their geoms.

    height: m, of the trunk's middle at the start with every drive at rest. planar: whether a boom
    keeps it in the x-z plane: joints "x", "z" and, unless the boom is stiff, "pitch".
    """

    mjcf: str
    drives: tuple[Drive, ...]
    feet: tuple[str, ...]
    height: float
    planar: bool = False


_CORNERS = {"fl": (1, 1), "fr": (1, -1), "hl": (-1, 1), "hr": (-1, -1)}
CORNERS = tuple(_CORNERS.values())
"""(front, left) as +-1 of the quadruped's legs, in the order of the action."""
HIP, KNEE = 0.7, -1.4


def quadruped(fold: float, payload: float = 0.0) -> Robot:
    """12 joints: hip roll, hip pitch, knee a leg. fold: rad that legs are bent at rest."""
    legs = "".join(_leg(name, *at) for name, at in _CORNERS.items())
    drives = tuple(
        drive
        for name in _CORNERS
        for drive in (
            Drive(f"{name}_roll", 0.0, 0.35, 60.0, 2.0, 25.0),
            Drive(f"{name}_hip", HIP + fold, 0.7, 60.0, 2.0, 25.0),
            Drive(f"{name}_knee", KNEE - 2.0 * fold, 1.2, 60.0, 2.0, 25.0),
        )
    )
    return Robot(
        _trunk(legs, payload),
        drives,
        tuple(f"{name}_foot" for name in _CORNERS),
        2 * THIGH * cos(HIP + fold) + FOOT,
    )


def wheeled() -> Robot:
    """12 joints: hip pitch, knee and a driven wheel for each leg."""
    legs = "".join(_leg(name, *at, wheel=True) for name, at in _CORNERS.items())
    drives = tuple(
        drive
        for name in _CORNERS
        for drive in (
            Drive(f"{name}_hip", HIP, 0.7, 80.0, 3.0, 30.0),
            Drive(f"{name}_knee", KNEE, 1.2, 80.0, 3.0, 30.0),
            Drive(f"{name}_wheel", 0.0, 12.0, 0.0, 0.6, 6.0, speed=True),
        )
    )
    return Robot(
        _trunk(legs, 0.0),
        drives,
        tuple(f"{name}_foot" for name in _CORNERS),
        2 * THIGH * cos(HIP) + WHEEL,
    )


WHEEL = 0.055


def _trunk(legs: str, payload: float) -> str:
    load = (
        f'<body name="payload" pos="0.05 0 0.09"><geom type="box" {_NONE} size="0.09 0.07 0.045" '
        f'mass="{payload}" material="crate"/></body>'
        if payload
        else '<geom class="look" type="box" size="0.1 0.05 0.02" pos="-0.04 0 0.06" '
        'material="metal"/>'
    )
    return f"""<body name="trunk"><freejoint/>
      <camera name="onboard" pos="0.33 0 0.03" xyaxes="0 -1 0 0 0 1"/>
      <geom name="trunk" type="box" contype="0" conaffinity="4" size="0.22 0.085 0.045" mass="5"
        material="yellow"/>
      <geom class="look" type="box" size="0.05 0.06 0.04" pos="0.26 0 0.01" material="dark"/>
      <geom class="look" type="sphere" size="0.014" pos="0.305 0.03 0.02" material="lamp"/>
      <geom class="look" type="sphere" size="0.014" pos="0.305 -0.03 0.02" material="lamp"/>
      {load}{legs}</body>"""


def _leg(name: str, front: int, left: int, wheel: bool = False) -> str:
    x, y, out = 0.18 * front, 0.06 * left, 0.07 * left
    roll = "" if wheel else f'<joint name="{name}_roll" type="hinge" axis="1 0 0" armature="0.01"/>'
    tip = (
        f"""<body pos="0 0 {-SHANK}"><joint name="{name}_wheel" type="hinge" axis="0 1 0"
          armature="0.002"/>
          <geom name="{name}_foot" {_TOUCH} type="sphere" size="{WHEEL}" mass="0.3"
            friction="1 0.005 0.0001" group="3"/>
          <geom class="look" type="cylinder" size="{WHEEL} 0.02" euler="1.5708 0 0"
            material="rubber"/>
          <geom class="look" type="box" size="0.045 0.022 0.008" material="metal"/></body>"""
        if wheel
        else f'<geom name="{name}_foot" {_TOUCH} type="sphere" size="{FOOT}" pos="0 0 {-SHANK}" '
        f'mass="0.06" friction="0.9 0.005 0.0001" material="rubber"/>'
    )
    return f"""<body name="{name}_shoulder" pos="{x} {y} 0">{roll}
      <geom type="sphere" {_NONE} size="0.045" mass="0.3" material="dark"/>
      <body name="{name}_thigh" pos="0 {out} 0">
        <joint name="{name}_hip" type="hinge" axis="0 1 0" armature="0.01"/>
        <geom type="capsule" {_NONE} fromto="0 0 0 0 0 {-THIGH}" size="0.022" mass="0.35"
          material="white"/>
        <body name="{name}_shank" pos="0 0 {-THIGH}">
          <joint name="{name}_knee" type="hinge" axis="0 1 0" armature="0.01"/>
          <geom type="capsule" {_NONE} fromto="0 0 0 0 0 {-SHANK}" size="0.015" mass="0.15"
            material="dark"/>
          {tip}</body></body></body>"""


SIX = tuple((front, left) for front in (1, 0, -1) for left in (1, -1))
"""(front, left) of the hexapod's legs, in the order of the action."""


def hexapod() -> Robot:
    """12 joints: sweep (forward positive) and lift for each of six legs."""
    legs = "".join(_insect_leg(k, *at) for k, at in enumerate(SIX))
    drives = tuple(
        drive
        for k in range(6)
        for drive in (
            Drive(f"sweep_{k}", 0.0, 0.6, 25.0, 0.8, 8.0),
            Drive(f"lift_{k}", 0.0, 0.8, 25.0, 0.8, 8.0),
        )
    )
    mjcf = f"""<body name="trunk"><freejoint/>
      <geom name="trunk" type="box" contype="0" conaffinity="4" size="0.2 0.06 0.03" mass="1.6"
        material="green"/>
      <geom class="look" type="ellipsoid" size="0.21 0.065 0.04" material="green"/>
      <geom class="look" type="sphere" size="0.045" pos="0.21 0 0.01" material="dark"/>
      <geom class="look" type="sphere" size="0.016" pos="0.24 0.025 0.03" material="red"/>
      <geom class="look" type="sphere" size="0.016" pos="0.24 -0.025 0.03" material="red"/>
      {legs}</body>"""
    return Robot(mjcf, drives, tuple(f"foot_{k}" for k in range(6)), 0.09 + 0.016)


def _insect_leg(index: int, front: int, left: int) -> str:
    return f"""<body name="coxa_{index}" pos="{0.15 * front} {0.06 * left} 0">
      <joint name="sweep_{index}" type="hinge" axis="0 0 {-left}" armature="0.003"/>
      <geom type="sphere" {_NONE} size="0.022" mass="0.05" material="dark"/>
      <body name="femur_{index}"><joint name="lift_{index}" type="hinge" axis="{left} 0 0"
        armature="0.003"/>
        <geom type="capsule" {_NONE} fromto="0 0 0 0 {0.09 * left} 0.05" size="0.012" mass="0.06"
          material="orange"/>
        <geom type="capsule" {_NONE} fromto="0 {0.09 * left} 0.05 0 {0.14 * left} -0.09"
          size="0.009" mass="0.05" material="dark"/>
        <geom name="foot_{index}" {_TOUCH} type="sphere" size="0.016" pos="0 {0.14 * left} -0.09"
          mass="0.01" friction="0.9 0.005 0.0001" material="rubber"/>
      </body></body>"""


def biped(stiff_boom: bool) -> Robot:
    """Hip, knee and ankle for each of two legs, on a boom. stiff_boom: it keeps it upright."""
    legs = "".join(_biped_leg(side, y) for side, y in (("left", 0.06), ("right", -0.06)))
    drives = tuple(
        drive
        for side in ("left", "right")
        for drive in (
            Drive(f"{side}_hip", -0.3, 0.7, 150.0, 5.0, 40.0),
            Drive(f"{side}_knee", 0.6, 0.9, 150.0, 5.0, 40.0),
            Drive(f"{side}_ankle", -0.3, 0.5, 120.0, 4.0, 30.0),
        )
    )
    pitch = "" if stiff_boom else '<joint name="pitch" type="hinge" axis="0 1 0"/>'
    mjcf = f"""<body name="trunk"><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>{pitch}
      <geom name="trunk" type="box" contype="0" conaffinity="4" size="0.06 0.08 0.14"
        pos="0 0 0.14" mass="6" material="blue"/>
      <geom class="look" type="sphere" size="0.06" pos="0.01 0 0.34" material="white"/>
      <geom class="look" type="box" size="0.02 0.045 0.014" pos="0.055 0 0.35" material="black"/>
      <geom class="look" type="capsule" fromto="0 0 0.12 0 1.6 0.12" size="0.012" material="metal"/>
      {legs}</body>"""
    feet = tuple(f"{side}_{end}" for side in ("left", "right") for end in ("toe", "heel"))
    return Robot(mjcf, drives, feet, 0.5 * cos(0.3) + 0.05 + 0.02, planar=True)


def _biped_leg(side: str, y: float) -> str:
    ends = "".join(
        f'<geom name="{side}_{end}" {_TOUCH} type="sphere" size="0.02" pos="{x} 0 -0.05" '
        f'mass="0.05" friction="0.9 0.005 0.0001" material="rubber"/>'
        for end, x in (("toe", 0.1), ("heel", -0.06))
    )
    return f"""<body name="{side}_thigh" pos="0 {y} 0"><joint name="{side}_hip" type="hinge"
      axis="0 1 0" armature="0.02"/>
      <geom type="capsule" {_NONE} fromto="0 0 0 0 0 -0.25" size="0.03" mass="1" material="white"/>
      <body name="{side}_shank" pos="0 0 -0.25"><joint name="{side}_knee" type="hinge"
        axis="0 1 0" armature="0.02"/>
        <geom type="capsule" {_NONE} fromto="0 0 0 0 0 -0.25" size="0.024" mass="0.6"
          material="dark"/>
        <body name="{side}_sole" pos="0 0 -0.25"><joint name="{side}_ankle" type="hinge"
          axis="0 1 0" armature="0.02"/>
          <geom class="look" type="box" size="0.09 0.035 0.012" pos="0.02 0 -0.045"
            material="orange"/>{ends}
        </body></body></body>"""


def hopper() -> Robot:
    """One springy leg on a stiff boom: hip (rad) and leg length (m)."""
    drives = (Drive("hip", 0.0, 0.5, 60.0, 3.0, 30.0), Drive("leg", 0.0, 0.12, 1200.0, 8.0, 400.0))
    mjcf = f"""<body name="trunk"><joint name="x" type="slide" axis="1 0 0"/><joint name="z"
      type="slide" axis="0 0 1"/>
      <geom name="trunk" type="box" contype="0" conaffinity="4" size="0.1 0.08 0.07"
        pos="0 0 0.05" mass="4" material="purple"/>
      <geom class="look" type="sphere" size="0.05" pos="0.03 0 0.14" material="lamp"/>
      <geom class="look" type="capsule" fromto="0 0 0.05 0 1.6 0.05" size="0.012" material="metal"/>
      <body name="thigh"><joint name="hip" type="hinge" axis="0 1 0" armature="0.01"/>
        <geom type="capsule" {_NONE} fromto="0 0 0 0 0 -0.2" size="0.03" mass="0.4"
          material="white"/>
        <body name="shin" pos="0 0 -0.2"><joint name="leg" type="slide" axis="0 0 -1"/>
          <geom type="capsule" {_NONE} fromto="0 0 0.14 0 0 -0.2" size="0.016" mass="0.25"
            material="dark"/>
          <geom name="toe" {_TOUCH} type="sphere" size="0.028" pos="0 0 -0.2" mass="0.05"
            friction="1 0.005 0.0001" material="rubber"/>
        </body></body></body>"""
    return Robot(mjcf, drives, ("toe",), 0.4 + 0.028, planar=True)
