"""Why a verdict came out as it did: in words, as SVG, and with matplotlib."""

from safegym.check.explanation.explain import explain
from safegym.check.explanation.model import Explanation

__all__ = ["Explanation", "explain"]
