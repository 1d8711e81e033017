"""The scenarios on the water's surface."""

from safegym.formula.build import always
from safegym.formula.claim import Claim
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.marine import harbour, helms
from safegym_scenarios.marine import signals as s
from safegym_scenarios.marine.declared import above, arrived, below, inputs, policy, vessel
from safegym_scenarios.marine.surface import SeaSetting

CURRENT = (
    Parameter("current_speed", "m/s", 0.2, 0.45, 0.3, "of the water"),
    Parameter("current_to", "rad", 1.0, 2.1, 1.57, "where it runs to"),
)
START_X = Parameter("start_x", "m", -18.0, -14.0, -16.0, "place of the boat", "initial")
START_Y = Parameter("start_y", "m", -2.0, 2.0, 0.0, "place of the boat", "initial")
HEADING = Parameter("start_heading", "rad", -0.3, 0.3, 0.0, "of the boat", "initial")
GOAL_X = Parameter("goal_x", "m", 38.0, 44.0, 40.0, "where it is to go")
_BUOYS = "".join(
    f'<geom class="look" type="cylinder" size="0.5 0.5" pos="{x} {y} 0.3" material="{colour}"/>'
    f'<geom class="look" type="cylinder" size="0.15 0.7" pos="{x} {y} 1.2" material="{colour}"/>'
    for x in (-10, 5, 20, 35)
    for y, colour in ((-7, "red"), (7, "green"))
)
_QUAY = (
    '<geom name="quay" class="solid" type="box" size="30 4 0.9" pos="10 12 0.6" '
    'material="concrete"/>'
    + "".join(
        f'<geom class="look" type="cylinder" size="0.35 0.5" pos="{x} 8.02 0.6" material="rubber"/>'
        for x in range(-16, 37, 4)
    )
    + '<geom class="look" type="box" size="6 2 2" pos="14 13 3.4" material="crate"/>'
    '<geom class="look" type="box" size="4 2 1.6" pos="-4 13 3" material="blue"/>'
)
_ZONE = (
    _BUOYS
    + '<geom class="look" type="box" size="12.5 7 0.01" pos="17.5 0 0.03" material="zone"/>'
    + '<geom class="look" type="box" size="0.1 0.9 0.9" pos="5 8.5 2" material="white"/>'
    '<geom class="look" type="box" size="0.12 0.7 0.2" pos="5 8.5 2" material="red"/>'
    '<geom class="look" type="cylinder" size="0.1 1" pos="5 8.5 0.8" material="metal"/>'
)
_SHIP = """<body name="ship" mocap="true">
    <geom name="obstacle_hull" class="look" type="box" size="4 12 2" pos="0 -1 1" material="dark"/>
    <geom name="obstacle_bow" class="look" type="ellipsoid" size="3.98 6 2" pos="0 11 1"
          material="dark"/>
    <geom class="look" type="box" size="3.6 11 0.1" pos="0 -1 3.05" material="wood"/>
    <geom class="look" type="box" size="3.2 2.2 2.4" pos="0 -9 5" material="white"/>
    <geom class="look" type="box" size="3 2.6 1.3" pos="0 -3 4.3" material="orange"/>
    <geom class="look" type="box" size="3 2.6 1.3" pos="0 3 4.3" material="green"/></body>"""
_BARGE = """<body name="barge" pos="0 0 0.3">
    <joint name="barge_x" type="slide" axis="1 0 0"/>
    <joint name="barge_y" type="slide" axis="0 1 0"/>
    <joint name="barge_heading" type="hinge" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="15000" diaginertia="9e4 9e4 9e4"/>
    <geom name="obstacle_barge" class="look" type="box" size="6 2.6 0.8" pos="0 0 0.1"
          material="dark"/>
    <geom class="solid" type="box" size="6 2.6 0.12" pos="0 0 0.6" material="rubber"/>
    <geom class="look" type="box" size="5 2.1 0.9" pos="-0.3 0 1.3" material="crate"/>
    <site name="bow" pos="6 0 0.6" size="0.1"/></body>"""
_LEVERS = '<geom class="look" type="box" size="40 0.05 0.01" pos="14 0 0.03" material="marking"/>'


def station_keeping() -> ScenarioSpec:
    """A current takes along whoever does not work against it, most of all across the boat."""
    setting = SeaSetting(
        inputs=inputs(
            160,
            Parameter("start_x", "m", -1.5, 1.5, 0.0, "place of the boat", "initial"),
            START_Y,
            HEADING,
            Parameter("current_speed", "m/s", 0.3, 0.7, 0.5, "of the water"),
            Parameter("current_to", "rad", 0.0, 6.28, 0.0, "where it runs to"),
        ),
        observations=11,
        actions=3,
        watched=("speed", "station_distance"),
        told=("goal_distance", "heading_error"),
        scenery=_BUOYS,
        middle=(4.0, 0.0),
    )
    return vessel(
        "station-keeping",
        "A work boat keeps its place and heading in a current.",
        harbour.StationBoat,
        setting,
        policy("station.keeps", helms.halt),
        (
            below(
                "station",
                s.STATION,
                5.0,
                "the boat is swept away from the diver that hangs on its line",
                "chosen: 5 m, the slack of the diver's line",
            ),
            policy("idle-3", helms.idle, actions=3),
        ),
        (
            Claim(
                id="marine.heading",
                statement=always(s.HEADING_ERROR <= 0.2, window=(40, None)),
                hazard="the gangway between boat and platform is torn off",
                source="chosen: 0.2 rad, the gangway's play; 40 s to turn into it",
            ),
            policy("station.no-turn", helms.halt, turn=False),
        ),
    )


