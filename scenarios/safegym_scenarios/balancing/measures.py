"""The signals of balancing machines. Values are the worst over the physics sub-steps where held."""

from safegym_predicates.signals import GOAL_DISTANCE, TILT

from safegym.formula.terms import Signal

__all__ = [
    "EDGE_MARGIN",
    "ENERGY",
    "FORCE",
    "GOAL_DISTANCE",
    "OVERSHOOT",
    "SLIP",
    "SPEED",
    "SPIN",
    "TILT",
    "TORQUE",
    "TRACK_MARGIN",
]
TORQUE = Signal("motor_torque", unit="N*m", scale=1.0, hold="max")
"""Largest torque of a motor, N m."""
FORCE = Signal("motor_force", unit="N", scale=10.0, hold="max")
"""Largest force of a linear drive, N."""
SPEED = Signal("speed", unit="m/s", scale=0.1, hold="max")
"""Speed of the part that travels, m/s."""
SPIN = Signal("wheel_speed", unit="rad/s", scale=10.0, hold="max")
"""Speed of the fastest flywheel, rad/s."""
SLIP = Signal("wheel_slip", unit="m/s", scale=0.1, hold="max")
"""Speed of a tyre against the ground where they touch, m/s, of the worse wheel."""
TRACK_MARGIN = Signal("track_margin", unit="m", scale=0.1, hold="min")
"""Way that is left to the nearer end of the track, m; negative beyond it."""
EDGE_MARGIN = Signal("edge_margin", unit="m", scale=0.05, hold="min")
"""Way of the ball to the nearest edge it can drop over, m; negative beyond it."""
OVERSHOOT = Signal("overshoot", unit="m", scale=0.1)
"""How far beyond the goal, seen from the start, m; negative on the way there."""
ENERGY = Signal("energy", unit="J", scale=10.0)
"""Work of the motors since the start, either sign counted as spent, J."""
