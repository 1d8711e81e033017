"""Settings of penalties: how heavy, how they adapt, whether a violation ends the episode."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from safegym.errors import GateError
from safegym.gate.weighting.adaptation import (
    Adaptation,
    adaptation_from_json,
    adaptation_to_json,
    check_count,
    check_switch,
)

REASON = "violation ends the training episode: "
"""Why a trace was interrupted that `ends` cut; the claim's id follows."""


@dataclass(frozen=True, slots=True)
class CostCritic:
    """A value network of its own for penalties, which then leave the rewards untouched.

    Advantages become (A - sum over claims of multiplier x cost advantage) / (1 + sum of the
    multipliers), as in PPO-Lagrangian. net_arch: widths of its hidden layers. learning_rate: of its
    Adam. epochs: passes over each rollout. gae_lambda: None takes the policy's own. rescale:
    whether to divide. Raises GateError.
    """

    net_arch: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    epochs: int = 10
    gae_lambda: float | None = None
    rescale: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "net_arch", tuple(self.net_arch))
        for name, value in (("epochs", self.epochs), *(("net_arch", w) for w in self.net_arch)):
            check_count("CostCritic", name, value)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0.0):
            raise GateError(f"CostCritic(learning_rate={self.learning_rate}): give a number > 0.")
        if self.gae_lambda is not None and not 0.0 <= self.gae_lambda <= 1.0:
            raise GateError(f"CostCritic(gae_lambda={self.gae_lambda}): give a number in [0, 1].")
        check_switch("CostCritic", "rescale", self.rescale)
        object.__setattr__(self, "learning_rate", float(self.learning_rate))
        if self.gae_lambda is not None:
            object.__setattr__(self, "gae_lambda", float(self.gae_lambda))

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {**asdict(self), "net_arch": list(self.net_arch)}

    @classmethod
    def from_json(cls, data: object) -> "CostCritic | None":
        """The settings of `to_json`; True for the defaults, None or False for none of it."""
        if isinstance(data, bool) or data is None:
            return cls() if data else None
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise GateError(
                f"cost_critic={data!r:.80} is no setting of a cost critic; give CostCritic(), "
                'True, None, or {"learning_rate": 1e-3}.'
            )
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"cost_critic={data!r:.200} is malformed: {error}.") from error


@dataclass(frozen=True, slots=True)
class PenaltySettings:
    """How a violation is turned into a negative reward.

    The reward at the settling step is lowered by weight * clip(-margin, floor, cap), where the
    margin is the robustness there in multiples of the claim's scale. The floor also holds where the
    margin is 0 (a limit touched exactly) or refused (mixed units without scales), so that no
    violation is free.

    weight: in units of reward. cap, floor: in multiples of scale.
    end_weight: weight for violations that only the episode's end decides (a goal not reached in
    time); 0 penalises safety claims alone.
    claims: claim id -> weight of that claim, for every violation of it, instead of the two above.
    adapt: how all these weights move during the run: None keeps them, `Ramp` follows a schedule,
    `PID` steers each claim's own towards its threshold (PID-Lagrangian).
    ends: whether a violation with a weight ends the training episode, as a terminal and not as a
    time-out, unless sample 0 already shows it. The gate's episodes are never cut.
    cost_critic: a value network of its own for penalties, which then leave the rewards untouched;
    on-policy algorithms only.
    """

    weight: float = 4.0
    cap: float = 1.0
    floor: float = 0.25
    end_weight: float = 0.0
    claims: Mapping[str, float] = field(default_factory=dict[str, float])
    adapt: Adaptation | None = None
    ends: bool = False
    cost_critic: CostCritic | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", dict(self.claims))
        object.__setattr__(self, "adapt", adaptation_from_json(self.adapt))
        object.__setattr__(self, "cost_critic", CostCritic.from_json(self.cost_critic))
        numbers = {"weight": self.weight, "end_weight": self.end_weight, **self.claims}
        for name, value in numbers.items():
            if not (math.isfinite(value) and value >= 0.0):
                raise GateError(f"Penalty weight {name} is {value}; give a finite number >= 0.")
        if not (0.0 <= self.floor <= self.cap and math.isfinite(self.cap)):
            raise GateError(
                f"The penalty has floor {self.floor} and cap {self.cap}; give 0 <= floor <= cap."
            )
        check_switch("PenaltySettings", "ends", self.ends)

    @property
    def idle(self) -> bool:
        """Whether no violation can be penalised."""
        return self.cap == 0.0 or not any((self.weight, self.end_weight, *self.claims.values()))

    def weight_of(self, claim_id: str, *, at_end: bool = False) -> float:
        """The claim's own declared weight, else `end_weight` or `weight`."""
        return self.claims.get(claim_id, self.end_weight if at_end else self.weight)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "weight": self.weight,
            "cap": self.cap,
            "floor": self.floor,
            "end_weight": self.end_weight,
            "claims": dict(self.claims),
            "adapt": adaptation_to_json(self.adapt),
            "ends": self.ends,
            "cost_critic": None if self.cost_critic is None else self.cost_critic.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PenaltySettings":
        """The settings of `to_json`. Raises GateError when a field is missing or unknown."""
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"Stored penalty settings are malformed: {error}.") from error
