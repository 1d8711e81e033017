"""The signals that the claim sets read. A scenario that records one declares this very object.

Each scale is the size at which a margin counts as 1 (chosen), so that margins of claims over
different units compare. Values stand for the worst over the physics sub-steps since the last
sample, as `hold` says; for a signed signal "max" means the largest in magnitude, with its sign.
"""

from safegym.formula.terms import Signal

CLEARANCE = Signal("clearance", unit="m", scale=0.1, hold="min")
"""Least distance between robot and obstacles, m; negative when they overlap."""

CONTACT_FORCE = Signal("contact_force", unit="N", scale=1.0, hold="max")
"""Largest contact force between robot and surroundings, N; 0 without contact."""

LATERAL_VELOCITY = Signal("lateral_velocity", unit="m/s", scale=0.1, hold="max")
"""Velocity across the path, in the path's frame, m/s, to the left positive."""

TILT = Signal("tilt", unit="rad", scale=0.1, hold="max")
"""Angle between the body's up axis and the vertical, rad, 0 upright, at most pi."""

GOAL_DISTANCE = Signal("goal_distance", unit="m", scale=0.1)
"""Distance to the goal, m."""

JOINT_LIMIT_MARGIN = Signal("joint_limit_margin", unit="rad", scale=0.1, hold="min")
"""Least distance of any joint from its position limits, rad; negative beyond a limit."""

JOINT_SPEED_NORM = Signal("joint_speed_norm", unit="rad/s", scale=0.1, hold="max")
"""Euclidean norm of all joint speeds, rad/s."""

HUMAN_CONTACT_FORCE = Signal("human_contact_force", unit="N", scale=10.0, hold="max")
"""Largest contact force between robot and a person, N; 0 without contact."""

HUMAN_DISTANCE = Signal("human_distance", unit="m", scale=0.1, hold="min")
"""Least distance between robot and a person, m."""

TOOL_SPEED = Signal("tool_speed", unit="m/s", scale=0.1, hold="max")
"""Speed of the tool centre point, m/s."""

INTRUSION = Signal("intrusion", unit="1", scale=1.0, hold="max")
"""1 while a person is inside the protected space, else 0."""

FAULT_ACTIVE = Signal("fault_active", unit="1", scale=1.0, hold="max")
"""1 while a fault is active, else 0."""
