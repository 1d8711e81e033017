"""The chaser and what stands around it: bodies, thrusters, wheels, and the scene in orbit."""

from typing import Any

from safegym_scenarios.scene.look import scene

MASS = 200.0
"""kg, of the chaser without a tank that sloshes."""
INERTIA = 60.0
"""kg m^2, about each axis."""
THRUST = 10.0
"""N, of each of the six thrusters, one to a direction."""
TORQUE = 4.0
"""N m, of the wheels about each axis."""
NOSE = 0.7
"""m, from the chaser's middle forward to its docking ring."""
PORT = 1.5
"""m, from the station's middle back to its port; the port looks back along x."""
DIRECTIONS = ("1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1")


def orbit_scene(
    setting: Any,
    *,
    world: str,
    camera: str,
    center: tuple[float, float, float],
    extent: float,
    asset: str = "",
    actuator: str = "",
    more: str = "",
    gravity: str = "0 0 0",
    floor: str = "",
) -> str:
    """MJCF of a scene without ground or weight, before the dark."""
    text = scene(
        "spacecraft",
        world=world,
        actuator=actuator or thrusters(),
        asset=asset,
        camera=camera,
        center=center,
        extent=extent,
        timestep=setting.timestep,
        floor=floor,
        gravity=gravity,
        integrator="Euler",
        more=more,
        fog=False,
    )
    return text.replace(
        'rgb1="0.80 0.84 0.89" rgb2="0.36 0.41 0.48" width="256" height="256"/>',
        'rgb1="0.02 0.02 0.05" rgb2="0.0 0.0 0.01" mark="random" markrgb="1 1 1" random="0.0015" '
        'width="512" height="512"/>',
        1,
    )


def thrusters() -> str:
    """Six thrusters that only push, and wheels about three axes."""
    push = "".join(
        f'<general name="thruster_{k}" site="centre" gear="{way} 0 0 0" ctrlrange="0 {THRUST:g}"/>'
        for k, way in enumerate(DIRECTIONS)
    )
    turn = "".join(
        f'<general name="wheel_{axis}" site="centre" gear="0 0 0 {way}" '
        f'ctrlrange="-{TORQUE:g} {TORQUE:g}"/>'
        for axis, way in zip("xyz", DIRECTIONS, strict=False)
    )
    return push + turn


def chaser(inside: str = "", wings: str = "") -> str:
    """MJCF of the body "craft", its ring forward. inside: a tank. wings: in place of stiff ones."""
    return f"""
    <body name="craft" pos="-10 0 0">
      <freejoint name="craft"/>
      <inertial pos="0 0 0" mass="{MASS:g}" diaginertia="{INERTIA:g} {INERTIA:g} {INERTIA:g}"/>
      <site name="centre" group="4" size="0.02"/>
      <camera name="chase" pos="-4 0 1.6" xyaxes="0 -1 0 0.35 0 0.94"/>
      <geom name="hull" type="box" size="0.5 0.42 0.42" mass="0" contype="1" conaffinity="1"
            material="white"/>
      <geom class="look" type="box" size="0.36 0.425 0.425" material="yellow"/>
      <geom class="look" type="cylinder" pos="0.56 0 0" size="0.3 0.06" euler="0 1.5708 0"
            material="metal"/>
      <geom class="look" type="cylinder" pos="0.66 0 0" size="0.22 0.04" euler="0 1.5708 0"
            material="dark"/>
      <geom class="look" type="sphere" pos="0.52 0.3 0.3" size="0.05" material="lamp"/>
      <geom class="look" type="cylinder" pos="-0.56 0 0" size="0.16 0.08" euler="0 1.5708 0"
            material="dark"/>
      {wings or _wings()}{_nozzles()}{inside}
    </body>"""


def _wings() -> str:
    return "".join(
        f"""
      <geom class="look" type="capsule" fromto="0 {0.4 * s} 0 0 {0.8 * s} 0" size="0.03"
            material="metal"/>
      <geom class="look" type="box" pos="0 {1.5 * s} 0" size="0.3 0.7 0.012" material="blue"/>
      <geom class="look" type="box" pos="0 {1.5 * s} 0" size="0.31 0.012 0.016"
            material="white"/>"""
        for s in (1, -1)
    )


def _nozzles() -> str:
    return "".join(
        f'<geom class="look" type="sphere" pos="{0.48 * x} {0.4 * y} {0.4 * z}" size="0.045" '
        'material="dark"/>'
        for x in (1, -1)
        for y in (1, -1)
        for z in (1, -1)
    )


def station(mark: str = "") -> str:
    """MJCF of the body "station", a mocap, its port back along x at PORT. mark: more to see."""
    return f"""
    <body name="station" mocap="true" pos="0 0 0">
      <geom name="station_hull" type="cylinder" size="0.9 1.25" pos="0.1 0 0" euler="0 1.5708 0"
            contype="1" conaffinity="1" material="white"/>
      <geom class="look" type="cylinder" pos="-0.5 0 0" size="0.92 0.1" euler="0 1.5708 0"
            material="metal"/>
      <geom class="look" type="cylinder" pos="0.9 0 0" size="0.92 0.1" euler="0 1.5708 0"
            material="metal"/>
      <geom class="look" type="cylinder" pos="-1.32 0 0" size="0.34 0.17" euler="0 1.5708 0"
            material="dark"/>
      <geom class="look" type="cylinder" pos="-1.49 0 0" size="0.26 0.012" euler="0 1.5708 0"
            material="goal"/>
      <geom class="look" type="capsule" fromto="0.3 -1.2 0 0.3 1.2 0" size="0.08"
            material="metal"/>
      <geom class="look" type="box" pos="0.3 3.2 0" size="0.8 2.0 0.02" material="blue"/>
      <geom class="look" type="box" pos="0.3 -3.2 0" size="0.8 2.0 0.02" material="blue"/>
      <geom class="look" type="box" pos="0.3 3.2 0" size="0.03 2.0 0.03" material="white"/>
      <geom class="look" type="box" pos="0.3 -3.2 0" size="0.03 2.0 0.03" material="white"/>
      <geom class="look" type="cylinder" pos="0.1 0 1.2" size="0.03 0.35" material="metal"/>
      <geom class="look" type="ellipsoid" pos="0.1 0 1.6" size="0.32 0.32 0.09"
            material="white"/>{mark}
    </body>
    <geom class="look" type="sphere" pos="6 26 -30" size="22" rgba="0.16 0.36 0.62 1"/>
    <geom class="look" type="sphere" pos="6 26 -30" size="22.4" rgba="0.7 0.85 1 0.12"/>"""
