"""What the car knows of other road users, in the frame of its own path."""

from collections.abc import Iterator
from math import cos, sin
from typing import Any

from safegym_scenarios.vehicle.traffic import SIZES, Actor, Start

IN_THE_WAY = 0.25
"""m beside the car within which somebody counts as in its way."""
NOTHING = 150.0


def ahead_of(env: Any) -> tuple[float, float]:
    """Bumper-to-bumper gap in m to the next in the car's way, and its speed along in m/s."""
    best, speed = NOTHING, 0.0
    for actor, now in zip(env.actors, env.others, strict=True):
        ahead, left, onward, _ = seen(env, actor, now)
        length, width, _ = SIZES[actor.kind]
        across = actor.meets is not None or actor.kind == "person"
        if across:
            length, width = width, length
        reach = (env.car.width + width) / 2.0 + IN_THE_WAY
        if abs(left - (0.0 if actor.meets else env.offset)) > reach or ahead < 0.0:
            continue
        gap = ahead - (env.car.length + length) / 2.0
        if gap < best:
            best, speed = gap, onward
    return best, speed


def seen_of(env: Any) -> Iterator[float]:
    """The observation's entries for every other, about [-1, 1]."""
    for actor, now in zip(env.actors, env.others, strict=True):
        ahead, left, onward, aside = seen(env, actor, now)
        yield max(-2.5, min(2.5, ahead / 60.0))
        yield max(-4.0, min(4.0, left / 10.0))
        yield onward / 30.0
        yield aside / 10.0


def seen(env: Any, actor: Actor, now: Start) -> tuple[float, float, float, float]:
    """Ahead and to the left in m, speeds along and to the left in m/s, of one other."""
    if actor.meets is not None:
        return actor.meets[0] - env.along, now.along - actor.meets[1], 0.0, now.speed
    here = actor.path.at(now.along)
    x, y = here.x - now.aside * sin(here.heading), here.y + now.aside * cos(here.heading)
    road = env.setting.path.at(env.along)
    dx, dy = x - road.x, y - road.y
    c, s = cos(road.heading), sin(road.heading)
    turn = here.heading - road.heading
    return dx * c + dy * s, dy * c - dx * s, now.speed * cos(turn), now.speed * sin(turn)
