"""What teachers say about every step of an episode: dense guidance, with their own memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import PolicyError, UnsupportedError
from safegym.gate.distill.observed import acted_on
from safegym.policy.base import WIDTH, Policy
from safegym.scenario.fitting import action_check
from safegym.trace.model import Trace
from safegym.trace.record import FAILURES

Rows = NDArray[Any]
GRADED = frozenset(["ppo", "a2c", "trpo"])
"""Algorithms whose discrete policies hold the logarithms of their choices' probabilities."""


ANYWHERE = "a teacher must answer wherever the student goes: clip its actions to the bounds."


@dataclass(frozen=True, slots=True)
class Guidance:
    """Steps at which a teacher was asked.

    observations: (B, n). actions: what it would do there, (B, ...). graded: natural logarithms of
    the probabilities it gives to each choice, (B, k), where it has them; else None.
    """

    observations: Rows
    actions: Rows
    graded: Rows | None

    def __len__(self) -> int:
        return len(self.observations)


def guidance(policy: Policy, traces: Sequence[Trace], space: Any) -> Guidance:
    """What the policy would have done at each step of these episodes, episode by episode.

    space: of the actions. Raises PolicyError as `answers` does, UnsupportedError for observations
    that are no row of numbers.
    """
    episodes = [rows for rows in map(acted_on, traces) if len(rows)]
    if not episodes:
        raise PolicyError(
            f"No episode of {policy.card.name}'s scenario has a step, so there is nothing to learn "
            "from; look at one with: safegym record SCENARIO"
        )
    actions = answers(policy, episodes, space)
    observations = np.concatenate(episodes)
    return Guidance(observations, actions, graded(policy, observations))


def answers(policy: Policy, episodes: Sequence[Rows], space: Any) -> Rows:
    """`actions_along` all episodes, (B, ...): each finite and inside the space, as in a run.

    Raises PolicyError for a policy that raises, or whose action is not finite or outside.
    """
    try:
        actions = np.concatenate(actions_along(policy, episodes))
    except (PolicyError, UnsupportedError):
        raise
    except FAILURES as error:
        raise PolicyError(
            f"Teacher {policy.card.name} raised in the student's episodes: {type(error).__name__}: "
            f"{error}; {ANYWHERE}"
        ) from error
    taken, fits = action_check(policy, space)(actions)
    bad = np.zeros(0, np.intp) if fits is None else np.flatnonzero(~fits)
    if len(bad):
        found = actions[bad[0]]
        real = found.dtype.kind != "f" or np.isfinite(found).all()
        what = f"{found}, outside {space}" if real else f"{found}, which is not finite"
        raise PolicyError(
            f"Teacher {policy.card.name} acts {what}, at step {bad[0]} of the student's episodes; "
            f"{ANYWHERE}"
        )
    return actions if actions.dtype.kind == "f" else taken


def actions_along(policy: Policy, episodes: Sequence[Rows]) -> list[Rows]:
    """The policy's actions (T, ...) at the observations (T, n) of each episode.

    Steps are asked in order, and the policy's state is carried along each episode, so that a
    policy with a memory answers as if it had watched. Rows stand in batches of its own width.
    """
    width = policy.card.width if policy.card.width > 1 else 0
    size = width or WIDTH
    found: list[Rows] = []
    for at in range(0, len(episodes), size):
        found.extend(_along(policy, episodes[at : at + size], width))
    return found


def _along(policy: Policy, episodes: Sequence[Rows], width: int) -> list[Rows]:
    count = width or len(episodes)
    rows = np.zeros((count, *episodes[0].shape[1:]), episodes[0].dtype)
    lengths = [len(episode) for episode in episodes]
    steps: list[Rows] = []
    state: Any = None
    for step in range(max(lengths)):
        for row, episode in enumerate(episodes):
            rows[row] = episode[min(step, lengths[row] - 1)]
        acted, state = policy.act(rows.copy(), state, np.full(count, step == 0))
        steps.append(np.array(acted)[: len(episodes)])
    whole = np.stack(steps)
    return [whole[:length, row] for row, length in enumerate(lengths)]


def graded(policy: Policy, observations: Rows) -> Rows | None:
    """Log probabilities (B, k) of a discrete stable-baselines3 policy's choices, float64.

    None for a policy that holds none: continuous, scripted, a tree, or one of action values.
    """
    if policy.card.kind != "sb3" or policy.card.details.get("algorithm") not in GRADED:
        return None
    from safegym.check.neural.importing.sb3 import sb3_graph

    imported = sb3_graph(policy)
    if imported.kind != "discrete":
        return None
    scores = np.asarray(imported.values(observations), np.float64)
    top = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(top - np.log(np.exp(top).sum(axis=1, keepdims=True)))
