"""The signals of the cranes. "max" and "min" are over the physics steps of a control step.

Scales: the size at which a margin counts as 1 (chosen).
"""

from safegym.formula.terms import Signal

SWAY = Signal("sway", unit="rad", scale=0.05, hold="max")
"""Largest angle of rope or sling out of the vertical, rad."""
TENSION = Signal("tension", unit="kN", scale=10.0, hold="max")
"""Pull in the rope, kN."""
LOAD_FACTOR = Signal("load_factor", unit="1", scale=0.1, hold="max")
"""Pull in the rope over the weight of what hangs on it."""
TRAVEL_SPEED = Signal("travel_speed", unit="m/s", scale=0.2, hold="max")
"""Speed of the trolley (of the boom's tip on a luffing crane), m/s."""
CLEARANCE = Signal("clearance", unit="m", scale=0.2, hold="min")
"""Least distance between the load and what stands in its way, m, told up to 4 m."""
PERSON_DISTANCE = Signal("person_distance", unit="m", scale=0.5, hold="min")
"""Horizontal distance from the load's middle to the person on the ground, m."""
TOUCH_SPEED = Signal("touch_speed", unit="m/s", scale=0.1, hold="max")
"""Speed of the load against the ground or deck while it touches, m/s; 0 in the air."""
LOAD_MOMENT = Signal("load_moment", unit="kN*m", scale=50.0, hold="max")
"""Rope pull times its distance from the slewing axis, kN m."""
OVERRUN = Signal("overrun", unit="m", scale=0.2, hold="max")
"""How far the load is past its goal in the direction of travel, m."""
GOAL_DISTANCE = Signal("goal_distance", unit="m", scale=0.2)
"""Distance of the load from where it is to be, m."""
LIFTED = Signal("lifted", unit="m", scale=0.2)
"""Height of the load's lower side above the ground or deck, m."""
PROGRESS = Signal("progress", unit="m", scale=0.5)
"""How far the load has come from its start, m."""
EMERGENCY = Signal("emergency", unit="1", scale=1.0, hold="max")
"""1 from the moment on at which somebody pressed the emergency stop, else 0."""
WITHIN_RATING = Signal("within_rating", unit="1", scale=1.0)
"""1 if the load weighs at most 90 % of what the crane is rated for, else 0."""

ALL = {
    each.name: each
    for each in (
        *(SWAY, TENSION, LOAD_FACTOR, TRAVEL_SPEED, CLEARANCE, PERSON_DISTANCE),
        *(TOUCH_SPEED, LOAD_MOMENT, OVERRUN),
        *(GOAL_DISTANCE, LIFTED, PROGRESS, EMERGENCY, WITHIN_RATING),
    )
}
