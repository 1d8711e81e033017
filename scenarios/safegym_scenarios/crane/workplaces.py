"""Cranes whose work has more to it than a way: see `duties` for the machines."""

from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.crane import claims, drivers, duties, steering
from safegym_scenarios.crane.environment import CraneSetting
from safegym_scenarios.crane.variants import (
    ENTRIES,
    GOAL,
    SIDES,
    START,
    SWAYING,
    crane,
    idle,
    inputs,
    policy,
)

LIFTING = ("travel", "hoist")
ALL_AXES = ("travel", "cross", "hoist")
_STACK = (
    '<body name="stack" mocap="true">'
    + "".join(
        f'<geom name="obstacle_{k}" class="look" type="box" size="1.25 2.6 1.28" '
        f'pos="0 0 {z}" material="{colour}"/>'
        for k, (z, colour) in enumerate(((4.72, "red"), (2.1, "green"), (-0.5, "orange")))
    )
    + "</body>"
)
_PERSON = """<geom class="look" type="box" size="1.3 8 0.015" pos="2 0 0.01" material="marking"/>
  <geom class="look" type="box" size="0.9 8 0.02" pos="2 0 0.012" material="zone"/>
  <body name="person" mocap="true">
    <geom class="look" type="capsule" size="0.3" fromto="0 0 0.9 0 0 1.35" material="orange"/>
    <geom class="look" type="capsule" size="0.15" fromto="0.1 0 0.15 0.1 0 0.9" material="dark"/>
    <geom class="look" type="capsule" size="0.15" fromto="-0.1 0 0.15 -0.1 0 0.9" material="dark"/>
    <geom class="look" type="sphere" size="0.19" pos="0 0 1.75" material="skin"/>
    <geom class="look" type="ellipsoid" size="0.22 0.22 0.13" pos="0 0 1.86" material="yellow"/>
  </body>"""
_GRIP = '<site name="anchor" pos="0 0 0.05" size="0.1"/>'
_CHAIN = """<spatial name="chain" width="0.05" rgba="0.35 0.3 0.28 1" limited="true" range="0 2"
    solreflimit="0.04 1"><site site="anchor"/><site site="hook"/></spatial>"""
_BUTTON = """<geom class="look" type="box" size="0.25 0.25 0.7" pos="0 6.2 0.7" material="yellow"/>
  <geom class="look" type="cylinder" size="0.22 0.1" pos="0 6.2 1.5" material="red"/>"""
_BUFFER = """<geom class="look" type="box" size="0.3 0.5 0.4" pos="14.5 1.7 16.9" material="red"/>
  <geom class="look" type="box" size="0.3 0.5 0.4" pos="14.5 -1.7 16.9" material="red"/>"""
_SHIP = """<geom class="look" type="box" size="26 6 0.02" pos="14 0 0.02" material="water"/>
  <body name="deck" gravcomp="1"><joint name="deck" type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1e6" diaginertia="1e6 1e6 1e6"/>
    <geom name="deck" class="solid" type="box" size="5 4 0.3" pos="0 0 -0.3" material="dark"/>
    <geom class="look" type="box" size="6.5 4.4 1.4" pos="0 0 -2" material="red"/>
    <geom class="look" type="box" size="1 3 2" pos="5.4 0 1.6" material="white"/>
    <geom class="look" type="box" size="0.05 2.4 0.3" pos="4.38 0 2.8" material="black"/></body>"""
_TRUCK = """<body name="deck" gravcomp="1"><joint name="deck" type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1e6" diaginertia="1e6 1e6 1e6"/>
    <geom name="deck" class="solid" type="box" size="2.6 1.7 0.15" pos="0 0 -0.15"
          material="metal"/>
    <geom class="look" type="box" size="0.9 1.5 1.1" pos="3.9 0 0.2" material="green"/>
    <geom class="look" type="box" size="0.05 1.3 0.4" pos="4.82 0 0.7" material="black"/>
    <geom class="look" type="cylinder" size="0.5 1.75" pos="-1.6 0 -0.7" euler="1.5708 0 0"
          material="rubber"/>
    <geom class="look" type="cylinder" size="0.5 1.75" pos="3.6 0 -0.7" euler="1.5708 0 0"
          material="rubber"/></body>"""


