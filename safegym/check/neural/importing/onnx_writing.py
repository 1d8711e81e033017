"""A graph as an ONNX model, each node in its own precision, compared before it is written."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.graph import Graph, Node
from safegym.check.neural.importing.equivalence import LEAST, intervals
from safegym.check.neural.importing.onnx_file import onnx_modules
from safegym.check.neural.importing.onnx_reading import read_imported
from safegym.check.neural.importing.sampling import Sampled, observations
from safegym.check.neural.policy import Equivalence, PolicyGraph
from safegym.errors import PolicyError, RunFolderError, UnsupportedError

OPSET = 17
_IR = 8
_OPERATORS = {
    "relu": "Relu",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
    "abs": "Abs",
    "product": "Mul",
    "max": "Max",
    "min": "Min",
}


def write_graph(policy: PolicyGraph, path: Path, seed: int = 0) -> Equivalence:
    """Write the file once onnxruntime agrees with the policy on 1000 observations."""
    writer = _Writer(policy)
    body = writer.model()
    found = _compared(policy, body, path, seed)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(body)
        partial.replace(path)
    except OSError as error:
        raise RunFolderError(f"Writing {path} failed: {error.strerror or error}.") from error
    return found


def _compared(policy: PolicyGraph, body: bytes, path: Path, seed: int) -> Equivalence:
    """What onnxruntime gives lies in the file's own interval, and that one meets the policy's."""
    read = read_imported(body, path)
    rows = observations(_sampled(policy), LEAST, seed)
    own = intervals(Bounds(policy.graph, "deployed float32"), rows)
    theirs = intervals(Bounds(read.graph, "deployed float32"), rows)
    apart = np.maximum(own[0] - theirs[1], theirs[0] - own[1])
    if (apart > 0.0).any():
        raise PolicyError(
            f"The ONNX form of policy {policy.name} is another function: its values lie up to "
            f"{float(apart.max()):.3g} away from the policy's. {path} was not written."
        )
    values = np.asarray(read.values(rows), np.float64)
    outside = np.maximum(theirs[0] - values, values - theirs[1])
    if not (outside <= 0.0).all():
        raise PolicyError(
            f"onnxruntime and the graph of policy {policy.name} disagree by up to "
            f"{float(outside.max()):.3g}. {path} was not written."
        )
    given, expected = np.asarray(read.predict(rows)), np.asarray(policy.predict(rows))
    if policy.kind == "box":
        away = np.maximum(own[0] - expected, expected - own[1])
        if not (away <= 0.0).all():
            raise PolicyError(
                f"Policy {policy.name} and its graph disagree by up to {float(away.max()):.3g}; "
                f"{path} was not written. Import the policy again."
            )
        return Equivalence(len(rows), float(np.abs(given - expected.astype(np.float64)).max()))
    chosen = expected.reshape(-1).astype(np.int64)
    differs = int((given.reshape(-1) != chosen).sum())
    gap = values.max(axis=1) - values[np.arange(len(rows)), chosen]
    return Equivalence(len(rows), float(gap.max()), differs)


def _sampled(policy: PolicyGraph) -> Sampled:
    """Where to sample: about the normaliser's mean, where the graph has one."""
    size = policy.graph.inputs
    centre, spread = np.zeros(size), np.ones(size)
    for node in policy.graph.nodes:
        before = policy.graph.nodes[node.inputs[0]] if node.kind == "divide" else None
        if before is not None and before.bias is not None and node.divisor is not None:
            if before.size == size:
                centre, spread = -before.bias, node.divisor
            break
    dtype = "float32" if _takes_singles(policy.graph) else "float64"
    return Sampled(
        policy.graph, policy.observation_low, policy.observation_high, dtype, centre, spread
    )


def _takes_singles(graph: Graph) -> bool:
    """Whether each use of the input first rounds it to binary32."""
    places = {at for at, node in enumerate(graph.nodes) if node.kind == "input"}
    uses = [node for node in graph.nodes if places & set(node.inputs)]
    return all(node.kind == "cast" and node.precision == "float32" for node in uses)


