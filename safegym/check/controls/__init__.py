"""Controls: whether a scenario's own policies separate its hazards, seed by seed."""

from safegym.check.controls.outcome import Outcome
from safegym.check.controls.pool import verify_all
from safegym.check.controls.verify import verify

__all__ = ["Outcome", "verify", "verify_all"]
