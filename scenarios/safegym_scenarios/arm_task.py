"""The arm's cyclic task: two stations, reached in turn."""

from math import cos, sin

from safegym.scenario.spec import Parameter

JOINTS = ("yaw", "shoulder", "elbow", "wrist")
RANGES = ((-2.6, 2.6), (-0.6, 1.9), (-0.2, 2.5), (-1.8, 1.8))
LINKS = (0.40, 0.36, 0.14)
SHOULDER = 0.86
REACHED = 0.06
Pose = tuple[float, float, float, float]

PARAMETERS: tuple[Parameter, ...] = (
    Parameter("station_a_yaw", "rad", 0.75, 1.05, 0.9, "direction of the left station"),
    Parameter("station_b_yaw", "rad", -1.05, -0.75, -0.9, "direction of the right station"),
    Parameter("start_yaw", "rad", -0.5, 0.5, 0.0, "direction of the arm at the start", "initial"),
)


def working_pose(yaw: float) -> Pose:
    """Joint angles in rad with the tool out at working height in direction `yaw`."""
    return yaw, 0.75, 1.05, 0.30


def tool_position(pose: Pose) -> tuple[float, float, float]:
    """Where the tool's tip is, in m, for joint angles in rad."""
    yaw, *bends = pose
    bend = reach = 0.0
    height = SHOULDER
    for angle, length in zip(bends, LINKS, strict=True):
        bend += angle
        reach += length * sin(bend)
        height += length * cos(bend)
    return reach * cos(yaw), reach * sin(yaw), height


def largest_error(pose: Pose, target: Pose) -> float:
    """Largest distance of a joint from its target, in rad."""
    return max(abs(b - a) for a, b in zip(pose, target, strict=True))
