"""The scenario library: a family is imported when one of its scenarios is asked for.

A family is a package with `NAMES` in its `__init__` and `SCENARIOS` in its `catalogue`.
"""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec

FAMILIES = (
    "classic_systems",
    "box2d_systems",
    "mujoco_systems",
    "quadrotor",
    "spacecraft",
    "manipulator",
    "gripper",
    "vehicle",
    "mobile_base",
    "legged",
    "balancing",
    "crane",
    "marine",
    "process",
    "machinery",
)


def _lazy(family: str, maker: str) -> Callable[[], ScenarioSpec]:
    def build() -> ScenarioSpec:
        spec: ScenarioSpec = getattr(import_module(f"safegym_scenarios.{family}"), maker)()
        return spec

    return build


def _from_catalogue(family: str, name: str) -> Callable[[], ScenarioSpec]:
    def build() -> ScenarioSpec:
        catalogue = import_module(f"safegym_scenarios.{family}.catalogue")
        spec: ScenarioSpec = catalogue.SCENARIOS[name]()
        return spec

    return build


def _families() -> dict[str, Callable[[], ScenarioSpec]]:
    return {
        name: _from_catalogue(family, name)
        for family in FAMILIES
        for name in import_module(f"safegym_scenarios.{family}").NAMES
    }


SCENARIOS = MappingProxyType(
    {
        "arm/human-stop-v0": _lazy("arm", "human_stop"),
        "chain/plant-v0": _lazy("chain_plant", "plant"),
        "chain/quick-failures-v0": _lazy("chain_fork", "quick_failures"),
        "chain/slow-failures-v0": _lazy("chain_fork", "slow_failures"),
        "classic/braking-v0": _lazy("braking", "braking"),
        "classic/cartpole-v0": _lazy("classic", "cartpole"),
        "classic/pendulum-v0": _lazy("classic", "pendulum"),
        "drone/corridor-direct-v0": _lazy("drone", "corridor_direct"),
        "drone/corridor-v0": _lazy("drone", "corridor"),
        **_families(),
    }
)
