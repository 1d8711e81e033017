"""What a closed loop is made of: a plant, discrete or continuous, and a policy that fits it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.policy import PolicyGraph
from safegym.errors import UnsupportedError
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow

Plant = Dynamics | Flow
Floats = NDArray[np.float64]
Limits = tuple[Floats, Floats]

MODEL = (
    "The plant is the mathematical model {name} ({digest}) in real arithmetic; nothing is said of "
    "another plant."
)


def as_policy_graph(policy: Any, plant: Plant) -> PolicyGraph:
    """The policy as a graph that fits the plant, imported where it is not one already.

    Raises UnsupportedError where observations or actions do not fit, in words.
    """
    check_plant(plant)
    found = policy if isinstance(policy, PolicyGraph) else _imported(policy)
    seen, wanted = found.observation_low.size, len(plant.observation)
    if seen != wanted:
        raise UnsupportedError(
            f"Policy {found.name} takes {seen} observations, {plant.name} gives {wanted}: "
            f"{', '.join(map(str, plant.observation))}. Declare observation=[...] in the plant."
        )
    given = found.graph.outputs if found.kind == "box" else 1
    if given != len(plant.actions):
        raise UnsupportedError(
            f"Policy {found.name} gives {given} action(s), {plant.name} takes "
            f"{len(plant.actions)}: {', '.join(signal.name for signal in plant.actions)}."
        )
    return found


def check_plant(plant: object) -> None:
    """Raises UnsupportedError unless this is a declared plant."""
    if not isinstance(plant, Dynamics | Flow):
        raise UnsupportedError(
            f"A {type(plant).__name__} is no declared plant; pass Dynamics or a Flow, such as "
            "find_model(NAME).dynamics."
        )


def _imported(policy: Any) -> PolicyGraph:
    from safegym.check.neural.importing import policy_graph

    return policy_graph(policy)


def limits(signals: tuple[Any, ...]) -> Limits:
    """The declared bounds of signals, infinite where there are none."""
    low = [signal.bounds[0] if signal.bounds else -np.inf for signal in signals]
    high = [signal.bounds[1] if signal.bounds else np.inf for signal in signals]
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


def actions_of(policy: PolicyGraph, plant: Plant, observations: Floats) -> Floats:
    """What the deployed policy does, (B, actions), clipped as the plant's actions are.

    observations (B, n) in binary64; the policy casts them as it does in deployment. A discrete
    policy's choice is the number of it.
    """
    found = np.asarray(policy.predict(observations), dtype=np.float64)
    found = found.reshape(len(observations), len(plant.actions))
    low, high = limits(plant.actions)
    return np.clip(found, low, high)


def assumptions_of(plant: Plant) -> tuple[str, ...]:
    """What every statement about the plant's loop rests on."""
    said = [MODEL.format(name=plant.name, digest=plant.digest)]
    said.append(
        "The policy sees the exact value of each observation term, rounded as the deployed program "
        "rounds it, at each control instant without delay."
    )
    if plant.disturbances:
        listed = ", ".join(
            f"{signal.name} in [{signal.bounds[0]!r}, {signal.bounds[1]!r}]"
            for signal in plant.disturbances
            if signal.bounds
        )
        said.append(f"Disturbances stay in their declared bounds: {listed}.")
    held = isinstance(plant, Flow)
    said.append(
        f"Actions {'and disturbances are' if held and plant.disturbances else 'are'} held over "
        f"each period of {plant.dt} s."
        if held
        else f"Statements hold at the control instants, every {plant.dt} s, not between them."
    )
    return tuple(said)
