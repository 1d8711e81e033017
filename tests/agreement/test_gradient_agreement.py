"""Margins through torch: exact ones against the monitor's bits and the slow reference, smooth ones
against exact ones and their bound, gradients against differences.
"""

from random import Random

import numpy as np
import pytest
import reference_cases
import torch
from reference_cases import (
    DT,
    KINDS,
    ONE,
    TWO,
    WINDOWED_ONE,
    WINDOWED_TWO,
    Case,
    case_of,
    random_atom,
    random_case,
    random_formula,
    random_window,
)
from torch import Tensor

from safegym.check.gradient import DifferentiableMonitor
from safegym.check.monitor import robustness
from safegym.formula import nodes as n
from safegym.formula.functions import cos, exp, norm, sin, sqrt
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal, Window
from safegym.trace.model import Trace

ROUNDING = 1e-11
"""More than the rounding of a smooth pass over values of a few units, in multiples of 1."""


def monitor_for(case: Case, smooth: float | None = None, at: str = "all") -> DifferentiableMonitor:
    trace = case.trace
    return DifferentiableMonitor(
        case.formula, DT, trace.end.kind, trace.horizon, smooth, at  # type: ignore[arg-type]  # a word
    )  # fmt: skip


def tensors(signals: object) -> dict[str, Tensor]:
    return {
        name: torch.tensor(np.array(values, dtype=float), requires_grad=True)
        for name, values in signals.items()  # type: ignore[attr-defined]  # a mapping
    }


def arrays(pair: object) -> list[np.ndarray]:
    return [side.detach().numpy() for side in pair]  # type: ignore[attr-defined]  # two tensors


def assert_exact(case: Case) -> None:
    told = f"{case.formula} on {case.reference}"
    gaps = case.trace.unseen
    found = arrays(monitor_for(case)(tensors(case.trace.signals), gaps))
    wanted = case.reference.robustness(case.formula)
    assert list(zip(*(side.tolist() for side in found), strict=True)) == wanted, told
    for mine, theirs in zip(found, robustness(case.formula, case.trace), strict=True):
        assert mine.tobytes() == theirs.tobytes(), told
    start = monitor_for(case, at="start")(tensors(case.trace.signals), gaps)
    assert [float(side) for side in arrays(start)] == [side[0] for side in found], told


def assert_smooth(
    monitor: DifferentiableMonitor, signals: dict[str, Tensor], gaps: object = ()
) -> None:
    """As computed within the bound but for rounding; as given within it to the bit; no NaN."""
    assert monitor.smooth is not None
    passes = monitor._passes(signals, gaps)  # type: ignore[arg-type]  # a trace's
    given = monitor(signals, gaps)  # type: ignore[arg-type]  # a trace's
    for side, held in zip((-1, 1), given, strict=True):
        exact, raw = passes.exact(side)[0], passes.smooth(side, monitor.smooth)
        finite = torch.isfinite(exact)
        assert torch.equal(raw[~finite], exact[~finite]), monitor.subject
        off = side * (raw - exact)[finite]
        assert bool((off >= -ROUNDING).all()), monitor.subject
        assert bool((off <= given.bound + ROUNDING).all()), monitor.subject
        low, high = torch.sort(torch.stack((exact, exact + side * given.bound)), 0).values
        assert bool(((low <= held) & (held <= high)).all()), monitor.subject
        if held.requires_grad:
            held[finite].sum().backward(retain_graph=True)
    for values in signals.values():
        assert values.grad is None or bool(torch.isfinite(values.grad).all()), monitor.subject


def comparable(case: Case) -> bool:
    return not isinstance(case.formula, n.Fraction)


def test_exact_margins_have_the_bits_of_the_monitor_on_300_random_pairs() -> None:
    for seed in range(300):
        case = random_case(Random(seed))
        if comparable(case):
            assert_exact(case)


@pytest.mark.slow
def test_exact_margins_have_the_bits_of_the_monitor_on_10000_random_pairs() -> None:
    done = 0
    for seed in range(30_000, 41_000):
        case = random_case(Random(seed), depth=5, with_gaps=seed % 3 == 0)
        if comparable(case):
            assert_exact(case)
            done += 1
    assert done >= 10_000


