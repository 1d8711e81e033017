"""Doors, lifts, presses and conveyors: names machine/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = ()
