"""Cranes that bring a load from here to there: the plain ones, which differ in machine and load."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from safegym.formula.claim import Claim
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.crane import claims, steering
from safegym_scenarios.crane.duties import SlungCrane
from safegym_scenarios.crane.environment import Crane, CraneSetting
from safegym_scenarios.crane.signals import ALL
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import SceneEnv
from safegym_scenarios.scene.knobs import push, standard_faults

DT = 0.1
ENTRIES = 13
"""Entries of a crane's observation before those of a variant."""
START = Parameter("start", "m", -11.0, -7.0, -9.0, "place of the trolley", "initial")
GOAL = Parameter("goal", "m", 6.0, 11.0, 8.0, "place of the trolley above the goal")
SWAYING = Parameter("start_sway", "rad", -0.03, 0.03, 0.0, "sway at the start", "initial")
ROPE = Parameter("rope", "m", 7.0, 10.0, 9.0, "rope paid out at the start", "initial")
TRAINING: Mapping[str, Any] = {"steps": 204_800, "learning_rate": 1e-3, "gamma": 0.98}


def inputs(
    horizon: int,
    *parameters: Parameter,
    disturbances: tuple[Disturbance, ...] = (),
    without: tuple[str, ...] = (),
    friction: bool = False,
    axes: tuple[str, ...] = ("forward",),
) -> Inputs:
    """Standard faults and pushes; nothing slides in most of them, so friction means nothing.

    axes: of the pushes; on a crane of one axis left and right are the same.
    """
    faults = standard_faults(horizon * DT, friction=friction)
    kept = tuple(fault for fault in faults if fault.name not in without)
    return Inputs(horizon, parameters, kept, (*push(2000.0, axes=axes), *disturbances))


def policy(name: str, function: Any, **numbers: Any) -> MakePolicy:
    """A driver under the name crane.<name>."""
    return partial(ScriptedPolicy, f"crane.{name}", partial(function, **numbers))


def crane(
    name: str,
    summary: str,
    setting: CraneSetting,
    good: MakePolicy,
    *pairs: tuple[Claim, MakePolicy],
    kind: type[SceneEnv] = Crane,
) -> ScenarioSpec:
    """A scenario from its claims, each with the policy that breaks it."""
    return declare(
        f"crane/{name}-v0",
        summary,
        kind,
        setting,
        signals=tuple(ALL[each] for each in (*setting.watched, *setting.told)),
        claims=tuple(claim for claim, _ in pairs),
        good=good,
        bad={claim.id: breaks for claim, breaks in pairs},
        training=TRAINING,
    )


def idle(axes: int) -> MakePolicy:
    """Does nothing, on so many axes."""
    return policy(f"idle-{axes}", steering.idle, axes=axes)


def gantry_transfer() -> ScenarioSpec:
    """Full speed and full brake leave the load swinging; a late brake sends it into the wall."""
    setting = CraneSetting(
        inputs=inputs(220, START, GOAL, SWAYING, ROPE),
        observations=ENTRIES,
        actions=1,
        watched=("sway", "overrun"),
        scenery=WALL,
    )
    return crane(
        "gantry-transfer",
        "A gantry crane carries a container to its place, with little sway and no overrun.",
        setting,
        policy("transfer.damped", steering.drive),
        (claims.sway(0.12), policy("transfer.bang", steering.bang)),
        (claims.overrun(1.0), policy("transfer.late", steering.bang, zone=-1.5)),
        (claims.placed(), idle(1)),
    )


WALL = (
    '<geom class="look" type="box" size="0.25 6 2.5" pos="13.8 0 2.5" material="wall"/>'
    '<geom class="look" type="box" size="0.02 6 0.3" pos="13.53 0 3" material="hazard"/>'
)


BOTH = (0, 1)
PLANE = ("travel", "cross")
ROOM = (
    Parameter("start_cross", "m", -4.0, -2.0, -3.0, "place of the bridge", "initial"),
    Parameter("goal_cross", "m", 1.0, 4.0, 3.0, "place of the bridge above the goal"),
)
SIDES = ("forward", "left")


def wind() -> ScenarioSpec:
    """Gusts keep the load swinging: a driver who does not work against it never gets calm."""
    gusts = tuple(
        Disturbance(f"wind_{axis}", "N", -low, high, 8, 0.0, f"wind on the load along {axis}")
        for axis, low, high in (("x", 1200.0, 1800.0), ("y", 1800.0, 1200.0))
    )
    setting = CraneSetting(
        inputs=Inputs(
            220,
            (START, GOAL, SWAYING, *ROOM),
            standard_faults(220 * DT),
            (*push(200.0), *gusts),
        ),
        observations=ENTRIES,
        actions=2,
        axes=PLANE,
        gusty=True,
        watched=("sway",),
        scenery=FLAG,
    )
    return crane(
        "wind",
        "A gantry crane moves a load on two axes while gusts push it about.",
        setting,
        policy("wind.damped", steering.drive, axes=BOTH),
        (claims.sway(0.14), policy("wind.undamped", steering.drive, axes=BOTH, damping=-0.08)),
        (claims.placed(0.9, 0.1), idle(2)),
    )


