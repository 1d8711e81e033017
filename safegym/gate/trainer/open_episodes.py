"""Violations in episodes that are still open after a rollout, each claim judged only where needed.

A claim is judged on an open episode where a sample of the rollout lets a violation settle, and no
more once it is decided: neither a violation nor a satisfaction goes away as samples come.
"""

from collections.abc import Callable, Iterator, Sequence

from safegym.gate.penalty import Penaliser, Violation
from safegym.gate.trainer.slots import Slot
from safegym.gate.trainer.suspicion import Suspected
from safegym.trace.model import Trace


class OpenEpisodes:
    """Judges the open episodes of a run's slots, and remembers what is decided in each.

    suspects: which claims to judge each slot's episode by. The memory only saves work: without it,
    as after a resume, what is found is the same.
    """

    def __init__(self, slots: Sequence[Slot], suspects: Callable[[], list[Suspected]]) -> None:
        self._slots, self._suspects = slots, suspects
        self._decided: dict[int, tuple[int, frozenset[str]]] = {}

    def judged(self, penaliser: Penaliser) -> Iterator[tuple[Slot, Trace, tuple[Violation, ...]]]:
        """The violations that may have settled in this rollout, of each slot that has some.

        Raises GateError where a number in an open episode is not finite.
        """
        for slot, suspected in zip(self._slots, self._suspects(), strict=True):
            decided = self._decided_in(slot)
            if suspected is not None and suspected <= decided:
                continue
            prefix = slot.prefix()
            if not len(prefix.rewards):
                continue
            judge = penaliser.at(slot.start.stage)
            asked = {claim.id for claim in judge.claims} if suspected is None else suspected
            violations = judge.violations(prefix, asked - decided)
            broken = {violation.claim_id for violation in violations}
            kept = judge.kept(prefix, asked - decided - broken)
            self._decided[slot.slot] = slot.start.episode, decided | broken | kept
            if violations:
                yield slot, prefix, violations

    def _decided_in(self, slot: Slot) -> frozenset[str]:
        episode, decided = self._decided.get(slot.slot, (-1, frozenset[str]()))
        return decided if episode == slot.start.episode else frozenset()
