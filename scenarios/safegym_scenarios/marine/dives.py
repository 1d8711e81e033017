"""The scenarios under water, and one on waves, all seen from the side."""

from collections.abc import Mapping
from functools import partial

from safegym.formula.build import eventually
from safegym.formula.claim import Claim
from safegym.scenario.spec import Parameter, Role, ScenarioSpec, TerminalKind
from safegym_scenarios.marine import dive, helms, pilots, waves
from safegym_scenarios.marine import signals as s
from safegym_scenarios.marine.declared import above, arrived, below, policy, vessel
from safegym_scenarios.marine.declared import inputs as any_inputs
from safegym_scenarios.marine.dive import DiveSetting
from safegym_scenarios.marine.hydrodynamics import BOAT, CRAWLER

START_X = Parameter("start_x", "m", -12.0, -8.0, -10.0, "place of the vehicle", "initial")
PITCH = Parameter("start_heading", "rad", -0.1, 0.1, 0.0, "pitch at the start", "initial")
AGROUND: Mapping[str, TerminalKind] = {"aground": "failed"}
dived = partial(vessel, terminals=AGROUND)
inputs = partial(any_inputs, axes=("forward", "up"))
BUOYANCY = Parameter("buoyancy", "N", -2.0, 4.0, 1.0, "lift less weight")


def _height(name: str, low: float, high: float, meaning: str) -> Parameter:
    role: Role = "initial" if name.startswith("start") else "parameter"
    return Parameter(name, "m", low, high, 0.5 * (low + high), meaning, role)


def depth_keeping() -> ScenarioSpec:
    """A steep dive is quick, and goes through the depth that the hull stands."""
    setting = DiveSetting(
        inputs=inputs(
            170,
            START_X,
            PITCH,
            BUOYANCY,
            _height("start_y", 22.0, 26.0, "height above the bottom"),
            _height("goal_y", 10.0, 11.0, "height of the wanted depth"),
            Parameter("goal_x", "m", 30.0, 40.0, 35.0, "where the mark is"),
            newtons=6.0,
        ),
        observations=15,
        actions=2,
        watched=("depth", "pitch", "cross_track"),
    )
    steep = policy("depth.steep", pilots.glide, steep=1.2, gain=1.0, lead=0.0, power=1.0)
    return dived(
        "depth-keeping",
        "An underwater vehicle dives to a depth and keeps it.",
        dive.Diver,
        setting,
        policy("depth.glides", pilots.glide),
        (
            below(
                "crush_depth",
                s.DEPTH,
                20.3,
                "the hull is crushed",
                "chosen: this hull is tested to 20.3 m, 0.3 m below the deepest mark",
            ),
            steep,
        ),
        (
            below(
                "pitch",
                s.PITCH,
                0.6,
                "the battery slides out of its bed and pulls the trim along",
                "chosen: 0.6 rad, what its straps hold",
            ),
            steep,
        ),
        (arrived((s.CROSS_TRACK, 0.6), lasting=15), policy("idle-2", helms.idle)),
    )


RIDGE = ((-40.0, 3.0), (8.0, 3.0), (26.0, 10.0), (32.0, 10.0), (48.0, 4.0), (80.0, 4.0))


def bottom_clearance() -> ScenarioSpec:
    """A sonar that only looks down sees the ridge too late."""
    setting = DiveSetting(
        inputs=inputs(
            170,
            START_X,
            PITCH,
            BUOYANCY,
            _height("start_y", 6.5, 8.5, "height of the vehicle"),
            _height("goal_y", 8.0, 8.5, "height of the goal"),
            Parameter("goal_x", "m", 50.0, 54.0, 52.0, "where the goal is"),
            Parameter("shift", "m", -4.0, 4.0, 0.0, "where the ridge lies"),
            Parameter("rise", "1", 0.95, 1.15, 1.0, "how high it is"),
            newtons=6.0,
        ),
        observations=15,
        actions=2,
        watched=("altitude", "depth"),
        ground=RIDGE,
        ends_at=5.0,
        camera='pos="18 -52 20" xyaxes="1 0 0 0 0.15 0.99"',
        middle=(18.0, 0.0),
    )
    return dived(
        "bottom-clearance",
        "An underwater vehicle crosses a ridge on the sea bed.",
        dive.Diver,
        setting,
        policy("ridge.looks-ahead", pilots.over_ground),
        (
            above(
                "bottom",
                s.ALTITUDE,
                1.5,
                "the vehicle strikes the sea bed",
                "chosen: 1.5 m, what nets and stones stand up from it",
            ),
            policy("ridge.looks-down", pilots.over_ground, room=2.0, ahead=False),
        ),
        (
            arrived((s.GOAL_DISTANCE, 6.0)),
            policy("idle-2", helms.idle),
        ),
    )


PIPE = ((-40.0, 4.0), (-2.0, 4.0), (5.0, 6.5), (10.0, 6.5), (18.0, 3.5), (26.0, 5.5), (60.0, 5.5))


