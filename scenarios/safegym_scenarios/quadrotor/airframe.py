"""The multirotor: its frame, rotors, feet and what it carries, and the scene around it."""

from math import cos, pi, sin
from typing import Any

from safegym_scenarios.scene.look import scene

MASS = 0.9
"""kg, of the quadrotor without a load."""
CAGE = 0.27
"""m, radius of the guard cage around the rotors."""
FEET = 0.12
"""m, from the middle of the frame down to the soles."""
ROTOR_LIMIT = 5.0
"""N, largest thrust of a rotor."""
REACTION = 0.018
"""m, reaction torque per newton of thrust."""
LAG = 0.02
"""s, time constant of a rotor."""
CABLE = 0.7
"""m, from the frame's middle to a slung load."""
HEXA_ARM = 0.2

Rotor = tuple[float, float, float]


def rotors(count: int) -> tuple[Rotor, ...]:
    """(x m, y m, spin +-1) of each rotor: front right first, then counter-clockwise."""
    if count == 4:
        return (0.12, -0.12, 1.0), (0.12, 0.12, -1.0), (-0.12, 0.12, 1.0), (-0.12, -0.12, -1.0)
    angles = [pi / 3.0 * (number - 0.5) for number in range(count)]
    return tuple(
        (HEXA_ARM * cos(angle), HEXA_ARM * sin(angle), 1.0 if number % 2 == 0 else -1.0)
        for number, angle in enumerate(angles)
    )


def flying_scene(
    setting: Any,
    *,
    world: str,
    camera: str,
    center: tuple[float, float, float],
    extent: float,
    floor: str = "floor",
    default: str = "",
) -> str:
    """MJCF of a drone among the setting's shapes."""
    shapes = "".join(shape.mjcf for shape in setting.shapes)
    return scene(
        "multirotor",
        world=world + shapes + drone(setting.rotors, setting.mass, setting.load),
        actuator=_actuators(setting.rotors),
        camera=camera,
        center=center,
        extent=extent,
        timestep=setting.timestep,
        floor=floor,
        default=default,
        integrator="Euler",
    )


def drone(count: int, mass: float, load: str) -> str:
    """MJCF of the body "drone". load: "none", "rigid" (under the frame) or "slung" (on a cable)."""
    spread = 0.010 if count == 4 else 0.022
    parts = "".join(_arm(number, rotor) for number, rotor in enumerate(rotors(count)))
    return f"""
    <body name="drone" pos="0 0 1">
      <freejoint name="drone"/>
      <camera name="chase" mode="track" pos="-2.2 0 1.3" xyaxes="0 -1 0 0.5 0 0.86"/>
      <inertial pos="0 0 0" mass="{mass:g}" diaginertia="{spread:g} {spread:g} {1.6 * spread:g}"/>
      <geom name="cage" type="sphere" size="{CAGE:g}" mass="0" contype="2" conaffinity="2"
            rgba="0.75 0.88 0.98 0.07"/>
      <geom name="hull" type="ellipsoid" size="0.085 0.065 0.035" mass="0" contype="1"
            conaffinity="1" material="dark"/>
      <geom class="look" type="ellipsoid" pos="0.015 0 0.018" size="0.055 0.04 0.026"
            material="orange"/>
      <geom class="look" type="sphere" pos="0.08 0 -0.008" size="0.018" material="black"/>
      {parts}{_feet()}{_load(load)}
    </body>"""


def _arm(number: int, rotor: Rotor) -> str:
    x, y, _ = rotor
    lamp = "red" if y > 0 else "green"
    return f"""
      <geom class="look" type="capsule" fromto="0 0 0 {x:.4f} {y:.4f} 0.01" size="0.011"
            material="dark"/>
      <geom class="look" type="cylinder" pos="{x:.4f} {y:.4f} 0.018" size="0.018 0.016"
            material="metal"/>
      <geom class="look" type="cylinder" pos="{x:.4f} {y:.4f} 0.038" size="0.088 0.003"
            rgba="0.25 0.28 0.33 0.45"/>
      <geom class="look" type="sphere" pos="{x:.4f} {y:.4f} -0.008" size="0.012"
            material="{lamp}"/>
      <site name="rotor_{number}" pos="{x:.4f} {y:.4f} 0.03" size="0.01" group="4"/>"""


def _feet() -> str:
    places = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    return "".join(
        f"""
      <geom class="look" type="capsule" size="0.007" material="dark"
            fromto="{0.05 * a} {0.05 * b} -0.01 {0.1 * a} {0.1 * b} -0.1"/>
      <geom name="foot_{number}" type="sphere" pos="{0.1 * a} {0.1 * b} {0.02 - FEET:g}" size="0.02"
            mass="0" contype="1" conaffinity="1" friction="0.8" material="rubber"/>"""
        for number, (a, b) in enumerate(places)
    )


def _load(load: str) -> str:
    if load == "rigid":
        return """
      <body name="load" pos="0.02 0 -0.085">
        <geom name="load" type="box" size="0.06 0.05 0.03" mass="0.3" contype="0" conaffinity="0"
              material="crate"/>
      </body>"""
    if load == "slung":
        return f"""
      <body name="load" pos="0 0 0">
        <joint name="swing_x" type="hinge" axis="0 1 0" damping="0.004"/>
        <joint name="swing_y" type="hinge" axis="1 0 0" damping="0.004"/>
        <geom class="look" type="capsule" fromto="0 0 0 0 0 -{CABLE:g}" size="0.006"
              material="black"/>
        <geom name="load" type="sphere" pos="0 0 -{CABLE:g}" size="0.07" mass="0.25"
              contype="3" conaffinity="3" material="red"/>
      </body>"""
    return ""


def _actuators(count: int) -> str:
    return "".join(
        f'<general name="rotor_{number}" site="rotor_{number}" ctrlrange="0 {ROTOR_LIMIT:g}" '
        f'dyntype="filterexact" dynprm="{LAG:g}" gainprm="1" biastype="none" '
        f'gear="0 0 1 0 0 {-spin * REACTION:g}"/>'
        for number, (_, _, spin) in enumerate(rotors(count))
    )
