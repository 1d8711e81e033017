"""ONNX operators that work on entries: sums, products, activations."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.importing.modules import folded_norm
from safegym.check.neural.importing.onnx_call import Call, Rule
from safegym.check.neural.importing.onnx_tensor import (
    Constant,
    Tensor,
    Value,
    bounded,
    constant,
    whole,
)
from safegym.check.neural.importing.surround import Float, loosened
from safegym.errors import UnsupportedError


def cast(call: Call) -> list[Value]:
    """Rounding to binary32, or nothing."""
    target: Any = {1: np.float32, 11: np.float64, 6: np.int32, 7: np.int64}.get(
        int(call.attributes["to"])
    )
    value = call.value()
    if not isinstance(value, Tensor):
        if target is None:
            raise UnsupportedError(f"{call.where} casts to another type than float and integer.")
        return [value.astype(target)]
    if target not in (np.float32, np.float64):
        raise UnsupportedError(f"{call.where} casts to what is neither float32 nor float64.")
    precision: Float = "float32" if target is np.float32 else "float64"
    if precision == value.precision or precision == "float64":
        return [Tensor(value.node, value.index, precision)]
    node = call.builder.apply("cast", value.placed(call.builder), precision="float32")
    return [whole(node, value.shape, precision)]


def elementwise(kind: Literal["relu", "tanh", "sigmoid", "abs"]) -> Rule:
    """A function of each entry."""

    def rule(call: Call) -> list[Value]:
        value = call.tensor()
        builder, exact = call.builder, kind in ("relu", "abs")
        node = builder.apply(
            kind, value.placed(builder), precision="exact" if exact else value.precision
        )
        if not exact and value.precision == "float32":
            # onnxruntime's sigmoid is off by up to 1.4e-7 where it is small, its tanh among the
            # subnormal numbers (measured over all binary32 numbers)
            node = loosened(builder, node, 2.0**-126 if kind == "tanh" else 2.0**-21)
        return [whole(node, value.shape, value.precision)]

    return rule


def leaky_relu(call: Call) -> list[Value]:
    """The entry, or slope times it below 0."""
    value = call.tensor()
    slope = float(np.float32(call.attributes.get("alpha", 0.01)))
    node = call.builder.apply(
        "leaky_relu", value.placed(call.builder), slope=slope, precision=value.precision
    )
    return [whole(node, value.shape, value.precision)]


def clip(call: Call) -> list[Value]:
    """Between two constants."""
    value = call.tensor()
    low, high = call.constant(1, "min"), call.constant(2, "max")
    single = np.float32 if value.precision == "float32" else np.float64
    lowest = -np.inf if low is None else float(single(low.reshape(-1)[0]))
    highest = np.inf if high is None else float(single(high.reshape(-1)[0]))
    node = call.builder.clip(value.placed(call.builder), lowest, highest)
    return [whole(node, value.shape, value.precision)]


def extremum(kind: Literal["max", "min"]) -> Rule:
    """The greatest or least of several tensors."""

    def rule(call: Call) -> list[Value]:
        result: Value = call.tensor()
        for at in range(1, len(call.inputs)):
            result = _paired(call, kind, result, call.value(at))
        return [result]

    return rule


def _paired(call: Call, kind: Literal["max", "min", "product"], left: Value, right: Value) -> Value:
    shape = bounded(np.broadcast_shapes(left.shape, right.shape), call.where)
    anchor = next(each for each in (left, right) if isinstance(each, Tensor))
    other = right if anchor is left else left
    if kind != "product" and not isinstance(other, Tensor):
        limit, node = np.broadcast_to(other, shape).reshape(-1), _broadcast(call, anchor, shape, 0)
        limits = (limit, np.inf) if kind == "max" else (-np.inf, limit)
        return whole(call.builder.clip(node, *limits), shape, anchor.precision)
    nodes = [_broadcast(call, each, shape, anchor.node) for each in (left, right)]
    node = call.builder.pair(kind, *nodes)
    if kind == "product":
        node = call.builder.apply("cast", node, precision=anchor.precision)
    return whole(node, shape, anchor.precision)


def _broadcast(call: Call, value: Value, shape: tuple[int, ...], anchor: int) -> int:
    if isinstance(value, Tensor):
        return value.moved(lambda array: np.broadcast_to(array, shape)).placed(call.builder)
    return constant(call.builder, np.broadcast_to(value, shape).reshape(-1), anchor)


def sum_or_difference(sign: float) -> Rule:
    """The first plus `sign` times the second."""

    def rule(call: Call) -> list[Value]:
        left, right = call.value(0), call.value(1)
        bounded(np.broadcast_shapes(left.shape, right.shape), call.where)
        if not isinstance(left, Tensor) and not isinstance(right, Tensor):
            return [np.asarray(left + right if sign > 0 else left - right)]
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return [_sum_of_two(call, left, right, sign)]
        if isinstance(left, Tensor):
            return [_shifted(call, left, 1.0, np.asarray(right) * sign)]
        if isinstance(right, Tensor):
            return [_shifted(call, right, sign, np.asarray(left))]
        return []

    return rule


def _sum_of_two(call: Call, left: Tensor, right: Tensor, sign: float) -> Tensor:
    shape = bounded(np.broadcast_shapes(left.shape, right.shape), call.where)
    nodes = [_broadcast(call, each, shape, left.node) for each in (left, right)]
    eye = np.eye(call.builder.nodes[nodes[0]].size)
    node = call.builder.linear([(nodes[0], eye), (nodes[1], sign * eye)], precision=left.precision)
    return whole(node, shape, left.precision)


def _shifted(call: Call, value: Tensor, sign: float, shift: Constant) -> Tensor:
    """Give sign * value + shift; a matrix product takes the shift in, as one sum."""
    builder = call.builder
    shape = bounded(np.broadcast_shapes(value.shape, shift.shape), call.where)
    bias = np.broadcast_to(shift, shape).reshape(-1)
    if shape == value.shape and sign > 0 and not bias.any():
        return value
    node = value.moved(lambda array: np.broadcast_to(array, shape)).placed(builder)
    held = builder.nodes[node]
    product = held.kind == "linear" and held.precision == value.precision
    if product and held.bias is not None and not held.bias.any():
        parts = [(at, sign * m) for at, m in zip(held.inputs, held.weights, strict=True)]
        node = builder.linear(parts, bias, precision=value.precision)
    else:
        node = builder.linear([(node, sign * np.eye(held.size))], bias, precision=value.precision)
    return whole(node, shape, value.precision)


def times(call: Call) -> list[Value]:
    """Entry by entry, by a constant or by each other."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return [_paired(call, "product", left, right)]
    if isinstance(left, Tensor):
        return [_scaled(call, left, np.asarray(right))]
    if isinstance(right, Tensor):
        return [_scaled(call, right, np.asarray(left))]
    bounded(np.broadcast_shapes(left.shape, right.shape), call.where)
    return [np.asarray(left * right)]


