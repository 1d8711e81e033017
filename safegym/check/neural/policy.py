"""A policy as a graph, with what is needed to replay it and to know that they are the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.graph import Graph

Predict = Callable[[NDArray[Any]], NDArray[Any]]
"""Observations (B, n) -> what the deployed policy does: actions (B, m), or indices (B,)."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """How an imported graph compared with what the policy itself gives.

    samples: observations tried. largest_difference: of an action's entry, or of an action value
    before argmax. disagreements: samples whose chosen action differs (a discrete policy).
    """

    samples: int
    largest_difference: float
    disagreements: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PolicyGraph:
    """What a policy computes, from observation to action.

    graph: observation (n,) -> action (m,) as the environment is given it (kind "box"), or one value
    for each choice, of which the first greatest is taken (kind "discrete"). Its nodes say in which
    precision the deployed program works. observation_low, observation_high (n,): the observation
    space, infinite where it has no limits. action_low, action_high (m,): of a box; None otherwise.
    predict: the deployed policy itself, for replays. digest: the policy card's.
    """

    name: str
    digest: str
    kind: Literal["box", "discrete"]
    graph: Graph
    observation_low: NDArray[np.float64]
    observation_high: NDArray[np.float64]
    action_low: NDArray[np.float64] | None
    action_high: NDArray[np.float64] | None
    predict: Predict
    equivalence: Equivalence
