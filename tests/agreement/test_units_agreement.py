"""Monitor, z3, prefixes and the slow reference agree on converted traces, bit for bit."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from reference import Reference
from reference_cases import Case, random_case

from safegym.check.monitor import judge, robustness, settling
from safegym.check.symbolic.backend import BACKEND
from safegym.errors import UnsupportedError
from safegym.trace.model import Trace

UNITS = {"1": Fraction(1), "%": Fraction(1, 100), "ppm": Fraction(1, 10**6)}
"""What a plain number may be recorded in, with its size."""


def recorded_otherwise(random: Random, case: Case) -> tuple[Trace, Trace, Reference]:
    """The case's trace in other units; the same as it is read; and the reference over that.

    Numbers are drawn so that some fall on the limits once converted, and others next to them.
    """
    units = {name: random.choice(list(UNITS)) for name in case.trace.signals}
    signals: dict[str, Any] = {}
    read: dict[str, Any] = {}
    for name, values in case.trace.signals.items():
        size = UNITS[units[name]]
        noise = np.array([random.choice([0.0, 0.0, 1e-16, -1e-16, 0.3]) for _ in values.flat])
        signals[name] = values / float(size) * (1.0 + noise.reshape(values.shape))
        read[name] = np.vectorize(lambda v, size=size: float(Fraction(v) * size))(signals[name])
    of = case.trace
    options: Any = {"dt": of.clock.dt, "end": of.end.kind, "horizon": of.horizon}
    reference = case.reference
    slow = Reference(
        {name: array.tolist() for name, array in read.items()},
        reference.dt,
        reference.kind,
        reference.horizon,
    )
    return (
        Trace.from_arrays(signals, units=units, **options),
        Trace.from_arrays(read, **options),
        slow,
    )


def agree(seed: int) -> None:
    random = Random(seed)
    case = random_case(random, depth=3, longest=8)
    recorded, native, slow = recorded_otherwise(random, case)
    verdict = judge(case.formula, recorded)
    wanted = slow.status(case.formula)
    assert verdict.status == wanted, (seed, str(case.formula))
    assert BACKEND.check(case.formula, recorded).status == wanted, (seed, str(case.formula))
    plain = judge(case.formula, native)
    assert verdict.robustness == plain.robustness, (seed, str(case.formula))
    assert verdict.witness == plain.witness, (seed, str(case.formula))
    assert settling(case.formula, recorded) == settling(case.formula, native)
    try:
        found, expected = robustness(case.formula, recorded), robustness(case.formula, native)
    except UnsupportedError:
        return
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_backends_agree_on_random_formulas_over_converted_traces() -> None:
    for seed in range(300):
        agree(seed)


@pytest.mark.slow
def test_backends_agree_on_five_thousand_random_formulas_over_converted_traces() -> None:
    for seed in range(1000, 6000):
        agree(seed)