def hoist_over() -> ScenarioSpec:
    """Travel may begin only once the load is above the stack."""
    setting = CraneSetting(
        inputs=inputs(
            280,
            START,
            GOAL,
            SWAYING,
            Parameter("stack_place", "m", -1.0, 1.5, 0.0, "where the stack stands"),
            Parameter("stack_height", "m", 4.0, 5.4, 5.0, "how high it is"),
            Parameter("rope", "m", 11.0, 12.5, 12.0, "rope paid out at the start", "initial"),
        ),
        observations=ENTRIES + 2,
        actions=2,
        axes=LIFTING,
        watched=("sway", "clearance"),
        scenery=_STACK,
    )
    return crane(
        "hoist-over-stack",
        "A gantry crane lifts its load over a stack of containers while it travels.",
        setting,
        policy("stack.over", drivers.over_stack),
        (claims.sway(0.14), policy("stack.bang", steering.bang, axes=(0, 2))),
        (claims.clear(0.3), policy("stack.late", drivers.over_stack, room=0.1, wait=False)),
        (claims.placed(0.4), idle(2)),
        kind=duties.StackCrane,
    )


def people_below() -> ScenarioSpec:
    """The load waits before the walkway as long as somebody has still to cross."""
    setting = CraneSetting(
        inputs=inputs(
            320,
            START,
            GOAL,
            SWAYING,
            Parameter("person_x", "m", 1.3, 2.7, 2.0, "where they walk", "initial"),
            Parameter("person_y", "m", -7.0, -6.0, -6.5, "where they come from", "initial"),
            Parameter("person_lead", "m", 6.0, 8.0, 7.0, "how near the load is as they set out"),
            Parameter("person_speed", "m/s", 1.1, 1.4, 1.2, "how fast they walk"),
        ),
        observations=ENTRIES + 3,
        actions=1,
        watched=("sway", "person_distance"),
        scenery=_PERSON,
    )
    return crane(
        "people-below",
        "A gantry crane carries a load across a walkway that somebody is about to cross.",
        setting,
        policy("people.waits", drivers.around_people),
        (claims.people_clear(2.0), policy("people.heedless", drivers.around_people, heed=False)),
        (claims.sway(0.12), policy("people.bang", steering.bang)),
        (claims.placed(0.4), idle(1)),
        kind=duties.PeopleCrane,
    )


def _ground(*parameters: Parameter, chain: bool = False, watched: tuple[str, ...]) -> CraneSetting:
    return CraneSetting(
        inputs=inputs(160, *parameters),
        observations=ENTRIES + 2,
        actions=1,
        axes=("hoist",),
        rope=14.05,
        watched=watched,
        told=("goal_distance", "lifted", "within_rating"),
        scenery=_GRIP,
        tendons=_CHAIN if chain else "",
        load_material="crate",
    )


_HEIGHT = Parameter("goal_rope", "m", 7.0, 10.0, 8.5, "rope paid out when the load is up")


def overload_stop() -> ScenarioSpec:
    """The driver takes the load's weight slowly and gives up if it is beyond the rating."""
    setting = _ground(
        Parameter("load_mass", "kg", 3000.0, 12000.0, 5000.0, "what is on the hook"),
        _HEIGHT,
        watched=("tension", "sway"),
    )
    limit = "chosen: 4/3 of the rated load, what the structure was tried with"
    return crane(
        "overload-stop",
        "A crane takes up a load that may weigh more than its rating of 8 t.",
        setting,
        policy("overload.weighing", drivers.lift_weighing),
        (claims.overload(86.3), policy("overload.heedless", drivers.lift_weighing, heed=9.0)),
        (claims.tension(104.6, limit), policy("overload.hauling", drivers.haul)),
        (claims.lifted(2.0, if_rated=True), idle(1)),
        kind=duties.GroundedCrane,
    )


def snagged_load() -> ScenarioSpec:
    """A chain that was forgotten holds the load once it is off the ground."""
    setting = _ground(
        Parameter("snag_height", "m", 1.0, 2.5, 1.5, "how far the chain lets it up"),
        _HEIGHT,
        Parameter("load_mass", "kg", 4500.0, 5500.0, 5000.0, "what is on the hook"),
        chain=True,
        watched=("tension", "sway"),
    )
    limit = "chosen: twice the load, the strength of its lifting lugs"
    return crane(
        "snagged-load",
        "A load that is lifted is still chained to the ground.",
        setting,
        policy("snag.watching", drivers.lift_watching),
        (claims.tension(100.0, limit), policy("snag.hauling", drivers.haul, share=0.5)),
        (claims.eased(65.0, 60.0, 2), policy("snag.stubborn", drivers.lift_watching, give_up=999)),
        (claims.lifted(0.5), idle(1)),
        kind=duties.GroundedCrane,
    )


