"""Free ways between the walls, which are boxes along the axes."""

from collections.abc import Sequence
from math import cos, hypot, sin
from typing import Any, NamedTuple

from safegym.scenario.signals.engine import mj


class Box(NamedTuple):
    """Middle and half sizes, m."""

    x: float
    y: float
    wide: float
    deep: float


def boxes_of(model: Any) -> tuple[Box, ...]:
    """The geoms that are named wall_..., seen from above."""
    found: list[Box] = []
    for index in range(model.ngeom):
        name = mj.mj_id2name(model, int(mj.mjtObj.mjOBJ_GEOM), index) or ""
        if name.startswith("wall_"):
            place, size = model.geom_pos[index], model.geom_size[index]
            found.append(Box(*(float(v) for v in (place[0], place[1], size[0], size[1]))))
    return tuple(found)


def free_ahead(boxes: Sequence[Box], x: float, y: float, angle: float, most: float) -> float:
    """Distance in m from (x, y) in direction `angle` (rad) to the next box, at most `most`."""
    c, s = cos(angle), sin(angle)
    nearest = most
    for box in boxes:
        near, far = 0.0, nearest
        for start, way, middle, half in ((x, c, box.x, box.wide), (y, s, box.y, box.deep)):
            if abs(way) < 1e-12:
                if abs(start - middle) > half:
                    far = -1.0
                continue
            one, two = (middle - half - start) / way, (middle + half - start) / way
            near, far = max(near, min(one, two)), min(far, max(one, two))
        if near <= far:
            nearest = min(nearest, near)
    return nearest


def outside(box: Box, x: float, y: float) -> float:
    """Distance in m from a point to the box; negative inside it, the depth."""
    dx, dy = abs(x - box.x) - box.wide, abs(y - box.y) - box.deep
    if dx <= 0.0 and dy <= 0.0:
        return max(dx, dy)
    return hypot(max(dx, 0.0), max(dy, 0.0))
