"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.machinery import conveyor, door, exoskeleton, gate, press, turning, vertical

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "machine/conveyor-stop-v0": conveyor.conveyor,
        "machine/exoskeleton-knee-v0": exoskeleton.exoskeleton,
        "machine/gate-barrier-v0": gate.gate_barrier,
        "machine/hoist-overload-v0": vertical.hoist,
        "machine/lift-v0": vertical.lift,
        "machine/press-curtain-v0": press.press,
        "machine/sliding-door-v0": door.sliding_door,
        "machine/spindle-v0": turning.spindle,
        "machine/turntable-v0": turning.turntable,
    }
)
