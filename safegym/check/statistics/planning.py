"""Before a run starts: what it will take, and with what chance it ends in a claim."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import SupportsIndex

from safegym.check.statistics.boundary import below_boundary
from safegym.check.statistics.eprocess import EProcess
from safegym.check.statistics.exact import (
    MOST_EPISODES,
    Probability,
    episode_count,
    finite_float,
    shown,
)
from safegym.check.statistics.operating import Operating, operating
from safegym.check.statistics.outcomes import Decision
from safegym.errors import EvidenceError

_DOUBT = 1e-12
"""More than the rounding of a sum of chances."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan promises at one assumed truth; episodes are those run.

    success: chance of the claim within the cap; refuted: of the opposite claim. mean_episodes: run
    on average, decided or not. half, most: episodes within which half, nine in ten, of all runs
    have shown the claim; None where so many never do within the cap. truth: what is assumed, in
    words, where that is not p itself.
    """

    p: float
    success: float
    refuted: float
    mean_episodes: float
    half: int | None
    most: int | None
    truth: str = ""

    @property
    def assumed(self) -> str:
        """The assumed truth in words."""
        return self.truth or f"p = {_number(self.p)}"

    @property
    def success_shown(self) -> str:
        """The chance of the claim, rounded down: 1 only where it is certain."""
        certain = self.p == 0.0 and self.success == 1.0
        return shown(1.0 if certain else max(0.0, self.success - _DOUBT), 3, up=False)


@dataclass(frozen=True, slots=True)
class CertificationPlan:
    """What a certification attempt will take, said before it starts.

    level: a_j, the level left at this attempt. episodes_when_clean: counted episodes needed without
    a violation. violations_allowed: most violations (undecided included) that can still pass at the
    cap (of its share that meets the condition, on average), -1 if the cap is too small for any.
    power: (assumed p, probability of passing in the cap).
    share: of the episodes, how many meet the claim's condition. seconds: of one episode, None where
    not known. subject: the claim in words. outlooks: one an assumed truth.
    """

    threshold: float
    level: float
    cap: int
    episodes_when_clean: int
    violations_allowed: int
    power: tuple[tuple[float, float], ...]
    share: float = 1.0
    seconds: float | None = None
    subject: str = ""
    outlooks: tuple[Outlook, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether a clean run passes within the cap."""
        return self.violations_allowed >= 0

    @property
    def runs_when_clean(self) -> int:
        """Episodes to run for a clean pass: at a share below 1 about so many, on average."""
        return math.ceil(self.episodes_when_clean / self.share)

    def text(self) -> str:
        """One line for the screen and the log."""
        name = self.subject or f"p < {_number(self.threshold)}"
        level = shown(self.level, 4, up=True)
        head = f"{name} at level {level}: {self.episodes_when_clean} episodes when none fails"
        if self.share < 1.0:
            head += f" among those that meet the condition, about {self.runs_when_clean} to run"
        if self.seconds is not None:
            head += f" ({duration(self.runs_when_clean * self.seconds)})"
        if not self.feasible:
            return f"{head}; the cap of {self.cap} is too small: no run can pass"
        chances = "".join(f"; {self._chance(outlook)}" for outlook in self.outlooks)
        return (
            f"{head}, at most {self.violations_allowed} failures in the cap of {self.cap}{chances}"
        )

    def _chance(self, outlook: Outlook) -> str:
        text = f"passes with {outlook.success_shown} if {outlook.assumed}"
        if outlook.half is not None:
            text += f", half of the runs within {self._cost(outlook.half)}"
        if outlook.most is not None:
            text += f", nine in ten within {self._cost(outlook.most)}"
        return text

    def _cost(self, episodes: int) -> str:
        if self.seconds is None:
            return f"{episodes} episodes"
        return f"{episodes} episodes ({duration(episodes * self.seconds)})"


def certification_plan(
    threshold: Probability,
    level: Probability,
    *,
    cap: SupportsIndex,
    assumed: Sequence[float] = (),
    share: float = 1.0,
    seconds: float | None = None,
    subject: str = "",
) -> CertificationPlan:
    """The plan of one claim's attempt at its spent level, exact at each assumed p.

    share: of episodes that meet the condition of a conditional claim (`operating`). seconds: wall
    time of one episode at today's speed. Raises EvidenceError for bad arguments; a cap too small
    to pass is told by `feasible`.
    """
    episodes = episode_count(cap, "cap")
    null, allowed = EProcess.checked(threshold, level)
    if seconds is not None and finite_float(seconds, "seconds") < 0.0:
        raise EvidenceError(f"seconds = {seconds} of one episode must be >= 0.")
    runs = [(p, operating(p, threshold, level, cap=episodes, share=share)) for p in assumed]
    if not runs:
        operating(0.0, threshold, level, cap=0, share=share)  # refuses a bad share as with any p
    boundary = below_boundary(null, allowed)
    if boundary.episodes_needed(0) / MOST_EPISODES > share:
        raise EvidenceError(
            f"share = {share}: no number of episodes that can be run would decide the claim; write "
            "for example share=0.3."
        )
    return CertificationPlan(
        threshold=float(threshold),
        level=float(level),
        cap=episodes,
        episodes_when_clean=boundary.episodes_needed(0),
        violations_allowed=boundary.kmax(math.floor(episodes * share)),
        power=tuple((p, run.below) for p, run in runs),
        share=float(share),
        seconds=seconds,
        subject=subject,
        outlooks=tuple(_outlook(p, run) for p, run in runs),
    )


