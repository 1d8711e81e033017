"""What makes one variant: route, walls, people, load, floor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from safegym_scenarios.mobile_base.drives import Base
from safegym_scenarios.mobile_base.route import Route
from safegym_scenarios.scene.env import Setting

OWN = 14
"""Entries of an observation that tell of the base itself; four more for each that moves."""


class Mover(NamedTuple):
    """Where one that moves by itself is now: m, rad, m/s."""

    x: float
    y: float
    heading: float = 0.0
    vx: float = 0.0
    vy: float = 0.0


Script = Callable[[Mapping[str, float], float], tuple[Mover, ...]]


AHEAD = Route(((0.0, 0.0), (10.0, 0.0)))
PLAIN = Base()


@dataclass(frozen=True, kw_only=True)
class FloorSetting(Setting):
    """route: to drive along, its end is the goal. limits: (from m along, m/s). kinds: (kind, color)
    of what moves by itself; script(values, seconds) -> a Mover each. muted: m along between which
    the scanner is off. pits: (x, y, wide, deep) of what one can fall into. wet: the same and the
    share of the grip. rise: (x, height) of the floor, m. load: (kg, length, width, height in m)
    of a box on the deck. followed: whether the first that moves is to be followed.
    """

    route: Route = AHEAD
    base: Base = PLAIN
    limits: tuple[tuple[float, float], ...] = ((0.0, 1.4),)
    kinds: tuple[tuple[str, str], ...] = ()
    script: Script | None = None
    muted: tuple[float, float] | None = None
    pits: tuple[tuple[float, float, float, float], ...] = ()
    wet: tuple[tuple[float, float, float, float, float], ...] = ()
    rise: tuple[tuple[float, float], ...] = ()
    load: tuple[float, float, float, float] | None = None
    followed: bool = False
    reads: tuple[str, ...] = ()
    observations: int = OWN
    actions: int = 2
    timestep: float = 0.02
    substeps: int = 5
    grip: float = 0.8
    scenery: str = ""
    eye: tuple[float, float, float] = (2.0, -8.0, 6.0)
    at: tuple[float, float, float] = (5.0, 0.0, 0.0)
    extent: float = 8.0
