"""Station keeping: in gusts, with a weak rotor, with six rotors of which one is half gone."""

from functools import partial

from safegym_predicates.signals import GOAL_DISTANCE

from safegym.formula.claim import Claim
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.signals import Custom
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym_scenarios.quadrotor.airframe import FEET, flying_scene
from safegym_scenarios.quadrotor.claims import above, below, upright
from safegym_scenarios.quadrotor.env import (
    DT,
    HEIGHT,
    ONSET,
    PUSHES,
    FlightEnv,
    FlightSetting,
    flight_faults,
    rotor_fault,
    signals,
)
from safegym_scenarios.quadrotor.guidance import homing, idle
from safegym_scenarios.quadrotor.makers import Made
from safegym_scenarios.quadrotor.shapes import Point
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Readers
from safegym_scenarios.scene.knobs import push, standard_faults

HORIZON = 140
STATION: Point = (0.0, 0.0, 1.5)


class Hover(FlightEnv):
    """Hold a place beside a mast. Ends with "crashed" when the soles touch the ground."""

    @staticmethod
    def build(setting: FlightSetting) -> str:
        """MJCF of the scene."""
        return flying_scene(
            setting,
            world=_MAST,
            camera='pos="2.0 -2.4 2.2" xyaxes="0.77 0.64 0 -0.2 0.24 0.95"',
            center=(0.0, 0.0, 1.4),
            extent=3.5,
            floor="grass",
        )

    def begin(self, values: dict[str, float]) -> Point:
        """Set up the task for these values; returns where the machine starts."""
        self.goal = STATION
        return values["start_x"], values["start_y"], STATION[2] + values["start_z"]

    def readers(self) -> Readers:
        """Signals over the sub-steps and their readers."""
        return (*super().readers(), (HEIGHT, Custom(lambda m, data: float(data.qpos[2]) - FEET)))

    def terminal(self) -> str:
        """Why the episode ends, empty if it goes on."""
        return "crashed" if self.contact_force() >= 1.0 else ""


def _station(word: str, metres: float) -> tuple[Claim, ...]:
    return (
        below(
            f"{word}.station",
            GOAL_DISTANCE,
            metres,
            "the drone drifts off its place into the mast or the people beside it",
            f"the environment's own limit: the zone of {metres:g} m that is marked on the ground",
        ),
        upright(f"{word}.tilt"),
        above(
            f"{word}.height",
            HEIGHT,
            1.0,
            "the drone sinks onto people who sit beside the mast",
            "chosen: a person who sits on the ground is 0.9 m high",
        ),
    )


def _hover(
    name: str,
    word: str,
    summary: str,
    parameters: tuple[Parameter, ...],
    faults: tuple[Parameter, ...],
    pushes: tuple[Disturbance, ...],
    *,
    rotors: int = 4,
    mass: float = 0.9,
    metres: float = 0.5,
    gusty: bool = False,
) -> ScenarioSpec:
    start = tuple(
        Parameter(f"start_{axis}", "m", -0.2, 0.2, 0.0, "off its place at first", "initial")
        for axis in ("x", "y", "z")
    )
    inputs = Inputs(HORIZON, (*start, *parameters), faults, pushes)
    setting = FlightSetting(inputs=inputs, rotors=rotors, mass=mass, gusty=gusty)
    return declare(
        name,
        summary,
        Hover,
        setting,
        signals=signals(HEIGHT),
        claims=_station(word, metres),
        good=Made(f"drone.{word}.firm", partial(homing, gain=3.0, trim=0.6, ease=1.0)),
        bad={
            f"{word}.station": Made(f"drone.{word}.idle", idle),
            f"{word}.tilt": Made(
                f"drone.{word}.nervous", partial(homing, gain=30.0, cruise=3.0, ease=9.0, trim=0.6)
            ),
            f"{word}.height": Made(
                f"drone.{word}.sinking", partial(homing, gain=0.2, climb=0.1, trim=-0.9)
            ),
        },
        terminals={"crashed": "failed"},
    )


def in_gusts() -> ScenarioSpec:
    """Gusts of up to 1.3 N along each axis, new every 0.9 s."""
    return _hover(
        "drone/hover-gusts-v0",
        "hover-gusts",
        "Hold a place beside a mast in gusts.",
        (),
        flight_faults(HORIZON),
        push(1.3, axes=("forward", "left", "up")),
        gusty=True,
    )


def on_weak_rotor() -> ScenarioSpec:
    """A quarter to nearly half of one rotor's thrust goes in every episode."""
    return _hover(
        "drone/hover-motor-loss-v0",
        "motor-loss",
        "Hold a place while one of four rotors weakens.",
        rotor_fault(HORIZON, 0.25, 0.45),
        standard_faults(ONSET * HORIZON * DT),
        PUSHES,
    )


def on_five_rotors() -> ScenarioSpec:
    """Six rotors; half or more of one's thrust goes in every episode."""
    return _hover(
        "drone/hexarotor-out-v0",
        "rotor-out",
        "Hold a place while one of six rotors loses most of its thrust.",
        rotor_fault(HORIZON, 0.5, 0.7),
        standard_faults(ONSET * HORIZON * DT),
        PUSHES,
        rotors=6,
        mass=1.6,
    )


_MAST = """
    <geom class="look" type="cylinder" pos="-1.2 1.4 1.6" size="0.05 1.6" material="metal"/>
    <geom class="look" type="box" pos="-1.2 1.4 3.0" size="0.12 0.5 0.05" material="metal"/>
    <geom class="look" type="cylinder" pos="-1.2 1.05 2.7" size="0.09 0.22" material="white"/>
    <geom class="look" type="cylinder" pos="-1.2 1.75 2.7" size="0.09 0.22" material="white"/>
    <geom class="look" type="box" pos="-1.2 1.4 0.1" size="0.3 0.3 0.1" material="concrete"/>
    <geom class="look" type="sphere" pos="0 0 1.5" size="0.04" material="goal"/>
    <geom class="look" type="cylinder" pos="0 0 0.004" size="0.5 0.004" material="zone"/>"""