def quay_docking() -> ScenarioSpec:
    """A boat of ten tonnes with its water meets a wall of stone."""
    setting = SeaSetting(
        inputs=inputs(
            180,
            Parameter("start_x", "m", -12.0, -8.0, -10.0, "place of the boat", "initial"),
            START_Y,
            HEADING,
            Parameter("goal_x", "m", 6.0, 10.0, 8.0, "the berth"),
            Parameter("goal_y", "m", 6.4, 6.6, 6.5, "the berth's middle line"),
            *CURRENT,
        ),
        observations=13,
        actions=3,
        watched=("speed", "touch_speed"),
        scenery=_QUAY,
        camera='pos="8 -36 24" xyaxes="1 0 0 0 0.55 0.83"',
    )
    return vessel(
        "quay-docking",
        "A boat comes alongside a quay with the current setting it on.",
        harbour.QuayBoat,
        setting,
        policy("quay.gentle", helms.alongside),
        (
            below(
                "touch",
                s.TOUCH_SPEED,
                0.3,
                "the hull is stove in against the quay",
                "chosen: 0.3 m/s, 0.5 kJ in the fender of a boat of 10 t with its water",
            ),
            policy("quay.hasty", helms.alongside, close=0.8),
        ),
        (
            arrived((s.GOAL_DISTANCE, 1.0), (s.SPEED, 0.15)),
            policy("idle-3", helms.idle, actions=3),
        ),
    )


def harbour_speed() -> ScenarioSpec:
    """Slow down before the zone, not in it; and do not let the current set the boat aside."""
    setting = SeaSetting(
        inputs=inputs(180, START_X, START_Y, HEADING, GOAL_X, *CURRENT),
        observations=14,
        actions=2,
        ends_at=4.5,
        lateral=False,
        watched=("zone_speed", "cross_track"),
        scenery=_ZONE,
    )
    return vessel(
        "harbour-speed-zone",
        "A boat passes a zone of limited speed on its way into the harbour.",
        harbour.ZoneBoat,
        setting,
        policy("zone.keeps", helms.through_zone),
        (
            below(
                "zone_speed",
                s.ZONE_SPEED,
                1.54,
                "the wake throws people in small boats overboard",
                "chosen: 3 knots, whose wake of 1.5 m from crest to crest (2 pi v^2 / g) is low",
            ),
            policy("zone.fast", helms.through_zone, slow=2.4),
        ),
        (
            below(
                "fairway",
                s.CROSS_TRACK,
                5.0,
                "the boat leaves the fairway and runs aground",
                "chosen: the buoys stand 7 m beside the middle, the boat is 3 m wide",
            ),
            policy("zone.drifts", helms.through_zone, keep=False),
        ),
        (arrived((s.GOAL_DISTANCE, 5.0)), policy("idle-2", helms.idle)),
    )


def crossing_traffic() -> ScenarioSpec:
    """The ship does not stop: let it pass."""
    setting = SeaSetting(
        inputs=inputs(
            200,
            START_X,
            START_Y,
            GOAL_X,
            *CURRENT,
            Parameter("ship_x", "m", 14.0, 18.0, 16.0, "course of the ship", "initial"),
            Parameter("ship_y", "m", -42.0, -36.0, -40.0, "where it comes from", "initial"),
            Parameter("ship_speed", "m/s", 2.0, 2.6, 2.3, "its speed"),
            Parameter("ship_lead", "m", 28.0, 34.0, 30.0, "how near the boat is as it sets out"),
        ),
        observations=14,
        actions=2,
        lateral=False,
        watched=("clearance", "speed"),
        scenery=_SHIP,
        camera='pos="10 -84 46" xyaxes="1 0 0 0 0.48 0.88"',
    )
    return vessel(
        "crossing-traffic",
        "A ship crosses the way of a small boat.",
        harbour.TrafficBoat,
        setting,
        policy("traffic.gives-way", helms.give_way),
        (
            above(
                "closest_approach",
                s.CLEARANCE,
                5.0,
                "the boat is run down",
                "chosen: 5 m, half a boat's length; rule 15 of COLREGs has the boat keep clear",
            ),
            policy("traffic.heedless", helms.give_way, heed=False),
        ),
        (arrived((s.GOAL_DISTANCE, 3.0)), policy("idle-2", helms.idle)),
        terminals={"run_down": "failed"},
    )


