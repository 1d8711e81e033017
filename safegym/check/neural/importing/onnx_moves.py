"""ONNX operators that move entries and do no work on them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from safegym.check.neural.importing.onnx_call import Call
from safegym.check.neural.importing.onnx_tensor import Tensor, Value, bounded, joined
from safegym.errors import UnsupportedError


def _moved(call: Call, change: Callable[[Any], Any]) -> list[Value]:
    value = call.value()
    return [value.moved(change) if isinstance(value, Tensor) else np.asarray(change(value))]


def same(call: Call) -> list[Value]:
    """The tensor itself."""
    return _moved(call, lambda array: array)


def dropout(call: Call) -> list[Value]:
    """Nothing, in inference."""
    if call.constant(2) is not None and np.asarray(call.constant(2)).any():
        raise UnsupportedError(f"{call.where} is a Dropout in training, which draws.")
    return same(call)


def given(call: Call) -> list[Value]:
    """A constant of the model."""
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if name in call.attributes:
            found = np.asarray(call.attributes[name])
            single = name.startswith("value_float")
            return [found.astype(np.float32) if single else found]
    raise UnsupportedError(f"{call.where} is a Constant of another kind than numbers.")


def flatten(call: Call) -> list[Value]:
    """A matrix of the same entries."""
    axis = int(call.attributes.get("axis", 1))

    def change(array: Any) -> Any:
        at = axis + array.ndim if axis < 0 else axis
        return array.reshape(int(np.prod(array.shape[:at], dtype=np.int64)), -1)

    return _moved(call, change)


def reshape(call: Call) -> list[Value]:
    """The same entries in another shape."""
    shape = call.whole_numbers(1, "shape")
    keep = not int(call.attributes.get("allowzero", 0))

    def change(array: Any) -> Any:
        wanted = [array.shape[at] if size == 0 and keep else size for at, size in enumerate(shape)]
        return array.reshape(wanted)

    return _moved(call, change)


def transpose(call: Call) -> list[Value]:
    """The same entries with axes exchanged."""
    return _moved(call, lambda array: np.transpose(array, call.attributes.get("perm")))


def squeeze(call: Call) -> list[Value]:
    """Without axes of length 1."""
    axes = call.constant(1, "axes")
    if axes is None:
        return _moved(call, np.squeeze)
    return _moved(call, lambda array: np.squeeze(array, tuple(int(axis) for axis in axes)))


def unsqueeze(call: Call) -> list[Value]:
    """With further axes of length 1."""
    axes = call.whole_numbers(1, "axes")
    return _moved(call, lambda array: np.expand_dims(array, tuple(axes)))


def gather(call: Call) -> list[Value]:
    """The entries at constant indices."""
    indices, shape = call.constant(1), call.value().shape
    axis = int(call.attributes.get("axis", 0))
    if indices is None:
        raise UnsupportedError(f"{call.where} lacks indices.")
    bounded((*shape[:axis], *shape[axis:][1:], indices.size), call.where)
    return _moved(call, lambda array: np.take(array, np.asarray(indices, np.int64), axis=axis))


def sliced(call: Call) -> list[Value]:
    """Every so many entries between two ends."""
    starts, ends = call.whole_numbers(1, "starts"), call.whole_numbers(2, "ends")
    given = call.constant(3, "axes")
    axes = range(len(starts)) if given is None else [int(axis) for axis in given]
    strides = call.constant(4)
    steps = [1] * len(starts) if strides is None else [int(step) for step in strides]
    if any(step < 1 for step in steps):
        raise UnsupportedError(f"{call.where} slices backwards, which is not read.")

    def change(array: Any) -> Any:
        parts = [slice(None)] * array.ndim
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
            parts[axis] = slice(start, end, step)
        return array[tuple(parts)]

    return _moved(call, change)


def concat(call: Call) -> list[Value]:
    """Tensors one after the other."""
    values = [call.value(at) for at in range(len(call.inputs))]
    return [joined(call.builder, values, int(call.attributes["axis"]))]


def split(call: Call) -> list[Value]:
    """A tensor in pieces."""
    value, axis = call.value(), int(call.attributes.get("axis", 0))
    sizes = call.constant(1, "split")
    length = value.shape[axis]
    if sizes is None:
        each = -(-length // call.outputs)
        cuts = [at * each for at in range(1, call.outputs)]
    else:
        cuts = np.cumsum([int(size) for size in sizes])[:-1].tolist()
    if isinstance(value, Tensor):
        parts = np.split(value.index, cuts, axis=axis)
        return [Tensor(value.node, part, value.precision) for part in parts]
    return list(np.split(value, cuts, axis=axis))


def shape_of(call: Call) -> list[Value]:
    """The shape or a part of it, a constant."""
    start, end = call.attributes.get("start", 0), call.attributes.get("end")
    shape = call.value().shape[int(start) : None if end is None else int(end)]
    return [np.asarray(shape, np.int64)]
