"""The online monitor against the offline one on every prefix, and against itself."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from online_cases import OnlineCase, row_of, streams
from reference_cases import DT, random_formula

from safegym.check.monitor import Monitor, Update, compiled
from safegym.check.monitor.stream import program, rings
from safegym.formula.text import parse


def _monitor(case: OnlineCase, *, exact: bool = False) -> Monitor:
    return Monitor(case.formula, DT, 3, case.horizon, exact=exact)


def _check(seed: int, count: int, *, longest: int = 24, exact: bool = False) -> bool:
    """Some updates of a random case; returns whether the monitor calls itself tight."""
    case = OnlineCase.draw(seed, longest=longest)
    monitor = _monitor(case, exact=exact)
    told = case.play(monitor)
    for each in Random(seed).sample(told, min(count, len(told))):
        case.check(each, monitor)
    return monitor.tight


def test_online_episode_equals_offline_on_every_interrupted_prefix() -> None:
    for seed in range(30):
        assert _check(seed, 100, exact=True)


def test_the_streaming_monitor_equals_or_encloses_offline_on_every_prefix() -> None:
    tight = sum(_check(seed, 100) for seed in range(40))
    tight += sum(_check(seed, 5) for seed in range(40, 300))
    assert 180 < tight < 290


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["numpy", "numba"])
def test_the_streaming_monitor_agrees_on_5000_random_cases(mode: compiled.Mode) -> None:
    first = 10_000 if mode == "numpy" else 15_000
    with compiled.use(mode):
        for seed in range(first, first + 5000):
            _check(seed, 2, longest=16)


@pytest.mark.slow
def test_the_exact_monitor_agrees_on_1500_random_cases() -> None:
    for seed in range(30_000, 31_500):
        _check(seed, 3, longest=16, exact=True)


@pytest.fixture
def short_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every window that is not tiny begins as a ring that is filled, of four rows."""
    monkeypatch.setattr(rings, "AT_ONCE", 1)
    monkeypatch.setattr(rings, "SMALL", 2)
    monkeypatch.setattr("safegym.check.monitor.stream.windows.SMALL", 2)
    monkeypatch.setattr(program, "FEWEST", 4)


@pytest.mark.usefixtures("short_rings")
@pytest.mark.parametrize("mode", ["numpy", "numba"])
def test_rings_that_are_filled_first_agree_too(mode: compiled.Mode) -> None:
    with compiled.use(mode):
        for seed in range(500, 900):
            _check(seed, 2, longest=60)


@pytest.mark.parametrize(
    "text",
    [
        "always(eventually[0,0.2](x > 0) or once[0,0.2](x > 0))",
        "always(once[0,0.2](x > 0) or eventually[0,0.2](x > 0))",
        "always[0,0.4](always[0,0.2](x > 0) and historically[0,0.2](x > 0))",
        "(x > 0) until[0,0.3] (y > 0) or once[0,0.2]((x > 0) since[0,0.3] (y > 0))",
    ],
)
def test_windows_of_future_and_past_over_one_operand_are_told_apart(text: str) -> None:
    for seed in range(6):
        case = replace(OnlineCase.draw(seed), formula=parse(text))
        monitor = _monitor(case)
        for told in case.play(monitor):
            case.check(told, monitor)


def test_numpy_and_compiled_updates_give_the_same_bits() -> None:
    for seed in range(2000, 2300):
        found = []
        for mode in ("numpy", "numba"):
            with compiled.use(mode):
                case = OnlineCase.draw(seed)
                found.append([_bits(told.update) for told in case.play(_monitor(case))])
        assert found[0] == found[1], seed


def test_changing_over_in_the_middle_of_an_episode_changes_no_bit() -> None:
    for seed in range(3000, 3060):
        random = Random(seed)
        formula = random_formula(random, 3, [])
        data = streams(random, 20, 4)
        plain, changing = (Monitor(formula, DT, 4, horizon=9) for _ in range(2))
        for k in range(20):
            sample = {name: values[k] for name, values in data.items()}
            with compiled.use("numpy"):
                wanted = plain.update(sample)
            with compiled.use("numba" if k % 3 else "numpy"):
                found = changing.update(sample)
            assert _bits(found) == _bits(wanted)


def _bits(update: Update) -> list[bytes]:
    outcomes = (update.episode, update.delayed)
    arrays = [side for each in outcomes for side in (each.must, each.may, each.lo, each.hi)]
    return [np.asarray(side).tobytes() for side in arrays]


@pytest.mark.parametrize("exact", [False, True])
def test_a_batch_gives_each_episode_what_it_gets_alone(exact: bool) -> None:
    for seed in range(30):
        random = Random(seed)
        formula = random_formula(random, 3, [])
        data = streams(random, 15, 5)
        together = Monitor(formula, DT, 5, horizon=9, exact=exact)
        alone = [Monitor(formula, DT, 1, horizon=9, exact=exact) for _ in range(5)]
        for k in range(15):
            whole = together.update({name: values[k] for name, values in data.items()})
            for b in range(5):
                one = alone[b].update({name: v[k, b : b + 1] for name, v in data.items()})
                assert row_of(whole.episode, b) == row_of(one.episode, 0)
                assert row_of(whole.delayed, b) == row_of(one.delayed, 0)
