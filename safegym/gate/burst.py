"""A falsification burst: a short search for counterexamples of a policy that passed its screen.

Finds go to the replay bank before certification is tried, as far as their claims are penalised,
and their seeds are burnt. They say nothing about a probability, so certification goes on, except
where an invariant was violated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from safegym.check.falsify import Falsification, Progress
from safegym.check.falsify import falsify as search
from safegym.errors import ScenarioError
from safegym.formula.claim import Claim
from safegym.gate.attempt import Certifier
from safegym.gate.burst_settings import BurstSettings
from safegym.gate.checks import Checked
from safegym.gate.counterexample import Counterexample
from safegym.gate.events import BurstDone, EpisodeJudged
from safegym.gate.falsifying import counterexample
from safegym.gate.from_starts import book_of, run_from
from safegym.gate.judging import Judged, Reference
from safegym.gate.obligation import Obligation
from safegym.gate.suite import Begun, episodes_of
from safegym.policy.base import Policy
from safegym.scenario.seeds import seed_entropy

STREAM = "burst"
METHOD = "corners, random, then guided by margins"
_MARK = 0x42555253


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search on one claim gave: its own result, or why there was none."""

    item: Obligation
    budget: int
    seed: int
    result: Falsification | None
    why_not: str = ""

    @property
    def starts(self) -> tuple[Counterexample, ...]:
        """The finds' starts, under the gated claim's own id."""
        finds = () if self.result is None else self.result.finds
        name = self.item.claim.id
        return tuple(replace(counterexample(find), claim_id=name) for find in finds)


@dataclass(slots=True)
class BurstCheck:
    """Searches a policy for counterexamples, banks them, and lets certification go on."""

    certifier: Certifier
    settings: BurstSettings
    _known: dict[tuple[str, int], Checked] = field(default_factory=dict[tuple[str, int], Checked])

    def check(self, policy: Policy, epoch: int) -> Checked:
        """Search, run what was found again for the record, and burn its seeds."""
        key = policy.card.digest, epoch
        if key not in self._known:
            self._known = {**self._known, key: self._checked(policy, epoch)}
        return self._known[key]

    @property
    def searched(self) -> tuple[Obligation, ...]:
        """The obligations that a burst searches."""
        asked = self.settings.claims
        return tuple(
            item
            for item in self.certifier.setting.obligations
            if item.kind != "mean" and (not asked or item.claim.id in asked)
        )

    def _checked(self, policy: Policy, epoch: int) -> Checked:
        certifier, digest = self.certifier, policy.card.digest
        found = [
            self._search(policy, epoch, item, budget, number)
            for number, (item, budget) in enumerate(self._budgets())
            if budget
        ]
        starts = [start for each in found for start in each.starts]
        certifier.ledger.burn(start.seed for start in starts)
        book = book_of(certifier.log, certifier.folder, certifier.setting, digest, epoch, STREAM)
        begun = episodes_of(starts)
        judged = run_from(
            certifier.setting,
            policy,
            begun,
            origin="falsify",
            book=book,
            listener=certifier.listener,
        )
        shown = _shown(begun, judged)
        written = self._logged(digest, epoch, found, shown, book.references)
        finds = {each.item.claim.id: len(_again(each, shown)) for each in found}
        spent = sum(0 if each.result is None else each.result.episodes for each in found)
        certifier.listener(BurstDone(epoch, digest, spent, finds))
        held = [i.claim.id for i in self.searched if finds.get(i.claim.id) and self._holds(i)]
        failing = tuple(one for one in judged if one.violated)
        return Checked(not held, _reasons(finds, held), failing, written)

    def _budgets(self) -> list[tuple[Obligation, int]]:
        """Each obligation with its part of the budget; the first ones take what is left over."""
        items = self.searched
        part, rest = divmod(self.settings.budget, max(1, len(items)))
        return [(item, part + (number < rest)) for number, item in enumerate(items)]

    def _holds(self, item: Obligation) -> bool:
        holds = self.settings.holds
        return holds == "any" or (holds == "invariants" and item.threshold is None)

    def _search(
        self, policy: Policy, epoch: int, item: Obligation, budget: int, number: int
    ) -> Searched:
        setting = self.certifier.setting
        seed = search_seed(
            setting.plan.seed, policy.card.digest, setting.spec.digest, epoch, number
        )

        def hear(progress: Progress) -> None:
            self.certifier.listener(
                EpisodeJudged(STREAM, progress.episodes, progress.budget, progress.finds, 0)
            )

        try:
            result = search(
                setting.spec,
                policy,
                _apart(item.claim, setting.spec.claims),
                budget=budget,
                seed=seed,
                faults=self.settings.faults,
                keep_going=True,
                workers=setting.workers,
                episode_seconds=setting.episode_seconds,
                listener=hear,
            )
        except ScenarioError as error:
            return Searched(item, budget, seed, None, str(error))
        return Searched(item, budget, seed, result)

    def _logged(
        self,
        digest: str,
        epoch: int,
        found: Sequence[Searched],
        shown: Mapping[str, Judged],
        verdicts: Mapping[str, list[Reference]],
    ) -> tuple[Reference, ...]:
        log = self.certifier.log
        if log is None:
            return ()
        written: list[Reference] = []
        for each in found:
            claim, result = each.item.claim, each.result
            again = _again(each, shown)
            payload = {
                "claim_id": claim.id,
                "claim_digest": claim.digest,
                "policy": digest,
                "scenario": self.certifier.setting.spec.digest,
                "method": METHOD,
                "budget": each.budget,
                "found": bool(again),
                "epoch": epoch,
                "episodes": 0 if result is None else result.episodes,
                "undecided": 0 if result is None else result.undecided,
                "faults": self.settings.faults,
                "seed": str(each.seed),
                "finds": [_find_json(start, shown[start.key]) for start in again],
                "unrepeated": len(each.starts) - len(again),
                "notes": [each.why_not] if result is None else list(result.notes),
                "rests_on": verdicts.get(claim.id, []) if again else [],
            }
            written.append(log.append("falsification", payload).reference())
        return tuple(written)


