"""Batches against each episode alone, numba against numpy, and parts of episodes against wholes."""

from random import Random

import numpy as np
import pytest
from reference_cases import Case, case_of, random_case
from small_parts import small_parts

from safegym.check.monitor import compiled, judge
from safegym.check.monitor.judge_batch import judge_batch
from safegym.check.monitor.robustness import robustness, satisfaction
from safegym.formula.nodes import Formula
from safegym.trace.batch import TraceBatch
from safegym.trace.model import Trace

MODES: list[compiled.Mode] = ["numpy", "numba"]
Answer = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def cases_of(seed: int, *, longest: int = 14) -> tuple[Formula, list[Case]]:
    """One formula, and one to five traces of any length, kind of end and gaps."""
    random = Random(seed)
    gaps = random.random() < 0.3
    first = random_case(random, depth=5, longest=longest, with_gaps=gaps)
    more = [
        case_of(random, first.formula, longest=longest, with_gaps=gaps)
        for _ in range(random.randint(0, 4))
    ]
    return first.formula, [first, *more]


def answer(formula: Formula, trace: Trace | TraceBatch) -> Answer:
    return (*robustness(formula, trace), *satisfaction(formula, trace))


def assert_batch_equals_each(seed: int) -> None:
    """In parts of any size, against each episode alone and whole, bit for bit."""
    formula, cases = cases_of(seed)
    traces = [case.trace for case in cases]
    batch = TraceBatch.of(traces)
    with small_parts(Random(seed)):
        together = answer(formula, batch)
    for row, trace in enumerate(traces):
        count = trace.steps + 1
        for found, alone in zip(together, answer(formula, trace), strict=True):
            assert found[row, :count].tobytes() == alone.tobytes(), (seed, row, str(formula))
        for margins in together[:2]:
            assert np.isnan(margins[row, count:]).all()
        for truth in together[2:]:
            assert not truth[row, count:].any()


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_gives_each_episode_its_own_bits_on_300_random_batches(mode: compiled.Mode) -> None:
    with compiled.use(mode):
        for seed in range(300):
            assert_batch_equals_each(seed)


@pytest.mark.slow
def test_a_batch_gives_each_episode_its_own_bits_on_10000_random_batches() -> None:
    for seed in range(1000, 11_000):
        with compiled.use(MODES[seed % 2]):
            assert_batch_equals_each(seed)


def assert_same_bits(seed: int) -> None:
    formula, cases = cases_of(seed, longest=60)
    batch = TraceBatch.of([case.trace for case in cases])
    found: list[list[bytes]] = []
    for mode in MODES:
        with compiled.use(mode), small_parts(Random(seed)):
            answers = (*answer(formula, cases[0].trace), *answer(formula, batch))
            found.append([each.tobytes() for each in answers])
    assert found[0] == found[1], (seed, str(formula))


def test_numpy_and_compiled_kernels_give_the_same_bits_on_300_cases() -> None:
    for seed in range(300):
        assert_same_bits(seed)


@pytest.mark.slow
def test_numpy_and_compiled_kernels_give_the_same_bits_on_10000_cases() -> None:
    for seed in range(20_000, 30_000):
        assert_same_bits(seed)


def test_verdicts_on_a_batch_are_those_on_each_trace() -> None:
    for seed in range(60):
        formula, cases = cases_of(seed)
        traces = [case.trace for case in cases]
        wanted = [judge(formula, trace) for trace in traces]
        assert judge_batch(formula, TraceBatch.of(traces)) == wanted


def test_long_ragged_batches_agree_with_each_trace() -> None:
    draw = np.random.default_rng(5)
    lengths = draw.integers(1, 900, 40)
    x = draw.normal(size=(40, 900))
    from safegym.formula.text import parse

    for text in (
        "always[0,30](abs(x) <= 2.5)",
        "always(x > 1 implies eventually[0,20](x < -1))",
        "(x > -2) until[3,40] ((x > -1) since x > 1)",
        "historically[2,50](x < 2.8) or eventually[5,5](x > 2)",
        "fraction(eventually[0,9](x > 1)) >= 0.9",
    ):
        formula = parse(text)
        for end in ("absorbed", "failed", "horizon", "interrupted", "cut"):
            batch = TraceBatch.from_arrays({"x": x}, dt=1, end=end, lengths=lengths)  # type: ignore[arg-type]  # a kind
            together = answer(formula, batch)
            for row in range(0, 40, 3):
                alone = answer(formula, batch.trace(row))
                for found, one in zip(together, alone, strict=True):
                    assert found[row, : lengths[row]].tobytes() == one.tobytes(), (text, end, row)