def test_margins_with_gaps_have_the_bits_of_the_monitor_and_are_soundly_smoothed() -> None:
    for seed in range(200):
        case = random_case(Random(seed), with_gaps=True)
        if comparable(case):
            assert_exact(case)
            signals = tensors(case.trace.signals)
            assert_smooth(monitor_for(case, 0.1), signals, case.trace.unseen)


def test_smooth_margins_are_sound_and_within_their_bound_on_300_random_pairs() -> None:
    for seed in range(300):
        case = random_case(Random(seed))
        if comparable(case):
            temperature = Random(seed).choice([0.01, 0.1, 1.0])
            assert_smooth(monitor_for(case, temperature), tensors(case.trace.signals))


@pytest.mark.slow
def test_smooth_margins_are_sound_and_within_their_bound_on_3000_random_pairs() -> None:
    for seed in range(50_000, 53_000):
        case = random_case(Random(seed), depth=5, with_gaps=seed % 3 == 0)
        if comparable(case):
            temperature = Random(seed).choice([0.01, 0.1, 1.0])
            signals = tensors(case.trace.signals)
            assert_smooth(monitor_for(case, temperature), signals, case.trace.unseen)


def one_node(random: Random, node: type[Formula]) -> Formula:
    def part() -> Formula:
        return random_formula(random, random.choice([0, 1, 2]), [])

    if node in WINDOWED_ONE:
        return node(part(), random_window(random))
    if node in WINDOWED_TWO:
        return node(part(), part(), random_window(random))
    if node in TWO:
        return node(part(), part())
    if node in (n.And, n.Or):
        return (n.all_of if node is n.And else n.any_of)(part(), random_atom(random))
    return node(part())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "node", [*ONE, *TWO, *WINDOWED_ONE, *WINDOWED_TWO, n.And, n.Or], ids=lambda node: node.__name__
)
def test_every_node_agrees_at_every_kind_of_end(node: type[Formula], kind: str) -> None:
    for seed in range(8):
        random = Random(seed)
        case = case_of(random, one_node(random, node), kind=kind)
        assert_exact(case)
        assert_smooth(monitor_for(case, 0.1), tensors(case.trace.signals))


def wide_window(random: Random) -> Window:
    """Around the lengths at which kernels change their way: powers of two, 16."""
    low = random.choice([0, 0, 1, 5, 17])
    if random.random() < 0.3:
        return Window(low * DT, None)
    wide = random.choice([0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 60, 100])
    return Window(low * DT, (low + wide) * DT)


def assert_batch(seed: int) -> None:
    """Three episodes at once, real numbers or ties, against the monitor on each alone."""
    random, draw = Random(seed), np.random.default_rng(seed)
    formula = random_formula(random, random.randint(1, 4), [])
    last = random.choice([1, 5, 20, 63, 64, 65, 130])
    kind = random.choice(KINDS)
    horizon = random.choice([None, None, last, max(1, last - 3), last + 3])
    if kind == "horizon" and horizon is not None and horizon > last:
        horizon = None
    drawn = {name: draw.normal(size=(3, last + 1)) for name in "xy"}
    drawn["p"] = draw.normal(size=(3, last + 1, 2))
    if random.random() < 0.3:
        drawn = {name: np.round(values) for name, values in drawn.items()}
    found = arrays(DifferentiableMonitor(formula, DT, kind, horizon)(tensors(drawn)))  # type: ignore[arg-type]  # a kind
    for row in range(3):
        mine = {name: values[row] for name, values in drawn.items()}
        trace = Trace.from_arrays(mine, dt=DT, end=kind, horizon=horizon)  # type: ignore[arg-type]  # a kind
        for side, wanted in zip(found, robustness(formula, trace), strict=True):
            assert side[row].tobytes() == wanted.tobytes(), (seed, formula)
    assert_smooth(DifferentiableMonitor(formula, DT, kind, horizon, 0.2), tensors(drawn))  # type: ignore[arg-type]  # a kind