def search_seed(root: int, policy: str, scenario: str, epoch: int, number: int) -> int:
    """Seed of a burst's search on its claim `number`: follows from digests, in [0, 2**53)."""
    entropy = seed_entropy(root, policy, scenario, STREAM)
    sequence = np.random.SeedSequence(entropy=entropy, spawn_key=(_MARK, epoch, number))
    return int(sequence.generate_state(1, np.uint64)[0]) >> 11


def _apart(claim: Claim, theirs: Sequence[Claim]) -> Claim:
    """The claim, under an id of its own where the scenario has another claim of the same id."""
    namesake = any(each.id == claim.id and each.digest != claim.digest for each in theirs)
    return replace(claim, id=f"gate.{claim.id}") if namesake else claim


def _shown(begun: Sequence[Begun], judged: Sequence[Judged]) -> dict[str, Judged]:
    """Key of a start -> its episode, where that violates the start's claim again."""
    shown: dict[str, Judged] = {}
    for each, found in zip(begun, judged, strict=True):
        violated = {v.claim_id for v in found.verdicts if v.status == "violated"}
        shown |= {start.key: found for start in each.starts if start.claim_id in violated}
    return shown


def _again(found: Searched, shown: Mapping[str, Judged]) -> tuple[Counterexample, ...]:
    """The finds that were violations when they were run again for the record."""
    return tuple(start for start in found.starts if start.key in shown)


def _find_json(start: Counterexample, found: Judged) -> dict[str, Any]:
    return {
        "seed": str(start.seed),
        "options": dict(start.options),
        "episode": found.index,
        "trace": found.trace.digest,
    }


def _reasons(finds: Mapping[str, int], held: Sequence[str]) -> tuple[str, ...]:
    told = tuple(
        f"falsification burst: {count} counterexample{'s' if count > 1 else ''} to {claim}"
        for claim, count in finds.items()
        if count
    )
    if not held:
        return told
    return (*told, f"held for a violation of {', '.join(held)}, which no attempt could excuse")
