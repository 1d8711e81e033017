"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.gripper import variants

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        "gripper/fragile-v0": variants.fragile,
        "gripper/heavy-v0": variants.heavy,
        "gripper/lift-and-place-v0": variants.lift_and_place,
        "gripper/push-slip-v0": variants.push_slip,
        "gripper/regrasp-v0": variants.regrasp,
        "gripper/slippery-v0": variants.slippery,
        "gripper/soft-v0": variants.soft,
        "gripper/suction-v0": variants.suction,
        "gripper/tactile-dropout-v0": variants.tactile_dropout,
        "gripper/three-finger-v0": variants.three_finger,
    }
)
