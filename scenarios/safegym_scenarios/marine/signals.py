"""The signals of boats and underwater vehicles. "max" and "min" are over the physics steps.

Scales: the size at which a margin counts as 1 (chosen).
"""

from safegym.formula.terms import Signal

SPEED = Signal("speed", unit="m/s", scale=0.3, hold="max")
"""Over ground, m/s."""
ZONE_SPEED = Signal("zone_speed", unit="m/s", scale=0.2, hold="max")
"""Over ground while inside the speed zone, m/s; 0 outside."""
CLEARANCE = Signal("clearance", unit="m", scale=1.0, hold="min")
"""Least distance from the hull to what it must not meet, m, told up to 40 m."""
CROSS_TRACK = Signal("cross_track", unit="m", scale=0.5, hold="max")
"""Distance from the line that is to be followed, m."""
STATION = Signal("station_distance", unit="m", scale=0.5, hold="max")
"""Distance from the place to be kept, m."""
TOUCH_SPEED = Signal("touch_speed", unit="m/s", scale=0.05, hold="max")
"""Speed against the quay (the dock) while the fender touches it, m/s."""
LINE_TENSION = Signal("line_tension", unit="kN", scale=2.0, hold="max")
"""Pull in the towing line, kN."""
TETHER_TENSION = Signal("tether_tension", unit="N", scale=50.0, hold="max")
"""Pull in the tether, N."""
ALTITUDE = Signal("altitude", unit="m", scale=0.5, hold="min")
"""Least height above the bottom (the pipe), m."""
STANDOFF = Signal("stand_off", unit="m", scale=0.5, hold="max")
"""Largest height above the pipe, m."""
DEPTH = Signal("depth", unit="m", scale=0.5, hold="max")
"""Largest depth, m."""
PITCH = Signal("pitch", unit="rad", scale=0.1, hold="max")
"""Angle of the hull against the horizontal, rad, without sign."""
SHOCK = Signal("shock", unit="m/s^2", scale=0.5, hold="max")
"""Vertical acceleration amidships, m/s^2, without sign."""
GOAL_DISTANCE = Signal("goal_distance", unit="m", scale=1.0)
"""m."""
HEADING_ERROR = Signal("heading_error", unit="rad", scale=0.1)
"""How far the heading is from the one that is wanted, rad."""
SURFACE_DISTANCE = Signal("surface_distance", unit="m", scale=0.5)
"""How far the vehicle is below the surface, m."""
DOCKED = Signal("docked", unit="1", scale=1.0)
"""1 once the vehicle sits in the dock."""

ALL = {
    each.name: each
    for each in (
        *(SPEED, ZONE_SPEED, CLEARANCE, CROSS_TRACK, STATION, TOUCH_SPEED, LINE_TENSION),
        *(TETHER_TENSION, ALTITUDE, STANDOFF, DEPTH, PITCH, SHOCK, GOAL_DISTANCE),
        *(HEADING_ERROR, SURFACE_DISTANCE, DOCKED),
    )
}