def _scaled(call: Call, value: Tensor, factor: Constant) -> Tensor:
    shape = bounded(np.broadcast_shapes(value.shape, factor.shape), call.where)
    node = value.moved(lambda array: np.broadcast_to(array, shape)).placed(call.builder)
    matrix = np.diag(np.broadcast_to(factor, shape).reshape(-1).astype(np.float64))
    exact = bool((np.abs(matrix.diagonal()) == 1.0).all())
    precision = "exact" if exact else value.precision
    return whole(call.builder.linear([(node, matrix)], precision=precision), shape, value.precision)


def divided(call: Call) -> list[Value]:
    """By a constant."""
    value, divisor = call.tensor(0), call.constant(1)
    if divisor is None or not np.asarray(divisor).all():
        raise UnsupportedError(f"{call.where} divides by nothing or by 0.")
    shape = bounded(np.broadcast_shapes(value.shape, divisor.shape), call.where)
    node = value.moved(lambda array: np.broadcast_to(array, shape)).placed(call.builder)
    below = np.broadcast_to(divisor, shape).reshape(-1).astype(np.float64)
    if (below < 0.0).any():
        node = call.builder.linear([(node, np.diag(np.sign(below)))])
    node = call.builder.divide(node, np.abs(below), precision=value.precision)
    return [whole(node, shape, value.precision)]


