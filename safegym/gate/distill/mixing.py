"""Teacher and student taking turns: DAgger's mixture, drawn step by step.

Source: Ross, Gordon and Bagnell, A Reduction of Imitation Learning and Structured Prediction to
No-Regret Online Learning (2011), section 3: in round i the share beta_i of steps is the teacher's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_json
from safegym.errors import PolicyError
from safegym.policy.base import WIDTH, Array, Policy, PolicyCard


class Mixture:
    """Each step is the teacher's with probability `share`, else the student's.

    Both are asked at every step, so that a teacher with a memory has seen them all. Draws come from
    a generator of each episode's own seed. Raises PolicyError for a share outside (0, 1).
    """

    def __init__(self, teacher: Policy, student: Policy, share: float) -> None:
        if not 0.0 < share < 1.0:
            raise PolicyError(f"A mixture needs a share inside (0, 1), found {share!r}.")
        self._teacher, self._student, self._share = teacher, student, share
        self._draws: dict[int, np.random.Generator] = {}
        mixed = [teacher.card.digest, student.card.digest, float(share)]
        width = WIDTH if min(teacher.card.width, student.card.width) > 1 else 1
        self._card = PolicyCard(
            name=f"{teacher.card.name} and {student.card.name}",
            digest=digest_json(["mixture", *mixed]),
            kind="mixture",
            mode="sampled",
            width=width,
        )

    @property
    def card(self) -> PolicyCard:
        """Its digest covers both policies and the share."""
        return self._card

    def begin(self, row: int, seed: int) -> None:
        """An episode begins in that row: its draws come from this seed."""
        self._draws[row] = np.random.default_rng([seed, 1])

    def act(self, observations: Array, state: Any, starts: NDArray[np.bool_]) -> tuple[Array, Any]:
        """Actions (B, ...) and both states. Rows in which no episode began are the student's."""
        of_teacher, of_student = state or (None, None)
        theirs, of_teacher = self._teacher.act(observations, of_teacher, starts)
        ours, of_student = self._student.act(observations, of_student, starts)
        ours = np.array(ours)
        theirs = np.asarray(theirs).reshape(ours.shape)
        for row in range(len(ours)):
            draws = self._draws.get(row)
            if draws is not None and draws.random() < self._share:
                ours[row] = theirs[row]
        return ours, (of_teacher, of_student)
