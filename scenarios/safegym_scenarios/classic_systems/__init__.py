"""Gymnasium's classic control systems with hazards and claims: names classic/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = ()
