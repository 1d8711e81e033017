"""What was found out: about one trace (`Verdict`), and about many or a model (`Evidence`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import Any, Literal, Protocol

from safegym.errors import UnsupportedError
from safegym.trace.model import Trace

Status = Literal["satisfied", "violated", "inconclusive"]
EvidenceKind = Literal["proved", "estimated", "observed"]
Validity = Literal["exact", "fixed_n", "anytime", "asymptotic"]


@dataclass(frozen=True, slots=True)
class Robustness:
    """Robustness interval [lo, hi] of an episode property, in multiples of the atoms' scale.

    `time` is the time in seconds of the deciding sample, None where nothing decides.
    lo == hi when the episode settles the value. lo > 0 implies satisfied, hi < 0 violated.
    """

    lo: float
    hi: float
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Witness:
    """Why a verdict came out as it did.

    time: seconds of the deciding sample; step: its index; subformula: canonical text of the
    deciding atom; values: raw signal values there, in each signal's unit; margin: raw (unscaled)
    margin; chain: canonical texts of the subformulas from the root down to the atom.
    """

    time: float
    step: int
    subformula: str
    values: Mapping[str, float | tuple[float, ...]]
    margin: float
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Obligation:
    """A duty that fell due and was not met, or that was still open when the episode ended.

    time, step: when its condition held; condition, duty: canonical texts, as written. deadline:
    seconds by which the duty's outermost window ends (`time` itself for a duty at once), None for
    one without a bound. nearest: what came nearest to meeting it, None where nothing of it was
    seen.
    """

    time: float
    step: int
    condition: str
    duty: str
    deadline: float | None
    nearest: Witness | None


class Explanation(Protocol):
    """Why a verdict came out as it did, in words and as a picture."""

    @property
    def words(self) -> str:
        """A paragraph in plain English; also what `str()` gives."""
        ...

    @property
    def svg(self) -> str:
        """The picture: one SVG element, with nothing outside it needed."""
        ...

    def save(self, path: str | Path) -> None:
        """Write the picture (.svg, or .png with matplotlib) or the words (.txt)."""
        ...

    def plot(self, ax: Any = None) -> tuple[Any, ...]:
        """Draw with matplotlib; returns the axes."""
        ...


class Explainer(Protocol):
    """What a verdict keeps to explain itself: its subject, and its trace if that was kept."""

    def __call__(self, verdict: "Verdict", trace: Trace | None, /) -> Explanation:
        """Returns the explanation. Raises UnsupportedError without any trace."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of ONE trace on one claim's episode property.

    robustness is None where margins are refused (mixed units without scales); `notes` says so,
    and says when a limit was touched exactly. obligations: the implications through which a
    violation came about, from the outermost in; of an inconclusive verdict, those still open.
    condition: of a claim `prob(f, given=B)`, whether B held: violated, the episode does not count;
    inconclusive, it may not. None for any other claim. explainer: takes no part in equality.
    """

    claim_id: str
    status: Status
    robustness: Robustness | None
    witness: Witness | None
    trace_digest: str
    notes: tuple[str, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    condition: Status | None = None
    explainer: Explainer | None = field(default=None, compare=False, repr=False)

    def explain(self, trace: Trace | None = None) -> Explanation:
        """Returns why, in words (`str()`) and as a picture (`.svg`, `.plot()`, `.save(path)`).

        trace: the one that was judged; not needed where `safegym.check` gave this verdict, which
        keeps it. Raises TraceError for another trace, UnsupportedError where something is missing.
        """
        if self.explainer is None:
            raise UnsupportedError(
                "This verdict does not hold what it judged; write "
                "safegym.check(claim, trace).explain()."
            )
        return self.explainer(self, trace)

    def __bool__(self) -> bool:
        raise TypeError(
            "A verdict has three values, so `if verdict:` is not defined. "
            'Write `if verdict.status == "satisfied":`.'
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """What ONE episode gives to a claim about a mean: its share of samples, in [lo, hi].

    Each end is rounded outward to binary64, so that the exact share is never outside: where no
    sample is open, lo and hi are equal or neighbours.
    """

    claim_id: str
    lo: float
    hi: float
    trace_digest: str


@dataclass(frozen=True, slots=True)
class Support:
    """A backend's answer, before any work, to whether it can judge a formula.

    tight: False where interval answers enclose the exact value without always reaching it.
    """

    ok: bool
    reason: str = ""
    subformula: str = ""
    tight: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one claim from many traces, or from a model.

    kind: observed, estimated or proved; the three never merge.
    status: satisfied (claim shown), violated (claim refuted), inconclusive (neither).
    bound: one-sided limit on the claimed quantity that holds at `confidence`, on the side that was
    shown (the refuting one for a violated claim); None if none holds.
    side: whether `bound` lies above ("upper": a claim p < c) or below the claimed quantity.
    confidence, level: 1 - level, the error level after spending; None for what was only observed.
    episodes, violations, undecided: counts inside the evidence; surplus: episodes started beyond
    the decision, logged apart. attempt: number of the certification attempt, from 1 (0: none).
    skipped, doubtful: of a claim under a condition, episodes without it and those that may be
    without it; neither is in `episodes`. average: of a claim about a mean, the lowest and highest
    mean that the episodes leave open. joint: what may be said of this and the attempt's other
    estimates together. strata: observed counts by stratum ({"name", "weight", "episodes", ...}).
    """

    claim_id: str
    claim_digest: str
    kind: EvidenceKind
    status: Status
    threshold: float | None
    bound: float | None
    confidence: float | None
    level: float | None
    episodes: int
    violations: int
    undecided: int
    surplus: int
    attempt: int
    validity: Validity
    method: str
    assumptions: tuple[str, ...] = ()
    trace_root: str = ""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    side: Literal["upper", "lower"] | None = None
    skipped: int = 0
    doubtful: int = 0
    average: tuple[float, float] | None = None
    joint: str = ""
    strata: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of_proof(
        cls,
        claim_id: str,
        claim_digest: str,
        status: Status,
        *,
        method: str,
        assumptions: tuple[str, ...],
        versions: Mapping[str, str] | None = None,
    ) -> "Evidence":
        """Evidence of kind "proved", which no episodes and no confidence go into."""
        return cls(
            claim_id=claim_id or "formula",
            claim_digest=claim_digest,
            kind="proved",
            status=status,
            threshold=None,
            bound=None,
            confidence=None,
            level=None,
            episodes=0,
            violations=0,
            undecided=0,
            surplus=0,
            attempt=0,
            validity="exact",
            method=method,
            assumptions=assumptions,
            versions=versions or {},
        )

    def __str__(self) -> str:
        """One line; limits rounded outward, the confidence down."""
        if self.kind == "proved" and not self.episodes:
            shown = {"satisfied": "proved", "violated": "refuted", "inconclusive": "not proved"}
            return f"{self.claim_id}: {self.status}, {shown[self.status]}; {self.method}"
        counted = f"{self.violations} violated and {self.undecided} undecided of {self.episodes}"
        head = f"{self.claim_id}: {self.status}, {self.kind}"
        if self.confidence is not None:
            head += f" at confidence {_outward(self.confidence, up=False)}"
        if self.bound is not None:
            upper = self.side == "upper"
            head += f", {'at most' if upper else 'at least'} {_outward(self.bound, up=upper)}"
        return f"{head}; {counted} episodes"

    def __bool__(self) -> bool:
        raise TypeError(
            "Evidence has three values, so `if evidence:` is not defined. "
            'Write `if evidence.status == "satisfied":`.'
        )


def _outward(value: float, *, up: bool) -> str:
    """Four significant digits, rounded up or down."""
    context = Context(prec=4, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal(Decimal(value)).normalize():f}"
