"""MJCF of roads, cars, people, trees and houses."""

from math import ceil, cos, hypot, sin

import numpy as np

from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.traffic import SIZES, Actor
from safegym_scenarios.vehicle.tyres import Car

PIECE = 5.0
FAR = 'pos="-500 -500 -50"'


def car_shape(length: float, width: float, paint: str) -> str:
    """Geoms of a passenger car, the middle at the origin, the front along x."""
    l, w = length / 2.0, width / 2.0  # noqa: E741 (half sizes)
    wheels = "".join(
        f'<geom class="look" type="cylinder" size="0.33 0.11" material="rubber" '
        f'pos="{x} {y} 0.33" euler="1.5708 0 0"/>'
        for x in (-0.6 * l, 0.62 * l)
        for y in (-w + 0.08, w - 0.08)
    )
    return f"""{wheels}
      <geom class="look" type="box" size="{l} {w - 0.06} 0.24" pos="0 0 0.55" material="{paint}"/>
      <geom class="look" type="ellipsoid" size="{0.62 * l} {w - 0.16} 0.56" pos="{-0.1 * l} 0 0.84"
            material="{paint}"/>
      <geom class="look" type="ellipsoid" size="{0.54 * l} {w - 0.1} 0.44" pos="{-0.1 * l} 0 0.88"
            material="dark"/>
      <geom class="look" type="box" size="0.03 0.18 0.07" pos="{l} {w - 0.35} 0.62" material="lamp"/>
      <geom class="look" type="box" size="0.03 0.18 0.07" pos="{l} {0.35 - w} 0.62" material="lamp"/>
      <geom class="look" type="box" size="0.03 0.2 0.06" pos="{-l} {w - 0.35} 0.66" material="red"/>
      <geom class="look" type="box" size="0.03 0.2 0.06" pos="{-l} {0.35 - w} 0.66" material="red"/>
"""  # noqa: E501 (one element a line)


def box_shape(length: float, width: float, height: float, paint: str) -> str:
    """Geoms of a van or a truck: a cab and a box on wheels."""
    l, w, cab = length / 2.0, width / 2.0, min(2.2, 0.35 * length)  # noqa: E741 (half sizes)
    wheels = "".join(
        f'<geom class="look" type="cylinder" size="0.45 0.14" material="rubber" '
        f'pos="{x} {y} 0.45" euler="1.5708 0 0"/>'
        for x in (-0.65 * l, 0.7 * l)
        for y in (-w + 0.1, w - 0.1)
    )
    top = (height - 0.6) / 2.0
    return f"""{wheels}
      <geom class="look" type="box" size="{l - cab / 2.0 - 0.1} {w} {top}"
            pos="{-cab / 2.0 - 0.1} 0 {0.6 + top}" material="white"/>
      <geom class="look" type="box" size="{cab / 2.0} {w - 0.08} {0.8 * top}"
            pos="{l - cab / 2.0} 0 {0.5 + 0.8 * top}" material="{paint}"/>
      <geom class="look" type="box" size="0.04 {w - 0.2} {0.22 * top}" pos="{l} 0 {0.55 + 1.2 * top}"
            material="dark"/>
"""  # noqa: E501 (one element a line)


def person_shape(coat: str) -> str:
    """Geoms of somebody who stands."""
    return f"""<geom class="look" type="capsule" size="0.1" fromto="0 0.11 0.1 0 0.1 0.85" material="dark"/>
      <geom class="look" type="capsule" size="0.1" fromto="0 -0.11 0.1 0 -0.1 0.85" material="dark"/>
      <geom class="look" type="ellipsoid" size="0.17 0.25 0.36" pos="0 0 1.15" material="{coat}"/>
      <geom class="look" type="sphere" size="0.13" pos="0 0 1.62" material="skin"/>
"""  # noqa: E501 (one element a line)


def _shape(actor: Actor) -> str:
    length, width, height = SIZES[actor.kind]
    if actor.kind == "car":
        return car_shape(length, width, actor.color)
    if actor.kind in ("van", "truck"):
        return box_shape(length, width, height, actor.color)
    wheels = "".join(
        f'<geom class="look" type="cylinder" size="0.34 0.025" material="black" pos="{x} 0 0.34" '
        'euler="1.5708 0 0"/>'
        for x in (-0.52, 0.52)
    )
    return person_shape(actor.color) + (wheels if actor.kind == "cyclist" else "")


def others(actors: tuple[Actor, ...]) -> str:
    """A body of each road user, moved from outside; its hull is the geom "other_<k>"."""
    return "".join(
        f'<body name="other_{k}" mocap="true" {FAR}>{_shape(actor)}'
        f'<geom name="other_{k}" class="hull" size="{length / 2.0} {width / 2.0} {height / 2.0 - 0.15}" '  # noqa: E501 (one element a line)
        f'pos="0 0 {height / 2.0 + 0.15}"/></body>'
        for k, actor in enumerate(actors)
        for length, width, height in (SIZES[actor.kind],)
    )