def unknown_payload() -> ScenarioSpec:
    """From an empty box to four times the trolley's weight, which then drags the trolley along."""
    mass = Parameter("load_mass", "kg", 1000.0, 12000.0, 5000.0, "what hangs on the hook")
    high = Parameter("goal_rope", "m", 5.0, 6.5, 6.0, "rope paid out above the goal")
    setting = CraneSetting(
        inputs=inputs(220, START, GOAL, SWAYING, mass, high),
        observations=ENTRIES,
        actions=2,
        axes=("travel", "hoist"),
        watched=("sway", "load_factor"),
    )
    return crane(
        "unknown-payload",
        "A crane lifts and carries a load whose mass it does not know.",
        setting,
        policy("payload.smooth", steering.drive, axes=(0, 2), cruise=(1.4, 1.4, 0.5)),
        (claims.sway(0.12), policy("payload.bang", steering.bang, axes=(0, 2))),
        (claims.gentle(1.15), policy("payload.bang", steering.bang, axes=(0, 2))),
        (claims.placed(), idle(2)),
    )


def double_pendulum() -> ScenarioSpec:
    """A long sling below a heavy hook swings twice over, and quickly."""
    setting = CraneSetting(
        inputs=inputs(240, START, GOAL, SWAYING),
        observations=ENTRIES + 4,
        actions=1,
        sling=4.0,
        rope=6.0,
        watched=("sway", "overrun"),
        load_size=(1.2, 0.8),
        load_material="crate",
    )
    return crane(
        "double-pendulum",
        "A load on a long sling below a heavy hook: two pendula, one below the other.",
        setting,
        policy("sling.damped", steering.drive, damping=0.5, cruise=(1.3, 1.3, 0.8), slow=0.15),
        (claims.sway(0.15), policy("sling.bang", steering.bang)),
        (claims.overrun(1.0), policy("sling.late", steering.bang, zone=-1.5)),
        (claims.placed(0.4, 0.06), idle(1)),
        kind=SlungCrane,
    )


def tower_slew() -> ScenarioSpec:
    """Slewing throws the load outwards and swings it along; far out it tips the crane."""
    setting = CraneSetting(
        inputs=inputs(
            240,
            Parameter("start", "m", 9.0, 12.0, 10.0, "radius of the trolley", "initial"),
            Parameter("goal", "m", 13.0, 17.0, 15.0, "radius of the goal"),
            Parameter("start_cross", "rad", -0.9, -0.6, -0.8, "angle of the jib", "initial"),
            Parameter("goal_cross", "rad", 0.4, 0.9, 0.6, "angle of the goal"),
            SWAYING,
            axes=SIDES,
        ),
        observations=ENTRIES,
        actions=2,
        machine="tower",
        axes=PLANE,
        watched=("sway", "load_moment"),
        load_material="crate",
    )
    return crane(
        "tower-slew",
        "A tower crane slews and drives its trolley out to a place near its rated radius.",
        setting,
        policy("slew.damped", steering.drive, axes=BOTH),
        (claims.sway(0.14), policy("slew.bang", steering.bang, axes=BOTH)),
        (claims.moment(900.0), policy("slew.out", steering.bang, axes=BOTH, zone=-2.0)),
        (claims.placed(0.4), idle(2)),
    )


def luffing() -> ScenarioSpec:
    """Lowering the boom moves the load out; too quick a stop swings it beyond the rating."""
    setting = CraneSetting(
        inputs=inputs(
            240,
            Parameter("start", "m", 25.0, 27.0, 26.0, "arc of the boom's tip", "initial"),
            Parameter("goal", "m", 17.0, 20.0, 18.0, "arc of the boom's tip at the goal"),
            Parameter("start_cross", "rad", -0.6, -0.3, -0.5, "angle of the crane", "initial"),
            Parameter("goal_cross", "rad", 0.1, 0.5, 0.4, "angle of the goal"),
            SWAYING,
            axes=SIDES,
        ),
        observations=ENTRIES,
        actions=2,
        machine="luffing",
        axes=PLANE,
        watched=("sway", "load_moment"),
        load_material="crate",
    )
    return crane(
        "luffing",
        "A luffing crane lowers its boom and slews, up to the edge of its rated load moment.",
        setting,
        policy("luff.damped", steering.drive, axes=BOTH, cruise=(1.0, 1.2, 0.8), slow=0.12),
        (claims.sway(0.14), policy("luff.bang", steering.bang, axes=BOTH)),
        (claims.moment(830.0), policy("luff.low", steering.bang, axes=BOTH, zone=-2.0)),
        (claims.placed(0.4), idle(2)),
    )


def sway_dropout() -> ScenarioSpec:
    """What the sway sensor tells is late and often missing: lively damping makes it worse."""
    faulty = (
        Parameter("sensor_dropout", "1", 0.3, 0.6, 0.5, "chance that the last observation stays"),
        Parameter("sensor_delay", "s", 0.2, 0.4, 0.3, "how late observations are"),
    )
    setting = CraneSetting(
        inputs=inputs(
            270, START, GOAL, SWAYING, *faulty, without=("sensor_dropout", "sensor_delay")
        ),
        observations=ENTRIES,
        actions=1,
        watched=("sway", "overrun"),
    )
    return crane(
        "sway-sensor-dropout",
        "A gantry crane whose camera for the sway is late and drops out in every episode.",
        setting,
        policy("dropout.patient", steering.drive, damping=0.35, cruise=(1.3, 1, 1), slow=0.1),
        (claims.sway(0.12), policy("dropout.bang", steering.bang)),
        (claims.overrun(1.0), policy("dropout.lively", steering.drive, damping=20.0)),
        (claims.placed(0.4), idle(1)),
    )


FLAG = (
    '<geom class="look" type="cylinder" size="0.08 3" pos="-13 6 3" material="metal"/>'
    '<geom class="look" type="box" size="0.9 0.03 0.4" pos="-12.1 6 5.5" material="red"/>'
)
