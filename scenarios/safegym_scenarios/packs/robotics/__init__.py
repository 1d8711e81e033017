"""Gymnasium-Robotics: mazes, dexterous hands and arms; names robotics/..."""

from safegym_scenarios.packs.offer import Offer

PACK = Offer("robotics", ("gymnasium-robotics",), "pip install 'safegym[robotics]'")
