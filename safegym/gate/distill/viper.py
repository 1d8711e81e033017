"""VIPER: a decision tree that imitates a policy where the tree itself goes.

Source: Bastani, Pu and Solar-Lezama, Verifiable Reinforcement Learning via Policy Extraction
(2018), algorithm 1: the first round watches the policy, later ones the newest tree; every
observation is labelled by the policy and counts by what a wrong action would cost there. Rows are
weighted by that cost, which is what the paper's resampling does on average.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safegym.errors import PolicyError, UnsupportedError
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.gate.distill.distilled import Distilled, Showing
from safegym.gate.distill.observed import (
    CHOOSING,
    HELD_OUT,
    Rows,
    acted_on,
    agreement,
    labelled,
    showing,
)
from safegym.gate.distill.tree_student import Weigh, evenly, tree_of, value_gap
from safegym.gate.distill.worlds import Reward, World, world_of
from safegym.policy.base import Policy, as_policy
from safegym.policy.tree import TreePolicy


def distil(
    policy: object,
    where: Any,
    *,
    leaves: int = 64,
    rounds: int = 6,
    episodes: int = 32,
    held_out: int = 64,
    claims: Sequence[Claim | Formula] | None = None,
    weights: Weigh | None = None,
    smallest: int = 1,
    start: Mapping[str, tuple[float, float]] | None = None,
    steps: int = 100,
    reward: Reward | None = None,
    seed: int = 0,
    name: str = "",
) -> Distilled:
    """A decision tree of at most `leaves` leaves that does what the policy does.

    where: a scenario or its name, or declared Dynamics; of the latter, start: state -> (lowest,
    highest), steps: of an episode, reward: of a step, if there is one. rounds: of watching, with
    `episodes` each. claims: the scenario's, or those given; a formula is asked of every sample.
    The tree of the round with the fewest violations, then the highest return, is kept, and reported
    on `held_out` other episodes. weights: what a wrong action costs at an observation; by default,
    the gap between a discrete policy's best and worst value, and 1 for continuous actions.
    smallest: rows in a leaf, at least.

    Raises PolicyError for a policy with a state or that draws its actions, UnsupportedError for
    observations that are no row of numbers.
    """
    oracle, world = as_policy(policy), world_of(where, claims, start, steps, reward)
    _check_counts(rounds=rounds, episodes=episodes, held_out=held_out)
    _check_policy(oracle)
    weigh, weighting = _weigh(oracle, weights)
    title = name or f"{oracle.card.name} tree"
    trees: list[TreePolicy] = []
    found: list[Showing] = []
    watching = _Watching(oracle, world, weigh, title, episodes, leaves, smallest, seed)
    for tree in watching.trees(rounds):
        trees.append(tree)
        found.append(showing(world, world.roll(tree, seed, CHOOSING, episodes)))
    best = min(range(rounds), key=lambda at: _rank(found[at], trees[at]))
    ours, theirs = (world.roll(each, seed, HELD_OUT, held_out) for each in (trees[best], oracle))
    rows = np.concatenate([acted_on(trace) for trace in (*ours, *theirs)])
    return Distilled(
        tree=trees[best],
        agreement=agreement(labelled(oracle, rows), labelled(trees[best], rows)),
        policy=showing(world, theirs),
        of_tree=showing(world, ours),
        policy_digest=oracle.card.digest,
        rounds=tuple(
            (tree.leaves, each.violated, each.returned)
            for tree, each in zip(trees, found, strict=True)
        ),
        weighting=weighting,
    )


@dataclass(frozen=True, slots=True)
class _Watching:
    """A tree a round, of the observations of all rounds so far. episodes: of a round."""

    oracle: Policy
    world: World
    weigh: Weigh
    name: str
    episodes: int
    leaves: int
    smallest: int
    seed: int

    def trees(self, rounds: int) -> Iterator[TreePolicy]:
        seen: list[Rows] = []
        guide = self.oracle
        for number in range(rounds):
            traces = self.world.roll(guide, self.seed, number, self.episodes)
            seen.append(np.concatenate([acted_on(trace) for trace in traces]))
            guide = tree = self._tree(np.concatenate(seen))
            yield tree

    def _tree(self, rows: Rows) -> TreePolicy:
        return tree_of(
            rows,
            labelled(self.oracle, rows),
            self.weigh(rows),
            name=self.name,
            leaves=self.leaves,
            smallest=self.smallest,
            observation_space=getattr(self.oracle, "observation_space", None),
            action_space=getattr(self.oracle, "action_space", None),
        )


def _rank(found: Showing, tree: TreePolicy) -> tuple[float, float, int]:
    return found.violated, -(found.returned or 0.0), tree.leaves


def _weigh(oracle: Policy, given: Weigh | None) -> tuple[Weigh, str]:
    if given is not None:
        return given, "by the function given"
    gap = value_gap(oracle)
    if gap is not None:
        return gap, "by the gap between the policy's best and worst value"
    return evenly, "evenly"


def _check_counts(**counts: Any) -> None:
    for what, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UnsupportedError(
                f"distil needs rounds, episodes and held_out of at least 1; found {what}={count!r}."
            )


def _check_policy(oracle: Policy) -> None:
    if oracle.card.mode != "deterministic":
        raise PolicyError(
            f"Policy {oracle.card.name} draws its actions ({oracle.card.mode} mode); a tree does "
            "not. Distil its deterministic mode."
        )
