"""What an estimate of a rare event says, and how far it may be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from safegym.check.statistics.exact import outward
from safegym.errors import EvidenceError
from safegym.verdict import Evidence, Validity

Method = Literal["splitting", "importance", "subset"]
WARNING = "estimated, asymptotic; not a certificate"
NAMES: Mapping[Method, str] = {
    "splitting": "adaptive multilevel splitting",
    "importance": "cross-entropy importance sampling",
    "subset": "subset simulation",
}


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """Limits on the failure probability from weighted failures whose weight has a proven bound.

    lo, hi: each holds at every peek with error at most `level`. largest: the bound on a weight,
    1/alpha for a proposal that draws from the declared law with probability alpha. episodes: how
    many weighted episodes they rest on. The law they speak of is the declared one.
    """

    lo: float
    hi: float
    level: float
    largest: float
    episodes: int
    validity: Literal["anytime"] = "anytime"

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON value."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __str__(self) -> str:
        return (
            f"weights at most {self.largest:g} (proven): failure probability in "
            f"[{outward(self.lo, up=False)}, {outward(self.hi, up=True)}], each end at level "
            f"{self.level:g}, valid at every peek, {self.episodes} weighted episodes"
        )


@dataclass(frozen=True, slots=True)
class RareEstimate:
    """An estimate of the probability that an episode breaks a claim's property.

    estimate: the mean of `replicates`, which are independent. interval: where it may lie, from
    their scatter alone (`interval_method` says how); an upper end of 1.0 means that there is
    none. validity: always "asymptotic". threshold: the claim's own, on the failure probability.
    episodes, steps: simulated in all. hits: failing paths that the estimate rests on; undecided:
    those among them that only were cut off. bounded: limits of another kind, where the weight of
    each episode has a proven bound; None elsewhere. diagnostics: numbers that tell a bad run.
    """

    claim_id: str
    claim_digest: str
    scenario_digest: str
    policy_digest: str
    method: Method
    estimate: float
    interval: tuple[float, float]
    confidence: float
    replicates: tuple[float, ...]
    episodes: int
    steps: int
    hits: int
    undecided: int
    threshold: float | None
    interval_method: str
    assumptions: tuple[str, ...]
    diagnostics: Mapping[str, float] = field(default_factory=dict[str, float])
    bounded: WeightedMean | None = None
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    validity: Validity = "asymptotic"

    def __post_init__(self) -> None:
        if self.validity != "asymptotic":
            raise EvidenceError(
                f"An estimate of a rare event is asymptotic, not {self.validity!r}; limits that "
                "hold are in `bounded`."
            )

    @property
    def without_hit(self) -> int:
        """Replicates that saw no failure."""
        return sum(value == 0.0 for value in self.replicates)

    @property
    def has_upper_limit(self) -> bool:
        """Whether the interval says anything about large probabilities."""
        return self.interval[1] < 1.0

    def __str__(self) -> str:
        lines = [
            f"{self.claim_id}: {self._told()} ({WARNING})",
            self._limits(),
            f"{NAMES[self.method]}, {self.episodes} paths, {self.steps} steps, {self.hits} failing",
        ]
        lines += [f"assumes {text}" for text in self.assumptions]
        if self.diagnostics:
            told = ", ".join(f"{name} {value:.3g}" for name, value in self.diagnostics.items())
            lines.append(f"diagnostics: {told}")
        if self.bounded is not None:
            lines.append(str(self.bounded))
        return "\n".join(lines)

    def _told(self) -> str:
        if self.estimate == 0.0:
            return "no failure was met, which estimates nothing"
        return f"failure probability about {self.estimate:.3g}"

    def _limits(self) -> str:
        lo, hi = (outward(end, up=up) for end, up in zip(self.interval, (False, True), strict=True))
        count, none = len(self.replicates), self.without_hit
        share = f"{100 * self.confidence:g} %"
        if none == count:
            return f"no limit: none of {count} replicates had a hit, and that bounds nothing"
        if len(set(self.replicates)) == 1:
            return f"no limits: all {count} replicates say the same ({self.interval_method})"
        if none:
            return (
                f"{share} lower limit {lo}, no upper limit: {none} of {count} replicates had "
                f"no hit ({self.interval_method})"
            )
        return f"{share} interval [{lo}, {hi}] ({count} replicates; {self.interval_method})"

    def evidence(self) -> Evidence:
        """The estimate as evidence: never satisfied or violated, without a bound that holds.

        Its validity is "asymptotic" whatever else was found, so no gate takes it.
        """
        return Evidence(
            claim_id=self.claim_id,
            claim_digest=self.claim_digest,
            kind="estimated",
            status="inconclusive",
            threshold=self.threshold,
            bound=None,
            confidence=None,
            level=None,
            episodes=self.episodes,
            violations=self.hits - self.undecided,
            undecided=self.undecided,
            surplus=0,
            attempt=0,
            validity="asymptotic",
            method=f"{NAMES[self.method]}: {self._limits()}; {WARNING}",
            assumptions=self.assumptions,
            versions=self.versions,
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON value."""
        return {
            "type": "safegym.rare-estimate",
            "claim": {"id": self.claim_id, "digest": self.claim_digest},
            "scenario": self.scenario_digest,
            "policy": self.policy_digest,
            "method": self.method,
            "estimate": self.estimate,
            "interval": list(self.interval),
            "interval_method": self.interval_method,
            "confidence": self.confidence,
            "replicates": list(self.replicates),
            "validity": self.validity,
            "episodes": self.episodes,
            "steps": self.steps,
            "hits": self.hits,
            "undecided": self.undecided,
            "threshold": self.threshold,
            "bounded": None if self.bounded is None else self.bounded.to_json(),
            "versions": dict(self.versions),
            "assumptions": list(self.assumptions),
            "diagnostics": dict(self.diagnostics),
            "warning": WARNING,
        }

    def __bool__(self) -> bool:
        raise TypeError("An estimate is no verdict; read .estimate and .interval.")