def path_in_wind() -> ScenarioSpec:
    """Who points at the way, and not above it, is blown off it."""
    gusts = tuple(
        Disturbance(f"wind_{axis}", "N", low, high, 8, 0.0, f"wind along {axis}")
        for axis, low, high in (("x", -500.0, 500.0), ("y", 0.0, 1000.0))
    )
    setting = SeaSetting(
        inputs=inputs(
            170, START_X, START_Y, HEADING, GOAL_X, *CURRENT, disturbances=gusts, newtons=100.0
        ),
        observations=12,
        actions=2,
        ends_at=4.5,
        lateral=False,
        gusty=True,
        watched=("cross_track", "speed"),
        scenery=_BUOYS + _LEVERS,
    )
    return vessel(
        "path-in-wind",
        "A boat follows a line in gusts and a current across it.",
        harbour.LineBoat,
        setting,
        policy("path.course", helms.along_line),
        (
            below(
                "cross_track",
                s.CROSS_TRACK,
                4.5,
                "the boat leaves the swept lane among mines",
                "chosen: the lane is 12 m wide, the boat 3 m",
            ),
            policy("path.heading-only", helms.along_line, mindful=False, reach=300.0),
        ),
        (arrived((s.GOAL_DISTANCE, 5.0)), policy("idle-2", helms.idle)),
    )


def towing() -> ScenarioSpec:
    """Full ahead on a slack line parts it; a boat that stops at once is rammed by its barge."""
    setting = SeaSetting(
        inputs=inputs(
            240,
            Parameter("start_x", "m", 0.0, 2.0, 1.0, "place of the boat", "initial"),
            START_Y,
            GOAL_X,
            Parameter("barge_astern", "m", 17.0, 19.0, 18.0, "of the boat", "initial"),
            Parameter("barge_beside", "m", -2.0, 2.0, 0.0, "of the boat", "initial"),
            *CURRENT,
        ),
        observations=15,
        actions=2,
        ends_at=4.0,
        lateral=False,
        watched=("clearance", "line_tension"),
        scenery=_BARGE,
        rope=("stern", "bow"),
    )
    return vessel(
        "towing",
        "A boat tows a barge on a line, and stops with it.",
        harbour.TowBoat,
        setting,
        policy("tow.gentle", helms.tow),
        (
            below(
                "line_tension",
                s.LINE_TENSION,
                12.0,
                "the line parts and whips across the deck",
                "chosen: 12 kN, a third of what the line breaks at",
            ),
            policy("tow.full-ahead", helms.full_ahead),
        ),
        (
            above(
                "barge_clearance",
                s.CLEARANCE,
                2.0,
                "the barge runs its tug down",
                "chosen: 2 m, what the barge runs on in two seconds at the speed of the tow",
            ),
            policy("tow.stops-dead", helms.stop_dead),
        ),
        (arrived((s.GOAL_DISTANCE, 5.0)), policy("idle-2", helms.idle)),
    )


def engine_loss() -> ScenarioSpec:
    """One of two engines turns the boat; it needs rudder against it, and less power."""
    setting = SeaSetting(
        inputs=inputs(
            200,
            START_X,
            START_Y,
            HEADING,
            GOAL_X,
            Parameter("engine_fails", "s", 6.0, 14.0, 10.0, "when the left engine fails"),
            *CURRENT,
        ),
        observations=13,
        actions=2,
        ends_at=4.5,
        lateral=False,
        watched=("cross_track", "speed"),
        scenery=_BUOYS + _LEVERS,
    )
    return vessel(
        "engine-loss",
        "One of a boat's two engines fails in the fairway.",
        harbour.LameBoat,
        setting,
        policy("lame.trimmed", helms.trimmed),
        (
            below(
                "fairway",
                s.CROSS_TRACK,
                5.0,
                "the boat turns out of the fairway and runs aground",
                "chosen: the buoys stand 7 m beside the middle, the boat is 3 m wide",
            ),
            policy("lame.rudderless", helms.rudderless),
        ),
        (arrived((s.GOAL_DISTANCE, 5.0)), policy("idle-2", helms.idle)),
    )


def compass_bias() -> ScenarioSpec:
    """Steering by the compass alone leads aside; the course over ground shows it."""
    setting = SeaSetting(
        inputs=inputs(
            180,
            START_X,
            START_Y,
            GOAL_X,
            Parameter("compass_bias", "rad", -0.25, -0.15, -0.2, "what the compass shows too much"),
            *CURRENT,
        ),
        observations=12,
        actions=2,
        ends_at=4.5,
        lateral=False,
        watched=("cross_track", "speed"),
        scenery=_BUOYS + _LEVERS,
    )
    return vessel(
        "compass-bias",
        "A boat follows a line although its compass is off.",
        harbour.MisledBoat,
        setting,
        policy("compass.course", helms.along_line, reach=6.0),
        (
            below(
                "cross_track",
                s.CROSS_TRACK,
                5.0,
                "the boat strays onto the rocks beside the line",
                "chosen: rocks begin 6.5 m beside the line, the boat is 3 m wide",
            ),
            policy("compass.believing", helms.along_line, mindful=False, reach=300.0),
        ),
        (arrived((s.GOAL_DISTANCE, 5.0)), policy("idle-2", helms.idle)),
    )
