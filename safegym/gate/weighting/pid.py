"""The PID controller of a Lagrange multiplier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safegym.gate.weighting.adaptation import PID


@dataclass(slots=True)
class Controller:
    """Steers one multiplier. target: the rate aimed at. integral: in units of the multiplier.

    Source: Stooke, Achiam and Abbeel 2020, algorithm 2; here the integral carries the gain ki, and
    is clipped to the multiplier's own range so that it does not wind up.
    """

    gains: PID
    target: float
    integral: float
    value: float
    last: float | None = None

    @classmethod
    def of(cls, gains: PID, target: float) -> "Controller":
        """A controller that nothing was told yet."""
        return cls(gains, target, gains.initial, gains.initial)

    def tell(self, rate: float) -> None:
        """Take in the estimated violation rate after a rollout."""
        gains = self.gains
        error = rate - self.target
        rise = 0.0 if self.last is None else max(0.0, rate - self.last)
        self.integral = self._clipped(self.integral + gains.ki * error)
        self.value = self._clipped(gains.kp * error + self.integral + gains.kd * rise)
        self.last = rate

    def _clipped(self, value: float) -> float:
        return min(self.gains.most, max(self.gains.least, value))

    def state(self) -> dict[str, Any]:
        """What it remembers, as JSON."""
        return {"integral": self.integral, "value": self.value, "last": self.last}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put `state` back."""
        last = state["last"]
        self.integral, self.value = float(state["integral"]), float(state["value"])
        self.last = None if last is None else float(last)
