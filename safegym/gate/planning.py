"""What a certification will take, said before anything runs and without spending an attempt."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from safegym.check.statistics.ledger import AttemptLedger
from safegym.check.statistics.operating import operating
from safegym.check.statistics.planning import certification_plan
from safegym.errors import GateError
from safegym.gate.counts import Count
from safegym.gate.setting import Setting
from safegym.gate.ticket import attempt_number
from safegym.policy.base import Policy

LONG_ENOUGH: Final = 2.0
"""Seconds of episodes after which a speed is told."""
MOST_TIMED: Final = 4096


@dataclass(frozen=True, slots=True)
class Chance:
    """If an episode fails with probability `p`: how an attempt on this claim alone ends.

    shown: chance that the claim is shown within the cap; refuted: that it is refuted. episodes:
    expected until it is decided or the cap. All by exact dynamic programming. Of a conditional
    claim, among the episodes whose condition holds.
    """

    p: float
    shown: float
    refuted: float
    episodes: float


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """One claim of an attempt. threshold: on the failure probability, or on the mean.

    below: whether the claim bounds what it is about from above. level: left at this attempt.
    clean: episodes that show it when none fails (when each has the best share). allowed: most
    failures that can still pass at the cap, None for a mean.
    """

    claim_id: str
    kind: str
    below: bool
    threshold: float | None
    level: float | None
    clean: int
    allowed: int | None
    chances: tuple[Chance, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned attempt.

    attempt: the number it would get, from the ledger as it stands. clean: episodes that certify
    when none fails, for all claims together. rate: episodes per second as measured now, None where
    nothing was run. look: episodes between two looks; with more than 1 (rounds of strata) chances
    are those of looking after every episode, which a run comes close to. feasible: whether a clean
    run passes within the cap.
    """

    scenario: str
    attempt: int
    cap: int
    clean: int
    claims: tuple[ClaimPlan, ...]
    rate: float | None
    timed: int
    policy: str
    look: int = 1

    @property
    def feasible(self) -> bool:
        """Whether a clean run passes within the cap."""
        return self.clean <= self.cap

    def minutes(self, episodes: float) -> float | None:
        """How long that many episodes take at the measured speed."""
        return None if not self.rate else episodes / self.rate / 60.0

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        found = asdict(self)
        return {
            **found,
            "feasible": self.feasible,
            "minutes_when_clean": self.minutes(self.clean),
            "minutes_at_the_cap": self.minutes(self.cap),
        }


def plan_attempt(
    setting: Setting,
    ledger: AttemptLedger,
    *,
    policy: Policy | None = None,
    assumed: Sequence[float] = (),
) -> Planned:
    """The plan of the next attempt on this setting, or of `policy`'s own.

    assumed: failure probabilities at which the chance to succeed is worked out. policy: also
    timed, on a few episodes of the gate stream; None times nothing.
    Raises GateError for an assumed probability outside [0, 1].
    """
    for p in assumed:
        if not (math.isfinite(p) and 0.0 <= p <= 1.0):
            raise GateError(f"--assume {p}: give a probability in [0, 1], e.g. --assume 0.002.")
    digest = "" if policy is None else policy.card.digest
    number = attempt_number(ledger, digest, setting)
    tally = setting.tally(number)
    timed, rate = (0, None) if policy is None else measured_rate(setting, policy)
    return Planned(
        scenario=setting.spec.name,
        attempt=number,
        cap=tally.cap,
        clean=max(count.first_clean for count in tally.counts),
        claims=tuple(_claim_plan(count, tally.cap, assumed) for count in tally.counts),
        rate=rate,
        timed=timed,
        policy="" if policy is None else policy.card.name,
        look=tally.look,
    )


def _claim_plan(count: Count, cap: int, assumed: Sequence[float]) -> ClaimPlan:
    item, level = count.obligation, count.level
    allowed: int | None = None
    chances: tuple[Chance, ...] = ()
    if item.threshold is not None and level is not None and item.kind != "mean":
        allowed = certification_plan(item.threshold, level, cap=cap).violations_allowed
        found = ((p, operating(p, item.threshold, level, cap=cap)) for p in assumed)
        chances = tuple(Chance(p, o.below, o.above, o.mean_episodes) for p, o in found)
    return ClaimPlan(
        claim_id=item.claim.id,
        kind=item.kind,
        below=item.below,
        threshold=None if item.threshold is None else float(item.threshold),
        level=None if level is None else float(level),
        clean=count.first_clean,
        allowed=allowed,
        chances=chances,
    )


def measured_rate(setting: Setting, policy: Policy) -> tuple[int, float]:
    """(episodes timed, episodes per second) of recording and judging, on the gate stream.

    Making the environments is part of the first campaign and of no later one that is timed, unless
    the first takes long enough by itself.
    """
    number = min(MOST_TIMED, setting.plan.copies * setting.workers)
    while True:
        seconds = _timed(setting, policy, number)
        if seconds >= LONG_ENOUGH or number >= MOST_TIMED:
            return number, number / max(seconds, 1e-9)
        number = min(MOST_TIMED, number * 4)


def _timed(setting: Setting, policy: Policy, episodes: int) -> float:
    seed_of = setting.seeds(policy.card.digest, "gate", 0)
    begin = time.monotonic()
    with setting.campaign(policy, seed_of, episodes=episodes) as campaign:
        for index, trace in campaign:
            setting.judged(index, trace)
    return time.monotonic() - begin
