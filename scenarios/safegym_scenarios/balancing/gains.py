"""Gains of the good policies: action = -gains @ observation.

How they were found: o' = A o + B u + c was fitted by least squares to 200 control steps of each
machine close to rest (small random states and actions), in units of the observation; the gain is
the discrete linear-quadratic regulator of (A, B) with the weights that stand beside it (state |
action). tests/scenarios/test_balancing_physics.py finds TWO_WHEEL, CART, BALL, FURUTA, WHEEL_POLE
and BALLBOT again from the machines.
"""

Row = tuple[float, ...]

TWO_WHEEL: Row = (-1.808, -0.519, -1.344, -1.116, -1.379)
"""Way, its sum, speed, pitch, pitch rate; 4 2 0.5 2 0.3 | 3."""
TWO_WHEEL_SOFT: Row = (-0.433, -0.099, -0.44, -0.52, -0.619)
"""The same with 1 0.5 0.5 2 0.6 | 30."""
TWO_WHEEL_LOADED: Row = (-1.985, -0.571, -1.493, -1.557, -2.268)
"""With 4 kg on the mast; 4 2 0.5 2 0.3 | 3."""
CART: Row = (-1.318, -0.499, -1.022, -0.849, -1.536)
"""Way, its sum, speed, angle, rate; 3 1 0.3 0.5 0.2 | 2."""
CART_LOADED: Row = (-1.401, -0.518, -1.151, -1.096, -2.305)
"""With 1.5 kg on the pole; the same weights."""
CART_BESIDE: Row = (0.763, 0.218, 0.965, 3.447, -2.228, 8.469, -3.029)
"""Two poles of 0.9 and 0.3 m beside each other; 1 0.3 0.3 0.5 0.5 0.2 0.2 | 2."""
CART_ROW: Row = (0.71, 0.214, 0.818, -1.367, 2.264, 0.341, 2.932)
"""A pole of 0.5 m on one of 0.4 m; the same weights."""
BALL: Row = (2.564, 0.835, 2.783, 1.122, 0.056)
"""Ball on an axis of a plate: way, its sum, speed, tilt, rate; 2 0.5 0.4 0.02 0.02 | 0.6."""
BALL_BEAM: Row = (2.576, 0.836, 2.822, 1.161, 0.157)
"""Ball on a beam; the same weights."""
FURUTA: Row = (-0.619, -0.259, -0.744, 0.493, 0.951)
"""Rotary pendulum: arm, its sum, its rate, pole, its rate; 2 1 0.3 0.3 0.2 | 3."""
FURUTA_LOADED: Row = (-0.719, -0.292, -0.916, 0.728, 1.606)
"""With 0.15 kg at the tip; the same weights."""
WHEEL_POLE: Row = (-1.456, -2.045, -0.62)
"""Pole with a flywheel: lean, its rate, spin; 1 0.3 0.6 | 1."""
WHEEL_EDGE: Row = (-1.45, -1.515, -0.575)
"""Cube on its edge; the same weights."""
WHEEL_CORNER: tuple[Row, ...] = (
    (1.796, 1.822, 2.31, 2.296, -0.045, -0.234, 0.411, 0.424),
    (0.651, -2.393, -3.058, 0.846, -0.018, 0.451, -0.143, 0.46),
    (-2.414, 0.668, 0.873, -3.097, -0.026, 0.441, 0.457, -0.187),
)
"""Cube on its corner: two leans, three rates, three spins; 1 1 0.3 0.3 0.02 0.6 0.6 0.6 | 1 1 1."""
BALLBOT: Row = (-1.789, -0.492, -1.473, -1.036, -1.834)
"""An axis of the ballbot: way, its sum, speed, lean, rate; 4 2 0.5 2 0.3 | 4."""
BALLBOT_TRAY: Row = (-2.005, -0.537, -1.676, -1.357, -3.003)
"""With 2 kg of tray; the same weights."""
UNICYCLE: Row = (-1.821, -0.502, -1.461, -1.067, -1.598)
"""Along the unicycle: way, its sum, speed, pitch, rate; 4 2 0.5 2 0.3 | 3."""
UNICYCLE_ACROSS: Row = (-3.261, -6.783, -0.868)
"""Across it: roll, its rate, flywheel; 1 0.3 0.6 | 1."""
DECK: Row = (1.036, 0.696, 0.435)
"""Pole on a deck at rest: lean, its rate, its sum; 1 0.1 0.3 | 1."""
BOARD: Row = (10.421, 7.759, 1.245, 1.818, 8.267, 3.154, -0.14)
"""Roller and its speed, plank and its rate, weight and its speed, plank over the roller.

The contacts give way and slide a little, which the linear model misses: from its regulator, 350
steps of a random search on the summed squares over three episodes led here.
"""