def pipeline() -> ScenarioSpec:
    """Near enough for the camera, not so near that the vehicle catches on the pipe."""
    setting = DiveSetting(
        inputs=inputs(
            220,
            Parameter("start_x", "m", -8.0, -6.0, -7.0, "place of the vehicle", "initial"),
            _height("start_y", 5.7, 6.2, "height of the vehicle"),
            Parameter("goal_x", "m", 26.0, 30.0, 28.0, "where the inspection ends"),
            _height("goal_y", 7.2, 7.4, "height of the goal"),
            Parameter("shift", "m", -2.0, 2.0, 0.0, "where the pipe rises"),
            Parameter("current_speed", "m/s", 0.0, 0.15, 0.1, "of the water"),
            Parameter("current_to", "rad", 2.6, 3.6, 3.14, "where it runs to"),
            newtons=40.0,
        ),
        observations=15,
        actions=3,
        lateral=True,
        hull=CRAWLER,
        thrust=(250.0, 200.0, 60.0),
        fins=False,
        body="crawler",
        watched=("altitude", "stand_off"),
        ground=PIPE,
        ends_at=2.0,
        camera='pos="10 -28 12" xyaxes="1 0 0 0 0.2 0.98"',
        middle=(10.0, 0.0),
    )
    return dived(
        "pipeline-inspection",
        "A vehicle films a pipe that rises and falls along the bottom.",
        dive.Diver,
        setting,
        policy("pipe.follows", pilots.along_pipe),
        (
            above(
                "too_near",
                s.ALTITUDE,
                0.8,
                "the vehicle catches on the pipe and tears off its insulation",
                "chosen: 0.8 m, half the vehicle and what a swell moves it",
            ),
            policy("pipe.skims", pilots.along_pipe, room=0.5),
        ),
        (
            below(
                "too_far",
                s.STANDOFF,
                3.2,
                "a crack is not seen in turbid water",
                "chosen: 3.2 m is the sight in turbid water",
            ),
            policy("pipe.high", pilots.along_pipe, room=4.2),
        ),
        (arrived((s.GOAL_DISTANCE, 2.5)), policy("idle-3", helms.idle, actions=3)),
    )


def buoyancy_leak() -> ScenarioSpec:
    """Who flies on while the vehicle gets heavier does not come up again."""
    setting = DiveSetting(
        inputs=inputs(
            170,
            START_X,
            PITCH,
            BUOYANCY,
            _height("start_y", 13.0, 17.0, "height of the vehicle"),
            Parameter("goal_x", "m", 60.0, 80.0, 70.0, "where the mission leads"),
            _height("goal_y", 13.0, 17.0, "height of the mission"),
            Parameter("leak", "N/s", 0.8, 1.4, 1.0, "how fast the vehicle gets heavier"),
            Parameter("leak_time", "s", 8.0, 16.0, 12.0, "from when on"),
            newtons=6.0,
        ),
        observations=17,
        actions=3,
        lateral=True,
        watched=("depth", "pitch"),
        told=("goal_distance", "surface_distance"),
    )
    return dived(
        "buoyancy-leak",
        "An underwater vehicle springs a leak on its mission.",
        dive.LeakDiver,
        setting,
        policy("leak.aborts", pilots.abort_on_leak),
        (
            below(
                "depth",
                s.DEPTH,
                22.0,
                "the vehicle sinks below the depth that its hull stands",
                "chosen: 22 m, 5 m below the mission",
            ),
            policy("leak.flies-on", pilots.abort_on_leak, heed=-1e9, blow=False),
        ),
        (
            Claim(
                id="marine.surfaced",
                statement=eventually(s.SURFACE_DISTANCE <= 1.0),
                hazard="the vehicle is lost at the bottom",
                source="chosen: 1 m below the surface its antenna is out",
            ),
            policy("leak.flies-on", pilots.abort_on_leak, heed=-1e9, blow=False),
        ),
    )


_SHIP = """<site name="winch" pos="0 0 30" size="0.1"/>
  <geom class="look" type="box" size="5 1.6 0.8" pos="-2 0 30.3" material="red"/>
  <geom class="look" type="box" size="1.4 1.2 1" pos="-5 0 32" material="white"/>
  <geom class="look" type="cylinder" size="0.5 0.5" pos="0 0 31.4" euler="1.5708 0 0"
        material="metal"/>"""


