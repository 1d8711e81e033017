"""What a trace of a vehicle tells. Magnitudes; each the worst since the last sample."""

from collections.abc import Sequence

from safegym_predicates.signals import CLEARANCE, GOAL_DISTANCE

from safegym.formula.terms import Signal

__all__ = [
    "ARTICULATION",
    "BRAKE_HEAT",
    "CLEARANCE",
    "DECELERATION",
    "GAP",
    "GOAL_DISTANCE",
    "HEADING_ERROR",
    "HEADWAY",
    "JERK",
    "LANE_OFFSET",
    "LAST",
    "LATERAL_ACCELERATION",
    "LATERAL_ERROR",
    "OVERSPEED",
    "ROAD_MARGIN",
    "ROLLBACK",
    "SIDESLIP",
    "SPEED",
    "TIME_TO_COLLISION",
    "in_order",
]

LANE_OFFSET = Signal("lane_offset", unit="m", scale=0.1, hold="max")
"""Distance of the car's middle from the middle of the lane that it is to drive in, m."""

ROAD_MARGIN = Signal("road_margin", unit="m", scale=0.1, hold="min")
"""Least distance from the car's side to the edge of the road, m; negative beyond it."""

LATERAL_ACCELERATION = Signal("lateral_acceleration", unit="m/s^2", scale=0.5, hold="max")
"""Acceleration of the centre of mass across the car, m/s^2, wind and trailer included."""

SIDESLIP = Signal("sideslip", unit="rad", scale=0.05, hold="max")
"""Angle between the car and its velocity, rad; 0 below 2 m/s."""

SPEED = Signal("speed", unit="m/s", scale=1.0, hold="max")
"""Of the car's centre of mass over the ground, m/s, also while it slides."""

OVERSPEED = Signal("overspeed", unit="m/s", scale=1.0, hold="max")
"""Speed above the limit of the place, m/s; negative below it."""

DECELERATION = Signal("deceleration", unit="m/s^2", scale=1.0, hold="max")
"""Loss of speed along the car, m/s^2, by brakes, slope and all else; 0 while it speeds up."""

JERK = Signal("jerk", unit="m/s^3", scale=2.0)
"""Change of the acceleration along over the last control step, m/s^3."""

GAP = Signal("gap", unit="m", scale=1.0, hold="min", bounds=(-20.0, 150.0))
"""Bumper to bumper to what is next in the car's way, m; 150 if nothing is nearer."""

HEADWAY = Signal("headway", unit="s", scale=0.2, hold="min", bounds=(-5.0, 10.0))
"""Gap divided by the car's own speed, s, at most 10 (also below 1 m/s)."""

TIME_TO_COLLISION = Signal(
    "time_to_collision", unit="s", scale=0.5, hold="min", bounds=(-5.0, 10.0)
)
"""Gap divided by the closing speed, s, at most 10 (also if the gap grows)."""

ROLLBACK = Signal("rollback", unit="m", scale=0.1, hold="max")
"""How far the car is behind the farthest place that it has reached, m."""

BRAKE_HEAT = Signal("brake_heat", unit="K", scale=20.0, hold="max")
"""How much hotter than the surroundings the brake discs are, K."""

ARTICULATION = Signal("articulation", unit="rad", scale=0.1, hold="max")
"""Angle between tractor and trailer, rad."""

HEADING_ERROR = Signal("heading_error", unit="rad", scale=0.05)
"""Angle between the car and its path, rad."""

LATERAL_ERROR = Signal("lateral_error", unit="m", scale=0.05)
"""Distance of the tracked point from the path, m."""

_BY_NAME = {
    each.name: each
    for each in (
        *(LANE_OFFSET, ROAD_MARGIN, LATERAL_ACCELERATION, SIDESLIP, SPEED, OVERSPEED),
        *(DECELERATION, JERK, GAP, HEADWAY, TIME_TO_COLLISION, ROLLBACK, BRAKE_HEAT),
        *(ARTICULATION, HEADING_ERROR, LATERAL_ERROR, CLEARANCE, GOAL_DISTANCE),
    )
}
LAST = ("clearance", "jerk", "goal_distance")
"""Signals that are told after all others, in this order."""


def in_order(names: Sequence[str]) -> tuple[Signal, ...]:
    """The signals of these names, in the order in which the environment tells them."""
    first = [name for name in names if name not in LAST]
    return tuple(_BY_NAME[name] for name in (*first, *(name for name in LAST if name in names)))
