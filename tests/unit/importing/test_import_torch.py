"""Plain torch networks as graphs: layer by layer, and refused by name where there is no bound."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from safegym.check.neural.bounds import Bounds
from safegym.check.neural.evaluate import evaluate
from safegym.check.neural.importing import policy_graph
from safegym.errors import UnsupportedError


def trained_norm(features):
    norm = nn.BatchNorm1d(features)
    with torch.no_grad():
        norm.running_mean.normal_(0.0, 3.0)
        norm.running_var.uniform_(0.01, 5.0)
        norm.weight.normal_(0.0, 2.0)
        norm.bias.normal_()
    return norm


NETWORKS = {
    "relu": lambda: nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)),
    "nested": lambda: nn.Sequential(
        nn.Flatten(), nn.Sequential(nn.Linear(3, 8), nn.Sequential(nn.Tanh())), nn.Linear(8, 2)
    ),
    "leaky": lambda: nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.3), nn.Linear(8, 2)),
    "sigmoid": lambda: nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 2)),
    "hardtanh": lambda: nn.Sequential(nn.Linear(3, 8), nn.Hardtanh(-0.1, 0.7), nn.Linear(8, 2)),
    "relu6": lambda: nn.Sequential(nn.Linear(3, 8), nn.ReLU6(), nn.Identity(), nn.Linear(8, 2)),
    "no bias": lambda: nn.Sequential(nn.Linear(3, 2, bias=False), nn.Dropout(0.5)).eval(),
    "norm": lambda: nn.Sequential(
        trained_norm(3), nn.Linear(3, 8), trained_norm(8), nn.ReLU(), nn.Linear(8, 2)
    ).eval(),
    "plain norm": lambda: nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, affine=False)).eval(),
    "double": lambda: nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.3), nn.Linear(8, 2)).double(),
    "linear": lambda: nn.Linear(3, 2),
}


def drawn(network, gain=3.0):
    torch.manual_seed(0)
    made = network()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(gain)
    return made


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("action", [None, spaces.Discrete(2), spaces.Box(-0.5, 0.5, (2,))])
def test_every_layer_that_has_bounds_is_imported(kind, action):
    graph = policy_graph(drawn(NETWORKS[kind]), action_space=action, name=kind)
    rows = np.random.default_rng(0).standard_normal((500, 3)) * 3
    low, high = Bounds(graph.graph, "deployed float32").interval(rows, rows)[-1]
    given = graph.predict(rows)
    if graph.kind == "discrete":
        assert np.array_equal(given, evaluate(graph.graph, rows).argmax(axis=1))
        assert (high[np.arange(500), given] >= low.max(axis=1)).all()
    else:
        assert ((low <= given) & (given <= high)).all()
        assert np.allclose(given, evaluate(graph.graph, rows), atol=1e-4)


def test_a_norm_is_covered_however_its_constants_are_folded():
    """Three ways to work it out in binary32, none of them that of the graph."""
    network = drawn(NETWORKS["norm"], gain=1.0)[0:1].eval()
    norm = network[0]
    graph = policy_graph(nn.Sequential(norm, nn.Linear(3, 3)).eval())
    inner = next(at for at, node in enumerate(graph.graph.nodes) if node.size == 3 and at > 5)
    mean, var, weight, bias = (
        each.detach().numpy()
        for each in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    rows = (np.random.default_rng(0).standard_normal((5000, 3)) * 20).astype(np.float32)
    low, high = Bounds(graph.graph, "deployed float32").interval(rows, rows)[inner]
    root = np.sqrt(var + np.float32(norm.eps))
    inverse = np.float32(1.0) / root
    for found in (
        (rows - mean) / root * weight + bias,
        rows * (weight * inverse) + (bias - mean * (weight * inverse)),
        (rows - mean) * (inverse * weight) + bias,
    ):
        assert found.dtype == np.float32
        assert ((low <= found) & (found <= high)).all()
    assert ((high - low) < 1e-5 * (200.0 + np.abs(low))).all()


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Sequential(nn.Linear(3, 2), nn.Softplus()), "layer 1: Softplus has no bound here"),
        (nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2)), "LayerNorm has no bound here; support"),
        (nn.Sequential(nn.Linear(3, 2), nn.Dropout()), "Dropout in training mode draws"),
        (nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), "supported in evaluation mode"),
        (nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2)), "takes 3 numbers, but it is given 2"),
        (nn.Sequential(nn.Linear(3, 2), nn.Flatten(0)), "Flatten is supported with start_dim=1"),
        (nn.Sequential(nn.Linear(3, 2)).half(), r"weights of torch\.float16; supported is all"),
        (nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2).double()), "float32, torch.float64; supp"),
        (nn.Sequential(nn.ReLU()), "no Linear layer, so its size is not known"),
        (nn.LSTM(3, 2), "LSTM has no bound here|has no Linear layer"),
        (nn.Conv1d(3, 2, 1), "has no Linear layer|Conv1d has no bound here"),
    ],
)
def test_a_layer_without_bounds_is_refused_by_name(network, message):
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(network, name="net")


def test_weights_that_are_not_finite_are_refused_by_name():
    network = drawn(NETWORKS["relu"])
    with torch.no_grad():
        network[2].bias[1] = np.inf
    with pytest.raises(UnsupportedError, match=r"net: 2\.bias has values that are not finite"):
        policy_graph(network, name="net")


def test_spaces_that_do_not_fit_are_refused():
    network = drawn(NETWORKS["relu"])
    with pytest.raises(
        UnsupportedError, match=r"gives 2 numbers, the action space Discrete.3. nee"
    ):
        policy_graph(network, action_space=spaces.Discrete(3))
    with pytest.raises(UnsupportedError, match="takes 3 numbers, but it is given 4"):
        policy_graph(network, observation_space=spaces.Box(-1, 1, (4,), np.float32))


def test_training_the_network_on_does_not_change_what_was_imported():
    network = drawn(NETWORKS["relu"])
    graph = policy_graph(network)
    before = graph.predict(np.ones((1, 3)))
    with torch.no_grad():
        network[0].weight.add_(1.0)
    assert np.array_equal(graph.predict(np.ones((1, 3))), before)
    assert policy_graph(network).digest != graph.digest


def test_a_module_that_is_used_twice_runs_twice():
    torch.manual_seed(3)
    act, layer = nn.ReLU(), nn.Linear(8, 8)
    network = nn.Sequential(nn.Linear(3, 8), act, layer, act, layer, nn.Linear(8, 2))
    graph = policy_graph(network, name="shared").graph
    assert [node.kind for node in graph.nodes].count("linear") == 4
    assert [node.kind for node in graph.nodes].count("relu") == 2


class _Rare(nn.Sequential):
    """A bump so narrow that no sample meets it."""

    def forward(self, rows):
        return super().forward(rows) + 100.0 * (torch.abs(rows[:, :1] - 0.7) < 1e-6)


def _hooked(network):
    network[0].register_forward_hook(lambda module, given, found: found * 1.0)
    return network


def _replaced(network):
    own = network[0].forward
    network[0].forward = lambda rows: own(rows) + 100.0 * (torch.abs(rows[:, :1] - 0.7) < 1e-6)
    return network


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda network: _Rare(*network), "layer 0: _Rare has no bound here"),
        (lambda network: nn.Sequential(_Rare(*network)), "layer 0: _Rare has no bound here"),
        (_hooked, "layer 0: Linear has a hook"),
        (lambda network: nn.Sequential(_hooked(network)), r"layer 0\.0: Linear has a hook"),
        (lambda n: (nn.utils.spectral_norm(n[0]), n)[1].eval(), "layer 0: Linear has a hook"),
        (_replaced, "layer 0: Linear has its own forward in place of its class's"),
        (lambda network: network.to("meta"), "has weights on meta; import it from the CPU"),
        (
            lambda n: nn.Sequential(nn.Linear(3, 2, dtype=torch.complex64)),
            r"has weights of torch\.complex64",
        ),
    ],
)
def test_code_is_not_believed_by_its_name(change, message):
    network = change(drawn(NETWORKS["relu"]))
    with pytest.raises(UnsupportedError, match=message):
        policy_graph(network, name="net")


def test_a_shorter_type_around_the_import_is_refused():
    with (
        torch.autocast("cpu", torch.bfloat16),
        pytest.raises(UnsupportedError, match="rounds to a shorter type here"),
    ):
        policy_graph(drawn(NETWORKS["relu"]))


def test_importing_leaves_the_observations_that_it_is_given():
    network = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 2)).double()
    rows = -np.ones((4, 3))
    policy_graph(network).predict(rows)
    assert (rows == -1.0).all()


def test_choices_that_do_not_start_at_0_are_refused():
    with pytest.raises(UnsupportedError, match=r"start=1.; supported are choices that start at 0"):
        policy_graph(drawn(NETWORKS["relu"]), action_space=spaces.Discrete(2, start=1))