def emergency_stop() -> ScenarioSpec:
    """Stop at once, and yet so that the load does not swing into whoever pressed the button."""
    setting = CraneSetting(
        inputs=inputs(
            160,
            Parameter("start", "m", -12.0, -9.0, -11.0, "place of the trolley", "initial"),
            GOAL,
            SWAYING,
            Parameter("stop_time", "s", 5.0, 9.0, 7.0, "when the stop is pressed"),
        ),
        observations=ENTRIES + 1,
        actions=1,
        boost=(2.0, 1.0, 1.0),
        watched=("sway", "travel_speed"),
        told=("goal_distance", "progress", "emergency"),
        scenery=_BUTTON,
    )
    return crane(
        "emergency-stop",
        "An emergency stop is pressed in mid-travel: stand soon, and swing little.",
        setting,
        policy("stop.firm", drivers.stop_when_told),
        (claims.stops(0.05, 4), policy("stop.heedless", drivers.stop_when_told, heed=False)),
        (claims.sway(0.15), policy("stop.slam", drivers.rush_and_slam)),
        (claims.worked(2.0), idle(1)),
        kind=duties.EmergencyCrane,
    )


def brake_loss() -> ScenarioSpec:
    """The rail falls towards the wall and the brake holds only a part of what it should."""
    setting = CraneSetting(
        inputs=inputs(
            260,
            START,
            GOAL,
            SWAYING,
            Parameter("brake_left", "1", 0.1, 0.3, 0.2, "share of the braking that is left"),
            Parameter("rail_slope", "1", 0.01, 0.02, 0.015, "fall of the rail towards the goal"),
        ),
        observations=ENTRIES,
        actions=1,
        watched=("sway", "overrun", "travel_speed"),
        scenery=_BUFFER,
    )
    return crane(
        "trolley-brake-loss",
        "A trolley on a falling rail has lost most of its brake in every episode.",
        setting,
        policy("brake.careful", steering.drive, cruise=(1.0, 1, 1), slow=0.06),
        (claims.overrun(1.0), policy("brake.bang", steering.bang)),
        (claims.sway(0.12), policy("brake.bang", steering.bang)),
        (claims.placed(0.6), idle(1)),
        kind=duties.BrakeCrane,
    )


def ship_to_shore() -> ScenarioSpec:
    """The deck rises towards the load: go along with it and close the gap slowly."""
    setting = duties.DeckSetting(
        inputs=inputs(
            260,
            Parameter("start", "m", -4.0, 0.0, -2.0, "place of the trolley", "initial"),
            Parameter("goal", "m", 5.0, 8.0, 6.0, "place on the deck"),
            Parameter("goal_cross", "m", -1.0, 2.0, 0.5, "place on the deck, across"),
            SWAYING,
            Parameter("heave", "m", 0.3, 0.7, 0.5, "how far the deck rises and falls"),
            Parameter("period", "s", 6.0, 9.0, 7.0, "of the heave"),
            Parameter("phase", "rad", 0.0, 6.28, 0.0, "of the heave at the start", "initial"),
            axes=SIDES,
        ),
        observations=ENTRIES + 3,
        actions=3,
        axes=ALL_AXES,
        rope=6.0,
        watched=("sway", "touch_speed", "tension"),
        told=("goal_distance", "lifted"),
        scenery=_SHIP,
    )
    return crane(
        "ship-to-shore",
        "A container is set down on the deck of a ship that heaves.",
        setting,
        policy("ship.follows", drivers.land),
        (claims.touched(0.5), policy("ship.drops", drivers.land, touch=0.9, top=0.9, follow=0.0)),
        (claims.sway(0.15), policy("ship.bang", steering.bang, axes=(0, 1, 2))),
        (claims.landed(0.5), idle(3)),
        kind=duties.DeckCrane,
    )


def soft_landing() -> ScenarioSpec:
    """A fragile load comes down on the bed of a truck."""
    setting = duties.DeckSetting(
        inputs=inputs(
            260,
            Parameter("start", "m", -8.0, -4.0, -6.0, "place of the trolley", "initial"),
            Parameter("goal", "m", 2.0, 6.0, 4.0, "where the truck stands"),
            Parameter("goal_cross", "m", -2.0, 1.0, 0.5, "where the truck stands, across"),
            SWAYING,
            Parameter("load_mass", "kg", 2000.0, 6000.0, 5000.0, "what hangs on the hook"),
            axes=SIDES,
        ),
        observations=ENTRIES + 3,
        actions=3,
        axes=ALL_AXES,
        rope=9.0,
        deck=1.3,
        watched=("sway", "touch_speed", "tension"),
        told=("goal_distance", "lifted"),
        scenery=_TRUCK,
        load_material="glass",
    )
    return crane(
        "soft-landing",
        "A fragile load is set down softly on the bed of a truck.",
        setting,
        policy("landing.soft", drivers.land),
        (claims.touched(0.25), policy("landing.hard", drivers.land, touch=0.7, top=0.8)),
        (claims.sway(0.12), policy("landing.bang", steering.bang, axes=(0, 1, 2))),
        (claims.landed(0.3), policy("landing.beside", drivers.land, shift=0.8)),
        kind=duties.DeckCrane,
    )
