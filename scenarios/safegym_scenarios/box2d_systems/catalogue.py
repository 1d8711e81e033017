"""Scenario name -> what builds its spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec

SCENARIOS: Mapping[str, Callable[[], ScenarioSpec]] = MappingProxyType({})
