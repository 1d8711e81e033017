"""Searching for counterexamples: corners and random first, then what is guided by robustness.

Counterexamples only: a search that finds none says nothing about a probability.
"""

from safegym.check.falsify.arena import Progress
from safegym.check.falsify.coordinate import Coordinate
from safegym.check.falsify.exchange import read_finds
from safegym.check.falsify.find import Component, Find
from safegym.check.falsify.replay import replay
from safegym.check.falsify.result import Falsification, MethodReport
from safegym.check.falsify.search import falsify
from safegym.check.falsify.space import SearchSpace

__all__ = [
    "Component",
    "Coordinate",
    "Falsification",
    "Find",
    "MethodReport",
    "Progress",
    "SearchSpace",
    "falsify",
    "read_finds",
    "replay",
]