def negated(call: Call) -> list[Value]:
    """With the other sign."""
    return [_scaled(call, call.tensor(), np.asarray(-1.0))]


def matrix_product(call: Call) -> list[Value]:
    """By a constant matrix from either side."""
    left, right = call.value(0), call.value(1)
    if isinstance(left, Tensor) and not isinstance(right, Tensor):
        return [_times_matrix(call, left, right, lambda basis: np.matmul(basis, right), 0)]
    if isinstance(right, Tensor) and not isinstance(left, Tensor):
        if len(right.shape) == 1:
            turned = left.T
            return [_times_matrix(call, right, left, lambda basis: np.matmul(basis, turned), -1)]
        return [_times_matrix(call, right, left, lambda basis: np.matmul(left, basis), -1)]
    raise UnsupportedError(
        f"{call.where} multiplies two matrices that depend on the input, or two constants."
    )


def _times_matrix(
    call: Call, value: Tensor, matrix: Constant, product: Callable[[Any], NDArray[Any]], axis: int
) -> Tensor:
    """A linear map, by what it gives for each unit vector. axis: of the matrix, summed over."""
    contracted = max(1, matrix.shape[axis])
    if matrix.ndim > 2:
        raise UnsupportedError(f"{call.where} multiplies by a stack of matrices.")
    bounded((value.index.size // contracted, matrix.size // contracted), call.where)
    node = value.placed(call.builder)
    size = call.builder.nodes[node].size
    basis = np.eye(size, dtype=matrix.dtype).reshape(size, *value.shape)
    images = product(basis)
    weights = images.reshape(size, -1).T
    result = call.builder.linear([(node, weights)], precision=value.precision)
    return whole(result, images.shape[1:], value.precision)


def gemm(call: Call) -> list[Value]:
    """A matrix product with its shift."""
    value, weight = call.tensor(0), call.constant(1)
    factors = [float(call.attributes.get(name, 1.0)) for name in ("alpha", "beta")]
    shift = call.inputs[2] if len(call.inputs) > 2 else None
    if factors[0] != 1.0 or (factors[1] != 1.0 and shift is not None):
        raise UnsupportedError(f"{call.where} is a Gemm with alpha or beta other than 1.")
    if call.attributes.get("transA", 0) or weight is None or len(value.shape) != 2:
        raise UnsupportedError(f"{call.where} is a Gemm with transA, or not of a matrix.")
    matrix = weight.T if call.attributes.get("transB", 0) else weight
    result = _times_matrix(call, value, matrix, lambda basis: np.matmul(basis, matrix), 0)
    if shift is None:
        return [result]
    if isinstance(shift, Tensor):
        return [_sum_of_two(call, result, shift, 1.0)]
    return [_shifted(call, result, 1.0, shift)]


def batch_norm(call: Call) -> list[Value]:
    """With running statistics."""
    value = call.tensor()
    numbers = [np.asarray(call.constant(at), np.float64) for at in (1, 2, 3, 4)]
    if call.attributes.get("training_mode", 0) or not call.attributes.get("spatial", 1):
        raise UnsupportedError(f"{call.where} is a BatchNormalization in training or not spatial.")
    if call.outputs != 1 or len(value.shape) < 2:
        raise UnsupportedError(f"{call.where} is a BatchNormalization with further outputs.")
    wide = (1, -1, *([1] * (len(value.shape) - 2)))
    weight, bias, mean, var = (
        np.broadcast_to(each.reshape(wide), value.shape).reshape(-1) for each in numbers
    )
    epsilon = float(call.attributes.get("epsilon", 1e-5))
    node = value.placed(call.builder)
    node = folded_norm(call.builder, node, mean, var, weight, bias, epsilon)
    return [whole(node, value.shape, value.precision)]
