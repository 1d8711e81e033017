"""Gymnasium's Box2D systems with hazards and claims: names box2d/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = ()
