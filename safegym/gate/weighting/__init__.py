"""How heavy a penalty weighs: fixed, on a schedule, or steered by the violation rate."""

from safegym.gate.weighting.adaptation import PID, Adaptation, Ramp
from safegym.gate.weighting.settings import CostCritic, PenaltySettings
from safegym.gate.weighting.weights import Weights

__all__ = ["PID", "Adaptation", "CostCritic", "PenaltySettings", "Ramp", "Weights"]
