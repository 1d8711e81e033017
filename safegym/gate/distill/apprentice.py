"""Whoever learns from guidance: takes in lessons, and gives a policy after each round."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safegym.gate.distill.guidance import Guidance
from safegym.gate.distill.teacher import Course
from safegym.gate.distill.tree_student import Rows, Tree, evenly, shares, tree_of, value_gap
from safegym.policy.base import Policy

Arrays = dict[str, NDArray[Any]]


@dataclass(slots=True)
class Lessons:
    """All guidance of one teacher so far, in order."""

    course: Course
    parts: list[Guidance] = field(default_factory=list[Guidance])

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def whole(self) -> Guidance:
        """Of all rounds together."""
        parts = self.parts
        grades = [part.graded for part in parts if part.graded is not None]
        return Guidance(
            np.concatenate([part.observations for part in parts]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate(grades) if len(grades) == len(parts) else None,
        )


class Apprentice(Protocol):
    """Learns in rounds. What `state` gives, `restore` takes, and all goes on bit by bit."""

    def learn(self, lessons: Sequence[Lessons], number: int) -> tuple[Policy, float]:
        """The student after round `number`, from 0, and its mean loss on the lessons."""
        ...

    def newest(self, lessons: Sequence[Lessons]) -> Policy:
        """The student of the last round, whose lessons these are."""
        ...

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Everything but the lessons."""
        ...

    def restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        """Take up what `state` gave."""
        ...


class TreeApprentice:
    """Grows a tree anew each round. Its loss is the mean squared error on the lessons, in half
    ranges of an action, or the share of other choices.
    """

    def __init__(self, asked: Tree, name: str) -> None:
        self._asked, self._name = asked, name

    def learn(self, lessons: Sequence[Lessons], number: int) -> tuple[Policy, float]:
        """See `Apprentice`."""
        from safegym.gate.distill.observed import labelled

        wholes = [each.whole for each in lessons]
        weights: list[Rows] = []
        for each, whole in zip(lessons, wholes, strict=True):
            weigh = value_gap(each.course.policy) or evenly
            weights.append(weigh(whole.observations))
        wanted = [each.course.weight for each in lessons]
        rows = np.concatenate([whole.observations for whole in wholes])
        labels = np.concatenate([whole.actions for whole in wholes])
        first = lessons[0].course
        tree = tree_of(
            rows,
            labels,
            np.concatenate(shares(weights, wanted)),
            name=self._name,
            leaves=self._asked.leaves,
            smallest=self._asked.smallest,
            observation_space=first.observation_space,
            action_space=first.action_space,
        )
        found = labelled(tree, rows)
        if labels.dtype.kind in "iu":
            return tree, float((found != labels).mean())
        half = (first.action_space.high - first.action_space.low) / 2.0
        off = (found.astype(np.float64) - labels) / np.where(half > 0.0, half, 1.0)
        return tree, float((off**2).mean())

    def newest(self, lessons: Sequence[Lessons]) -> Policy:
        """See `Apprentice`."""
        return self.learn(lessons, 0)[0]

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Nothing: a tree follows from the lessons."""
        return {}, {}

    def restore(self, document: dict[str, Any], arrays: Arrays) -> None:
        """Nothing to take up."""
