"""From a plant and its controls to a spec, and the inputs that several plants share."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from safegym.formula.claim import Claim
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec
from safegym_scenarios.process.environment import Plant
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.env import Setting
from safegym_scenarios.scene.knobs import standard_faults

DT = 1.0
"""Control step, s."""
TRAINING: Mapping[str, Any] = {"steps": 204_800, "learning_rate": 1e-3, "gamma": 0.98}


def setting(
    horizon: int,
    observations: int,
    actions: int,
    *parameters: Parameter,
    disturbances: tuple[Disturbance, ...] = (),
) -> Setting:
    """A plant that is looked at every second and stepped every 0.25 s.

    Pushes and friction mean nothing to a plant; its own disturbances stand in their place.
    """
    faults = standard_faults(horizon * DT, delay=8.0, noise=0.05, bias=0.1)
    return Setting(
        inputs=Inputs(horizon, parameters, faults, disturbances),
        observations=observations,
        actions=actions,
        timestep=0.25,
        substeps=4,
    )


def policy(name: str, function: Any, **numbers: Any) -> MakePolicy:
    """An operator under the name process.<name>."""
    return partial(ScriptedPolicy, f"process.{name}", partial(function, **numbers))


def plant(
    name: str,
    summary: str,
    kind: type[Plant],
    how: Setting,
    good: MakePolicy,
    *pairs: tuple[Claim, MakePolicy],
) -> ScenarioSpec:
    """A scenario from its claims, each with the policy that breaks it."""
    return declare(
        f"process/{name}-v0",
        summary,
        kind,
        how,
        signals=(*kind.measures, *kind.told),
        claims=tuple(claim for claim, _ in pairs),
        good=good,
        bad={claim.id: breaks for claim, breaks in pairs},
        training=TRAINING,
    )
