"""Ready models: declared dynamics, a trained small policy each, and claims with known answers."""

from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType

from safegym.errors import ScenarioError
from safegym_scenarios.models.ready import ReadyModel


def _lazy(module: str) -> Callable[[], ReadyModel]:
    def load() -> ReadyModel:
        model: ReadyModel = import_module(f"safegym_scenarios.models.{module}").MODEL
        return model

    return load


MODELS = MappingProxyType(
    {
        "cart-pole": _lazy("cartpole"),
        "cruise": _lazy("cruise"),
        "double-integrator": _lazy("double_integrator"),
        "pendulum": _lazy("pendulum"),
        "quadrotor": _lazy("quadrotor"),
        "unicycle": _lazy("unicycle"),
    }
)
"""Name -> what loads the model."""


def find_model(name: str) -> ReadyModel:
    """The ready model of this name. Raises ScenarioError with those there are."""
    if name not in MODELS:
        raise ScenarioError(f"There is no model {name!r}; the ready ones: {', '.join(MODELS)}.")
    return MODELS[name]()
