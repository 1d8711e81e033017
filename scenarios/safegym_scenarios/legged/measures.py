"""The signals of legged robots. Values are the worst over the physics sub-steps where held."""

from safegym_predicates.signals import GOAL_DISTANCE, TILT

from safegym.formula.terms import Signal

__all__ = [
    "BAR_FORCE",
    "ENERGY",
    "GOAL_DISTANCE",
    "HEIGHT",
    "IMPACT",
    "SLIP",
    "SPEED",
    "TILT",
    "TORQUE",
]
HEIGHT = Signal("height", unit="m", scale=0.1, hold="min")
"""Height of the trunk's middle over the ground, m."""
TORQUE = Signal("joint_torque", unit="N*m", scale=5.0, hold="max")
"""Largest torque of a drive that turns a joint, N m; a sliding leg's force does not count."""
IMPACT = Signal("foot_force", unit="N", scale=50.0, hold="max")
"""Sum of the forces between feet and ground, N."""
SLIP = Signal("foot_slip", unit="m/s", scale=0.1, hold="max")
"""Speed of the sole against the ground where they touch, m/s, of the fastest standing foot."""
SPEED = Signal("speed", unit="m/s", scale=0.1, hold="max")
"""Horizontal speed of the trunk, m/s."""
ENERGY = Signal("energy", unit="J", scale=10.0)
"""Work of the drives since the start, either sign counted as spent, J."""
BAR_FORCE = Signal("bar_force", unit="N", scale=10.0, hold="max")
"""Force between the trunk and the bar over the way, N."""
