"""Speed, angular speed, tilt, and drift from a path."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import acos, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.errors import ScenarioError
from safegym.scenario.signals.engine import mj
from safegym.scenario.signals.extremes import Phase, Reading
from safegym.scenario.signals.select import one_id

Kind = Literal["body", "site", "geom"]
_FRAMES = {
    "body": mj.mjtObj.mjOBJ_XBODY,  # the body's own frame, not its centre of mass
    "site": mj.mjtObj.mjOBJ_SITE,
    "geom": mj.mjtObj.mjOBJ_GEOM,
}
_UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Motion:
    @property
    def phase(self) -> Phase:
        """Follows from positions and velocities."""
        return "state"


@dataclass(frozen=True, slots=True)
class Speed(_Motion):
    """Norm of the linear velocity of a body's frame origin, a site or a geom, in m/s."""

    name: str
    kind: Kind = "body"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        velocity, update = _velocity(model, data, self.kind, self.name)
        linear = velocity[3:]

        def read() -> float:
            update()
            return sqrt(linear @ linear)

        return read


@dataclass(frozen=True, slots=True)
class AngularSpeed(_Motion):
    """Norm of the angular velocity of a body, site or geom, in rad/s."""

    name: str
    kind: Kind = "body"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        velocity, update = _velocity(model, data, self.kind, self.name)
        angular = velocity[:3]

        def read() -> float:
            update()
            return sqrt(angular @ angular)

        return read


@dataclass(frozen=True, slots=True)
class Tilt(_Motion):
    """Angle in rad, 0 to pi, between a body's z axis and the world's."""

    body: str

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        rotation = data.xmat[one_id(model, "body", self.body)]

        def read() -> float:
            cosine = float(rotation[8])
            return acos(cosine) if -1.0 <= cosine <= 1.0 else _beyond(cosine)

        return read


@dataclass(frozen=True, slots=True)
class LateralDrift(_Motion):
    """|velocity across the path| in m/s, horizontal: across = up x along, unit length.

    along: the path's direction in world coordinates, or `along(position (3,)) -> (3,)` where the
    path bends.
    """

    name: str
    along: Sequence[float] | Callable[[NDArray[np.float64]], Sequence[float]] = (1.0, 0.0, 0.0)
    kind: Kind = "body"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        velocity, update = _velocity(model, data, self.kind, self.name)
        linear, position, along = (
            velocity[3:],
            _position(model, data, self.kind, self.name),
            self.along,
        )
        if callable(along):
            curve = along

            def read_bent() -> float:
                update()
                return abs(float(_across(curve(position)) @ linear))

            return read_bent
        across = _across(along)

        def read() -> float:
            update()
            return abs(float(across @ linear))

        return read


@dataclass(frozen=True, slots=True)
class LateralOffset(_Motion):
    """Horizontal distance in m from the straight path through `origin` in direction `along`."""

    name: str
    along: Sequence[float] = (1.0, 0.0, 0.0)
    origin: Sequence[float] = (0.0, 0.0, 0.0)
    kind: Kind = "body"

    def bind(self, model: Any, data: Any) -> Reading:
        """Fix model and data."""
        position, across = _position(model, data, self.kind, self.name), _across(self.along)
        offset = float(across @ np.asarray(self.origin, np.float64))
        return lambda: abs(float(across @ position) - offset)


def _velocity(
    model: Any, data: Any, kind: Kind, name: str
) -> tuple[NDArray[np.float64], Callable[[], None]]:
    """A (6,) buffer, angular before linear, in world axes, and what refreshes it."""
    index, frame = one_id(model, kind, name), int(_FRAMES[kind])
    room, call = np.zeros(6), mj.mj_objectVelocity

    def update() -> None:
        call(model, data, frame, index, room, 0)

    return room, update


def _position(model: Any, data: Any, kind: Kind, name: str) -> NDArray[np.float64]:
    table = {"body": data.xpos, "site": data.site_xpos, "geom": data.geom_xpos}[kind]
    row: NDArray[np.float64] = table[one_id(model, kind, name)]
    return row


def _across(along: Sequence[float]) -> NDArray[np.float64]:
    across = np.cross(_UP, np.asarray(along, np.float64))
    length = float(np.linalg.norm(across))
    if not length > 1e-9:
        raise ScenarioError(
            f"The path direction {tuple(along)} is vertical or zero; "
            "give a horizontal part, e.g. (1, 0, 0)."
        )
    return np.asarray(across / length)


def _beyond(cosine: float) -> float:
    """Rounding can push a cosine past +-1; NaN stays NaN."""
    return acos(max(-1.0, min(1.0, cosine))) if cosine == cosine else cosine
