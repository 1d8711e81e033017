"""Kernels against their definitions, in numpy and compiled, apart and in place."""

import subprocess
import sys
from random import Random

import numpy as np
import pytest

from safegym.check.monitor import compiled, kernels
from safegym.check.monitor.lattice import MARGIN, TRUTH, Lattice, Values
from safegym.errors import UnsupportedError

LATTICES = [MARGIN, MARGIN.dual, TRUTH, TRUTH.dual]
MODES: list[compiled.Mode] = ["numpy", "numba"]


@pytest.fixture(autouse=True)
def _compiled_however_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "NARROW", 1)
    monkeypatch.setattr(compiled, "NARROW_UNTIL", 1)


def draw(seed: int, size: int, lattice: Lattice) -> Values:
    values = np.random.default_rng(seed).integers(-4, 5, size).astype(float)
    return values > 0 if lattice.dtype is np.bool_ else values


def slow_slide(x: Values, width: int, lattice: Lattice) -> list[object]:
    return [lattice.join.reduce(x[k : k + width]) for k in range(len(x))]


def slow_until(left: Values, right: Values, width: int, lattice: Lattice) -> list[object]:
    out = []
    for k in range(len(right)):
        best, path = lattice.bottom, lattice.top
        for j in range(k, min(k + width, len(right))):
            best = lattice.join(best, lattice.meet(path, right[j]))
            path = lattice.meet(path, left[j])
        out.append(best)
    return out


def slow_remaining(left: Values, right: Values, seed: object, lattice: Lattice) -> list[object]:
    out = []
    for u, v in zip(left[::-1], right[::-1], strict=True):
        seed = lattice.join(v, lattice.meet(u, seed))
        out.append(seed)
    return out[::-1]


def room(x: Values, count: int, in_place: bool) -> tuple[Values, Values]:
    """A copy of x, and where `count` results go: over it, or elsewhere."""
    kept = x.copy()
    return kept, kept[..., :count] if in_place else np.empty((*x.shape[:-1], count), x.dtype)


@pytest.mark.parametrize("in_place", [False, True], ids=["apart", "in place"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "lattice", LATTICES, ids=["margins", "dual margins", "truth", "dual truth"]
)
def test_kernels_are_what_they_say(
    mode: compiled.Mode, lattice: Lattice, in_place: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(1)
    with compiled.use(mode):
        for seed in range(200):
            monkeypatch.setattr(kernels, "TALL", random.choice([2, 3, 64]))
            monkeypatch.setattr(kernels, "CHUNK", random.choice([4, 16384]))
            monkeypatch.setattr(kernels, "WIDE", random.choice([1, 64]))
            size = random.randint(1, 40)
            count, width = random.randint(1, size), random.randint(1, size + 3)
            left, right = draw(seed, size, lattice), draw(1000 + seed, size, lattice)
            told = f"seed {seed}: size {size}, count {count}, width {width}"
            x, out = room(right, count, in_place)
            kernels.slide(x, width, lattice, out)
            assert out.tolist() == slow_slide(right, width, lattice)[:count], told
            x, out = room(right, count, in_place)
            kernels.remaining(x, lattice, out)
            assert out.tolist() == slow_slide(right, size, lattice)[:count], told
            x, out = room(right, count, in_place)
            kernels.until_slide(left, x, width, lattice, out)
            assert out.tolist() == slow_until(left, right, width, lattice)[:count], told
            for edge in (lattice.bottom, lattice.top):
                x, out = room(right, count, in_place)
                kernels.until_remaining(left, x, edge, lattice, out)
                assert out.tolist() == slow_remaining(left, right, edge, lattice)[:count], told


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "lattice", LATTICES, ids=["margins", "dual margins", "truth", "dual truth"]
)
def test_rows_read_backwards_are_each_on_its_own(mode: compiled.Mode, lattice: Lattice) -> None:
    rows = np.stack([draw(seed, 50, lattice) for seed in range(4)])
    ahead, behind = rows[:, ::-1], rows[::-1, ::-1]
    with compiled.use(mode):
        for width in (2, 9, 30, 60):
            slid, held, until = (np.empty(rows.shape, lattice.dtype)[:, ::-1] for _ in range(3))
            kernels.slide(ahead, width, lattice, slid)
            kernels.until_slide(behind, ahead, width, lattice, held)
            kernels.until_remaining(behind, ahead, rows[:, 0], lattice, until)
            for row in range(4):
                u, v = behind[row], ahead[row]
                assert slid[row].tolist() == slow_slide(v, width, lattice)
                assert held[row].tolist() == slow_until(u, v, width, lattice)
                assert until[row].tolist() == slow_remaining(u, v, rows[row, 0], lattice)


@pytest.mark.parametrize("width", [2, 7, 100, 5000, 150_000])
def test_long_runs_and_chunks_agree_with_the_compiled_kernels(width: int) -> None:
    size = 200_000 if width > 100_000 else 40_000
    left, right = draw(1, size, MARGIN), draw(2, size, MARGIN)
    results: list[list[bytes]] = []
    for mode in MODES:
        with compiled.use(mode):
            out = np.empty((4, size))
            kernels.slide(right, width, MARGIN.dual, out[0])
            kernels.until_slide(left, right, width, MARGIN, out[1])
            kernels.until_remaining(left, right, -np.inf, MARGIN, out[2])
            kernels.remaining(right, MARGIN, out[3])
            results.append([each.tobytes() for each in out])
    assert results[0] == results[1]


def test_an_unknown_kernel_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._State, "mode", None)
    monkeypatch.setenv(compiled.VARIABLE, "fortran")
    with pytest.raises(UnsupportedError, match="not a kernel mode"):
        compiled.mode()


def test_a_broken_compiler_leaves_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._State, "module", None)
    monkeypatch.setattr(compiled._State, "broken", "no compiler")
    monkeypatch.setattr(compiled._State, "work", 10**12)
    values, out = draw(3, 5000, MARGIN), np.empty(4901)
    kernels.slide(values, 100, MARGIN, out)
    assert out[17] == values[17:117].max()
    with pytest.raises(UnsupportedError, match="no compiler"), compiled.use("numba"):
        pass


FIRST_CALL = """
import sys
import numpy as np
import safegym as sg
trace = sg.Trace.from_arrays({"x": np.zeros(100_000)}, dt="0.1")
sg.robustness(sg.parse("always[0,100](x <= 1)"), trace)
assert "numba" not in sys.modules
"""


def test_the_first_call_waits_for_no_compiler() -> None:
    subprocess.run([sys.executable, "-c", FIRST_CALL], check=True, timeout=60)
