"""A start from which a claim was violated, and where it came from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from safegym.digest import digest_json
from safegym.errors import GateError
from safegym.trace.model import Trace

Origin = Literal["train", "screen", "certify", "suite", "falsify", "proof"]
"""Who met the violation: training, a screen, an attempt, the regression suite, a search or a proof.
"""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A start from which a claim was violated.

    seed: given to reset. options: given to reset too; empty where the seed alone decides.
    parameters, disturbance_seed: as the episode's trace recorded them. margin: robustness in
    multiples of scale, <= 0, None where refused.
    """

    scenario_digest: str
    claim_id: str
    seed: int
    margin: float | None
    trace_digest: str
    origin: Origin
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbance_seed: int = 0

    @property
    def key(self) -> str:
        """Same for the same start and claim, whatever the outcome."""
        return digest_json([self.claim_id, str(self.seed), dict(self.options)])

    @classmethod
    def of(
        cls,
        trace: Trace,
        claim_id: str,
        margin: float | None,
        origin: Origin,
        options: Mapping[str, Any] | None = None,
    ) -> "Counterexample":
        """The start of a trace. options: what was given to reset beside the seed."""
        return cls(
            scenario_digest=trace.scenario_digest,
            claim_id=claim_id,
            seed=trace.seed,
            margin=margin,
            trace_digest=trace.digest,
            origin=origin,
            options=dict(options or {}),
            parameters=dict(trace.parameters),
            disturbance_seed=trace.disturbance_seed,
        )

    def refuse_other(self, scenario_digest: str, whose: str) -> None:
        """Raise GateError unless this is a start of that scenario, as it is now.

        whose: what it is offered to. A changed scenario has another digest: there the same seed
        may begin another episode.
        """
        if self.scenario_digest != scenario_digest:
            raise GateError(
                f"A counterexample of scenario {self.scenario_digest or '(none)'} was offered to "
                f"the {whose} of {scenario_digest}; starts are not carried between scenarios, nor "
                "over a change of one: there the same seed may begin another episode. Search "
                "again: safegym falsify NAME --bank RUN"
            )

    def to_json(self) -> dict[str, Any]:
        """The start as JSON; whole numbers that JSON would round are text."""
        return {
            "scenario_digest": self.scenario_digest,
            "claim_id": self.claim_id,
            "seed": str(self.seed),
            "margin": margin_json(self.margin),
            "trace_digest": self.trace_digest,
            "origin": self.origin,
            "options": dict(self.options),
            "parameters": dict(self.parameters),
            "disturbance_seed": str(self.disturbance_seed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Counterexample":
        """The start of `to_json`. Raises GateError when it is malformed."""
        try:
            fields = dict(data)
            margin = fields["margin"]
            fields["margin"] = None if margin is None else float(margin)
            fields["seed"] = int(fields["seed"])
            fields["disturbance_seed"] = int(fields["disturbance_seed"])
            if fields["origin"] not in get_args(Origin):
                raise ValueError(f"unknown origin {fields['origin']!r}")
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"A stored counterexample is malformed: {error!r}.") from error


def margin_json(value: float | None) -> float | str | None:
    """A margin as JSON: infinities as text, None where there is none."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)
