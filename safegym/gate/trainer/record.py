"""A gate's decision as the run folder keeps it, so that it is never asked for twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from safegym.errors import GateError
from safegym.gate.replay import Counterexample
from safegym.gate.trainer.hook import Action, GateDecision


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What was decided at an epoch boundary and what the trainer has to carry out.

    starts: for the replay bank. gate: the gate's state after the decision. at_end: decided when
    the steps were used up.
    """

    epoch: int
    action: Action
    reasons: tuple[str, ...] = ()
    policy_digest: str = ""
    starts: tuple[Counterexample, ...] = ()
    gate: Mapping[str, Any] = field(default_factory=dict[str, Any])
    at_end: bool = False

    @classmethod
    def of(
        cls,
        answer: GateDecision,
        epoch: int,
        starts: tuple[Counterexample, ...],
        gate: Mapping[str, Any],
        at_end: bool,
        before: "DecisionRecord | None" = None,
    ) -> "DecisionRecord":
        """The record of an answer; its starts come after those of the decision `before` it.

        Raises GateError for an answer that is no action.
        """
        return cls(
            epoch=epoch,
            action=checked_action(answer.action),
            reasons=tuple(answer.reasons),
            policy_digest=answer.policy_digest,
            starts=starts if before is None else before.starts + starts,
            gate=gate,
            at_end=at_end,
        )

    def to_json(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "epoch": self.epoch,
            "action": self.action,
            "reasons": list(self.reasons),
            "policy_digest": self.policy_digest,
            "starts": [start.to_json() for start in self.starts],
            "gate": dict(self.gate),
            "at_end": self.at_end,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DecisionRecord":
        """The record of `to_json`. Raises GateError when it is malformed."""
        try:
            return cls(
                epoch=int(data["epoch"]),
                action=checked_action(data["action"]),
                reasons=tuple(str(reason) for reason in data["reasons"]),
                policy_digest=str(data["policy_digest"]),
                starts=tuple(
                    Counterexample.from_json(start)
                    for start in cast("Sequence[Mapping[str, Any]]", data["starts"])
                ),
                gate=dict(data["gate"]),
                at_end=bool(data["at_end"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"The stored decision is malformed: {error!r}.") from error


def checked_action(action: object) -> Action:
    """The action, if it is one. Raises GateError."""
    if action not in get_args(Action):
        raise GateError(
            f"The gate answered {action!r}; the actions are {', '.join(get_args(Action))}."
        )
    return cast("Action", action)
