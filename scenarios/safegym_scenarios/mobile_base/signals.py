"""What a trace of a mobile base tells; each the worst since the last sample."""

from collections.abc import Sequence

from safegym_predicates.signals import CLEARANCE, GOAL_DISTANCE, HUMAN_DISTANCE

from safegym.formula.terms import Signal

__all__ = [
    "CLEARANCE",
    "EDGE_MARGIN",
    "GOAL_DISTANCE",
    "HEADING_ERROR",
    "HUMAN_DISTANCE",
    "LAST",
    "LOAD_TILT",
    "NEAR",
    "OVERSPEED",
    "PERSON_GAP",
    "ROLLBACK",
    "ROUTE_OFFSET",
    "SPEED",
    "SPIN",
    "WHEEL_SLIP",
    "in_order",
]

SPEED = Signal("speed", unit="m/s", scale=0.1, hold="max")
"""Of the base's middle, m/s."""

OVERSPEED = Signal("overspeed", unit="m/s", scale=0.1, hold="max")
"""Speed above what is allowed at the place, m/s; negative below it."""

SPIN = Signal("spin", unit="rad/s", scale=0.1, hold="max")
"""Rate of turning, rad/s."""

WHEEL_SLIP = Signal("wheel_slip", unit="m/s", scale=0.1, hold="max")
"""Rim speed beyond the ground's while friction gives way, m/s."""

LOAD_TILT = Signal("load_tilt", unit="rad", scale=0.05, hold="max")
"""Angle between the load's axis and the vertical, rad."""

EDGE_MARGIN = Signal("edge_margin", unit="m", scale=0.1, hold="min", bounds=(-5.0, 20.0))
"""Distance of the nearest wheel from the edge, m; negative over it; at most 20."""

ROLLBACK = Signal("rollback", unit="m", scale=0.05, hold="max")
"""How far the base is behind the farthest place on its route, m."""

ROUTE_OFFSET = Signal("route_offset", unit="m", scale=0.05)
"""Distance from the route, m."""

HEADING_ERROR = Signal("heading_error", unit="rad", scale=0.05)
"""Angle between the base and its route, rad."""

PERSON_GAP = Signal("person_gap", unit="m", scale=0.2, bounds=(0.0, 20.0))
"""Distance between the middles of the base and of the person that it follows, m."""

_BY_NAME = {
    each.name: each
    for each in (
        *(SPEED, OVERSPEED, SPIN, WHEEL_SLIP, LOAD_TILT, EDGE_MARGIN, ROLLBACK, ROUTE_OFFSET),
        *(HEADING_ERROR, PERSON_GAP, CLEARANCE, GOAL_DISTANCE, HUMAN_DISTANCE),
    )
}
NEAR = ("clearance", "human_distance")
LAST = ("route_offset", "heading_error", "person_gap", "goal_distance")
"""NEAR are told after the others, then LAST, in these orders."""


def in_order(names: Sequence[str]) -> tuple[Signal, ...]:
    """The signals of these names, in the order in which the environment tells them."""
    first = [name for name in names if name not in NEAR and name not in LAST]
    then = [name for name in (*NEAR, *LAST) if name in names]
    return tuple(_BY_NAME[name] for name in (*first, *then))
