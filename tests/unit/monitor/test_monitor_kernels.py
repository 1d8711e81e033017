"""Kernels against their definitions, in numpy and compiled."""

import numpy as np
import pytest

from safegym.check.monitor import compiled, kernels
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.errors import UnsupportedError

LATTICES = [MARGIN, MARGIN.dual, TRUTH, TRUTH.dual]
MODES: list[compiled.Mode] = ["numpy", "numba"]


def draw(seed: int, size: int, lattice: Lattice) -> Values:
    values = np.random.default_rng(seed).integers(-4, 5, size).astype(float)
    return values > 0 if lattice.dtype is np.bool_ else values


def slow_until(left: Values, right: Values, width: int, lattice: Lattice) -> list[object]:
    out = []
    for k in range(len(right) - width + 1):
        best, path = lattice.bottom, lattice.top
        for j in range(k, k + width):
            best = lattice.join(best, lattice.meet(path, right[j]))
            path = lattice.meet(path, left[j])
        out.append(best)
    return out


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lattice", LATTICES)
def test_kernels_are_what_they_say(mode: compiled.Mode, lattice: Lattice) -> None:
    with compiled.use(mode):
        for seed in range(40):
            size = 1 + seed
            left, right = draw(seed, size, lattice), draw(1000 + seed, size, lattice)
            for width in {1, 2, min(3, size), (size + 1) // 2, size}:
                if width > size:
                    continue
                runs = [lattice.join.reduce(right[k : k + width]) for k in range(size - width + 1)]
                assert kernels.slide(right, width, lattice.join).tolist() == runs
                found = kernels.until_slide(left, right, width, lattice)
                assert found.tolist() == slow_until(left, right, width, lattice)
            for seed_value in (lattice.bottom, lattice.top):
                wanted = seed_value
                values = []
                for u, v in zip(left[::-1], right[::-1], strict=True):
                    wanted = lattice.join(v, lattice.meet(u, wanted))
                    values.append(wanted)
                out = kernels.until_remaining(left, right, seed_value, lattice)
                assert out.tolist() == values[::-1]


@pytest.mark.parametrize("width", [2, 7, 100, 5000, 150_000])
def test_long_runs_and_chunks_agree_with_the_compiled_kernels(width: int) -> None:
    size = 200_000 if width > 100_000 else 40_000
    left, right = draw(1, size, MARGIN), draw(2, size, MARGIN)
    results = []
    for mode in MODES:
        with compiled.use(mode):
            results.append(
                (
                    kernels.slide(right, width, np.minimum),
                    kernels.until_slide(left, right, width, MARGIN),
                    kernels.until_remaining(left, right, -np.inf, MARGIN),
                )
            )
    for one, other in zip(*results, strict=True):
        assert one.tobytes() == other.tobytes()


def test_rows_are_independent_of_each_other() -> None:
    rows = np.stack([draw(seed, 50, MARGIN) for seed in range(4)])
    for mode in MODES:
        with compiled.use(mode):
            together = kernels.until_slide(rows, rows[::-1], 9, MARGIN)
            for row in range(4):
                alone = kernels.until_slide(rows[row], rows[::-1][row], 9, MARGIN)
                assert together[row].tolist() == alone.tolist()


def test_an_unknown_kernel_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._State, "mode", None)
    monkeypatch.setenv(compiled.VARIABLE, "fortran")
    with pytest.raises(UnsupportedError, match="not a kernel mode"):
        compiled.mode()


def test_a_broken_compiler_leaves_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._State, "module", None)
    monkeypatch.setattr(compiled._State, "broken", "no compiler")
    monkeypatch.setattr(compiled._State, "work", 10**12)
    values = draw(3, 5000, MARGIN)
    assert kernels.slide(values, 100, np.minimum).shape == (4901,)
    with pytest.raises(UnsupportedError, match="no compiler"), compiled.use("numba"):
        pass
