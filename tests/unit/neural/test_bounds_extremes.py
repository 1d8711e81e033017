"""Points, zeros, huge and tiny numbers, unusable boxes, and values without a bound."""

from fractions import Fraction

import numpy as np
import pytest
from random_graphs import KINDS, anything, network, single

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.exact import evaluate_exact
from safegym.check.neural.graph import GraphBuilder, Node
from safegym.errors import UnsupportedError


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", [(0.0, 0.0), (0.3, -0.7), (1e-310, -1e-310), (5e-324, 0.0)])
def test_a_point_box_encloses_the_exact_value(kind: str, point: tuple[float, float]) -> None:
    graph = single(kind)
    found = Bounds(graph, "real").linear([point], [point], upper=True)
    exact = evaluate_exact(graph, [Fraction(each) for each in point])
    assert found.upper is not None
    for at, (least, greatest) in enumerate(exact):
        assert Fraction(float(found.lower[0, at])) <= greatest
        assert Fraction(float(found.upper[0, at])) >= least
        assert found.upper[0, at] - found.lower[0, at] < 1e-12


@pytest.mark.parametrize("scale", [1e30, 1e100, 1e-30, 1e-300, 1e-320])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "tanh"])
def test_huge_and_tiny_inputs_are_enclosed_in_rationals(scale: float, activation: str) -> None:
    graph = network((2, 6, 6, 2), activation, "exact", seed=3)
    random = np.random.default_rng(0)
    centre = random.normal(size=(4, 2)) * scale
    low, high = centre - 0.3 * scale, centre + 0.3 * scale
    found = Bounds(graph, "real").linear(low, high)
    for box in range(4):
        for x in (
            low[box],
            high[box],
            np.where(found.coefficients[box, 0] > 0, low[box], high[box]),
        ):
            if activation == "tanh" and scale > 1e3:
                continue
            exact = evaluate_exact(graph, [Fraction(float(each)) for each in x])
            for at, (_, greatest) in enumerate(exact):
                assert Fraction(float(found.lower[box, at])) <= greatest


def test_tiny_and_huge_weights_are_enclosed_in_rationals() -> None:
    for scale in (1e-160, 1e-310, 1e150):
        builder = GraphBuilder(2)
        first = builder.linear([(builder.input(), np.array([[1.0, -2.0], [0.5, 3.0]]) * scale)])
        hidden = builder.apply("relu", first)
        builder.linear([(hidden, np.array([[1.0, -1.0]]) * scale)], [1e-300])
        graph = builder.graph()
        found = Bounds(graph, "real").linear([[0.25, 0.5]], [[0.25, 0.5]], upper=True)
        ((exact, _),) = evaluate_exact(graph, [Fraction(1, 4), Fraction(1, 2)])
        assert found.upper is not None
        assert Fraction(float(found.lower[0, 0])) <= exact <= Fraction(float(found.upper[0, 0]))


def test_zero_weights_give_the_bias_alone() -> None:
    builder = GraphBuilder(3)
    hidden = builder.apply(
        "relu", builder.linear([(builder.input(), np.zeros((4, 3)))], [1, 2, -1, 0])
    )
    builder.linear([(hidden, np.zeros((2, 4)))], [0.5, -0.25])
    found = Bounds(builder.graph(), "deployed float32").linear(
        [[-1.0] * 3], [[1.0] * 3], upper=True
    )
    assert found.upper is not None
    assert found.lower[0] == pytest.approx([0.5, -0.25], abs=1e-14)
    assert found.upper[0] == pytest.approx([0.5, -0.25], abs=1e-14)
    assert (found.lower[0] <= [0.5, -0.25]).all()


def test_an_overflow_gives_no_bound_instead_of_a_wrong_one() -> None:
    builder = GraphBuilder(1)
    builder.apply("exp", builder.input())
    bounds = Bounds(builder.graph(), "real")
    found = bounds.linear([[700.0]], [[800.0]], upper=True)
    assert found.upper is not None
    assert found.upper[0, 0] == np.inf
    assert 0.0 <= found.lower[0, 0] <= np.exp(700.0)
    assert bounds.interval([[700.0]], [[800.0]])[-1][1][0, 0] == np.inf


def test_a_binary32_overflow_gives_no_bound() -> None:
    builder = GraphBuilder(2)
    cast = builder.apply("cast", builder.input(), precision="float32")
    hidden = builder.linear([(cast, [[1.0, 1.0], [1.0, -1.0]])], precision="float32")
    builder.linear([(builder.apply("relu", hidden), [[1.0, -1.0]])], precision="float32")
    bounds = Bounds(builder.graph(), "deployed float32")
    found = bounds.linear([[1e38, 1e38]], [[3e38, 3e38]], upper=True)
    assert found.upper is not None
    assert found.lower[0, 0] == -np.inf
    assert found.upper[0, 0] == np.inf


