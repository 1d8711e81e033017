"""Small closed loops that tests share: networks fitted to laws without any training run."""

from collections.abc import Callable
from functools import cache

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from safegym.check.neural.importing import policy_graph
from safegym.check.neural.policy import PolicyGraph
from safegym.formula.dynamics import Dynamics
from safegym.formula.flow import Flow
from safegym.formula.functions import sin
from safegym.formula.terms import Signal
from safegym.policy.network import NetworkPolicy
from safegym.policy.network_layers import Layer

Floats = NDArray[np.float64]
THETA, OMEGA, TORQUE = Signal("theta"), Signal("omega"), Signal("torque")
X, V = Signal("x"), Signal("v")
PUSH, WIND = Signal("push", bounds=(-1, 1)), Signal("wind", bounds=(-0.01, 0.01))
PENDULUM = Dynamics(
    "pendulum",
    states=[THETA, OMEGA],
    actions=[TORQUE],
    next={"theta": THETA + 0.05 * OMEGA, "omega": OMEGA + 0.05 * (2 * sin(THETA) + 8 * TORQUE)},
    dt="0.05",
)
FLOW = Flow(
    "pendulum flow",
    states=[THETA, OMEGA],
    actions=[TORQUE],
    derivative={"theta": OMEGA, "omega": 2 * sin(THETA) + 8 * TORQUE},
    dt="0.05",
)
START = {"theta": (1.0, 1.2), "omega": (0.0, 0.2)}
INTEGRATOR = Dynamics(
    "integrator",
    states=[X, V],
    actions=[PUSH],
    disturbances=[WIND],
    next={"x": X + 0.1 * V, "v": V + 0.1 * PUSH + WIND},
    dt="0.1",
)


def network(
    law: Callable[[Floats], Floats],
    *,
    inputs: int = 2,
    hidden: int = 25,
    outputs: int = 1,
    scale: float = 2.0,
    seed: int = 3,
    discrete: bool = False,
) -> NetworkPolicy:
    """Two random ReLU layers and a last one fitted by least squares to a law of (B, n)."""
    draw = np.random.default_rng(seed)
    points = draw.uniform(-scale, scale, (4000, inputs))
    layers: list[Layer] = []
    values = points
    for width in (inputs, hidden):
        weight = draw.normal(size=(hidden, width)) / np.sqrt(width)
        bias = draw.uniform(-1.0, 1.0, hidden)
        layers.append(Layer(weight.astype(np.float32), bias.astype(np.float32), "relu"))
        values = np.maximum(values @ weight.T + bias, 0.0)
    known = np.concatenate([values, np.ones((len(values), 1))], axis=1)
    found, *_ = np.linalg.lstsq(known, law(points).reshape(len(points), outputs), rcond=1e-6)
    layers.append(Layer(found[:-1].T.astype(np.float32), found[-1].astype(np.float32)))
    return NetworkPolicy(
        layers,
        observation_space=spaces.Box(-50.0, 50.0, (inputs,), np.float32),
        action_space=spaces.Discrete(outputs) if discrete else _free(outputs),
    )


def linear(gains: list[list[float]]) -> NetworkPolicy:
    """The policy action = gains @ observation."""
    matrix = np.array(gains, dtype=np.float32)
    return NetworkPolicy(
        [Layer(matrix, np.zeros(len(matrix), dtype=np.float32))],
        observation_space=spaces.Box(-50.0, 50.0, (matrix.shape[1],), np.float32),
        action_space=_free(len(matrix)),
    )


def _free(size: int) -> spaces.Box:
    return spaces.Box(-100.0, 100.0, (size,), np.float32)


@cache
def swinging() -> PolicyGraph:
    """A network for the pendulum that brings it to rest."""
    return policy_graph(network(lambda x: -0.25 * np.sin(x[:, 0]) - 0.7 * x[:, 0] - 0.5 * x[:, 1]))


@cache
def damping() -> PolicyGraph:
    """The linear law -2 x - 2.5 v, for the integrator."""
    return policy_graph(linear([[-2.0, -2.5]]))
