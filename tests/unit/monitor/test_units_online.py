"""Samples in another unit than the formula: converted online as a trace is offline."""

import inspect
import pickle
from random import Random

import numpy as np
import pytest

from safegym.check.monitor import Monitor, judge
from safegym.errors import TraceError, UnitError
from safegym.formula.build import always, eventually, once
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace

pytestmark = pytest.mark.skipif(
    "units" not in inspect.signature(Monitor).parameters,
    reason="the online monitor takes no units yet",
)

KMH = Signal("speed", "km/h", scale=10.0)
P = Signal("p", "m", shape=(2,), scale=0.1)
UNITS = {"speed": "m/s", "p": "cm"}
FORMULAS: tuple[Formula, ...] = (
    always(KMH <= 4.68),
    eventually((KMH > 8) & (P[0] <= 0.05), within="0.2"),
    always((P[1] > 0.02).implies(once(KMH > 2, within="0.1"))),
)


def samples_of(random: Random, batch: int) -> dict[str, np.ndarray]:
    speed = [random.choice([1.3, 0.7, 2.2222222222222223, 0.0]) for _ in range(batch)]
    p = [[random.choice([5.0, 2.0, 0.7]), random.choice([2.0, 3.1])] for _ in range(batch)]
    return {"speed": np.array(speed), "p": np.array(p)}


@pytest.mark.parametrize("batch", [1, 3, 40])
@pytest.mark.parametrize("formula", FORMULAS)
def test_online_agrees_with_offline_on_converted_samples(formula: Formula, batch: int) -> None:
    random = Random(7)
    monitor = Monitor(formula, "0.1", batch=batch, units=UNITS)  # type: ignore[call-arg]  # see above
    seen: list[dict[str, np.ndarray]] = []
    for _ in range(6):
        seen.append(samples_of(random, batch))
        episode = monitor.update(seen[-1]).episode
        monitor = pickle.loads(pickle.dumps(monitor))
        for row in range(batch):
            arrays = {name: [sample[name][row] for sample in seen] for name in ("speed", "p")}
            trace = Trace.from_arrays(arrays, dt="0.1", end="interrupted", units=UNITS)
            verdict = judge(formula, trace)
            assert episode.status[row] == verdict.status
            assert verdict.robustness is not None
            assert (episode.lo[row], episode.hi[row]) == (
                verdict.robustness.lo,
                verdict.robustness.hi,
            )


def test_samples_of_another_dimension_are_refused_before_the_first() -> None:
    claim = Claim(id="car.speed", statement=always(KMH <= 50))
    with pytest.raises(UnitError, match=r"m \(length\) and km/h \(speed\)"):
        Monitor(claim, "0.1", units={"speed": "m"})  # type: ignore[call-arg]  # see above


def test_a_sample_that_the_formulas_unit_cannot_say_is_refused() -> None:
    monitor = Monitor(always(Signal("d", "mm") > 0), "0.1", units={"d": "km"})  # type: ignore[call-arg]  # see above
    with pytest.raises(TraceError, match="d is"):
        monitor.update({"d": [1e307]})
