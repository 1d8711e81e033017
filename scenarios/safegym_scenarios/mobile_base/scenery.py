"""MJCF of bases, loads, people, shelves, walls and doors."""

from math import cos, sin

import numpy as np

from safegym_scenarios.mobile_base.drives import Base

FAR = 'pos="-60 -60 -9"'
SIZES = {
    "person": (0.5, 0.5, 1.75),
    "robot": (0.9, 0.6, 0.4),
    "door": (0.12, 1.0, 2.1),
    "pallet": (1.2, 0.8, 0.9),
}
"""Length, width, height in m of what moves by itself."""


def base_body(base: Base, load: tuple[float, float, float, float] | None, lifted: bool) -> str:
    """The body "base" with joints x, y, yaw; its hull is the geom "hull".

    load: (mass in kg, length, width, height in m) of a box that stands free on the deck. lifted:
    whether the shell can follow the floor's height and slope.
    """
    l, w, h = (value / 2.0 for value in base.size)  # noqa: E741 (half sizes)
    joints = (
        '<joint name="lift" type="slide" axis="0 0 1"/><joint name="lean" type="hinge" axis="0 1 0"/>'  # noqa: E501 (one element a line)
        '<inertial pos="0 0 0.2" mass="0.1" diaginertia="0.01 0.01 0.01"/>'
        if lifted
        else ""
    )
    deck = (
        f'<geom name="deck" type="box" size="{l} {w} 0.02" pos="0 0 {base.size[2] + 0.06}" '
        'material="dark" contype="2" conaffinity="4" friction="0.8 0.005 0.0001" mass="0"/>'
    )
    return f"""<body name="base">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
      <joint name="yaw" type="hinge" axis="0 0 1"/>
      <inertial pos="0 0 0.2" mass="{base.mass}" diaginertia="{base.inertia} {base.inertia} {base.inertia}"/>
      <geom name="hull" class="hull" type="box" size="{l} {w} 0.3" pos="0 0 0.4"/>
      <body name="shell" gravcomp="1">{joints}{_wheels(base)}
        <geom class="look" type="box" size="{l} {w} {h - 0.06}" pos="0 0 {h + 0.08}" material="blue"/>
        <geom class="look" type="box" size="{l + 0.01} {w + 0.01} 0.03" pos="0 0 0.14" material="dark"/>
        <geom class="look" type="cylinder" size="0.06 0.04" pos="{l - 0.12} 0 {2 * h + 0.06}" material="black"/>
        <geom class="look" type="box" size="0.02 {0.6 * w} 0.02" pos="{l} 0 {1.4 * h}" material="lamp"/>
        {deck if load else ""}</body></body>{_load(base, load)}"""  # noqa: E501 (one element a line)


def _wheels(base: Base) -> str:
    l, w = base.size[0] / 2.0, base.size[1] / 2.0  # noqa: E741 (half sizes)
    places = {
        "two_wheels": ((0.0, w), (0.0, -w)),
        "omni": ((0.65 * l, w), (0.65 * l, -w), (-0.65 * l, w), (-0.65 * l, -w)),
        "tug": ((0.7 * l, 0.0), (-0.6 * l, w), (-0.6 * l, -w)),
    }[base.kind]
    rim = "yellow" if base.kind == "omni" else "metal"
    return "".join(
        f'<geom class="look" type="cylinder" size="0.12 0.03" pos="{x} {y} 0.12" '
        f'euler="1.5708 0 0" material="rubber"/>'
        f'<geom class="look" type="cylinder" size="0.06 0.034" pos="{x} {y} 0.12" '
        f'euler="1.5708 0 0" material="{rim}"/>'
        for x, y in places
    )


def _load(base: Base, load: tuple[float, float, float, float] | None) -> str:
    if load is None:
        return ""
    mass, length, width, height = load
    at = base.size[2] + 0.08 + height / 2.0
    return f"""<body name="load" pos="0 0 {at}"><freejoint name="load"/>
      <geom name="load" type="box" size="{length / 2} {width / 2} {height / 2}" mass="{mass}"
        material="crate" contype="4" conaffinity="2" friction="0.8 0.005 0.0001"/></body>"""


def mover_shape(kind: str, color: str) -> str:
    """Geoms of what moves by itself."""
    length, width, height = SIZES[kind]
    if kind == "person":
        return f"""<geom class="look" type="capsule" size="0.08" fromto="0 0.1 0.09 0 0.09 0.85" material="dark"/>
      <geom class="look" type="capsule" size="0.08" fromto="0 -0.1 0.09 0 -0.09 0.85" material="dark"/>
      <geom class="look" type="ellipsoid" size="0.15 0.23 0.35" pos="0 0 1.15" material="{color}"/>
      <geom class="look" type="sphere" size="0.12" pos="0 0 1.6" material="skin"/>
      <geom class="look" type="sphere" size="0.125" pos="0 0 1.65" material="yellow"/>"""  # noqa: E501 (one element a line)
    if kind == "robot":
        return f"""<geom class="look" type="box" size="{length / 2} {width / 2} 0.14" pos="0 0 0.24" material="{color}"/>
      <geom class="look" type="cylinder" size="0.06 0.04" pos="0.3 0 0.42" material="black"/>
      <geom class="look" type="cylinder" size="0.12 0.33" pos="0 0 0.12" euler="1.5708 0 0" material="rubber"/>"""  # noqa: E501 (one element a line)
    material = "crate" if kind == "pallet" else color
    return (
        f'<geom class="look" type="box" size="{length / 2} {width / 2} {height / 2}" '
        f'pos="0 0 {height / 2}" material="{material}"/>'
    )


