"""The scripted guidance that the residual scenario's action corrects.

It heads for the nearest place in a gap beside the next obstacle and slows a little while it is not
yet in line with it. It knows nothing of gusts, of the drift limit or of the obstacle after the
next. Alone, in 2000 episodes, it collided in 47, drifted faster than 0.5 m/s in 216, and reached
the goal in 1953.
"""

from safegym_scenarios.drone_course import CAGE, GOAL, HALF_WIDTH, Obstacle
from safegym_scenarios.drone_view import clipped

CRUISE = 1.0
SIDE_CRUISE = 0.45
SIDE_GAIN = 1.2
PARK_GAIN = 0.8
ROOM = 0.2
SLOWING = 0.55
FAR = Obstacle(GOAL[0] + 10.0, -HALF_WIDTH - 0.5, 0.3, False)


def ahead(x: float, course: tuple[Obstacle, ...]) -> tuple[Obstacle, Obstacle]:
    """The next two obstacles that the cage has not wholly passed; FAR where there is none."""
    coming = [o for o in course if o.x + o.size + CAGE > x]
    first = coming[0] if coming else FAR
    second = coming[1] if len(coming) > 1 else FAR
    return first, second


def gap_target(obstacle: Obstacle, y: float) -> float:
    """Where across the corridor to pass an obstacle; the corridor's middle where there is none.

    Of the gaps beside it that leave ROOM on both sides of the cage (always the wider one), the
    place nearest to `y` that does so.
    """
    if obstacle is FAR:
        return 0.0
    margin = CAGE + ROOM
    right = max(margin - HALF_WIDTH, min(obstacle.y - obstacle.size - margin, y))
    left = min(HALF_WIDTH - margin, max(obstacle.y + obstacle.size + margin, y))
    if right > obstacle.y - obstacle.size - margin:
        return left
    if left < obstacle.y + obstacle.size + margin:
        return right
    return right if y - right < left - y else left


def guide(x: float, y: float, first: Obstacle) -> tuple[float, float]:
    """Proposed velocity (forward, left) in m/s."""
    off = gap_target(first, y) - y
    side = max(-SIDE_CRUISE, min(SIDE_CRUISE, SIDE_GAIN * off))
    forward = CRUISE * (1.0 - SLOWING * min(1.0, abs(off) / 0.6))
    return clipped(min(forward, PARK_GAIN * (GOAL[0] - x)), side)
