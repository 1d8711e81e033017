"""A curriculum: easier thresholds and shorter episodes first, in training alone.

Nothing that a gate, a screen or a certification judges depends on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from math import isfinite
from typing import Any

from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.formula.nodes import negation
from safegym.formula.statements import ConditionalBound, MeanBound, Statement
from safegym.formula.tighten import tightened


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a curriculum, easier (or stricter) than the scenario as it stands.

    until: share of the run's steps, in (0, 1), at which the stage ends at the latest. horizon:
    share of the scenario's horizon, in (0, 1], that training episodes are cut at. relax: how far
    below its limit a margin may fall before training takes it for a violation, in multiples of
    scale; below 0, training asks for that much more margin than the claims. claims: claim id ->
    relax of that claim, instead.
    """

    until: float
    horizon: float = 1.0
    relax: float = 0.0
    claims: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        claims: Any = self.claims
        if not isinstance(claims, Mapping):
            raise GateError(
                f"Stage(claims={claims!r:.80}): give claim id -> relax, such as "
                '{"cart.upright": 0.5}.'
            )
        object.__setattr__(self, "claims", dict(self.claims))
        for name, value in {"relax": self.relax, **self.claims}.items():
            if not _number(value):
                raise GateError(f"A stage relaxes {name} by {value!r}; give a finite number.")
        if not _number(self.until) or not 0.0 < self.until < 1.0:
            raise GateError(
                f"Stage(until={self.until!r}): give a share of the run in (0, 1); what follows the "
                "last stage is the scenario as it stands."
            )
        if not _number(self.horizon) or not 0.0 < self.horizon <= 1.0:
            raise GateError(f"Stage(horizon={self.horizon!r}): give a share in (0, 1].")

    def relaxed(self, claim: Claim) -> Claim:
        """The claim that training judges in this stage: same id, other thresholds.

        The condition of a conditional claim stays as it is.
        """
        relax = self.claims.get(claim.id, self.relax)
        statement = claim.statement
        if relax == 0.0 or isinstance(statement, MeanBound):
            return claim
        if not isinstance(statement, ConditionalBound):
            easier: Statement = tightened(claim.property, -float(relax), strict=False)
        else:
            wanted = negation(statement.formula) if statement.below else statement.formula
            moved = tightened(wanted, -float(relax), strict=False)
            easier = ConditionalBound(moved, statement.given, ">=", 0.5)
        return Claim(id=claim.id, statement=easier, rounding=claim.rounding)

    def to_json(self) -> dict[str, Any]:
        """The stage as JSON."""
        plain = {name: getattr(self, name) for name in ("until", "horizon", "relax")}
        return {**{n: float(v) for n, v in plain.items()}, "claims": dict(self.claims)}


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Stages before the scenario as it stands, which always comes last.

    stages: with rising `until`. success: None goes by `until` alone; else the next stage begins as
    soon as this share of the last `window` training episodes kept every claim of the stage and did
    not fail (replays of counterexamples left out). A goal that was not reached when the stage cut
    the episode is no violation and is not penalised, but it was not kept. An episode keeps to the
    stage that it began in.
    """

    stages: tuple[Stage, ...]
    success: float | None = None
    window: int = 50

    def __post_init__(self) -> None:
        given: Any = self.stages
        stages: tuple[Any, ...] = tuple(given) if isinstance(given, Sequence) else ()
        object.__setattr__(self, "stages", stages)
        if not stages or not all(map(_is_stage, stages)):
            raise GateError(
                "A curriculum needs stages; write Curriculum((Stage(until=0.3, horizon=0.5),))."
            )
        ends = [stage.until for stage in self.stages]
        if any(one >= other for one, other in pairwise(ends)):
            raise GateError(
                f"The stages of a curriculum end at {', '.join(map(str, ends))} of the run; each "
                "must end later than the one before."
            )
        if self.success is not None and not (_number(self.success) and 0.0 < self.success <= 1.0):
            raise GateError(f"Curriculum(success={self.success!r}): give a share in (0, 1].")
        if not _count(self.window):
            raise GateError(f"Curriculum(window={self.window!r}): give a number of episodes >= 1.")

    @classmethod
    def linear(
        cls,
        stages: int,
        *,
        until: float,
        horizon: float = 1.0,
        relax: float = 0.0,
        success: float | None = None,
        window: int = 50,
    ) -> "Curriculum":
        """Evenly spaced stages from (horizon, relax) towards the scenario as it stands.

        The first begins at these values; the scenario itself begins at the share `until`.
        """
        if not _count(stages):
            raise GateError(f"Curriculum.linear({stages!r}): give a number of stages >= 1.")
        for name, value in {"until": until, "horizon": horizon, "relax": relax}.items():
            if not _number(value):
                raise GateError(f"Curriculum.linear({name}={value!r}): give a finite number.")
        made = tuple(
            Stage(
                until=until * (place + 1) / stages,
                horizon=horizon + (1.0 - horizon) * place / stages,
                relax=relax * (1.0 - place / stages),
            )
            for place in range(stages)
        )
        return cls(made, success, window)

    def limits(self, horizon: int) -> tuple[int, ...]:
        """Steps that training episodes are cut at in each stage, the scenario's horizon last."""
        return (*(max(1, round(stage.horizon * horizon)) for stage in self.stages), horizon)

    def claim_sets(self, claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], ...]:
        """What training judges in each stage, the claims themselves last.

        Raises GateError for a stage that relaxes a claim which is not among them.
        """
        known = {claim.id for claim in claims}
        for stage in self.stages:
            unknown = sorted(set(stage.claims) - known)
            if unknown:
                raise GateError(
                    f"A stage relaxes {', '.join(unknown)}; the claims are "
                    f"{', '.join(sorted(known))}."
                )
        return (
            *(tuple(stage.relaxed(claim) for claim in claims) for stage in self.stages),
            tuple(claims),
        )

    def to_json(self) -> dict[str, Any]:
        """The curriculum as JSON."""
        stages = [stage.to_json() for stage in self.stages]
        return {"stages": stages, "success": self.success, "window": self.window}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Curriculum":
        """The curriculum of `to_json`; what is left out takes its default. Raises GateError."""
        try:
            names = {item.name for item in fields(cls)}
            if set(data) - names:
                raise GateError(
                    f"A curriculum has no field {', '.join(sorted(set(data) - names))}; it has "
                    f"{', '.join(sorted(names))}."
                )
            values: dict[str, Any] = dict(data)
            values["stages"] = tuple(Stage(**stage) for stage in data["stages"])
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"A curriculum is malformed: {error!r}.") from error


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_stage(value: object) -> bool:
    return isinstance(value, Stage)
