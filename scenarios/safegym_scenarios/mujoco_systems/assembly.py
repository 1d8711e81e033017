"""A scenario of this family from its parts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import Policy, ScriptedPolicy
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock
from safegym_scenarios.mujoco_systems.bulk import rollout_of
from safegym_scenarios.mujoco_systems.environments import read_signals
from safegym_scenarios.mujoco_systems.surroundings import Setup

MakePolicy = Callable[[], Policy]


@dataclass(frozen=True, slots=True)
class Robot:
    """A Gymnasium system as scenarios use it.

    env: its class in `environments`. asset: file name of Gymnasium's model. dt: s, exact text.
    can_fall: whether Gymnasium ends an episode as unhealthy.
    """

    env: Callable[..., Any]
    asset: str
    dt: str
    setup: Setup
    signals: tuple[Signal, ...]
    can_fall: bool = True

    def scenario(
        self,
        name: str,
        summary: str,
        claims: tuple[Claim, ...],
        good: MakePolicy,
        bad: Mapping[str, MakePolicy],
        *,
        parameters: tuple[Parameter, ...] = (),
        **changes: Any,
    ) -> ScenarioSpec:
        """The spec. parameters: what is changed in this one. changes: other fields of the setup."""
        setup = replace(self.setup, parameters=parameters, **changes)
        asset = files("gymnasium").joinpath("envs", "mujoco", "assets", self.asset)
        return ScenarioSpec(
            name=f"mujoco/{name}-v0",
            summary=summary,
            make_env=partial(self.env, setup),
            read_signals=read_signals,
            signals=self.signals,
            clock=Clock(Fraction(self.dt)),
            horizon=setup.horizon,
            claims=claims,
            parameters=setup.parameters,
            faults=setup.faults,
            disturbances=setup.disturbances,
            terminals={"unhealthy": "failed"} if self.can_fall else {},
            good=good,
            bad=bad,
            sources=(Path(str(asset)),),
            rollout=rollout_of(getattr(self.env, "__name__", ""), setup),
        )


def scripted(name: str, function: Callable[..., Any], **gains: Any) -> MakePolicy:
    """A maker of a scripted policy; the name stands for the gains too, so no two share one."""
    return partial(ScriptedPolicy, name, partial(function, **gains) if gains else function)
