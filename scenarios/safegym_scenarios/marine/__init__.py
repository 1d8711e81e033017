"""Boats and underwater vehicles: names marine/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = ()
