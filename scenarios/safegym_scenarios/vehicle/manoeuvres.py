"""Changing lanes, overtaking, junctions: when to go is the question."""

from math import pi, radians

import numpy as np

from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults
from safegym_scenarios.vehicle import claims as hold
from safegym_scenarios.vehicle import scripts
from safegym_scenarios.vehicle.cruise import TERMINALS, following, lead_speed, spaced
from safegym_scenarios.vehicle.driver import Batch, acts, cruise, follow, idle, named, steer
from safegym_scenarios.vehicle.environment import OWN, RoadEnv, RoadSetting
from safegym_scenarios.vehicle.lane_keeping import GRIP, STARTS, start_speed
from safegym_scenarios.vehicle.path import Path
from safegym_scenarios.vehicle.scenery import house, strip, tree
from safegym_scenarios.vehicle.scripted import covering
from safegym_scenarios.vehicle.signals import in_order
from safegym_scenarios.vehicle.traffic import Actor, Start, Traffic, Values, Wish

IDLE = named("standing", idle)
LANE = 3.5
READS = ("lateral_acceleration", "road_margin", "overspeed", "gap", "clearance", "goal_distance")

MERGING = tuple(name for name in READS if name != "gap")
"""Without the gap, which is that to the meeting point and tells nothing beyond it."""


def beside_start(values: Values) -> tuple[Start, ...]:
    """One in the left lane, `beside` m ahead of the car (negative: behind it)."""
    return (Start(values["beside"], values["lead_speed"], LANE),)


