"""Scans and windows against plain loops, for a combination that minds order and counts twice."""

import pytest
import torch
from torch import Tensor

from safegym.check.gradient import logsum
from safegym.check.gradient.logsum import cumulated, sliding, soft
from safegym.check.gradient.scan import Count, scan, suffixes, total, windows
from safegym.check.gradient.strip import Strip, Values, take

IDENTITY = (1.0, 0.0)


def composed(first: Values, second: Values, m: Count, n: Count) -> Values:
    """Affine maps one after the other: associative, not commutative, not idempotent."""
    (a, b), (c, d) = first, second
    return a * c, b * c + d


def maps(count: int, rows: int = 2) -> Values:
    draw = torch.Generator().manual_seed(count)
    shape = (rows, count)
    return tuple(torch.randint(1, 4, shape, generator=draw).double() for _ in range(2))


def slow(values: Values, start: int, stop: int) -> Values:
    found = tuple(torch.full((values[0].shape[0],), x, dtype=torch.float64) for x in IDENTITY)
    for k in range(start, stop):
        found = composed(found, tuple(v[:, k] for v in values), 1, 1)
    return found


def same(found: Values, wanted: list[Values]) -> bool:
    return all(
        torch.equal(one, torch.stack(parts, -1))
        for one, parts in zip(found, zip(*wanted, strict=True), strict=True)
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 12, 13])
def test_scans_equal_loops(n: int) -> None:
    values = maps(n)
    assert same(scan(values, composed), [slow(values, 0, k + 1) for k in range(n)])
    assert same(suffixes(values, composed), [slow(values, k, n) for k in range(n)])
    assert same(total(values, composed), [slow(values, 0, n)])


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 11])
@pytest.mark.parametrize("n", [11, 12, 16, 23])
def test_windows_equal_loops(n: int, width: int) -> None:
    values = maps(n)
    wanted = [slow(values, k, k + width) for k in range(n - width + 1)]
    assert same(windows(values, width, composed, IDENTITY), wanted)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 20, 37])
def test_combinations_are_told_how_many_samples_they_cover(width: int) -> None:
    ones = (torch.ones(37, dtype=torch.float64),)

    def counted(first: Values, second: Values, m: Count, n: Count) -> Values:
        assert torch.equal(first[0], torch.as_tensor(m).double().expand_as(first[0]))
        assert torch.equal(second[0], torch.as_tensor(n).double().expand_as(second[0]))
        return (first[0] + second[0],)

    def at_most(first: Values, second: Values, m: Count, n: Count) -> Values:
        assert bool((first[0] <= torch.as_tensor(m)).all())  # less in the padding after the end
        assert bool((second[0] <= torch.as_tensor(n)).all())
        return (first[0] + second[0],)

    assert bool((windows(ones, width, at_most, (0.0,))[0] == width).all())
    assert torch.equal(scan(ones, counted)[0], torch.arange(1.0, 38, dtype=torch.float64))
    assert float(total(ones, counted)[0]) == 37


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 15, 16, 17, 33, 40])
def test_sums_of_exponentials_equal_torchs_over_each_window(sign: int, width: int) -> None:
    x = 3 * torch.randn(2, 40, dtype=torch.float64)
    wanted = sign * torch.logsumexp(sign * x.unfold(-1, width, 1), -1)
    torch.testing.assert_close(sliding(x, width, sign), wanted)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("narrow", [1, 16])
def test_sums_of_exponentials_have_right_gradients_of_both_signs(
    sign: int, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logsum, "NARROW", narrow)

    def both(x: Tensor) -> Tensor:
        return torch.cat((sliding(x, 3, sign), cumulated(x, sign), soft(x, 2 * x, sign)), -1)

    x = torch.randn(2, 7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(both, (x,))
    assert torch.autograd.gradgradcheck(both, (x,))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("narrow", [1, 16])
def test_sums_over_infinities_are_right_and_their_gradients_finite(
    sign: int, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logsum, "NARROW", narrow)
    inf = torch.inf
    x = torch.tensor([-inf, -inf, 1.0, inf, 2.0, -inf], dtype=torch.float64, requires_grad=True)
    for found in (sliding(x, 2, sign), cumulated(x, sign), soft(x, x.flip(-1), sign)):
        assert not bool(found.isnan().any())
        (grad,) = torch.autograd.grad(found.sum(), x, retain_graph=True)
        assert bool(torch.isfinite(grad).all())
    extreme = torch.maximum if sign > 0 else torch.minimum
    found, wanted = sliding(x, 2, sign), extreme(x[1:], x[:-1])
    assert torch.equal(found.isinf(), wanted.isinf())
    assert torch.equal(found[found.isinf()], wanted[wanted.isinf()])


@pytest.mark.parametrize("first", [-3, -1, 0, 2, 6])
@pytest.mark.parametrize("last", [-1, 0, 3, 5, 9])
def test_taken_runs_equal_a_loop(first: int, last: int) -> None:
    strip = Strip((torch.arange(10.0, 16),), 0)
    if last < first:
        return
    for after in (None, (99.0,)):
        (found,) = take(strip, first, last, before=(-1.0,), after=after)
        beyond = 15.0 if after is None else 99.0
        wanted = [-1.0 if k < 0 else 10.0 + k if k < 6 else beyond for k in range(first, last + 1)]
        assert found.tolist() == wanted
