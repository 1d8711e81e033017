"""Solid things that stand in the air: where their surface is nearest, and how they look.

Centres are in metres, x forward, y left, z up. Each is a mocap body, so that a seed can place it.
"""

from dataclasses import dataclass
from math import hypot
from typing import Literal

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Shape:
    """A box (half sizes), an upright pillar (radius, half height) or a pipe along y (same).

    material: of the palette in `scene.look`. at: m, where it stands unless a seed moves it.
    more: further MJCF in its body, to look at.
    """

    name: str
    kind: Literal["box", "pillar", "pipe"]
    size: tuple[float, ...]
    at: Point
    material: str = "wall"
    more: str = ""

    @property
    def mjcf(self) -> str:
        """A mocap body; only the drone's cage touches it."""
        sizes = " ".join(f"{number:g}" for number in self.size)
        kind = "box" if self.kind == "box" else "cylinder"
        turn = ' euler="1.5707963 0 0"' if self.kind == "pipe" else ""
        x, y, z = self.at
        return f"""
    <body name="{self.name}" mocap="true" pos="{x:g} {y:g} {z:g}">
      <geom name="obstacle_{self.name}" type="{kind}" size="{sizes}"{turn}
            material="{self.material}" contype="2" conaffinity="2"/>{self.more}
    </body>"""

    def toward(self, centre: Point, point: Point) -> Point:
        """Vector in m from a point to the nearest one of the solid, which stands at `centre`."""
        x, y, z = (p - c for p, c in zip(point, centre, strict=True))
        if self.kind == "box":
            a, b, c = self.size
            return _past(x, a), _past(y, b), _past(z, c)
        radius, half = self.size
        if self.kind == "pillar":
            scale = _round(hypot(x, y), radius)
            return x * scale, y * scale, _past(z, half)
        scale = _round(hypot(x, z), radius)
        return x * scale, _past(y, half), z * scale

    def nearer(self, centre: Point, point: Point, nearest: float) -> float:
        """Distance in m from a point to the solid, or `nearest` where that is less."""
        x, y, z = point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]
        if self.kind == "box":
            a, b, c = self.size
            x, y, z = abs(x) - a, abs(y) - b, abs(z) - c
        else:
            radius, half = self.size
            if self.kind == "pillar":
                x, y, z = hypot(x, y) - radius, 0.0, abs(z) - half
            else:
                x, y, z = hypot(x, z) - radius, abs(y) - half, 0.0
        if x >= nearest or y >= nearest or z >= nearest:
            return nearest
        return min(nearest, hypot(max(x, 0.0), max(y, 0.0), max(z, 0.0)))


def _past(value: float, half: float) -> float:
    return max(-half, min(half, value)) - value


def _round(distance: float, radius: float) -> float:
    return 0.0 if distance <= radius else radius / distance - 1.0
