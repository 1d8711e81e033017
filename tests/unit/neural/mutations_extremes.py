"""Faults at the edges of the bounds, as in `mutations`, found by the checks of the extremes."""

from mutations import Mutation

EDGES: tuple[Mutation, ...] = (
    ("waves go to their end", "relaxations.waves", "< _FARTHEST))\n", "<= _FARTHEST))\n"),
    (
        "a trough lies 3 after its crest",
        "entries",
        "for at in (crest, crest + np.pi)",
        "for at in (crest, crest + 3.0)",
    ),
    (
        "the root of next to nothing is 0",
        "relaxations.curved",
        "np.where(flat, at_high,",
        "np.where(flat, 0.0,",
    ),
    (
        "tanh of 0 is below 0",
        "relaxations.sigmoidal",
        "np.where(both_zero, TINY,",
        "np.where(both_zero, -1e-3,",
    ),
    (
        "a weight or an input may not be flushed",
        "deployed",
        "gamma(terms, roundoff) + (lost + tiny) + 2.0 * tiny * sizes",
        "gamma(terms, roundoff)",
    ),
    ("an input cannot overflow", "deployed", "np.maximum(weighted, sizes))", "weighted)"),
    (
        "a sum cannot overflow",
        "deployed",
        "return _overflowing(node, error, np.maximum(weighted, sizes))",
        "return error",
    ),
    (
        "an operation cannot overflow",
        "deployed",
        "return _overflowing(node, error * (1.0 + 1e-6) + 8.0 * tiny, value)",
        "return error * (1.0 + 1e-6) + 8.0 * tiny",
    ),
    (
        "a slope is never flushed",
        "deployed",
        "error = error + tiny * (1.0 + np.maximum(np.abs(low), np.abs(high)))",
        "error = error + tiny",
    ),
    (
        "a logistic function has no tail",
        "deployed",
        "error = _LOGISTIC_ULPS * ulp * value + tail",
        "error = _LOGISTIC_ULPS * ulp * value",
    ),
    (
        "a deployed operation bounds what is no number",
        "entries",
        "    nothing = ~(np.isfinite(low)",
        "    nothing = np.zeros_like(low, dtype=np.bool_) & ~(np.isfinite(low)",
    ),
    (
        "an exact operation bounds what is no number",
        "entries",
        "nothing = (low == -np.inf) & (high == np.inf)",
        "nothing = low > np.inf",
    ),
    (
        "0 times infinity is 0",
        "interval",
        "lost = _open_boxes(inputs)",
        "lost = ~_open_boxes(inputs) & _open_boxes(inputs)",
    ),
    (
        "a choice forgets what is no number",
        "interval",
        "nothing = (ends[0] == -np.inf) & (ends[1] == np.inf)",
        "nothing = ends[0] > np.inf",
    ),
    (
        "a sum of squares stays above 0 whatever its bias",
        "interval",
        "(bias < 0.0).astype(np.float64)",
        "(bias < -9e99).astype(np.float64)",
    ),
    (
        "a difference of squares stays above 0",
        "interval",
        "negative = negative + below @ plus + above @ minus",
        "negative = negative + below @ plus",
    ),
    (
        "a clip's limits are held as they are",
        "plan",
        'return inputs[0] if single else inputs[0] - {"float32"}',
        "return inputs[0]",
    ),
    (
        "a sum that another sum reads as well leaves its error to the relu",
        "plan",
        'step.folded = step.role == "linear" and all(role == "unary" for role, _ in kinds)',
        'step.folded = step.role == "linear" and any(role == "unary" for role, _ in kinds)',
    ),
    (
        "constants add up without rounding",
        "backward",
        "constant = self.constant - (self.moved * (8.0 * UNIT) + underflow[box] + TINY)",
        "constant = self.constant",
    ),
    (
        "lines of the first entries are taken for those that are left",
        "backward",
        "            sides = sides[:, :, columns]",
        "            sides = sides[:, :, : len(columns)]",
    ),
    (
        "weights of the first entries are taken for those that are left",
        "backward",
        "part = matrix if columns is None else matrix[columns]",
        "part = matrix if columns is None else matrix[: len(columns)]",
    ),
    (
        "the search for slopes forgets the deployed error",
        "state",
        "taken.errors = [error[boxes] for error in self.errors]",
        "taken.errors = [0.0 * error[boxes] for error in self.errors]",
    ),
    (
        "open ends reach the other side of a sum",
        "interval",
        "plus, minus = (matrix > 0.0).T * 1.0, (matrix < 0.0).T * 1.0",
        "minus, plus = (matrix > 0.0).T * 1.0, (matrix < 0.0).T * 1.0",
    ),
)