@dataclass(slots=True)
class _Writer:
    policy: PolicyGraph
    nodes: list[Any] = field(default_factory=list[Any])
    tensors: list[Any] = field(default_factory=list[Any])
    names: list[str] = field(default_factory=list[str])
    types: dict[str, type[Any]] = field(default_factory=dict[str, type[Any]])
    onnx: Any = None

    def model(self) -> bytes:
        """The serialised model."""
        self.onnx, _ = onnx_modules()
        graph = self.policy.graph
        single = _takes_singles(graph)
        self.types["observation"] = np.float32 if single else np.float64
        for node in graph.nodes:
            self.names.append(self._written(node, graph))
        last = self.names[-1]
        self.nodes.append(self._ending(last))
        self._keep_what_is_needed()
        return self._assembled(self.types[last])

    def _keep_what_is_needed(self) -> None:
        """Drop nodes and tensors that the output does not need."""
        needed, kept = set(self.nodes[-1].output), list[Any]()
        for node in reversed(self.nodes):
            if needed & set(node.output):
                needed.update(node.input)
                kept.append(node)
        self.nodes = kept[::-1]
        self.tensors = [tensor for tensor in self.tensors if tensor.name in needed]

    def _ending(self, last: str) -> Any:
        make = self.onnx.helper.make_node
        if self.policy.kind == "discrete":
            return make("ArgMax", [last], ["choice"], axis=1, keepdims=0)
        return make("Identity", [last], ["action"])

    def _assembled(self, kind: type[Any]) -> bytes:
        helper, types = self.onnx.helper, self.onnx.TensorProto
        codes = {np.float32: types.FLOAT, np.float64: types.DOUBLE}
        discrete = self.policy.kind == "discrete"
        result = helper.make_tensor_value_info(
            "choice" if discrete else "action",
            types.INT64 if discrete else codes[kind],
            ["batch"] if discrete else ["batch", self.policy.graph.outputs],
        )
        given = helper.make_tensor_value_info(
            "observation", codes[self.types["observation"]], ["batch", self.policy.graph.inputs]
        )
        graph = helper.make_graph(self.nodes, "policy", [given], [result], self.tensors)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=_IR,
            producer_name="safegym",
            doc_string=f"policy {self.policy.name}, digest {self.policy.digest}",
        )
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _written(self, node: Node, graph: Graph) -> str:
        if node.kind == "input":
            if node.first == 0 and node.size == graph.inputs:
                return "observation"
            entries = np.arange(node.first, node.first + node.size)
            return self._add("Gather", ["observation", self._tensor(entries)], axis=1)
        if node.kind == "linear":
            return self._linear(node, graph)
        first = self.names[node.inputs[0]]
        if node.kind == "cast":
            return self._as(first, np.float64 if node.precision == "float64" else np.float32)
        if node.kind == "clip":
            return self._clip(node, first)
        names = [self._as(self.names[at], self._type(node)) for at in node.inputs]
        if node.kind == "leaky_relu":
            return self._add("LeakyRelu", names, alpha=node.slope)
        if node.kind == "square":
            return self._add("Mul", [names[0], names[0]])
        if node.kind == "divide":
            return self._add("Div", [names[0], self._constant(node.divisor, self._type(node))])
        if node.kind not in _OPERATORS:
            raise UnsupportedError(f"A node of the kind {node.kind} cannot be written as ONNX.")
        return self._add(_OPERATORS[node.kind], names)

    def _linear(self, node: Node, graph: Graph) -> str:
        """Parts of constant nodes go into the bias; the identity that is left over is no node."""
        weights: dict[int, NDArray[np.float64]] = {}
        bias = np.zeros(node.size) if node.bias is None else node.bias.copy()
        for at, matrix in zip(node.inputs, node.weights, strict=True):
            given = graph.nodes[at]
            if given.kind == "linear" and not any(each.any() for each in given.weights):
                bias += matrix @ (np.zeros(given.size) if given.bias is None else given.bias)
            else:
                weights[at] = weights[at] + matrix if at in weights else matrix
        if not weights:
            weights = {node.inputs[0]: np.zeros_like(node.weights[0])}
        if len(weights) == 1 and not bias.any():
            at, matrix = next(iter(weights.items()))
            if matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, np.eye(node.size)):
                return self.names[at]
        kind = self._linear_type(node, weights, bias)
        total = ""
        for number, (at, matrix) in enumerate(weights.items()):
            parts = [self._as(self.names[at], kind), self._constant(matrix.T, kind)]
            if number == 0:
                total = self._add("Gemm", [*parts, self._constant(bias, kind)])
            else:
                total = self._add("Add", [total, self._add("MatMul", parts)])
        return total

    def _linear_type(
        self, node: Node, weights: dict[int, NDArray[np.float64]], bias: NDArray[np.float64]
    ) -> type[Any]:
        if node.precision != "exact":
            return np.float32 if node.precision == "float32" else np.float64
        single = all(self.types[self.names[at]] is np.float32 for at in weights)
        exact = all(_is_single(matrix) for matrix in weights.values()) and _is_single(bias)
        return np.float32 if single and exact else np.float64

    def _clip(self, node: Node, name: str) -> str:
        low, high = node.low, node.high
        if low is None or high is None:
            raise UnsupportedError("A clip without limits cannot be written.")
        kind = self.types[name]
        if not (_is_single(low) and _is_single(high)):
            kind = np.float64
        name = self._as(name, kind)
        most = float(np.finfo(kind).max)  # stands for a limit that there is not
        if np.isfinite(high).any():
            name = self._add("Min", [name, self._constant(np.clip(high, -most, most), kind)])
        if np.isfinite(low).any():
            name = self._add("Max", [name, self._constant(np.clip(low, -most, most), kind)])
        return name

    def _type(self, node: Node) -> type[Any]:
        if node.precision != "exact":
            return np.float32 if node.precision == "float32" else np.float64
        single = all(self.types[self.names[at]] is np.float32 for at in node.inputs)
        return np.float32 if single else np.float64

    def _as(self, name: str, kind: type[Any]) -> str:
        if self.types[name] is kind:
            return name
        code = self.onnx.TensorProto.FLOAT if kind is np.float32 else self.onnx.TensorProto.DOUBLE
        result = self._add("Cast", [name], to=code)
        self.types[result] = kind
        return result

    def _constant(self, values: NDArray[np.float64] | None, kind: type[Any]) -> str:
        array = np.asarray(values)
        if kind is np.float32 and not _is_single(array):
            raise UnsupportedError(
                f"Policy {self.policy.name} works in float32 with a constant that float32 does not "
                "hold; it cannot be written."
            )
        return self._tensor(np.ascontiguousarray(array.astype(kind)))

    def _tensor(self, values: NDArray[Any]) -> str:
        name = f"constant_{len(self.types)}"
        self.tensors.append(self.onnx.numpy_helper.from_array(values, name))
        self.types[name] = values.dtype.type
        return name

    def _add(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"node_{len(self.types)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        self.types[name] = self.types[inputs[0]]
        return name


def _is_single(values: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32).astype(np.float64) == values).all())
