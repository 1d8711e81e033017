"""The plan of a gate: everything that is fixed before the first episode."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from safegym.digest import digest_json
from safegym.errors import GateError
from safegym.formula.claim import Claim

LARGEST_SEED = 2**53 - 1


@dataclass(frozen=True, slots=True)
class GatePlan:
    """How a run is screened and certified. Fixed, logged and digested before epoch 0.

    gate_every: environment steps an epoch. screen_every: epochs between screens. first_screen: the
    first epoch that is screened, so that no attempt is spent on a policy that hardly trained.
    screen_episodes: episodes of one screen; a screen makes no claim.
    cap: most episodes of one certification attempt. attempts: most attempts of one run.
    level: error level for claims without a confidence of their own (may not loosen theirs).
    lift: trace-level claims become `prob(phi) >= lift`; None leaves them invariants, which are
    observed and never certified.
    verification_threshold: failure probability above which a policy counts as degraded, as a
    multiple of the claim's own threshold. patience: degraded screens in a row before a stop.
    keep_best: screened checkpoints kept for certification.
    seed: root of the evidence streams. copies: environments stepped together; no result depends
    on it.
    """

    gate_every: int = 20_480
    screen_every: int = 1
    first_screen: int = 1
    screen_episodes: int = 200
    cap: int = 2_000
    attempts: int = 5
    level: float = 0.05
    lift: float | None = None
    verification_threshold: float = 4.0
    patience: int = 5
    keep_best: int = 3
    seed: int = 0
    copies: int = 64

    def __post_init__(self) -> None:
        positive = (
            "gate_every",
            "screen_every",
            "first_screen",
            "screen_episodes",
            "cap",
            "attempts",
        )
        for name in (*positive, "patience", "keep_best", "copies"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise GateError(f"GatePlan({name}={value!r}): give a whole number of at least 1.")
        seed: Any = self.seed
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise GateError(
                f"GatePlan(seed={seed!r}): give a whole number of at least 0 and at most "
                f"{LARGEST_SEED} (2**53 - 1), which canonical JSON holds exactly."
            )
        if not 0.0 < self.level < 1.0:
            raise GateError(f"GatePlan(level={self.level!r}): give an error level inside (0, 1).")
        if self.lift is not None and not 0.0 < self.lift < 1.0:
            raise GateError(
                f"GatePlan(lift={self.lift!r}): give a probability inside (0, 1), e.g. lift=0.99, "
                "or None to keep trace-level claims as observed invariants."
            )
        if not self.verification_threshold >= 1.0:
            raise GateError(
                f"GatePlan(verification_threshold={self.verification_threshold!r}): it multiplies "
                "each claim's threshold; give at least 1."
            )

    def to_json(self) -> dict[str, Any]:
        """All fields, for the log."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "GatePlan":
        """The plan of `to_json`. Raises GateError for unknown or missing fields."""
        names = {item.name for item in fields(cls)}
        if set(data) != names:
            odd = sorted(set(data) ^ names)
            raise GateError(f"This gate plan has unknown or missing fields: {', '.join(odd)}.")
        return cls(**data)

    @property
    def digest(self) -> str:
        """Digest over all fields."""
        return digest_json(self.to_json())


@dataclass(frozen=True, slots=True)
class Gate:
    """Claims and the plan under which they are gated. claims None: those of the scenario."""

    claims: tuple[Claim, ...] | None = None
    plan: GatePlan = field(default_factory=GatePlan)

    def __post_init__(self) -> None:
        if self.claims is not None:
            object.__setattr__(self, "claims", tuple(self.claims))
            if not self.claims:
                raise GateError(
                    "Gate(claims=()): name at least one claim, or None for the scenario's."
                )
