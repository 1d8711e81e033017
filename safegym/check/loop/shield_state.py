"""How a shield learns the model's state: from a scenario's signals, or from an observation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.shield import ModelShield
from safegym.errors import UnsupportedError
from safegym.scenario.spec import ScenarioSpec

Floats = NDArray[np.float64]
Reading = tuple[Floats, Floats]
"""A state (n,) and how far each of its numbers may be off through rounding (n,)."""


def from_observation(shield: ModelShield, observation: Any) -> Reading:
    """The state as one observation tells it.

    Raises UnsupportedError where the model sees something else than its states and the shield was
    given no `state=`, or where it gives another number of them.
    """
    seen = np.asarray(observation)
    size = len(shield.model.states)
    if shield.state is not None:
        found = np.asarray(shield.state(seen), np.float64).reshape(-1)
        rounded = np.zeros(size)
    else:
        _check_sees_states(shield)
        found = seen.astype(np.float64).reshape(-1)
        rounded = _last_bit(seen) if found.size == size else np.zeros(size)
    if found.size != size:
        raise UnsupportedError(
            f"The observation gave {found.size} numbers, and {shield.model.name} has the states "
            f"{', '.join(signal.name for signal in shield.model.states)}; pass state=, a function "
            "from one observation to them."
        )
    return found, rounded


def signal_places(shield: ModelShield, spec: ScenarioSpec) -> list[int] | None:
    """Where each state stands among the scenario's signals; None unless all do.

    Raises UnsupportedError for a signal of a state's name in another unit.
    """
    places = {signal.name: at for at, signal in enumerate(spec.signals)}
    if any(signal.name not in places for signal in shield.model.states):
        return None
    for state in shield.model.states:
        signal = spec.signals[places[state.name]]
        if signal.unit_or_none != state.unit_or_none or signal.shape:
            raise UnsupportedError(
                f"{spec.name} records {signal.name} in {signal.unit}, and {shield.model.name} "
                f"declares it in {state.unit}; declare them alike, or pass state=."
            )
    return [places[state.name] for state in shield.model.states]


def from_signals(spec: ScenarioSpec, places: list[int]) -> Callable[[Any], Reading]:
    """Reads the state from an environment of the scenario, in binary64 as it holds it."""
    zeros = np.zeros(len(places))

    def read(env: Any) -> Reading:
        row = spec.read_signals(env)
        return np.array([float(row[at]) for at in places]), zeros

    return read


def _check_sees_states(shield: ModelShield) -> None:
    model = shield.model
    if model.observation != model.states:
        raise UnsupportedError(
            f"The policy of {model.name} sees {', '.join(map(str, model.observation))}, not the "
            "states; pass state=, a function from one observation to "
            f"({', '.join(signal.name for signal in model.states)})."
        )


def _last_bit(seen: NDArray[Any]) -> Floats:
    if seen.dtype.kind != "f" or seen.dtype == np.float64:
        return np.zeros(seen.size)
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(np.spacing(seen)), np.float64).reshape(-1)
