"""The plan of a gate: everything that is fixed before the first episode."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any, Final, Literal, get_args

from safegym.digest import digest_json
from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.strata import Strata

LARGEST_SEED = 2**53 - 1
VERSION: Final = 3
SINCE: Final[Mapping[int, Mapping[str, Any]]] = {
    2: {"display": "one at a time", "repeats": 0, "strata": None},
    3: {"screen_share": None},
}
"""Version -> fields that came with it, and what plans before it meant by not having them."""
FEWEST_REPEATS: Final = 3
Display = Literal["one at a time", "holm"]


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
    display: how verdicts of claims are called where nothing is released: "one at a time", or
    "holm" (claims are called shown only where Holm allows it for all of them together).
    screen_share: most steps that screens may have taken, as a share of the training steps so far: a
    screen that comes due above it is left out. None for no limit.
    repeats: most episodes of a certified attempt that are run again to see whether they repeat
    (one in a hundred, at least 3). strata: a declared mix of conditions, None for the scenario's
    own draws. version: of the plan's meaning; logs of earlier ones are read as they were written.
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
    display: Display = "one at a time"
    repeats: int = 20
    strata: Strata | None = None
    screen_share: float | None = 0.2
    version: int = VERSION

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
        if not _is_probability(self.level):
            raise GateError(
                f"GatePlan(level={self.level!r}): give an error level inside (0, 1), e.g. "
                "level=0.05. Level 0 would ask for certainty, which no number of episodes gives."
            )
        if self.lift is not None and not _is_probability(self.lift):
            raise GateError(
                f"GatePlan(lift={self.lift!r}): give a probability inside (0, 1), e.g. lift=0.99, "
                "or None to keep trace-level claims as observed invariants."
            )
        if not self.verification_threshold >= 1.0:
            raise GateError(
                f"GatePlan(verification_threshold={self.verification_threshold!r}): it multiplies "
                "each claim's threshold; give at least 1."
            )
        self._check_later()

    def _check_later(self) -> None:
        if self.display not in get_args(Display):
            raise GateError(
                f"GatePlan(display={self.display!r}): write one of {', '.join(get_args(Display))}."
            )
        if self.strata is not None and not isinstance(self.strata, Strata):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise GateError(
                f"GatePlan(strata={self.strata!r:.60}): write strata=Strata((Stratum(...), ...))."
            )
        if type(self.version) is not int or not 1 <= self.version <= VERSION:
            raise GateError(
                f"GatePlan(version={self.version!r}): this safegym reads versions 1 to {VERSION}."
            )
        missing = later(self.version)
        said = [name for name in missing if getattr(self, name) != missing[name]]
        if said:
            raise GateError(f"A gate plan of version {self.version} has no {', '.join(said)}.")
        if self.screen_share is not None and not _is_share(self.screen_share):
            raise GateError(
                f"GatePlan(screen_share={self.screen_share!r}): give a share of the training steps "
                "above 0, e.g. screen_share=0.2, or None for no limit."
            )
        if self.version == 1:
            return
        repeats: Any = self.repeats
        if type(repeats) is not int or repeats < FEWEST_REPEATS:
            raise GateError(
                f"GatePlan(repeats={repeats!r}): at least {FEWEST_REPEATS} episodes of a certified "
                f"attempt are run again; give a whole number from {FEWEST_REPEATS}."
            )
        self._check_rounds()

    def _check_rounds(self) -> None:
        look = 1 if self.strata is None else self.strata.look
        if look > self.cap:
            raise GateError(
                f"A round of these strata takes {look} episodes, more than the cap of {self.cap}: "
                f"GatePlan(cap={look}), weights with a smaller denominator, or "
                'Strata(..., mode="random").'
            )

    @property
    def episodes(self) -> int:
        """Most episodes of one attempt: the cap, down to whole rounds of the strata."""
        return self.cap - self.cap % self.look

    @property
    def look(self) -> int:
        """Episodes between two looks at the statistics: 1, or a round of the strata."""
        return 1 if self.strata is None else self.strata.look

    def to_json(self) -> dict[str, Any]:
        """All fields of the plan's version, for the log."""
        missing = {*later(self.version), *(["version"] if self.version == 1 else [])}
        names = [item.name for item in fields(self) if item.name not in missing]
        data = {name: getattr(self, name) for name in names}
        if self.strata is not None:
            data["strata"] = self.strata.to_json()
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "GatePlan":
        """The plan of `to_json`, of any version. Raises GateError for unknown or missing fields."""
        version = data.get("version", 1)
        known = version if type(version) is int and 1 <= version <= VERSION else VERSION
        missing = later(known)
        given: dict[str, Any] = {**data, **missing, "version": version}
        names = {item.name for item in fields(cls)}
        odd = set(given) ^ names | set(missing) & set(data)
        if odd:
            found = ", ".join(sorted(odd))
            raise GateError(f"This gate plan has unknown or missing fields: {found}.")
        if given["strata"] is not None:
            given["strata"] = Strata.from_json(given["strata"])
        return cls(**given)

    def refuse_older(self) -> None:
        """Raise GateError where a new run would begin under an earlier version's weaker meaning."""
        if self.version != VERSION:
            raise GateError(
                f"A gate plan of version {self.version} is read where a log holds it, and begins "
                "no new run: it means less than a plan does now. Write "
                f"GatePlan(...) without version=, which is version {VERSION}."
            )

    @property
    def digest(self) -> str:
        """Digest over all fields."""
        return digest_json(self.to_json())


def later(version: int) -> dict[str, Any]:
    """Fields that a plan of that version does not have, and what it meant by that."""
    return {
        name: meant
        for since, came in SINCE.items()
        if since > version
        for name, meant in came.items()
    }


def _is_share(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0.0 < value < inf


def _is_probability(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0.0 < value < 1.0


@dataclass(frozen=True, slots=True)
class Gate:
    """Claims and the plan under which they are gated. claims None: those of the scenario."""

    claims: tuple[Claim, ...] | None = None
    plan: GatePlan = field(default_factory=GatePlan)

    def __post_init__(self) -> None:
        if self.claims is not None:
            given: Any = self.claims
            claims = (given,) if isinstance(given, Claim | str) else tuple(given)
            for item in claims:
                if not isinstance(item, Claim):
                    raise GateError(
                        f"claims= takes Claim objects, found {item!r:.40}; write for example "
                        "claims=[Claim(id=..., statement=prob(...) < 0.01)], or some of the "
                        "scenario's own: [c for c in spec.claims if c.id == ...]."
                    )
            object.__setattr__(self, "claims", claims)
            if not self.claims:
                raise GateError(
                    "Gate(claims=()): name at least one claim, or None for the scenario's."
                )
