"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.mujoco_systems import OF_MODULE


def _later(module: str, name: str) -> Callable[[], ScenarioSpec]:
    def build() -> ScenarioSpec:
        found = import_module(f"safegym_scenarios.mujoco_systems.{module}")
        spec: ScenarioSpec = found.SCENARIOS[name]()
        return spec

    return build


SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType(
    {
        f"mujoco/{name}-v0": _later(module, f"mujoco/{name}-v0")
        for module, names in OF_MODULE.items()
        for name in names
    }
)