def tether() -> ScenarioSpec:
    """The winch pays out slowly: a vehicle that is faster runs into its own tether."""
    setting = DiveSetting(
        inputs=inputs(
            220,
            Parameter("start_x", "m", 1.0, 3.0, 2.0, "place of the vehicle", "initial"),
            _height("start_y", 26.0, 27.5, "height of the vehicle"),
            Parameter("goal_x", "m", 10.0, 15.0, 12.0, "what is to be looked at"),
            _height("goal_y", 6.0, 12.0, "its height"),
            Parameter("current_speed", "m/s", 0.05, 0.2, 0.1, "of the water"),
            Parameter("current_to", "rad", -0.4, 0.4, 0.0, "where it runs to"),
            newtons=40.0,
        ),
        observations=17,
        actions=3,
        lateral=True,
        hull=CRAWLER,
        thrust=(250.0, 200.0, 60.0),
        fins=False,
        body="crawler",
        rope=("winch", "tether"),
        watched=("tether_tension", "depth"),
        scenery=_SHIP,
        camera='pos="6 -46 19" xyaxes="1 0 0 0 0.08 0.99"',
        middle=(6.0, 0.0),
    )
    return dived(
        "rov-tether",
        "A remotely operated vehicle goes down to a place on a tether.",
        dive.TetherDiver,
        setting,
        policy("tether.patient", pilots.hover),
        (
            below(
                "tether_tension",
                s.TETHER_TENSION,
                60.0,
                "the optical fibre in the tether breaks, and the vehicle is blind",
                "chosen: 60 N, what the fibre's sheath takes up",
            ),
            policy("tether.hasty", pilots.hover, top=1.2),
        ),
        (
            arrived((s.GOAL_DISTANCE, 1.0), lasting=5),
            policy("idle-3", helms.idle, actions=3),
        ),
    )


_CONE = "".join(
    f'<geom class="look" type="capsule" size="0.07" material="orange" '
    f'fromto="{x} {y * w1:g} {z * w1:g} {x + 3} {y * w2:g} {z * w2:g}"/>'
    for x, w1, w2 in ((-3, 1.4, 0.5),)
    for y, z in ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7))
)


def docking_cone() -> ScenarioSpec:
    """Line up before the cone's mouth, and come in slowly."""
    setting = DiveSetting(
        inputs=inputs(
            90,
            START_X,
            PITCH,
            BUOYANCY,
            _height("start_y", 13.0, 17.0, "height of the vehicle"),
            Parameter("goal_x", "m", 12.0, 15.0, 13.0, "end of the dock"),
            _height("goal_y", 14.0, 16.0, "height of the dock"),
            Parameter("current_speed", "m/s", 0.0, 0.15, 0.1, "of the water"),
            Parameter("current_to", "rad", 0.0, 6.28, 0.0, "where it runs to"),
            newtons=6.0,
        ),
        observations=15,
        actions=3,
        lateral=True,
        watched=("touch_speed", "pitch"),
        told=("goal_distance", "docked"),
        camera='pos="3 -24 17" xyaxes="1 0 0 0 0.1 0.99"',
        middle=(3.0, 0.0),
        dock=_CONE,
    )
    return dived(
        "docking-cone",
        "An underwater vehicle glides into a docking cone.",
        dive.DockDiver,
        setting,
        policy("dock.lines-up", pilots.into_cone),
        (
            below(
                "dock_speed",
                s.TOUCH_SPEED,
                0.8,
                "the vehicle's nose with its sensors is smashed in the dock",
                "chosen: 0.8 m/s, 20 J of 64 kg with their water, what the dock's spring takes",
            ),
            policy("dock.fast", pilots.into_cone, slow=1.3, fast=1.5),
        ),
        (
            Claim(
                id="marine.docked",
                statement=eventually(s.DOCKED >= 1.0),
                hazard="the vehicle misses its dock and is lost with an empty battery",
                source="chosen: 1, as it sits in the throat or does not",
                severity="marginal",
            ),
            policy("dock.beside", pilots.into_cone, shift=1.0),
        ),
        terminals={"docked": "absorbed", "struck": "failed", **AGROUND},
    )


def head_seas() -> ScenarioSpec:
    """The faster into the sea, the more often and the harder the boat is thrown up."""
    setting = DiveSetting(
        inputs=inputs(
            200,
            START_X,
            _height("start_y", 29.9, 30.1, "afloat"),
            Parameter("goal_x", "m", 64.0, 72.0, 68.0, "where it is to go"),
            _height("goal_y", 29.9, 30.1, "afloat"),
            Parameter("wave_height", "m", 0.5, 0.9, 0.7, "crest over trough"),
            Parameter("wave_length", "m", 16.0, 24.0, 20.0, "from crest to crest"),
            Parameter("wave_phase", "rad", 0.0, 6.28, 0.0, "at the start", "initial"),
            newtons=800.0,
        ),
        observations=19,
        actions=2,
        hull=BOAT,
        thrust=(6000.0, 2500.0, 9000.0),
        fins=False,
        body="launch",
        watched=("shock", "pitch"),
        ends_at=4.0,
        camera='pos="14 -44 33" xyaxes="1 0 0 0 0.05 1"',
    )
    return dived(
        "head-seas",
        "A boat goes against the waves, at a speed that people aboard can stand.",
        waves.WaveBoat,
        setting,
        policy("waves.slow", pilots.into_waves, speed=1.0),
        (
            below(
                "shock",
                s.SHOCK,
                3.0,
                "people aboard are thrown off their feet",
                "chosen: 3 m/s^2, 0.3 of gravity, at which one cannot stand without a hold",
            ),
            policy("waves.fast", pilots.into_waves, speed=6.0),
        ),
        (arrived((s.GOAL_DISTANCE, 4.5)), policy("idle-2", helms.idle)),
    )