def test_a_root_of_what_may_be_negative_has_no_bound() -> None:
    builder = GraphBuilder(1)
    root = builder.apply("sqrt", builder.input())
    builder.linear([(root, [[1.0]])], [1.0])
    bounds = Bounds(builder.graph(), "real")
    found = bounds.linear([[-0.5], [0.25]], [[1.0], [1.0]])
    assert found.lower[0, 0] == -np.inf
    assert found.constants[0, 0] == -np.inf
    assert found.lower[1, 0] == pytest.approx(1.5, abs=1e-9)


def test_a_sum_of_squares_has_a_root_at_zero() -> None:
    builder = GraphBuilder(2)
    squares = builder.apply("square", builder.input())
    total = builder.linear([(squares, [[1.0, 1.0]])])
    builder.apply("sqrt", total)
    found = Bounds(builder.graph(), "real").linear([[-3.0, -4.0]], [[3.0, 4.0]], upper=True)
    assert found.upper is not None
    assert found.lower[0, 0] <= 0.0 <= found.lower[0, 0] + 1e-9
    assert 5.0 <= found.upper[0, 0] < 5.0 + 1e-9


def test_an_input_without_weight_may_have_no_bound() -> None:
    builder = GraphBuilder(2)
    root = builder.apply("sqrt", builder.input())
    builder.linear([(root, [[0.0, 1.0]])])
    low, high = Bounds(builder.graph(), "real").interval([[-1.0, 4.0]], [[1.0, 9.0]])[-1]
    assert low[0, 0] == pytest.approx(2.0)
    assert high[0, 0] == pytest.approx(3.0)


def test_wide_waves_stay_between_minus_one_and_one() -> None:
    for kind in ("sin", "cos"):
        builder = GraphBuilder(1)
        builder.apply(kind, builder.input())  # type: ignore[arg-type]
        found = Bounds(builder.graph(), "real").linear(
            [[-50.0], [1e9]], [[80.0], [1e9 + 1]], upper=True
        )
        assert found.upper is not None
        assert (found.lower >= -1.0).all()
        assert (found.upper <= 1.0).all()


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([[np.nan, 0.0, 0.0]], [[1.0, 1.0, 1.0]], "not finite"),
        ([[-np.inf, 0.0, 0.0]], [[1.0, 1.0, 1.0]], "not finite"),
        ([[0.0, 2.0, 0.0]], [[1.0, 1.0, 1.0]], "above its high one in input 1"),
        ([[0.0, 0.0]], [[1.0, 1.0]], r"pass low and high of shape \(B, 3\)"),
        ([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]] * 2, "do not fit a graph of 3 inputs"),
    ],
)
@pytest.mark.parametrize("method", ["linear", "interval", "best"])
def test_an_unusable_box_is_refused(low: list, high: list, message: str, method: str) -> None:  # type: ignore[type-arg]
    bounds = Bounds(anything(1), "real")
    with pytest.raises(UnsupportedError, match=message):
        getattr(bounds, method)(low, high)


def test_a_product_that_is_rounded_when_deployed_is_refused() -> None:
    builder = GraphBuilder(2)
    builder.pair("product", builder.input(0, 1), builder.input(1, 1))
    builder.nodes[-1] = Node("product", 1, (0, 1), precision="float32")
    with pytest.raises(UnsupportedError, match="A product in float32 has no bounds"):
        Bounds(builder.graph(), "deployed float32")


def test_no_boxes_give_no_bounds() -> None:
    found = Bounds(network((3, 20, 20, 2)), "real").linear(np.zeros((0, 3)), np.zeros((0, 3)))
    assert found.lower.shape == (0, 2)


@pytest.mark.parametrize("number", [1e-46, 1e300])
def test_a_divisor_that_binary32_cannot_hold_is_refused(number: float) -> None:
    builder = GraphBuilder(1)
    builder.divide(builder.input(), number, precision="float32")
    with pytest.raises(UnsupportedError, match="A divisor in float32 must be from 2"):
        Bounds(builder.graph(), "deployed float32")


def test_a_weight_that_binary32_cannot_hold_is_refused() -> None:
    builder = GraphBuilder(1)
    builder.linear([(builder.input(), [[1e39]])], precision="float32")
    with pytest.raises(UnsupportedError, match="too large for its float32"):
        Bounds(builder.graph(), "deployed float32")


def test_a_weight_that_binary32_flushes_is_allowed_for() -> None:
    builder = GraphBuilder(1)
    cast = builder.apply("cast", builder.input(), precision="float32")
    builder.linear([(cast, [[1e-46]])], precision="float32")
    found = Bounds(builder.graph(), "deployed float32").linear([[1e30]], [[1e30]])
    assert found.lower[0, 0] <= 0.0


def test_a_relu_of_what_has_no_upper_bound_has_none_either() -> None:
    builder = GraphBuilder(2)
    grown = builder.apply("exp", builder.input())
    builder.apply("relu", builder.linear([(grown, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])]))
    bounds = Bounds(builder.graph(), "real")
    found = bounds.linear([[700.0, 0.0]], [[800.0, 1.0]], upper=True)
    assert found.upper is not None
    assert found.upper[0, 0] == np.inf
    assert bounds.interval([[700.0, 0.0]], [[800.0, 1.0]])[-1][1][0, 2] == np.inf
    assert found.upper[0, 1] >= np.exp(1.0)
