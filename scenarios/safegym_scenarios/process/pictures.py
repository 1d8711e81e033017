"""Tanks, pipes, valves and gauges in MJCF, and the scene around them. Lengths in m."""

from itertools import pairwise
from typing import Any

from safegym_scenarios.scene.look import scene

DEPTH = 8.0
"""Length of a column of liquid; what is not in its tank is below the ground."""


def plant_scene(name: str, setting: Any, world: str, *, middle: float = 0.0) -> str:
    """A whole scene. world: of the plant. middle: x that the camera looks at."""
    return scene(
        name,
        world=world + _HALL,
        camera=f'pos="{middle + 2.5:g} -8.5 4.2" xyaxes="0.96 0.28 0 -0.1 0.34 0.94"',
        center=(middle, 0.0, 1.5),
        extent=7.0,
        timestep=setting.timestep,
        floor="floor",
    )


_HALL = (
    '<geom class="look" type="box" size="9 0.1 2.2" pos="0 4 2.2" material="wall"/>'
    '<geom class="look" type="box" size="9 0.02 0.08" pos="0 3.88 0.5" material="yellow"/>'
)


def tank(
    number: int,
    x: float,
    *,
    radius: float = 0.8,
    height: float = 3.0,
    colour: str = "0.20 0.50 0.80 0.85",
    mark: float = 0.0,
) -> str:
    """A glass tank on the ground with its liquid "level_<number>"; mark: height of a red ring."""
    ring = (
        f'<geom class="look" type="cylinder" size="{radius + 0.03:g} 0.015" '
        f'pos="{x:g} 0 {mark:g}" material="hazard"/>'
        if mark
        else ""
    )
    posts = "".join(
        f'<geom class="look" type="cylinder" size="0.045 {height / 2:g}" '
        f'pos="{x + side * (radius + 0.03):g} {depth * 0.5:g} {height / 2:g}" material="metal"/>'
        for side in (-1, 1)
        for depth in (-0.2, 0.2)
    )
    return f"""<geom class="look" type="cylinder" size="{radius:g} {height / 2:g}"
      pos="{x:g} 0 {height / 2:g}" material="glass"/>
    <geom class="look" type="cylinder" size="{radius + 0.06:g} 0.04" pos="{x:g} 0 0.04"
      material="dark"/>
    <geom class="look" type="cylinder" size="{radius + 0.05:g} 0.03" pos="{x:g} 0 {height:g}"
      material="metal"/>{ring}{posts}
    <body name="level_{number}" mocap="true" pos="{x:g} 0 0">
      <geom class="look" type="cylinder" size="{radius - 0.04:g} {DEPTH / 2:g}"
        pos="0 0 {-DEPTH / 2:g}" rgba="{colour}"/></body>"""


def pipe(*points: tuple[float, float, float], material: str = "metal", radius: float = 0.07) -> str:
    """A pipe through the points."""
    return "".join(
        f'<geom class="look" type="capsule" size="{radius:g}" material="{material}" fromto="'
        + " ".join(f"{value:g}" for value in (*one, *two))
        + '"/>'
        for one, two in pairwise(points)
    )


def valve(name: str, x: float, z: float, *, y: float = 0.0) -> str:
    """A valve whose stem, the mocap body `name`, rises as it opens."""
    return f"""<geom class="look" type="sphere" size="0.16" pos="{x:g} {y:g} {z:g}"
      material="dark"/>
    <body name="{name}" mocap="true" pos="{x:g} {y:g} {z + 0.15:g}">
      <geom class="look" type="cylinder" size="0.03 0.2" material="metal"/>
      <geom class="look" type="cylinder" size="0.17 0.025" pos="0 0 0.2" material="red"/></body>"""


def pump(x: float, z: float, *, y: float = 0.0) -> str:
    """A pump and its motor."""
    return f"""<geom class="look" type="cylinder" size="0.26 0.12" pos="{x:g} {y:g} {z:g}"
      euler="1.5708 0 0" material="blue"/>
    <geom class="look" type="cylinder" size="0.17 0.3" pos="{x:g} {y + 0.4:g} {z:g}"
      euler="1.5708 0 0" material="dark"/>"""


def column(number: int, x: float, *, z: float = 0.6, colour: str = "red") -> str:
    """A gauge on a post: the bar "level_<number>" rises in front of a white scale."""
    return f"""<geom class="look" type="box" size="0.16 0.03 0.9" pos="{x:g} -0.95 {z + 0.9:g}"
      material="white"/>
    <geom class="look" type="box" size="0.19 0.05 0.03" pos="{x:g} -0.95 {z + 1.8:g}"
      material="dark"/>
    <geom class="look" type="box" size="0.19 0.13 {z / 2:g}" pos="{x:g} -0.98 {z / 2:g}"
      material="dark"/>
    <geom class="look" type="box" size="0.22 0.06 0.012" pos="{x:g} -0.96 {z + 1.44:g}"
      material="hazard"/>
    <body name="level_{number}" mocap="true" pos="{x:g} -1 {z:g}">
      <geom class="look" type="box" size="0.09 0.03 0.9" pos="0 0 -0.9" material="{colour}"/>
    </body>"""


def rising(x: float, share: float, *, z: float = 0.6) -> tuple[float, float, float]:
    """Where a `column`'s bar is at a share of its scale, 0 to 1."""
    return x, -1.0, z + 1.8 * min(1.0, max(0.0, share))