def test_batches_of_long_episodes_with_wide_windows_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cases, "random_window", wide_window)
    for seed in range(60):
        assert_batch(seed)


@pytest.mark.slow
def test_1000_batches_of_long_episodes_with_wide_windows_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reference_cases, "random_window", wide_window)
    for seed in range(1000, 2000):
        assert_batch(seed)


def test_functions_in_terms_have_the_bits_of_the_monitor() -> None:
    x, y = Signal("x"), Signal("y")
    draw = np.random.default_rng(5)
    values = {"x": draw.uniform(0, 9, 20_000), "y": draw.normal(size=20_000)}
    trace = Trace.from_arrays(values, dt=1, end="cut")
    for term in (sqrt(x), exp(y), sin(y), cos(x), norm(x, y), x / 3 * y, -y + 0.1, abs(y) - x):
        wanted = robustness(term > 0.3, trace)[0]
        found = DifferentiableMonitor(term > 0.3, 1, end="cut").lower(tensors(values))
        assert found.detach().numpy().tobytes() == wanted.tobytes(), term


def test_the_exact_gradient_is_the_quotient_of_differences_off_ties() -> None:
    for seed in range(60):
        random, draw = Random(seed), np.random.default_rng(seed)
        formula = random_formula(random, random.randint(1, 4), [])
        kind = random.choice(KINDS)
        drawn = {"x": draw.normal(size=9), "y": draw.normal(size=9), "p": draw.normal(size=(9, 2))}
        monitor = DifferentiableMonitor(formula, DT, kind)  # type: ignore[arg-type]  # a kind
        signals = tensors(drawn)
        weights = torch.tensor(draw.normal(size=9))

        def whole(given: dict[str, Tensor], weights: Tensor = weights) -> Tensor:
            low = monitor.lower(given)  # noqa: B023  # called in this round only
            return (weights * low)[torch.isfinite(low)].sum()

        total = whole(signals)
        if total.requires_grad:
            total.backward()
        step = 1e-6
        for name, values in signals.items():
            ways = torch.tensor(draw.normal(size=values.shape))
            ends = [
                whole({**signals, name: values.detach() + sign * step * ways}) for sign in (1, -1)
            ]
            slope = float((ends[0] - ends[1]).detach()) / (2 * step)
            wanted = 0.0 if values.grad is None else float((values.grad * ways).sum())
            assert slope == pytest.approx(wanted, abs=1e-6, rel=1e-6), (seed, formula, name)


def test_the_smooth_gradient_passes_gradcheck_on_random_formulas() -> None:
    for seed in range(12):
        random, draw = Random(seed), np.random.default_rng(seed)
        formula = random_formula(random, random.randint(1, 3), [])
        count = random.choice([1, 3, 6])
        monitor = DifferentiableMonitor(formula, DT, random.choice(KINDS), smooth=0.3)  # type: ignore[arg-type]  # a kind
        sizes = ((2, count), (2, count), (2, count, 2))
        inputs = [torch.tensor(draw.normal(size=size), requires_grad=True) for size in sizes]

        def finite(*given: Tensor) -> Tensor:
            pair = torch.stack(list(monitor(dict(zip("xyp", given, strict=True)))))  # noqa: B023  # this round's
            return torch.where(torch.isfinite(pair), pair, 0.0)

        if finite(*inputs).requires_grad:
            assert torch.autograd.gradcheck(finite, inputs, atol=1e-5)


def test_float32_margins_are_those_of_float64_but_for_its_rounding() -> None:
    for seed in range(80):
        case = random_case(Random(seed))
        if not comparable(case):
            continue
        wanted = arrays(monitor_for(case)(tensors(case.trace.signals)))
        single = {name: v.detach().float() for name, v in tensors(case.trace.signals).items()}
        for side, double in zip(monitor_for(case)(single), wanted, strict=True):
            assert side.dtype == torch.float32
            np.testing.assert_allclose(side.numpy(), double, atol=1e-5, err_msg=str(case.formula))
        smooth = monitor_for(case, 0.1)(single)
        for sign, side, exact in zip((-1, 1), smooth, monitor_for(case)(single), strict=True):
            assert bool((sign * side >= sign * exact).all())
