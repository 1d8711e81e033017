"""A policy written as ONNX is the policy: run by onnxruntime, read back, or not written."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from gymnasium import spaces

from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.graph import GraphBuilder
from safegym.check.neural.importing import onnx_graph, policy_graph, write_onnx
from safegym.errors import PolicyError, RunFolderError, UnsupportedError

DOUBLES = spaces.Box(-9.0, 9.0, (4,), np.float64)
LIMITS = spaces.Box(np.float32([-1, -np.inf]), np.float32([np.inf, 0.3]))
VARIANTS = {
    "clipped": {},
    "half limits": {"action": LIMITS},
    "normalised": {"normalised": True, "activation": "leaky_relu"},
    "sigmoid": {"activation": "sigmoid"},
    "squashed": {"activation": "tanh", "last": "tanh", "squash": True, "normalised": True},
    "doubles": {"observation": DOUBLES, "normalised": True},
    "double actions": {"action": spaces.Box(-0.1, 1 / 3, (2,), np.float64)},
    "double squash": {
        "action": spaces.Box(-0.1, 1 / 3, (2,), np.float64),
        "last": "tanh",
        "squash": True,
    },
    "discrete": {"action": spaces.Discrete(3), "widths": (4, 7, 3), "normalised": True},
}


def ran(path, rows):
    session = onnxruntime.InferenceSession(path)
    given = session.get_inputs()[0]
    dtype = np.float32 if given.type == "tensor(float)" else np.float64
    return session.run(None, {given.name: rows.astype(dtype)})[0]


@pytest.mark.parametrize("kind", VARIANTS)
def test_onnxruntime_gives_the_policys_actions_in_a_batch(kind, network, tmp_path):
    policy = network(**VARIANTS[kind])
    path = tmp_path / "p.onnx"
    found = write_onnx(policy, path)
    assert (found.samples, found.disagreements) == (1000, 0)
    graph = policy_graph(policy)
    rows = np.random.default_rng(4).normal(size=(300, 4)) * 3.0
    rows = rows.astype(policy.observation_space.dtype)
    assert np.allclose(ran(path, rows), graph.predict(rows), atol=1e-5)
    again = onnx_graph(path)
    assert again.kind == graph.kind
    assert np.allclose(
        evaluate(again.graph, rows), evaluate(graph.graph, rows), rtol=1e-9, atol=1e-9
    )
    onnx.checker.check_model(str(path), full_check=True)


@pytest.mark.parametrize("kind", ["PPO", "SAC", "DQN"])
def test_an_sb3_policy_is_written_with_all_that_surrounds_it(algorithm, kind, tmp_path):
    action = {"action": spaces.Discrete(4)} if kind == "DQN" else {}
    model = algorithm(kind, statistics=(np.arange(5.0), np.arange(1.0, 6.0), 3.0), **action)
    write_onnx(model, tmp_path / "p.onnx")
    rows = np.random.default_rng(4).normal(size=(200, 5)) * 5.0
    expected = policy_graph(model).predict(rows)
    assert np.allclose(ran(tmp_path / "p.onnx", rows), expected, atol=1e-4)


def test_a_choice_by_softmax_is_written_without_the_loosening(algorithm, tmp_path):
    write_onnx(algorithm("PPO", spaces.Discrete(4)), tmp_path / "p.onnx")
    kinds = [each.op_type for each in onnx.load(tmp_path / "p.onnx").graph.node]
    assert kinds == ["Gemm", "Tanh", "Gemm", "Tanh", "Gemm", "ArgMax"]


def test_a_policy_that_is_not_its_graph_is_not_written(network, tmp_path):
    graph, other = policy_graph(network()), policy_graph(network(seed=1))
    with pytest.raises(PolicyError, match=r"and its graph disagree by up to .* was not written"):
        write_onnx(replace(graph, graph=other.graph), tmp_path / "p.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_written_form_that_differs_is_refused_and_no_file_is_left(network, tmp_path, monkeypatch):
    from safegym.check.neural.importing import onnx_writing

    kept = onnx_writing._Writer._constant

    def patched(self, values, kind):
        return kept(self, np.asarray(values) * 2.0, kind)

    monkeypatch.setattr(onnx_writing._Writer, "_constant", patched)
    with pytest.raises(PolicyError, match=r"is another function: its values lie up to .* away"):
        write_onnx(network(action=spaces.Box(-np.inf, np.inf, (2,))), tmp_path / "p.onnx")
    assert list(tmp_path.iterdir()) == []


def test_what_onnx_cannot_hold_is_refused(network, tmp_path):
    graph = policy_graph(network())
    builder = GraphBuilder(4)
    builder.apply("sin", builder.append(graph.graph, builder.input()))
    with pytest.raises(UnsupportedError, match="A node of the kind sin cannot be written"):
        write_onnx(replace(graph, graph=builder.graph()), tmp_path / "p.onnx")
    builder = GraphBuilder(4)
    builder.linear([(builder.input(), np.full((2, 4), 0.1))], precision="float32")
    with pytest.raises(UnsupportedError, match="constant that float32 does not hold"):
        write_onnx(replace(graph, graph=builder.graph()), tmp_path / "p.onnx")
    with pytest.raises(RunFolderError, match="failed"):
        write_onnx(graph, tmp_path / "nowhere" / "p.onnx")
