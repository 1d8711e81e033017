"""How a claim's robustness in an episode moves with the episode's inputs.

The episode itself is recorded from the real environment, and its robustness is the monitor's, bit
for bit. The slope is that of the scenario's differentiable model along the recorded actions: the
model and the policy are differentiated in torch, and what they compute is checked against what was
recorded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from safegym.check.gradient.monitor import DifferentiableMonitor
from safegym.check.gradient.rollout_policy import Actor, actor_of
from safegym.check.monitor import judge
from safegym.check.tail import tail_steps
from safegym.errors import UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.rewrite import to_steps
from safegym.policy.base import as_policy
from safegym.scenario.model import DifferentiableModel, inputs_of, model_of, simulate
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace

TOLERANCE = 1e-6
"""Largest difference between model and episode, in a signal's scale; for actions a thousandfold."""
Slopes = dict[tuple[str, str], float | tuple[float, ...]]
"""("parameters", name) -> slope per unit, ("disturbances", name) -> one slope for each piece."""


@dataclass(frozen=True, slots=True)
class RolloutGradient:
    """robustness: of the claim's property on `trace`. slopes: its derivative in every input.

    `robustness, slopes = found` unpacks the two.
    """

    robustness: float
    slopes: Slopes
    trace: Trace

    def __iter__(self) -> Iterator[Any]:
        return iter((self.robustness, self.slopes))


def robustness_gradient(
    scenario: str | ScenarioSpec,
    claim: Claim,
    policy: object,
    seed: int,
    options: Mapping[str, Any] | None = None,
) -> RolloutGradient:
    """Returns the robustness of one episode and its derivative in each of the scenario's inputs.

    scenario: one with a `model`. policy: an SB3Policy, or a scripted one with a twin in the model.
    options: as `reset` takes them; what they leave out is drawn from the seed, and the derivative
    is taken there. Robustness is in multiples of the claim's scale, exact: the same number as the
    monitor's on the recorded trace. Derivatives are those of the piece on which the episode lies:
    where the deciding sample, the end of the episode, a clip or a switch of the policy changes,
    robustness has a kink or a jump, and no derivative says so. A discrete action has slope zero.

    Raises UnsupportedError where there is no model or twin, where the claim's margins have no
    gradient or are not finite in this episode, and where the model does not reproduce the episode.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    model, acting = model_of(spec), as_policy(policy)
    actor = actor_of(acting, model, spec.name)
    formula = to_steps(claim.property, spec.clock.dt, rounding=claim.rounding)
    tail = tail_steps(formula, spec.horizon)
    trace = record(spec, acting, seed, options=options, tail=tail if spec.can_run_tail else 0)
    monitor = DifferentiableMonitor(claim, spec.clock.dt, trace.end.kind, trace.horizon, at="start")
    leaves = _leaves(spec, trace)
    signals = _signals(spec, model, trace, leaves, actor)
    margin = monitor.lower(signals)
    robustness = float(margin.detach())
    if not np.isfinite(robustness):
        raise UnsupportedError(
            f"The robustness of claim {claim.id} in this episode, which ended as "
            f"{trace.end.kind!r}, is no less than {robustness:g}: no sample decides it, so it has "
            "no slope."
        )
    differentiable: Any = margin
    if margin.requires_grad:
        differentiable.backward()
    _check_margin(claim, trace, robustness)
    return RolloutGradient(robustness, {key: _slope(leaf) for key, leaf in leaves.items()}, trace)


def _leaves(spec: ScenarioSpec, trace: Trace) -> dict[tuple[str, str], Tensor]:
    """Every declared input of the episode as a tensor of its own, float64."""
    parameters, disturbances = inputs_of(spec, trace)
    found: dict[tuple[str, str], Any] = {("parameters", k): v for k, v in parameters.items()}
    found.update({("disturbances", k): v for k, v in disturbances.items()})
    return {
        key: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for key, value in found.items()
    }


def _signals(
    spec: ScenarioSpec,
    model: DifferentiableModel,
    trace: Trace,
    leaves: Mapping[tuple[str, str], Tensor],
    actor: Actor,
) -> dict[str, Tensor]:
    """The recorded signals as tensors, (T+1,), whose slopes are the model's.

    Raises UnsupportedError where the model's values, or the actor's actions, are not the recorded.
    """
    rows = simulate(
        spec,
        torch,
        {name: leaf for (kind, name), leaf in leaves.items() if kind == "parameters"},
        {name: leaf for (kind, name), leaf in leaves.items() if kind == "disturbances"},
        lambda step, observation: _action(trace, step, actor, observation),
        trace.steps,
    )
    found: dict[str, Tensor] = {}
    for at, signal in enumerate(spec.signals):
        modelled = torch.stack([row[at] for row in rows])
        told = torch.from_numpy(trace.signals[signal.name].copy())
        _check_signal(spec, signal.name, signal.scale or 1.0, modelled.detach(), told)
        found[signal.name] = told + (modelled - modelled.detach())
    return found


def _action(trace: Trace, step: int, actor: Actor, observation: tuple[Any, ...]) -> Any:
    """The recorded action with the slope of the actor's."""
    seen = torch.stack(observation).float().double()
    wanted = actor(seen).reshape(-1)
    told = trace.actions[step].reshape(-1)
    if not np.allclose(wanted.detach().numpy(), told, rtol=0.0, atol=TOLERANCE * 1000):
        raise UnsupportedError(
            f"At step {step} the policy acted {told.tolist()}, its differentiable twin would act "
            f"{wanted.detach().tolist()}; correct the twin, or search without gradients."
        )
    if told.dtype.kind != "f":
        return int(told[0]) if len(told) == 1 else told
    action = torch.from_numpy(told.copy()) + (wanted - wanted.detach()).to(
        torch.float32 if told.dtype == np.float32 else torch.float64
    )
    return action[0] if len(told) == 1 else action


def _check_signal(
    spec: ScenarioSpec, name: str, scale: float, modelled: Tensor, told: Tensor
) -> None:
    off = float((modelled - told).abs().max())
    if not off <= TOLERANCE * scale:
        raise UnsupportedError(
            f"The differentiable model of {spec.name} gives signal {name} up to {off:g} away from "
            f"the recorded episode; at most {TOLERANCE * scale:g} is trusted. "
            "safegym.scenario.model.deviations(spec, trace) tells by how much each signal is off."
        )


def _check_margin(claim: Claim, trace: Trace, robustness: float) -> None:
    found = judge(claim, trace).robustness
    if found is None or found.lo != robustness:
        raise UnsupportedError(
            f"The monitor's robustness of claim {claim.id} is {found}, the gradient's is "
            f"{robustness!r}; they must be the same number."
        )


def _slope(leaf: Tensor) -> float | tuple[float, ...]:
    slope = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
    return tuple(slope.tolist()) if slope.ndim else float(slope)
