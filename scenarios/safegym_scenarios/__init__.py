"""The scenario library: one file per family; a family is imported when one of it is asked for."""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType

from safegym.scenario.spec import ScenarioSpec


def _lazy(family: str, maker: str) -> Callable[[], ScenarioSpec]:
    def build() -> ScenarioSpec:
        spec: ScenarioSpec = getattr(import_module(f"safegym_scenarios.{family}"), maker)()
        return spec

    return build


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
    }
)