def mean_plan(
    threshold: float | Fraction,
    level: Probability,
    *,
    cap: SupportsIndex,
    claim: Decision = "below",
    low: float = 0.0,
    high: float = 1.0,
    assumed: Sequence[float] = (),
    seconds: float | None = None,
) -> CertificationPlan:
    """The plan of a claim about a bounded mean, for values that lie at either end of the range.

    The chances are exact for such values. Values in between with the same mean let the wealth grow
    faster on average (its logarithm is concave in the value), so in general fewer episodes are
    needed. threshold and assumed means are in the unit of x, and named so in the text; in
    `outlooks` and `power` p is the share of episodes at the worse end, of which a failure is one.
    Raises EvidenceError as `MeanEProcess` does, or for an assumed mean outside the range.
    """
    start, end = (Fraction(finite_float(x, n)) for x, n in ((low, "low"), (high, "high")))
    exact = (
        threshold
        if isinstance(threshold, Fraction)
        else Fraction(finite_float(threshold, "threshold"))
    )
    if claim not in ("below", "above") or not start < exact < end:
        raise EvidenceError(
            f"threshold = {threshold}, claim = {claim!r}: the threshold lies strictly inside the "
            f"declared range [{low}, {high}] and claim is 'below' or 'above'."
        )

    def worse(mean: Fraction) -> Fraction:
        return (mean - start if claim == "below" else end - mean) / (end - start)

    means = [finite_float(mean, "mean") for mean in assumed]
    if any(not start <= mean <= end for mean in means):
        raise EvidenceError(f"The assumed means {means} must lie in the range [{low}, {high}].")
    sign = "<" if claim == "below" else ">"
    plan = certification_plan(
        worse(exact),
        level,
        cap=cap,
        assumed=[float(worse(Fraction(mean))) for mean in means],
        seconds=seconds,
        subject=f"mean {sign} {_number(float(exact))}",
    )
    outlooks = tuple(
        replace(outlook, truth=f"mean = {_number(mean)}")
        for outlook, mean in zip(plan.outlooks, means, strict=True)
    )
    return replace(plan, outlooks=outlooks)


def joint_power(powers: Sequence[float]) -> tuple[float, float]:
    """(at least, at most): the chance that all claims pass, however they depend on each other.

    1 - sum(1 - power) (Bonferroni; 0 if that is negative) and the least of them.
    Raises EvidenceError when there is none, or for what is no chance in [0, 1].
    """
    chances = [finite_float(power, "power") for power in powers]
    if not chances or not all(0.0 <= chance <= 1.0 + _DOUBT for chance in chances):
        raise EvidenceError(
            f"A joint chance needs that of at least one claim, each in [0, 1], got {chances}."
        )
    missing = math.fsum(1.0 - chance for chance in chances)
    return min(1.0, max(0.0, 1.0 - missing - _DOUBT)), min(1.0, *chances)


def plan_text(plans: Mapping[str, CertificationPlan]) -> str:
    """A line a claim (its name in front), and one on all together where there are several.

    Attempts run until every claim is decided, so together they take at least as many episodes as
    the claim that needs most. The joint chance pairs the first assumed p of all claims, the second
    of all, and so on.
    """
    if not plans:
        raise EvidenceError("A plan needs at least one claim.")
    lines = [f"{name}: {plan.text()}" for name, plan in plans.items()]
    if len(plans) > 1:
        clean = max(plan.runs_when_clean for plan in plans.values())
        short = [name for name, plan in plans.items() if not plan.feasible]
        rest = f"; no run can pass: the cap is too small for {', '.join(short)}"
        rest = rest if short else _together(plans)
        lines.append(f"all {len(plans)} claims: {clean} episodes when none fails{rest}")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """A wall time to two digits: "45 s", "3.2 min", "1.4 h", "2.6 days"."""
    for size, unit in ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds)} s"


def _number(value: float) -> str:
    """Six digits where they are the number, else all of them."""
    short = f"{value:.6g}"
    return short if float(short) == value else repr(float(value))


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def _together(plans: Mapping[str, CertificationPlan]) -> str:
    text = ""
    for outlooks in zip(*(plan.outlooks for plan in plans.values()), strict=False):
        least, most = joint_power([outlook.success for outlook in outlooks])
        truth = ", ".join(_number(outlook.p) for outlook in outlooks)
        truth = f"p = {truth}"
        if any(outlook.truth for outlook in outlooks):
            truth = ", ".join(outlook.assumed for outlook in outlooks)
        text += (
            f"; at {truth} all pass with at least {shown(least, 3, up=False)} (1 - the sum of "
            f"the misses, however claims depend on each other), at most {shown(most, 3, up=True)}"
        )
    return text


def _outlook(p: float, run: Operating) -> Outlook:
    return Outlook(
        p=p,
        success=run.below,
        refuted=run.above,
        mean_episodes=run.mean_episodes,
        half=run.quantile_below(0.5),
        most=run.quantile_below(0.9),
    )
