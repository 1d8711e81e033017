"""A scenario's equations, written once for numpy and for torch, so that gradients go through.

Every function here takes `xp` first: the module numpy or torch. What both offer under one name
and meaning (sin, cos, arctan2, abs, clip, where, square) is what a model may use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import UnsupportedError
from safegym.trace.model import Trace

if TYPE_CHECKING:
    from safegym.scenario.spec import ScenarioSpec

State = tuple[Any, ...]
Numbers = Mapping[str, Any]
"""Input name -> a number of the namespace."""
Act = Callable[[int, tuple[Any, ...]], Any]
"""(step, observation) -> the action of that step, as the environment would be given it."""


@dataclass(frozen=True, slots=True)
class DifferentiableModel:
    """The dynamics of a scenario as functions of numbers of any namespace.

    start(xp, parameters): the state after reset. step(xp, state, action, parameters, pushes, k):
    the state after step k, with `pushes` what each disturbance is during it. signals(xp, state):
    the declared signals, in order. observe(xp, state): the observation's entries, which a policy
    sees rounded to float32. twins: name on a policy's card -> the same policy as
    twin(xp, *observation), one number back. parameters hold every declared parameter and fault.

    It must give what the environment gives: `deviations` measures by how much it does not. It is
    no part of the scenario's digest, since no episode depends on it.
    """

    start: Callable[[Any, Numbers], State]
    step: Callable[[Any, State, Any, Numbers, Numbers, int], State]
    signals: Callable[[Any, State], tuple[Any, ...]]
    observe: Callable[[Any, State], tuple[Any, ...]]
    twins: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])


def simulate(
    spec: "ScenarioSpec",
    xp: Any,
    parameters: Numbers,
    disturbances: Mapping[str, Any],
    act: Act,
    steps: int,
) -> list[tuple[Any, ...]]:
    """The signals of samples 0 to `steps`, each a tuple in the order of `spec.signals`.

    disturbances: name -> one number of the namespace for each piece, for every declared channel.
    Raises UnsupportedError if the scenario has no model.
    """
    model = model_of(spec)
    state = model.start(xp, parameters)
    rows = [model.signals(xp, state)]
    for step in range(steps):
        pushes = {
            each.name: disturbances[each.name][each.piece_at(step, spec.horizon)]
            for each in spec.disturbances
        }
        action = act(step, model.observe(xp, state))
        state = model.step(xp, state, action, parameters, pushes, step)
        rows.append(model.signals(xp, state))
    return rows


def model_of(spec: "ScenarioSpec") -> DifferentiableModel:
    """The scenario's model. Raises UnsupportedError if it has none."""
    if spec.model is None:
        raise UnsupportedError(
            f"Scenario {spec.name} has no differentiable model, so nothing has a gradient on it; "
            "search it with safegym.falsify, or declare ScenarioSpec(model=DifferentiableModel("
            "...))."
        )
    return spec.model


def inputs_of(
    spec: "ScenarioSpec", trace: Trace
) -> tuple[dict[str, float], dict[str, tuple[float, ...]]]:
    """Every declared input of a recorded episode, by name: (parameters and faults, disturbances).

    What the trace does not tell is at rest: a parameter's default, a disturbance's neutral value.
    """
    told = trace.parameters
    parameters = {
        each.name: told.get(each.name, each.resting) for each in (*spec.parameters, *spec.faults)
    }
    disturbances = {
        each.name: tuple(told.get(name, each.neutral) for name in each.piece_names)
        for each in spec.disturbances
    }
    return parameters, disturbances


def deviations(spec: "ScenarioSpec", trace: Trace) -> dict[str, float]:
    """Per signal, the largest difference between a recorded episode and the model's, in its unit.

    The model is given the trace's inputs and actions, in numpy.
    """
    parameters, disturbances = inputs_of(spec, trace)
    rows = simulate(
        spec,
        np,
        {name: np.float64(value) for name, value in parameters.items()},
        {name: tuple(map(np.float64, values)) for name, values in disturbances.items()},
        lambda step, observation: _entry(trace.actions[step]),
        trace.steps,
    )
    return {
        name: float(np.max(np.abs(np.array([row[at] for row in rows]) - trace.signals[name])))
        for at, name in enumerate(spec.layout)
    }


def _entry(action: NDArray[Any]) -> Any:
    """A number from an action of shape () or (1,), as it stands; a longer one as it is."""
    return action.reshape(-1)[0] if np.size(action) == 1 else action
