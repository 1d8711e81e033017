"""Faults to plant in the bounds: (name, module, source as it is, source with the fault)."""

Mutation = tuple[str, str, str, str]

QUICK: tuple[Mutation, ...] = (
    (
        "the chord of relu ends at one end only",
        "relaxations.piecewise",
        "np.maximum(at_low, at_high), 0.0)",
        "at_high * 0.0, 0.0)",
    ),
    (
        "the lower slope of an inactive relu is 1",
        "relaxations.piecewise",
        "lower_slope[active], lower_slope[inactive] = 1.0, 0.0",
        "lower_slope[active], lower_slope[inactive] = 1.0, 1.0",
    ),
    (
        "the tangent of tanh is taken at the middle whatever the low end",
        "relaxations.sigmoidal",
        "left = np.where(low < 0.0, left, -np.inf)",
        "left = np.where(low < 0.0, -np.inf, -np.inf) + 0.0 * left",
    ),
    (
        "the bias is dropped going back",
        "backward",
        "            self._pay(rows @ step.node.bias[kept])",
        "            pass",
    ),
    (
        "the rounding of linear steps is dropped",
        "interval",
        "error = weighted * (step.gamma * 2.0) + TINY * (8.0 * step.gamma / UNIT)",
        "error = weighted * 0.0",
    ),
    (
        "the deployed error of linear steps is dropped",
        "interval",
        "error = error + linear_error(step.node, weighted + error, np.asarray(sizes))",
        "error = error + 0.0",
    ),
    (
        "the deployed error of operations on entries is dropped",
        "entries",
        "        error = elementwise_error(",
        "        error = 0.0 * elementwise_error(",
    ),
    (
        "low and high are swapped at the input",
        "backward",
        'np.einsum("rj,rj->r", plus, self.state.low[box])',
        'np.einsum("rj,rj->r", plus, self.state.high[box])',
    ),
    (
        "negative coefficients are taken for positive ones",
        "backward",
        "        size *= wide[:, count : 2 * count]\n        rows -= size",
        "        size *= wide[:, count : 2 * count]\n        rows -= 0.0 * size",
    ),
    (
        "intervals go through a linear step without its radius",
        "interval",
        "without_nan(centre - radius - error, centre + radius + error)",
        "without_nan(centre - error, centre + error)",
    ),
    (
        "a product's plane takes the wrong corner",
        "relaxations.bilinear",
        "lower, upper = -(a * b), -(c * d)",
        "lower, upper = -(c * b), -(a * d)",
    ),
    (
        "the forward rest forgets what relu's band adds",
        "forward",
        "rest = half + past * (1.0 + 4.0 * UNIT)",
        "rest = past * (1.0 + 4.0 * UNIT)",
    ),
    (
        "the minimum is substituted as the maximum",
        "backward",
        'greater = step.node.kind == "max"',
        "greater = True",
    ),
)
