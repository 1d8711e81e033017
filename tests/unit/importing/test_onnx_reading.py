"""ONNX operators as nodes, compared with onnxruntime; everything else is refused by name."""

import sys
import time
from contextlib import suppress

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.graph import Graph
from safegym.check.neural.importing import onnx_graph, onnx_reading
from safegym.check.neural.importing.onnx_reading import read_imported
from safegym.errors import SafegymError, UnsupportedError

R = np.random.default_rng(0)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def model(nodes, tensors=None, *, shape=(1, 4), opset=17, kind=TensorProto.FLOAT, out=None):
    tensors = {} if tensors is None else tensors
    given = [helper.make_tensor_value_info("x", kind, shape)]
    result = [helper.make_tensor_value_info("y", kind if out is None else out, None)]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", given, result, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def single(*shape):
    return R.normal(size=shape).astype(np.float32)


def whole(*values):
    return np.array(values, np.int64)


W, B = single(4, 3), single(3)
MODELS = {
    "Gemm": ([node("Gemm", "x w b", "y")], {"w": W, "b": B}),
    "Gemm transB": ([node("Gemm", "x w", "y", transB=1)], {"w": W.T}),
    "MatMul Add": ([node("MatMul", "x w", "h"), node("Add", "b h", "y")], {"w": W, "b": B}),
    "MatMul Sub": ([node("MatMul", "x w", "h"), node("Sub", "b h", "y")], {"w": W, "b": B}),
    "MatMul left": (
        [node("Transpose", "x", "t"), node("MatMul", "w t", "y")],
        {"w": single(3, 4)},
    ),
    "Mul Div": (
        [node("Mul", "x a", "h"), node("Div", "h b", "y")],
        {"a": single(4), "b": np.float32([3.0, -0.7, 1.0, 11.0])},
    ),
    "Neg Abs": ([node("Neg", "x", "h"), node("Abs", "h", "k"), node("Sub", "k x", "y")], {}),
    "Relu": ([node("Relu", "x", "y")], {}),
    "LeakyRelu": ([node("LeakyRelu", "x", "y", alpha=0.3)], {}),
    "Tanh": ([node("Tanh", "x", "y")], {}),
    "Sigmoid": ([node("Sigmoid", "x", "y")], {}),
    "Clip": ([node("Clip", "x lo hi", "y")], {"lo": np.float32(-0.2), "hi": np.float32(1.1)}),
    "Clip half": ([node("Clip", "x lo", "y")], {"lo": np.float32(-0.2)}),
    "Max Min": ([node("Max", "x a", "h"), node("Min", "h b x", "y")], {"a": B[:1], "b": single(4)}),
    "residual": (
        [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Add", "r x", "y")],
        {"w": single(4, 4), "b": single(4)},
    ),
    "product": ([node("Tanh", "x", "t"), node("Mul", "t x", "y")], {}),
    "shapes": (
        [
            node("Reshape", "x s", "h"),
            node("Transpose", "h", "t", perm=[1, 0, 2]),
            node("Squeeze", "t a", "q"),
            node("Unsqueeze", "q a", "u"),
            node("Identity", "u", "i"),
            node("Flatten", "i", "f", axis=1),
            node("Dropout", "f", "d"),
            node("Relu", "d", "y"),
        ],
        {"s": whole(2, -1, 1), "a": whole(2)},
    ),
    "pieces": (
        [
            node("Split", "x s", "a b", axis=1),
            node("Slice", "x from to axis", "c"),
            node("Gather", "x pick", "d", axis=1),
            node("Concat", "b a k c d", "h", axis=1),
            node("MatMul", "h w", "y"),
        ],
        {
            "s": whole(1, 3),
            "from": whole(1),
            "to": whole(9),
            "axis": whole(1),
            "pick": whole(3, 0, -2),
            "k": single(1, 2),
            "w": single(12, 2),
        },
    ),
    "Constant": (
        [
            node("Constant", "", "c", value=numpy_helper.from_array(B[:1])),
            node("Constant", "", "f", value_float=2.5),
            node("Add", "c f", "s"),
            node("Mul", "x s", "y"),
        ],
        {},
    ),
    "Shape": (
        [
            node("Shape", "x", "s"),
            node("Gather", "s one", "n"),
            node("Reshape", "x n", "h"),
            node("Relu", "h", "y"),
        ],
        {"one": whole(1)},
    ),
    "BatchNormalization": (
        [node("BatchNormalization", "x s b m v", "y", epsilon=1e-3)],
        {"s": single(4), "b": single(4), "m": single(4), "v": np.abs(single(4)) + 0.1},
    ),
    "Cast": (
        [node("Cast", "x", "h", to=11), node("Mul", "h a", "k"), node("Cast", "k", "y", to=1)],
        {"a": np.array([1.0 / 3.0])},
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_operator_is_the_one_of_onnxruntime(kind, tmp_path):
    nodes, tensors = MODELS[kind]
    path = tmp_path / "m.onnx"
    onnx.save(model(nodes, tensors), path)
    graph = onnx_graph(path)
    rows = np.random.default_rng(1).normal(size=(64, 4)) * 3.0
    rows = rows.astype(np.float32).astype(np.float64)
    assert np.allclose(graph.predict(rows), evaluate(graph.graph, rows), atol=1e-5)
    assert graph.kind == "box"
    assert np.isinf(graph.action_low).all()


def test_operators_work_in_doubles_and_in_older_and_newer_versions(tmp_path):
    w, b = R.normal(size=(4, 3)), R.normal(size=3)
    nodes = [node("MatMul", "x w", "h"), node("Add", "h b", "k"), node("Relu", "k", "y")]
    cases = [
        model(nodes, {"w": w, "b": b}, kind=TensorProto.DOUBLE),
        model([node("Clip", "x", "h", min=-0.5, max=0.5), node("Relu", "h", "y")], opset=8),
        model([node("Unsqueeze", "x", "h", axes=[0]), node("Relu", "h", "y")], opset=9),
        model([node("Slice", "x", "h", starts=[1], ends=[3], axes=[1]), node("Relu", "h", "y")]),
        model(*MODELS["residual"], opset=21),
        model(*MODELS["Gemm"], shape=("batch", 4)),
        model([node("Relu", "x", "y")], shape=(1, 1, 2, 2)),
    ]
    cases[3] = model(cases[3].graph.node, opset=9)
    for number, each in enumerate(cases):
        onnx.save(each, tmp_path / "m.onnx")
        graph = onnx_graph(tmp_path / "m.onnx")
        rows = np.random.default_rng(number).normal(size=(20, 4))
        assert np.allclose(graph.predict(rows), evaluate(graph.graph, rows), atol=1e-6)
        assert (graph.graph.nodes[1].kind == "cast") == (number > 0)


def test_a_bias_after_a_product_is_one_node_with_it(tmp_path):
    onnx.save(model(*MODELS["MatMul Add"]), tmp_path / "m.onnx")
    kinds = [each.kind for each in onnx_graph(tmp_path / "m.onnx").graph.nodes]
    assert kinds == ["input", "cast", "linear"]


@pytest.mark.parametrize("softmax", [False, True])
def test_a_choice_at_the_end_is_a_discrete_policy(softmax, tmp_path):
    nodes = [node("Gemm", "x w b", "h")]
    nodes += [node("Softmax", "h", "p", axis=1)] if softmax else []
    nodes += [node("ArgMax", "p" if softmax else "h", "y", axis=1, keepdims=0)]
    onnx.save(model(nodes, {"w": W, "b": B}, out=TensorProto.INT64), tmp_path / "m.onnx")
    graph = onnx_graph(tmp_path / "m.onnx")
    rows = np.random.default_rng(1).normal(size=(200, 4))
    assert graph.kind == "discrete"
    assert graph.action_low is None
    assert np.array_equal(graph.predict(rows), evaluate(graph.graph, rows).argmax(axis=1))
    assert len(set(graph.predict(rows).tolist())) > 1


@pytest.mark.parametrize("kind", ["ArgMax", "Softmax"])
def test_a_choice_along_another_axis_is_refused(kind, tmp_path):
    axes = {"Softmax": 1, "ArgMax": 1, kind: 0}
    nodes = [node("Softmax", "x", "p", axis=axes["Softmax"])]
    nodes += [node("ArgMax", "p", "y", axis=axes["ArgMax"])]
    onnx.save(model(nodes, out=TensorProto.INT64), tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match=f"{kind} .* works along axis 0 of a tensor of"):
        onnx_graph(tmp_path / "m.onnx")


REFUSED = {
    "a convolution": (model([node("Conv", "x w", "y")], {"w": W}), "Conv, which has no bound here"),
    "own operators": (
        model([helper.make_node("Fast", ["x"], ["y"], domain="own", name="n1")]),
        "Node 'n1' .* is of the operator own.Fast",
    ),
    "softmax": (model([node("Softmax", "x", "y")]), "is a Softmax that is not part of a choice"),
    "a choice inside": (
        model([node("ArgMax", "x", "h"), node("Cast", "h", "y", to=1)]),
        "is a ArgMax that is not part of a choice at the end",
    ),
    "the last of ties": (
        model([node("ArgMax", "x", "y", select_last_index=1)]),
        "takes the last of equal values",
    ),
    "an old version": (model([node("Relu", "x", "y")], opset=6), "version 6 of the ONNX operators"),
    "a future version": (model([node("Relu", "x", "y")], opset=27), "7 to 25 are read"),
    "half precision": (
        model([node("Gemm", "x w", "y")], {"w": W.astype(np.float16)}),
        "Tensor 'w' of .* is of type float16; float32 and float64",
    ),
    "a half input": (
        model([node("Relu", "x", "y")], kind=TensorProto.FLOAT16),
        "Input 'x' of .* is of type FLOAT16",
    ),
    "infinite weights": (
        model([node("Gemm", "x w", "y")], {"w": W * np.float32(np.inf)}),
        "Tensor 'w' of .* has values that are not finite",
    ),
    "alpha": (model([node("Gemm", "x w", "y", alpha=0.5)], {"w": W}), "alpha or beta other than"),
    "two variables": (
        model([node("Transpose", "x", "t"), node("MatMul", "x t", "y")]),
        "multiplies two matrices that depend on the input",
    ),
    "a variable divisor": (model([node("Div", "x x", "y")]), "input 1 that is no constant"),
    "zero": (model([node("Div", "x z", "y")], {"z": single(1) * 0}), "divides by nothing or by 0"),
    "no input": (model([node("Relu", "q", "y")]), "reads 'q', which nothing before it gives"),
    "a constant": (model([node("Identity", "c", "y")], {"c": B}), "does not depend on the input"),
    "sizes": (model([node("Gemm", "x w", "y")], {"w": single(5, 3)}), "is malformed: "),
    "training": (
        model([node("BatchNormalization", "x b b b b", "y", training_mode=1)], {"b": single(4)}),
        "in training or not spatial",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_bound_is_refused_by_name(kind, tmp_path):
    made, message = REFUSED[kind]
    onnx.save(made, tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match=message):
        onnx_graph(tmp_path / "m.onnx")


def test_two_inputs_are_refused(tmp_path):
    made = model([node("Add", "x z", "y")])
    made.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, (1, 4)))
    onnx.save(made, tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match="has 2 inputs and 1 outputs; one of each is read"):
        onnx_graph(tmp_path / "m.onnx")


def test_tensors_in_another_file_are_never_opened(tmp_path):
    made = model(*MODELS["Gemm"])
    onnx.save(
        made, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0
    )
    with pytest.raises(UnsupportedError, match="lies in another file, which is not opened"):
        onnx_graph(tmp_path / "m.onnx")


def test_files_that_are_no_models_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UnsupportedError, match="There is no ONNX file"):
        onnx_graph(tmp_path / "nothing.onnx")
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(UnsupportedError, match="is not an ONNX file"):
        onnx_graph(tmp_path / "m.onnx")
    monkeypatch.setattr("safegym.check.neural.importing.onnx_file.MAX_BYTES", 10)
    with pytest.raises(UnsupportedError, match="larger than the 10 bytes"):
        onnx_graph(tmp_path / "m.onnx")


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_package_gives_the_install_line(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnsupportedError, match=r"pip install 'safegym\[onnx\]'"):
        onnx_graph(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Add", "a b", "h"), node("Add", "x h", "y")],
        [node("Mul", "a b", "h"), node("Add", "x h", "y")],
        [node("Add", "x b", "y")],
        [node("MatMul", "b a", "h"), node("Add", "x h", "y")],
        [node("Gather", "x i", "y", axis=1)],
    ],
)
def test_a_small_file_cannot_ask_for_much_memory(nodes, tmp_path):
    a, b = np.zeros((1, 60_000), np.float32), np.zeros((60_000, 1), np.float32)
    onnx.save(model(nodes, {"a": a, "b": b, "i": np.zeros(10**5, np.int64)}), tmp_path / "m.onnx")
    before = time.process_time()
    with pytest.raises(
        UnsupportedError, match=r"entries; 4096 are read|works on a constant|two matrices"
    ):
        onnx_graph(tmp_path / "m.onnx")
    assert time.process_time() - before < 5.0


def test_files_that_were_changed_raise_only_our_error(tmp_path):
    body = model(*MODELS["pieces"]).SerializeToString()
    generator = np.random.default_rng(0)
    read = 0
    for _ in range(1500):
        changed = bytearray(body)
        for at in generator.integers(0, len(changed), generator.integers(1, 6)):
            changed[at] = generator.integers(0, 256)
        with suppress(SafegymError):
            read += isinstance(read_imported(bytes(changed), tmp_path / "m").graph, Graph)
    assert 100 < read < 1400


def test_a_softmax_of_other_values_decides_nothing(tmp_path):
    """The bump on the chosen values is so narrow that no sample meets it."""
    tensors = {"w": W, "b": B, "i": whole(0), "c": np.float32([[0.7]]), "e": np.float32([[1e-5]])}
    tensors["k"] = np.float32([[0.0, 0.0, 1e8]])
    nodes = [
        node("Gemm", "x w b", "l"),
        node("Gather", "x i", "f", axis=1),
        node("Sub", "f c", "d"),
        node("Abs", "d", "a"),
        node("Sub", "e a", "t"),
        node("Relu", "t", "r"),
        node("Mul", "r k", "n"),
        node("Add", "l n", "v"),
        node("Softmax", "l", "p", axis=1),
        node("ArgMax", "v", "y", axis=1, keepdims=0),
    ]
    onnx.save(model(nodes, tensors, out=TensorProto.INT64), tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match="a Softmax that is not part of a choice"):
        onnx_graph(tmp_path / "m.onnx")


@pytest.mark.parametrize("ends", [{"start": 1}, {"end": -1}, {"start": -2, "end": 1}, {}])
def test_a_part_of_a_shape_is_that_part(ends, tmp_path):
    nodes = [
        node("Shape", "x", "s", **ends),
        node("Cast", "s", "f", to=TensorProto.FLOAT),
        node("Concat", "f z", "g", axis=0),
        node("Gather", "g i", "h"),
        node("Add", "x h", "y"),
    ]
    tensors = {"i": whole(0), "z": np.float32([7.0])}
    onnx.save(model(nodes, tensors), tmp_path / "m.onnx")
    first = (1, 4)[slice(ends.get("start", 0), ends.get("end"))][0]
    found = evaluate(onnx_graph(tmp_path / "m.onnx").graph, np.zeros((1, 4)))
    assert np.array_equal(found, [[first] * 4])


@pytest.mark.parametrize(
    ("nodes", "twice"),
    [
        ([node("Relu", "x", "h"), node("Neg", "x", "h"), node("Abs", "h", "y")], "h"),
        ([node("Relu", "x", "x"), node("Abs", "x", "y")], "x"),
        ([node("Relu", "x", "w"), node("MatMul", "x w", "y")], "w"),
        ([node("MatMul", "x w", "y")], "w"),
    ],
)
def test_a_name_for_two_tensors_is_refused(nodes, twice, tmp_path):
    made = model(nodes, {"w": W})
    if len(nodes) == 1:
        made.graph.initializer.append(numpy_helper.from_array(2 * W, "w"))
    onnx.save(made, tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match=f"two tensors of the name '{twice}'"):
        onnx_graph(tmp_path / "m.onnx")


def test_what_onnxruntime_cannot_run_is_refused_in_our_words(tmp_path, capfd):
    nodes = [node("Gemm", "x w b", "y")]
    onnx.save(model(nodes, {"w": single(4, 4), "b": single(4, 4)}), tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match="onnxruntime fails on the model"):
        onnx_graph(tmp_path / "m.onnx")
    made = model([node("Relu", "x", "y")])
    made.graph.node[0].attribute.append(helper.make_attribute("more", 1.0))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString().replace(b"more", b"mor\xc7"))
    with pytest.raises(UnsupportedError, match="onnxruntime refuses the model"):
        onnx_graph(tmp_path / "m.onnx")
    assert capfd.readouterr().out == ""


def test_many_wide_sums_cannot_ask_for_much_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_reading, "MAX_WEIGHTS", 1 << 16)
    nodes = [node("Add", f"{'x' if at == 0 else f't{at}'} x", f"t{at + 1}") for at in range(20)]
    onnx.save(model([*nodes, node("Abs", "t20", "y")], shape=(1, 64)), tmp_path / "m.onnx")
    with pytest.raises(UnsupportedError, match="entries of matrices; 65536 are read"):
        onnx_graph(tmp_path / "m.onnx")
