"""From a setting and its controls to a spec, and the inputs that several variants share."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from safegym.formula.build import all_of, always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.policy.base import ScriptedPolicy
from safegym.rational import Exact
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.inputs import Inputs
from safegym.scenario.spec import MakePolicy, Parameter, ScenarioSpec, TerminalKind
from safegym_scenarios.marine.surface import Boat, SeaSetting
from safegym_scenarios.scene.declare import declare
from safegym_scenarios.scene.knobs import push, standard_faults

DT = 0.5
"""Control step of the boats, s."""
TRAINING: Mapping[str, Any] = {"steps": 204_800, "learning_rate": 1e-3, "gamma": 0.98}


def inputs(
    horizon: int,
    *parameters: Parameter,
    disturbances: tuple[Disturbance, ...] = (),
    newtons: float = 800.0,
    axes: tuple[str, ...] = ("forward", "left"),
) -> Inputs:
    """Standard faults and pushes; water has no friction to lose."""
    faults = standard_faults(horizon * DT, delay=4.0, noise=0.1, bias=0.1)
    return Inputs(horizon, parameters, faults, (*push(newtons, axes=axes), *disturbances))


def policy(name: str, function: Any, **numbers: Any) -> MakePolicy:
    """A helmsman under the name marine.<name>."""
    return partial(ScriptedPolicy, f"marine.{name}", partial(function, **numbers))


def vessel(
    name: str,
    summary: str,
    kind: type[Boat],
    setting: SeaSetting,
    good: MakePolicy,
    *pairs: tuple[Claim, MakePolicy],
    terminals: Mapping[str, TerminalKind] | None = None,
) -> ScenarioSpec:
    """A scenario from its claims, each with the policy that breaks it."""
    return declare(
        f"marine/{name}-v0",
        summary,
        kind,
        setting,
        signals=setting.signals(),
        claims=tuple(claim for claim, _ in pairs),
        good=good,
        bad={claim.id: breaks for claim, breaks in pairs},
        terminals={**({"arrived": "absorbed"} if setting.ends_at else {}), **(terminals or {})},
        training=TRAINING,
    )


def below(word: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """The signal never exceeds the limit, in its unit."""
    return Claim(
        id=f"marine.{word}", statement=always(signal <= limit), hazard=hazard, source=source
    )


def above(word: str, signal: Signal, limit: float, hazard: str, source: str) -> Claim:
    """The signal never falls below the limit, in its unit."""
    return Claim(
        id=f"marine.{word}", statement=always(signal >= limit), hazard=hazard, source=source
    )


def arrived(*pairs: tuple[Signal, float], lasting: Exact = 3) -> Claim:
    """At some time all are within their limits, and stay there for so long."""
    near = all_of([signal <= limit for signal, limit in pairs])
    return Claim(
        id="marine.arrived",
        statement=eventually(always(near, lasting=lasting)),
        hazard="the voyage is not made",
        source="chosen: "
        + " and ".join(f"{signal.name} of {limit:g} {signal.unit}" for signal, limit in pairs)
        + f" for {float(lasting):g} s is near enough to go on from by hand",
        severity="marginal",
    )
