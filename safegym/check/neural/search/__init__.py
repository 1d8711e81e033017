"""Search for a proof or a counterexample: batched branch and bound over boxes of the input."""

from safegym.check.neural.search.progress import Listener, Progress
from safegym.check.neural.search.run import search

__all__ = ["Listener", "Progress", "search"]