def own_car(car: Car, trailer: float = 0.0) -> str:
    """The body "car" with joints x, y and yaw at its centre of mass; its hull is the geom "hull".

    trailer: m of a trailer behind it that turns about the joint "hitch"; 0 for none.
    """
    middle = (car.front - car.rear) / 2.0
    l, w = car.length / 2.0, car.width / 2.0  # noqa: E741 (half sizes)
    shape = (
        box_shape(car.length, car.width, 3.0, "blue")
        if trailer or car.length > 6.0
        else car_shape(car.length, car.width, "blue")
    )
    behind = _trailer(car, trailer) if trailer else ""
    return f"""<body name="car">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
      <joint name="yaw" type="hinge" axis="0 0 1"/>
      <inertial pos="0 0 0.5" mass="{car.mass}" diaginertia="{car.inertia / 4} {car.inertia} {car.inertia}"/>
      <body pos="{middle} 0 0">{shape}
        <geom name="hull" class="hull" size="{l} {w} 0.5" pos="0 0 0.75"/></body>
      {behind}</body>"""  # noqa: E501 (one element a line)


def _trailer(car: Car, length: float) -> str:
    l, w = length / 2.0, 1.2  # noqa: E741 (half sizes)
    mass, hitch = 3.0 * car.mass, -car.rear
    wheels = "".join(
        f'<geom class="look" type="cylinder" size="0.45 0.16" material="rubber" '
        f'pos="{x} {y} 0.45" euler="1.5708 0 0"/>'
        for x in (-1.55 * l, -1.2 * l)
        for y in (-w + 0.1, w - 0.1)
    )
    return f"""<body name="trailer" pos="{hitch} 0 0">
        <joint name="hitch" type="hinge" axis="0 0 1" damping="2000"/>
        <inertial pos="{-0.6 * length} 0 1.4" mass="{mass}"
          diaginertia="{mass} {mass * length**2 / 12} {mass * length**2 / 12}"/>
        {wheels}
        <geom class="look" type="box" size="{l} {w} 1.1" pos="{0.6 - l} 0 1.9" material="white"/>
        <geom class="look" type="box" size="{l} {w + 0.005} 0.12" pos="{0.6 - l} 0 1.2" material="orange"/>
        <geom class="look" type="box" size="{l} 0.4 0.12" pos="{0.6 - l} 0 0.7" material="dark"/>
        <geom name="trailer" class="hull" size="{l} {w} 1" pos="{0.6 - l} 0 1.5"/></body>"""  # noqa: E501 (one element a line)


def strip(
    path: Path, start: float, end: float, right: float, left: float, material: str, height: float
) -> str:
    """A band along the path from `right` to `left` (m, left positive), in flat boxes."""
    pieces = max(1, ceil((end - start) / PIECE)) if _bends(path, start, end) else 1
    step, half = (end - start) / pieces, abs(left - right) / 2.0
    middle = (left + right) / 2.0
    found = []
    for piece in range(pieces):
        here = path.at(start + (piece + 0.5) * step)
        x, y = here.x - middle * sin(here.heading), here.y + middle * cos(here.heading)
        long = step / 2.0 * (1.0 + abs(here.curvature) * (abs(middle) + half)) + (
            0.02 if here.curvature else 0.0
        )
        found.append(
            f'<geom class="look" type="box" size="{long:.3f} {half:.3f} {height}" '
            f'pos="{x:.3f} {y:.3f} {height}" euler="0 0 {here.heading:.5f}" material="{material}"/>'
        )
    return "".join(found)


def dashes(path: Path, start: float, end: float, aside: float, *, every: float = 12.0) -> str:
    """A broken line along the path."""
    count = int((end - start) / every)
    marks = ((start + k * every, start + k * every + 0.4 * every) for k in range(count))
    return "".join(strip(path, a, b, aside - 0.07, aside + 0.07, "marking", 0.02) for a, b in marks)


def _bends(path: Path, start: float, end: float) -> bool:
    a, b, mid = path.at(start), path.at(end), path.at((start + end) / 2.0)
    return hypot(mid.x - (a.x + b.x) / 2.0, mid.y - (a.y + b.y) / 2.0) > 0.01


def tree(x: float, y: float, size: float = 1.0) -> str:
    """A tree of about 5 m times `size`."""
    return (
        f'<geom class="look" type="cylinder" size="{0.16 * size} {size}" pos="{x} {y} {size}" '
        'material="wood"/>'
        f'<geom class="look" type="ellipsoid" size="{1.3 * size} {1.3 * size} {1.7 * size}" '
        f'pos="{x} {y} {3.2 * size}" material="green"/>'
    )


def house(x: float, y: float, wide: float = 8.0, deep: float = 7.0, high: float = 4.5) -> str:
    """A house with a flat roof and windows to the sides of y."""
    windows = "".join(
        f'<geom class="look" type="box" size="0.6 {deep / 2 + 0.03} 0.6" '
        f'pos="{x + dx * wide} {y} {0.6 * high}" material="dark"/>'
        for dx in (-0.28, 0.0, 0.28)
    )
    return (
        f'<geom class="look" type="box" size="{wide / 2} {deep / 2} {high / 2}" '
        f'pos="{x} {y} {high / 2}" material="wall"/>{windows}'
        f'<geom class="look" type="box" size="{wide / 2 + 0.3} {deep / 2 + 0.3} 0.15" '
        f'pos="{x} {y} {high + 0.15}" material="red"/>'
    )


def looking(
    eye: tuple[float, float, float], at: tuple[float, float, float], tilt: float = 0.0
) -> str:
    """Attributes of a camera at `eye` (m) that looks at a point, turned by `tilt` (rad)."""
    ahead = np.subtract(at, eye)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    up /= np.linalg.norm(up)
    x, y = cos(tilt) * right - sin(tilt) * up, cos(tilt) * up + sin(tilt) * right
    axes = " ".join(f"{value:.4f}" for value in (*x, *y))
    return f'pos="{eye[0]} {eye[1]} {eye[2]}" xyaxes="{axes}"'
