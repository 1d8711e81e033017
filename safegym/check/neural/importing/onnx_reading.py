"""An ONNX model as a graph: its nodes one by one, each by its rule, the rest refused by name."""

from pathlib import Path
from typing import Any

import numpy as np

from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing.imported import Imported, unlimited
from safegym.check.neural.importing.onnx_call import Call
from safegym.check.neural.importing.onnx_file import Session, onnx_modules, parsed, read_bytes
from safegym.check.neural.importing.onnx_rules import RULES
from safegym.check.neural.importing.onnx_tensor import Constant, Tensor, Value, whole
from safegym.check.neural.importing.surround import Float, chosen_by_probability
from safegym.digest import digest_bytes
from safegym.errors import UnsupportedError

_LAST = ("ArgMax", "Softmax")
MAX_WEIGHTS = 1 << 27
"""Most entries of all matrices of a model's graph: 1 GiB."""
_MALFORMED = (ValueError, IndexError, TypeError, KeyError, OverflowError, StopIteration)


def onnx_imported(path: Path) -> Imported:
    """The graph of an ONNX file with one input and one output; see `onnx_graph`."""
    onnx_modules()
    return read_imported(read_bytes(path), path)


def read_imported(body: bytes, path: Path) -> Imported:
    """The same of a file's bytes; path: how it is called in messages."""
    try:
        return _read(body, path)
    except _MALFORMED as error:
        raise UnsupportedError(f"{path} is malformed: {error!r}.") from error


def _read(body: bytes, path: Path) -> Imported:
    onnx, _ = onnx_modules()
    model = parsed(body, path)
    graph = model.graph
    name, shape, precision = _input(onnx, graph, path)
    size = int(np.prod(shape, dtype=np.int64))
    builder = GraphBuilder(size)
    node = builder.input()
    if precision == "float32":
        node = builder.apply("cast", node, precision="float32")
    _check_names(graph, path)
    known: dict[str, Value] = {each.name: _array(onnx, each, path) for each in graph.initializer}
    known[name] = whole(node, shape, precision)
    nodes = list(graph.node)
    last = _ending(onnx, nodes, graph, path)
    for each in nodes[: len(nodes) - len(last)]:
        _apply(onnx, each, builder, known, model.opset_import, path)
    wanted = last[0].input[0] if last else graph.output[0].name
    result = known.get(wanted)
    if not isinstance(result, Tensor):
        raise UnsupportedError(f"Output {wanted!r} of {path} does not depend on the input.")
    for each in last:
        _check_axis(onnx, each, result, model.opset_import, path)
    placed = result.placed(builder)
    if any(each.op_type == "Softmax" for each in last):
        placed = chosen_by_probability(builder, placed)
    values = Session(_with_output(onnx, model, wanted), shape, precision)
    session = Session(body, shape, precision, discrete=bool(last))
    outputs = builder.nodes[placed].size
    return Imported(
        name=path.name,
        digest=digest_bytes(body),
        kind="discrete" if last else "box",
        graph=builder.graph(placed),
        observation=unlimited(size, precision),
        action=None if last else unlimited(outputs, precision),
        predict=session.predict,
        values=values.outputs if last else session.predict,
        centre=np.zeros(size),
        spread=np.ones(size),
    )


def _input(onnx: Any, graph: Any, path: Path) -> tuple[str, tuple[int, ...], Float]:
    """Name, shape and float type of the one input; a dimension without a size is taken as 1."""
    given = {each.name for each in graph.initializer}
    found = [each for each in graph.input if each.name not in given]
    if len(found) != 1 or len(graph.output) != 1:
        raise UnsupportedError(
            f"{path} has {len(found)} inputs and {len(graph.output)} outputs; one of each is read."
        )
    kind = found[0].type.tensor_type
    types: dict[int, Float] = {
        onnx.TensorProto.FLOAT: "float32",
        onnx.TensorProto.DOUBLE: "float64",
    }
    if kind.elem_type not in types:
        named = onnx.TensorProto.DataType.Name(kind.elem_type)
        raise UnsupportedError(
            f"Input {found[0].name!r} of {path} is of type {named}; FLOAT and DOUBLE are read."
        )
    dims = kind.shape.dim
    shape = tuple(int(dim.dim_value) if dim.HasField("dim_value") else 1 for dim in dims)
    if not 0 < int(np.prod(shape, dtype=np.float64)) <= 1 << 16:
        raise UnsupportedError(f"The input of {path} has shape {shape}, which is out of range.")
    return found[0].name, shape, types[kind.elem_type]


def _check_names(graph: Any, path: Path) -> None:
    """Raises UnsupportedError where a name stands for two tensors."""
    held = [each.name for each in graph.initializer]
    given = [each.name for each in graph.input if each.name not in held]
    made = [each for node in graph.node for each in node.output if each]
    seen: set[str] = set()
    for name in (*held, *given, *made):
        if name in seen:
            raise UnsupportedError(f"{path} has two tensors of the name {name!r}.")
        seen.add(name)