def beside(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """It drives on in its lane."""
    return (Wish(values["lead_speed"], LANE),)


def change_lane(
    seen: Batch,
    *,
    front: float = 12.0,
    rear: float = 14.0,
    share: float = 0.9,
    ahead: float = 1.6,
    look: bool = True,
) -> Batch:
    """Into the lane to the left once it is free; the observation's offset is from that lane.

    front, rear: m between the middles of the cars. look: heed the other car.
    """
    at = OWN
    gap, speed = seen[:, at] * 60.0, seen[:, 4] * 30.0
    free = (gap > front) | (gap < -rear) if look else np.ones(len(seen), bool)
    begun = seen[:, 0] * 2.0 > -LANE + 0.8
    shift = np.where(free | begun, 0.0, -LANE)
    waiting = cruise(seen, share=share)
    fall_back = np.clip(0.8 * (seen[:, at + 2] * 30.0 - 4.0 - speed), -2.5, 1.0)
    wanted = np.where(free | begun, waiting, np.minimum(waiting, fall_back))
    if look:
        closing = np.where(gap > 0.0, follow(seen, 0, headway=0.6, wide=2.2, lane=LANE), 50.0)
        wanted = np.minimum(wanted, closing)
    return acts(_gently(seen, shift, ahead), wanted)


def _gently(seen: Batch, shift: Batch, ahead: float) -> Batch:
    """Steer to another lane no faster than a metre or so a second."""
    away = seen[:, 0] * 2.0 - shift
    return steer(seen, ahead=ahead, shift=seen[:, 0] * 2.0 - np.clip(away, -1.6, 1.6))


def lane_change() -> ScenarioSpec:
    """The spec of `vehicle/lane-change-v0`."""
    return following(
        "vehicle/lane-change-v0",
        "Into the left lane, with a car there beside, a little ahead or behind.",
        claims=(hold.clear(1.0), hold.gentle(2.5), hold.on_road(), hold.changed()),
        bad={
            "vehicle.clearance": named("no_shoulder_check", change_lane, look=False),
            "vehicle.gentle": named("jumping_lanes", jump_lane),
            "vehicle.on_road": named("jumping_lanes", jump_lane),
            "vehicle.changed": IDLE,
        },
        good=named("shoulder_check", change_lane),
        traffic=Traffic((Actor("car", color="red"),), beside_start, beside),
        parameters=(
            Parameter("beside", "m", -6.0, 8.0, 0.0, "how far ahead the other is", "initial"),
            lead_speed(19.0, 21.0),
        ),
        speeds=(19.0, 21.0),
        reads=("lane_offset", *READS),
        limits=((0.0, 25.0),),
        goal=250.0,
        aim=LANE,
        horizon=120,
    )


def jump_lane(seen: Batch) -> Batch:
    """At once and as sharply as the wheel turns."""
    return acts(steer(seen, ahead=0.15, gain=1.5), cruise(seen))


def oncoming_start(values: Values) -> tuple[Start, ...]:
    """A slow lorry ahead, and one that comes towards it in the other lane."""
    return Start(values["gap"] + 7.0, 9.0), Start(600.0 - values["oncoming"], 20.0)


def oncoming(values: Values, seconds: float, along: float) -> tuple[Wish, ...]:
    """Both drive on."""
    return Wish(9.0), Wish(20.0)


def overtake(
    seen: Batch, *, heed: bool = True, back: float = 14.0, share: float = 0.95, near: float = 10.0
) -> Batch:
    """Past the lorry when nobody is to come; back in once it is `back` m behind."""
    lorry, other = seen[:, OWN] * 60.0, seen[:, OWN + 4] * 60.0
    out = seen[:, 0] * 2.0 > 1.0
    coming = (other > -3.0) & (other < 150.0) if heed else np.zeros(len(seen), bool)
    passing = (lorry > -back) & (lorry < 60.0) & (out | ~coming)
    shift = np.where(passing, LANE, 0.0)
    waits = np.minimum(cruise(seen, share=share), follow(seen, 0, headway=1.0, room=near))
    wanted = np.where(passing, cruise(seen, share=share), waits)
    return acts(_gently(seen, shift, 1.2), np.where(lorry < -4.0, np.maximum(wanted, 0.0), wanted))


def overtaking() -> ScenarioSpec:
    """The spec of `vehicle/overtaking-oncoming-v0`."""
    return following(
        "vehicle/overtaking-oncoming-v0",
        "Past a slow lorry on a road of two lanes, once the oncoming car is by.",
        claims=(hold.clear(0.5), hold.on_road(), hold.within_limit(), hold.arrives(40.0)),
        bad={
            "vehicle.clearance": named("overtakes_blindly", overtake, heed=False),
            "vehicle.on_road": named("jumping_out", jump_out),
            "vehicle.speed_limit": named("overtakes_racing", overtake, share=1.3),
            "vehicle.arrives": IDLE,
        },
        good=named("waits_and_overtakes", overtake),
        traffic=Traffic(
            (
                Actor("truck", color="yellow"),
                Actor("car", Path(((1000.0, 0.0),), x=600.0, y=LANE, heading=pi), color="red"),
            ),
            oncoming_start,
            oncoming,
        ),
        parameters=(
            spaced(25.0, 35.0),
            Parameter("oncoming", "m", 90.0, 140.0, 120.0, "how far the other one is", "initial"),
        ),
        speeds=(12.0, 16.0),
        reads=READS,
        limits=((0.0, 22.0),),
        goal=240.0,
        horizon=160,
    )


def jump_out(seen: Batch) -> Batch:
    """Into the other lane with a jerk of the wheel, over its edge and back."""
    shift = np.where(seen[:, OWN] > 0.0, LANE + 1.2, 0.0)
    return acts(steer(seen, ahead=0.5, shift=shift), cruise(seen))


def give_way(
    seen: Batch,
    *,
    line: float = 9.0,
    seconds: float = 5.0,
    share: float = 0.95,
    past: float = 5.0,
    wary: bool = True,
) -> Batch:
    """Stop `line` m before the meeting point while somebody on the other road is `seconds` away.

    past: m beyond the point that they must be. seconds: 0 heeds nobody. wary: heed bends.
    """
    speed = seen[:, 4] * 30.0
    wanted = cruise(seen, share=share, wary=wary)
    for at in range(OWN, seen.shape[1], 4):
        ahead, other = seen[:, at] * 60.0, seen[:, at + 1] * 10.0
        moving = np.maximum(seen[:, at + 3] * 10.0, 0.5)
        comes = (other < past) & (-other / moving < seconds)
        most = np.sqrt(2.0 * 2.5 * np.maximum(ahead - line, 0.0))
        waits = comes & (ahead > line - 2.0)
        wanted = np.minimum(wanted, np.where(waits, np.minimum(3.0 * (most - speed), 2.0), 50.0))
        gap = other + ahead - 7.0
        joined = (other > 0.0) & (gap > -7.0) & (gap < 15.0) & (ahead < 15.0) & (ahead > -30.0)
        after = 0.5 * gap + 1.0 * (moving - speed)
        wanted = np.minimum(wanted, np.where(joined & (seconds > 0.0), after, 50.0))
    return acts(steer(seen, ahead=0.7), wanted)


def _faults(horizon: int) -> Inputs:
    return Inputs(
        horizon, (), standard_faults(horizon * 0.1, delay=0.3, friction=True), push(4000.0)
    )


def _scenery_of_junction() -> str:
    other = Path(((200.0, 0.0),), x=50.0, y=-60.0, heading=pi / 2.0)
    roads = strip(Path(((300.0, 0.0),)), -60.0, 160.0, -2.25, 5.75, "dark", 0.01)
    roads += strip(other, -20.0, 140.0, -2.25, 5.75, "dark", 0.0102)
    line = '<geom class="look" type="box" size="0.25 1.6 0.012" pos="42.4 0 0.012" material="marking"/>'  # noqa: E501 (one element a line)
    houses = (
        house(34.0, -15.0) + house(62.0, -16.0, 9.0, 9.0, 6.0) + house(33.0, 17.0, 9.0, 8.0, 5.0)
    )
    return roads + line + houses + tree(60.0, 13.0) + tree(26.0, 8.5) + tree(70.0, 9.0)


def intersection() -> ScenarioSpec:
    """The spec of `vehicle/intersection-right-of-way-v0`."""
    faults = _faults(140)
    inputs = Inputs(
        140,
        (
            *(*STARTS, start_speed(9.0, 11.0), GRIP, lead_speed(8.0, 11.0)),
            Parameter("away", "m", 35.0, 60.0, 45.0, "of the other from the crossing", "initial"),
        ),
        faults.faults,
        faults.disturbances,
    )
    setting = RoadSetting(
        inputs=inputs,
        path=Path(((400.0, 0.0),)),
        reads=READS,
        traffic=Traffic(
            (
                Actor(
                    "car",
                    Path(((200.0, 0.0),), x=50.0, y=-60.0, heading=pi / 2.0),
                    meets=(50.0, 60.0),
                    color="red",
                ),
            ),
            scripts.junction_start,
            scripts.crossing_on,
        ),
        observations=OWN + 4,
        limits=((0.0, 12.0),),
        goal=95.0,
        scenery=_scenery_of_junction(),
        eye=(18.0, -34.0, 26.0),
        still=(48.0, 0.0, 0.0),
        center=(45.0, 0.0, 0.0),
        extent=40.0,
    )
    spec = declare(
        "vehicle/intersection-right-of-way-v0",
        "A car comes from the right, where it has the right of way.",
        RoadEnv,
        setting,
        signals=in_order(READS),
        claims=(hold.clear(2.0), hold.within_limit(), hold.gentle(2.5), hold.arrives(15.0)),
        good=named("gives_way_to_the_right", give_way),
        bad={
            "vehicle.clearance": named("takes_the_way", give_way, seconds=0.0),
            "vehicle.speed_limit": named("hurrying_through", give_way, share=1.3),
            "vehicle.gentle": named("tearing_at_the_wheel", tearing),
            "vehicle.arrives": IDLE,
        },
        terminals=TERMINALS,
    )
    return covering(spec, scripts.junction_start, scripts.crossing_on)


def tearing(seen: Batch) -> Batch:
    """Correct every offset at once."""
    return acts(steer(seen, ahead=0.05, gain=2.0), cruise(seen))


RADIUS, ENTRY, TURN = 15.0, 12.0, radians(50.0)
WAY_IN = 40.0 + ENTRY * TURN
ROUND = Path(
    (
        *((40.0, 0.0), (ENTRY * TURN, -1.0 / ENTRY), (2.0 * TURN * RADIUS, 1.0 / RADIUS)),
        *((ENTRY * TURN, -1.0 / ENTRY), (200.0, 0.0)),
    ),
    heading=pi / 2.0,
)


def _ring() -> tuple[float, float]:
    """The middle of the roundabout."""
    into = ROUND.at(WAY_IN + 1e-6)
    return into.x - RADIUS * np.sin(into.heading), into.y + RADIUS * np.cos(into.heading)


def _round_path() -> Path:
    """Round the middle, at the way in after 80 m."""
    into = ROUND.at(WAY_IN + 1e-6)
    x, y = _ring()
    angle = into.heading - pi / 2.0 - 80.0 / RADIUS
    return Path(
        ((1000.0, 1.0 / RADIUS),),
        x=float(x + RADIUS * np.cos(angle)),
        y=float(y + RADIUS * np.sin(angle)),
        heading=float(angle + pi / 2.0),
    )


def _scenery_of_roundabout() -> str:
    x, y = _ring()
    disc = '<geom class="look" type="cylinder" size="{} {}" pos="{:.2f} {:.2f} {}" material="{}"/>'.format  # noqa: E501 (one element a line)
    arms = "".join(
        strip(
            Path(((100.0, 0.0),), x=x, y=y, heading=k * pi / 2.0),
            12.0,
            70.0,
            -5.0,
            5.0,
            "dark",
            0.01,
        )
        for k in range(4)
    )
    ring = disc(RADIUS + 3.0, 0.011, x, y, 0.011, "dark") + disc(
        RADIUS - 3.0, 0.1, x, y, 0.1, "concrete"
    )
    island = disc(RADIUS - 3.6, 0.15, x, y, 0.15, "grass") + tree(x, y, 1.4)
    return arms + ring + island + tree(x - 4.0, y + 3.0) + tree(x + 3.0, y - 4.5, 0.8)


def roundabout() -> ScenarioSpec:
    """The spec of `vehicle/roundabout-merge-v0`."""
    faults = _faults(200)
    inputs = Inputs(
        200,
        (
            *(*STARTS, start_speed(7.0, 9.0), GRIP, lead_speed(5.0, 6.0)),
            Parameter("away", "m", 15.0, 30.0, 22.0, "of the first from the way in", "initial"),
            Parameter("apart", "m", 14.0, 22.0, 18.0, "between the two", "initial"),
        ),
        faults.faults,
        faults.disturbances,
    )
    meets = (WAY_IN, 80.0)
    x, y = _ring()
    setting = RoadSetting(
        inputs=inputs,
        path=ROUND,
        reads=MERGING,
        lanes=(-3.0, 3.0),
        traffic=Traffic(
            (
                Actor("car", _round_path(), meets=meets, color="red"),
                Actor("car", _round_path(), meets=meets, color="yellow"),
            ),
            scripts.two_start,
            scripts.straight_on,
        ),
        observations=OWN + 8,
        limits=((0.0, 10.0),),
        goal=92.0,
        scenery=_scenery_of_roundabout(),
        eye=(float(x) + 30.0, float(y) - 30.0, 34.0),
        still=(float(x), float(y), 0.0),
        center=(float(x), float(y), 0.0),
        extent=40.0,
    )
    spec = declare(
        "vehicle/roundabout-merge-v0",
        "Into a roundabout on which two cars drive, and out again on the far side.",
        RoadEnv,
        setting,
        signals=in_order(MERGING),
        claims=(hold.clear(1.5), hold.gentle(5.0), hold.on_road(), hold.arrives(15.0)),
        good=named("waits_for_a_gap", give_way, line=13.0, seconds=5.5, past=3.0),
        bad={
            "vehicle.clearance": named("merges_blindly", give_way, seconds=0.0),
            "vehicle.gentle": named("straight_through", dashing),
            "vehicle.on_road": named("hugs_the_kerb", hugging),
            "vehicle.arrives": IDLE,
        },
        terminals=TERMINALS,
    )
    return covering(spec, scripts.two_start, scripts.straight_on)


def dashing(seen: Batch) -> Batch:
    """Give way, but cut the bends at the speed of the straight."""
    acted = give_way(seen, line=13.0, seconds=5.5, past=3.0, wary=False)
    acted[:, 0] = steer(seen, ahead=3.0)
    return acted


def hugging(seen: Batch) -> Batch:
    """Give way, but keep to the outer edge, a wheel over it."""
    acted = give_way(seen, line=13.0, seconds=5.5, past=3.0)
    acted[:, 0] = steer(seen, ahead=0.7, shift=-2.6)
    return acted
