"""Questions about several claims: do they fit, which set does not, and is one implied by others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from safegym.check.symbolic.asking import Asker, Wanted
from safegym.check.symbolic.finding import NO_TIME, Finding
from safegym.check.symbolic.mixture import Fit, Mixtures, asked_of
from safegym.formula.claim import Claim
from safegym.trace.model import Trace

TOGETHER = "can hold together"
ADDS = "adds to the others"
UNKNOWN = Fit("unknown")
MOST_CONFLICTS = 5
"""Most sets that are named."""


@dataclass
class Together:
    """Claims that were asked about one by one, and now all at once."""

    claims: Sequence[Claim]
    asker: Asker
    mixtures: Mixtures

    def findings(self) -> Iterator[Finding]:
        """Yields sets that cannot hold together, disjoint and minimal, or that all can."""
        left = list(range(len(self.claims)))
        for _ in range(MOST_CONFLICTS):
            whole = self.fits(left)
            if whole.word != "unsat":
                if len(left) == len(self.claims):
                    yield self._fitting(left, whole)
                return
            core, sure = self.minimal(list(whole.claims or left))
            yield self._conflict(core, sure)
            left = [number for number in left if number not in core]
            if len(left) < 2:
                return

    def adding(self) -> Iterator[Finding]:
        """Yields, for each claim, whether it says anything that the others do not."""
        for number, claim in enumerate(self.claims):
            rest = [other for other in range(len(self.claims)) if other != number]
            found, trace = self._beyond(rest, number)
            if found == "sat":
                yield Finding(ADDS, (claim.id,), "ok", "yes", "the others do not imply it", trace)
            elif found == "unsat":
                yield self._implied(rest, number)
            else:
                yield Finding(ADDS, (claim.id,), "unknown", NO_TIME)

    def fits(self, chosen: Sequence[int]) -> "Found":
        """Whether the chosen claims can all be true: on one trace, else over episodes."""
        answer = self.asker.ask(TOGETHER, self._kept(chosen))
        if answer.word == "sat":
            return Found("sat", trace=answer.trace, note=answer.note)
        if answer.word != "unsat" or self._plain(chosen):
            return Found(answer.word)
        fit = self.mixtures.fit(chosen)
        return Found(fit.word, claims=fit.claims, fit=fit)

    def minimal(self, chosen: list[int]) -> tuple[list[int], bool]:
        """A conflicting set of which none may be left out; False where time ran out for one."""
        return shrunk(chosen, lambda rest: self.fits(rest).word)

    def _beyond(self, rest: Sequence[int], number: int) -> tuple[str, Trace | None]:
        """Whether the rest can hold while the claim does not."""
        claim = self.claims[number]
        wanted: list[Wanted] = [*self._kept(rest), (claim.property, claim, False)]
        answer = self.asker.ask(f"{ADDS} {claim.id}", wanted)
        if self._plain([*rest, number]) or answer.word == "unknown":
            return answer.word, answer.trace
        fit = self.mixtures.fit(rest, negated=number)
        return fit.word, answer.trace

    def _implied(self, rest: list[int], number: int) -> Finding:
        few, sure = shrunk(rest, lambda some: self._beyond(some, number)[0])
        claim = self.claims[number]
        if not few:
            return Finding(ADDS, (claim.id,), "ok", "warning", "it holds whatever happens")
        names = ", ".join(self.claims[other].id for other in few)
        least = "" if sure else " (perhaps fewer of them)"
        return Finding(ADDS, (claim.id,), "ok", "warning", f"it is implied by {names}{least}")

    def _plain(self, chosen: Sequence[int]) -> bool:
        return all(self.claims[number].kind == "trace" for number in chosen)

    def _kept(self, chosen: Sequence[int]) -> list[Wanted]:
        """Asks for an episode that counts for every claim, and keeps each one's property."""
        asked = asked_of([self.claims[number] for number in chosen])
        return [(formula, claim, True) for formula, claim in asked]

    def _fitting(self, chosen: Sequence[int], found: "Found") -> Finding:
        ids = tuple(self.claims[number].id for number in chosen)
        if found.word == "unknown":
            return Finding(TOGETHER, ids, "unknown", NO_TIME)
        if found.trace is not None:
            return Finding(TOGETHER, ids, "ok", "yes", found.note or "witness found", found.trace)
        shares = " + ".join(_percent(weight) for weight, _ in found.fit.weights)
        detail = (
            "no episode satisfies all of these, but the probabilities can be met: by "
            f"{len(found.fit.weights)} kinds of episodes, {shares}"
        )
        return Finding(TOGETHER, ids, "ok", "yes", detail)

    def _conflict(self, core: Sequence[int], sure: bool) -> Finding:
        ids = tuple(self.claims[number].id for number in core)
        detail = "no trace satisfies all of these"
        if not self._plain(core):
            detail = "no episode satisfies all of these, nor can the probabilities be met"
        if len(core) > 1 and sure:
            detail += "; without any one of them the rest can hold"
        return Finding(TOGETHER, ids, "flawed", "no", detail)


@dataclass(frozen=True, slots=True)
class Found:
    """Whether claims fit; the trace or the mixture that shows it, or the claims that do not."""

    word: str
    trace: Trace | None = None
    note: str = ""
    claims: tuple[int, ...] = ()
    fit: Fit = UNKNOWN


def shrunk(chosen: list[int], word_of: Callable[[list[int]], str]) -> tuple[list[int], bool]:
    """A part of `chosen` that is still "unsat", without any of which it is not.

    False where that was not found out in time for some of them, which then stay in.
    """
    kept, sure = list(chosen), True
    for number in chosen:
        rest = [other for other in kept if other != number]
        word = word_of(rest)
        if word == "unsat":
            kept = rest
        elif word != "sat":
            sure = False
    return kept, sure


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g} %"
