"""Gymnasium's MuJoCo systems with hazards and claims: names mujoco/....

`NAMES` is data alone, so that listing scenarios imports no simulator.
"""

NAMES: tuple[str, ...] = ()