def _ending(onnx: Any, nodes: list[Any], graph: Any, path: Path) -> list[Any]:
    """The choice at the end: nothing, ArgMax, or Softmax and ArgMax. Others of them are refused."""
    final = graph.output[0].name
    last: list[Any] = []
    if nodes and _is_standard(nodes[-1], "ArgMax") and final in nodes[-1].output:
        last = nodes[-1:]
        _check_choice(onnx, last[0], path)
        if len(nodes) > 1 and _is_standard(nodes[-2], "Softmax"):
            chosen_of = list(nodes[-1].input)  # a softmax of other values decides nothing
            last = nodes[-2:] if list(nodes[-2].output) == chosen_of else last
    for node in nodes[: len(nodes) - len(last)]:
        if node.op_type in _LAST:
            raise UnsupportedError(
                f"Node {node.name or node.output[0]!r} of {path} is a {node.op_type} that is not "
                "part of a choice at the end (ArgMax, or Softmax then ArgMax); end the model at "
                "the values before it: softmax keeps their order."
            )
    return last


def _is_standard(node: Any, operator: str) -> bool:
    return node.op_type == operator and node.domain in ("", "ai.onnx")


def _check_axis(onnx: Any, node: Any, value: Tensor, imports: Any, path: Path) -> None:
    """Raises UnsupportedError unless the choice is among all entries."""
    values = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    usual = 0
    if node.op_type == "Softmax":
        usual = -1 if _version(imports) >= 13 else 1
    axis = int(values.get("axis", usual))
    if value.shape[axis] != value.index.size:
        raise UnsupportedError(
            f"{node.op_type} {node.name or node.output[0]!r} of {path} works along axis {axis} of "
            f"a tensor of shape {value.shape}; it is read along an axis that holds all entries."
        )


def _version(imports: Any) -> int:
    return next(int(each.version) for each in imports if each.domain in ("", "ai.onnx"))


def _check_choice(onnx: Any, node: Any, path: Path) -> None:
    values = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    if values.get("select_last_index", 0):
        raise UnsupportedError(
            f"ArgMax {node.name!r} of {path} takes the last of equal values; only "
            "select_last_index=0 is read."
        )


def _apply(
    onnx: Any, node: Any, builder: GraphBuilder, known: dict[str, Value], imports: Any, path: Path
) -> None:
    where = f"Node {node.name or (node.output[0] if node.output else '?')!r} of {path}"
    rule = RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if rule is None:
        full = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        raise UnsupportedError(
            f"{where} is of the operator {full}, which has no bound here; read are "
            f"{', '.join(sorted(RULES))}, and at the end Softmax and ArgMax."
        )
    missing = [each for each in node.input if each and each not in known]
    if missing:
        raise UnsupportedError(f"{where} reads {missing[0]!r}, which nothing before it gives.")
    version = _version(imports)
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    attributes = {
        key: _array(onnx, value, path) if isinstance(value, onnx.TensorProto) else value
        for key, value in attributes.items()
    }
    inputs = tuple(known[each] if each else None for each in node.input)
    call = Call(builder, inputs, attributes, version, len(node.output), where)
    before = len(builder.nodes)
    try:
        results = rule(call)
    except _MALFORMED as error:
        raise UnsupportedError(f"{where} ({node.op_type}) is malformed: {error}") from error
    known.update(zip(node.output, results, strict=False))
    _check_weights(builder, before, where)


def _check_weights(builder: GraphBuilder, before: int, where: str) -> None:
    """Raises UnsupportedError where the matrices of a graph grow beyond what is held."""
    fresh = sum(matrix.size for node in builder.nodes[before:] for matrix in node.weights)
    if fresh == 0:
        return
    count = sum(matrix.size for node in builder.nodes for matrix in node.weights)
    if count > MAX_WEIGHTS:
        raise UnsupportedError(
            f"{where} brings the model to {count} entries of matrices; {MAX_WEIGHTS} are read."
        )


def _array(onnx: Any, tensor: Any, path: Path) -> Constant:
    try:
        array = np.asarray(onnx.numpy_helper.to_array(tensor))
    except Exception as error:  # a malformed tensor raises many kinds
        raise UnsupportedError(f"Tensor {tensor.name!r} of {path} is malformed: {error}") from error
    if (array.dtype.kind == "f" and array.dtype.itemsize < 4) or array.dtype.kind not in "fiub":
        raise UnsupportedError(
            f"Tensor {tensor.name!r} of {path} is of type {array.dtype}; float32 and float64 are "
            "read."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all() and array.ndim > 0:
        raise UnsupportedError(f"Tensor {tensor.name!r} of {path} has values that are not finite.")
    return array


def _with_output(onnx: Any, model: Any, name: str) -> bytes:
    """The model with the tensor `name` as its only output."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.output[:]
    changed.graph.output.append(onnx.ValueInfoProto(name=name))
    return bytes(changed.SerializeToString())
