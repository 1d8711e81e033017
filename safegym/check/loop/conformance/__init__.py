"""Conformance of a simulator with a declared model: what a proof about the model rests on."""

from safegym.check.loop.conformance.residuals import EpisodeFit, Model
from safegym.check.loop.conformance.result import Conformance
from safegym.check.loop.conformance.run import conformance, observed

__all__ = ["Conformance", "EpisodeFit", "Model", "conformance", "observed"]
