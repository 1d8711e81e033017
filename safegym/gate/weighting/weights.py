"""The weights of the claims during a run: what a rollout teaches, and what a checkpoint holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.weighting.adaptation import PID, Ramp
from safegym.gate.weighting.pid import Controller
from safegym.gate.weighting.rate import ViolationRate
from safegym.gate.weighting.settings import PenaltySettings

UNSTATED_TARGET = 0.01
"""Violation rate aimed at for a claim that states no threshold of its own."""
MEMORY = 100


@dataclass(frozen=True, slots=True)
class Told:
    """What an episode says of the claims.

    violated: claims that it violated. weighed: of those, the ones violated at a declared weight.
    void: claims of which it is no episode: their condition did not hold, or it was cut too early.
    """

    violated: Collection[str] = ()
    weighed: Collection[str] = ()
    void: Collection[str] = ()


class Weights:
    """What a violation of each claim costs now: its declared weight times a multiplier.

    The multiplier is 1 for fixed weights, the schedule's for a `Ramp`, and the controller's for a
    `PID`. Told once per rollout; what it then says holds for the next rollout.
    waits: claims that only the end of an episode can violate.
    """

    def __init__(
        self, claims: Sequence[Claim], settings: PenaltySettings, waits: Collection[str] = ()
    ) -> None:
        self._settings, self._waits = settings, frozenset(waits)
        adapt = settings.adapt
        memory = adapt.memory if isinstance(adapt, PID) else MEMORY
        self._rates = {claim.id: ViolationRate(memory) for claim in claims}
        self._controllers = (
            {claim.id: Controller.of(adapt, target_of(claim, adapt)) for claim in claims}
            if isinstance(adapt, PID)
            else {}
        )
        self._steering = {name: ViolationRate(memory) for name in self._controllers}
        self._progress = 0.0

    def of(self, claim_id: str, *, at_end: bool = False) -> float:
        """Weight of a violation of the claim now, in units of reward."""
        declared = self._settings.weight_of(claim_id, at_end=at_end)
        return declared * self.multiplier(claim_id)

    def multiplier(self, claim_id: str) -> float:
        """What the claim's declared weight is multiplied with now."""
        adapt = self._settings.adapt
        if isinstance(adapt, Ramp):
            return adapt.at(self._progress)
        controller = self._controllers.get(claim_id)
        return 1.0 if controller is None else controller.value

    @property
    def adapts(self) -> bool:
        """Whether multipliers move during the run."""
        return self._settings.adapt is not None

    @property
    def values(self) -> dict[str, float]:
        """Claim id -> weight now, in units of reward, of a violation as soon as it can be told.

        That is by the samples, or by the end for a claim that only the end can violate.
        """
        return {name: self.of(name, at_end=name in self._waits) for name in self._rates}

    @property
    def multipliers(self) -> dict[str, float]:
        """Claim id -> multiplier now."""
        return {name: self.multiplier(name) for name in self._rates}

    @property
    def rates(self) -> dict[str, float]:
        """Claim id -> estimated violation rate of fresh training episodes, once it is known."""
        known = {name: rate.value for name, rate in self._rates.items()}
        return {name: value for name, value in known.items() if value is not None}

    def tell(self, episodes: Sequence["Told"], progress: float) -> None:
        """Take in a rollout's finished episodes that were no replays.

        Those start where a claim failed before. progress: share of the run's steps done, in [0, 1].
        A controller is steered by the violations that have a weight: no other would go away.
        """
        self._progress = float(progress)
        for name, rate in self._rates.items():
            counted = [told for told in episodes if name not in told.void]
            if not counted:
                continue
            rate.tell(len(counted), sum(name in told.violated for told in counted))
            if name in self._controllers:
                steering = self._steering[name]
                steering.tell(len(counted), sum(name in told.weighed for told in counted))
                self._controllers[name].tell(steering.value or 0.0)

    def state(self) -> dict[str, Any]:
        """Everything that was learned, as JSON."""
        return {
            "progress": self._progress,
            "rates": {name: rate.state() for name, rate in self._rates.items()},
            "steering": {name: rate.state() for name, rate in self._steering.items()},
            "controllers": {name: found.state() for name, found in self._controllers.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put `state` back. Raises GateError when it is not that of these claims and settings."""
        try:
            if set(state["rates"]) != set(self._rates) or (
                set(state["controllers"]) != set(self._controllers)
            ):
                raise GateError(
                    "The stored penalty weights are of other claims or of another kind of "
                    f"adaptation: {', '.join(state['rates'])}; expected {', '.join(self._rates)}."
                )
            self._progress = float(state["progress"])
            for name, rate in self._rates.items():
                rate.restore(state["rates"][name])
            for name, controller in self._controllers.items():
                self._steering[name].restore(state["steering"][name])
                controller.restore(state["controllers"][name])
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"The stored penalty weights are malformed: {error!r}.") from error


def target_of(claim: Claim, adapt: PID) -> float:
    """The violation rate aimed at: as given, else the claim's own threshold, else 0.01."""
    if adapt.target is not None:
        return adapt.target
    threshold = claim.failure_threshold
    return UNSTATED_TARGET if threshold is None else float(threshold)