def movers(kinds: tuple[tuple[str, str], ...]) -> str:
    """A body of each (kind, color), moved from outside; hulls "person_<k>" or "other_<k>"."""
    return "".join(
        f'<body name="mover_{k}" mocap="true" {FAR}>{mover_shape(kind, color)}'
        f'<geom name="{"person" if kind == "person" else "other"}_{k}" class="hull" {_hull(kind)}/></body>'  # noqa: E501 (one element a line)
        for k, (kind, color) in enumerate(kinds)
    )


def _hull(kind: str) -> str:
    length, width, height = SIZES[kind]
    if kind == "person":
        return f'type="cylinder" size="{length / 2} {height / 2}" pos="0 0 {height / 2}"'
    return f'type="box" size="{length / 2} {width / 2} {height / 2}" pos="0 0 {height / 2}"'


def wall(
    name: str,
    x: float,
    y: float,
    wide: float,
    deep: float,
    high: float = 1.0,
    material: str = "wall",
) -> str:
    """A wall that counts for clearance: middle and size in m."""
    return (
        f'<geom name="wall_{name}" class="solid_look" type="box" size="{wide / 2} {deep / 2} {high / 2}" '  # noqa: E501 (one element a line)
        f'pos="{x} {y} {high / 2}" material="{material}"/>'
    )


def shelf(name: str, x: float, y: float, wide: float, deep: float = 1.0, high: float = 2.4) -> str:
    """A rack with crates; its hull is the geom "wall_<name>"."""
    posts = "".join(
        f'<geom class="look" type="box" size="0.05 0.05 {high / 2}" pos="{x + dx * (wide / 2 - 0.05):.2f} '  # noqa: E501 (one element a line)
        f'{y + dy * (deep / 2 - 0.05):.2f} {high / 2}" material="orange"/>'
        for dx in (-1, 0, 1)
        for dy in (-1, 1)
    )
    boards = "".join(
        f'<geom class="look" type="box" size="{wide / 2} {deep / 2} 0.03" pos="{x} {y} {z}" material="blue"/>'  # noqa: E501 (one element a line)
        for z in (0.15, 0.45 * high, 0.8 * high)
    )
    count = max(1, int(wide / 1.0))
    crates = "".join(
        f'<geom class="look" type="box" size="{0.36 - 0.04 * (k % 3)} {0.36 * deep} {0.14 * high * (0.7 + 0.1 * (k % 4))}" '  # noqa: E501 (one element a line)
        f'pos="{x - wide / 2 + (k % count + 0.5) * wide / count:.2f} {y} '
        f'{base + 0.03 + 0.14 * high * (0.7 + 0.1 * (k % 4)):.3f}" material="crate"/>'
        for k, base in ((k, (0.15, 0.45 * high)[k >= count]) for k in range(2 * count))
        if k % 5 != 3
    )
    hull = (
        f'<geom name="wall_{name}" class="hull" type="box" size="{wide / 2} {deep / 2} {high / 2}" '
        f'pos="{x} {y} {high / 2}"/>'
    )
    return posts + boards + crates + hull


def band(x: float, y: float, wide: float, deep: float, material: str, high: float = 0.004) -> str:
    """Something flat on the floor."""
    return (
        f'<geom class="look" type="box" size="{wide / 2} {deep / 2} {high}" pos="{x} {y} {high}" '
        f'material="{material}"/>'
    )


def looking(eye: tuple[float, float, float], at: tuple[float, float, float]) -> str:
    """Attributes of a camera at `eye` (m) that looks at a point."""
    ahead = np.subtract(at, eye)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    up /= np.linalg.norm(up)
    axes = " ".join(f"{value:.4f}" for value in (*right, *up))
    return f'pos="{eye[0]} {eye[1]} {eye[2]}" xyaxes="{axes}"'


def corners_of(base: Base, x: float, y: float, yaw: float) -> tuple[tuple[float, float], ...]:
    """The four corners of the base on the floor, m."""
    l, w, c, s = base.size[0] / 2.0, base.size[1] / 2.0, cos(yaw), sin(yaw)  # noqa: E741
    return tuple(
        (x + a * l * c - b * w * s, y + a * l * s + b * w * c) for a in (-1, 1) for b in (-1, 1)
    )
