"""The seam between training and the gate."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from safegym.gate.trainer.events import EpochReport
from safegym.policy.base import Policy
from safegym.trace.model import Trace

Action = Literal["promote", "hold", "rollback", "stop"]
Freeze = Callable[[], Policy]


class FailingEpisode(Protocol):
    """An episode that the gate ran; its penalised violations enter the replay bank."""

    @property
    def trace(self) -> Trace:
        """The recorded episode."""
        ...


class GateDecision(Protocol):
    """What the trainer reads of a decision.

    promote: the policy `policy_digest` is released (the run ends if the settings say so).
    hold: train on. rollback: go back to the checkpoint of `policy_digest`. stop: end the run.
    failing: starts for the replay bank.
    """

    @property
    def action(self) -> Action:
        """What the trainer does."""
        ...

    @property
    def reasons(self) -> Sequence[str]:
        """Why, for people."""
        ...

    @property
    def policy_digest(self) -> str:
        """The policy promoted or rolled back to; at a stop one released before; else ""."""
        ...

    @property
    def failing(self) -> Sequence[FailingEpisode]:
        """Episodes whose starts go into the replay bank."""
        ...


class GateHook(Protocol):
    """What a gate offers to the trainer.

    The trainer keeps the global random generators as they were across each call. After a kill
    during a call, the resumed run makes the call again for the same epoch, on a gate that
    `restore` put into the state before it; a decision that came back is never asked for twice.
    """

    def after_epoch(self, report: EpochReport, freeze: Freeze) -> GateDecision:
        """Decide after an epoch. `freeze()` gives the policy as the checkpoint holds it."""
        ...

    def at_end(self, report: EpochReport) -> GateDecision:
        """Decide once more when the steps are used up: promote or stop."""
        ...

    def keeps(self) -> Collection[str]:
        """Digests of the policies whose checkpoints must stay, best first."""
        ...

    def state(self) -> Mapping[str, Any]:
        """The gate's own state, as canonical JSON."""
        ...

    def restore(self, state: Mapping[str, Any], load: Callable[[str], Policy]) -> None:
        """Put `state` back; `load(policy_digest)` gives a kept policy.

        An empty state is that of a gate that has not been asked yet.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hold:
    """A decision to train on."""

    action: Action = "hold"
    reasons: tuple[str, ...] = ()
    policy_digest: str = ""
    failing: tuple[FailingEpisode, ...] = ()


class NoGate:
    """Trains without a gate: holds after every epoch and stops when the steps are used up."""

    def after_epoch(self, report: EpochReport, freeze: Freeze) -> GateDecision:
        """Hold."""
        return Hold()

    def at_end(self, report: EpochReport) -> GateDecision:
        """Stop."""
        return Hold("stop", ("training steps used up; no gate judged the policy",))

    def keeps(self) -> Collection[str]:
        """No checkpoint but the last."""
        return ()

    def state(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, Any], load: Callable[[str], Policy]) -> None:
        """Nothing to put back."""
