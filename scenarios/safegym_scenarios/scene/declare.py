"""From a setting to the spec of its scenario."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import MakePolicy, ScenarioSpec, TerminalKind
from safegym.trace.model import Clock
from safegym_scenarios.scene.env import SceneEnv, Setting, read_signals


def declare(
    name: str,
    summary: str,
    kind: type[SceneEnv],
    setting: Setting,
    *,
    signals: tuple[Signal, ...],
    claims: tuple[Claim, ...],
    good: MakePolicy,
    bad: Mapping[str, MakePolicy],
    terminals: Mapping[str, TerminalKind] | None = None,
    training: Mapping[str, Any] | None = None,
) -> ScenarioSpec:
    """The spec of one variant. signals: those of `kind.readers`, then of `kind.task_signals`."""
    step = Fraction(str(setting.timestep)) * setting.substeps
    inputs = setting.inputs
    return ScenarioSpec(
        name=name,
        summary=summary,
        make_env=partial(kind, setting),
        read_signals=read_signals,
        signals=signals,
        clock=Clock(step),
        horizon=inputs.horizon,
        claims=claims,
        parameters=inputs.parameters,
        faults=inputs.faults,
        disturbances=inputs.disturbances,
        terminals=terminals or {},
        good=good,
        bad=bad,
        training=training or {},
    )
