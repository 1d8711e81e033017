"""NetworkPolicy: the same bits in any batch and after any journey, and nothing malformed."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from gymnasium import spaces

from safegym.audit.sign import read_key
from safegym.audit.verify import verify
from safegym.errors import PolicyError, RunFolderError
from safegym.gate.certify import certify
from safegym.gate.rederive import rederive
from safegym.policy.base import WIDTH, Policy
from safegym.policy.network import NetworkPolicy, Normalisation
from safegym.policy.network_layers import Layer
from safegym.policy.stored import DOCUMENT, WEIGHTS, stored_digest
from safegym.scenario.registry import find

STARTS = np.zeros(0, bool)
VARIANTS = {
    "clipped": {"activation": "relu"},
    "leaky": {"activation": "leaky_relu", "normalised": True},
    "sigmoid": {"activation": "sigmoid", "widths": (4, 1)},
    "squashed": {"activation": "tanh", "last": "tanh", "squash": True},
    "discrete": {"action": spaces.Discrete(3), "widths": (4, 7, 3), "normalised": True},
    "wide": {"widths": (4, 130, 33, 2), "activation": "tanh"},
    "doubles": {"observation": spaces.Box(-9.0, 9.0, (2, 2), np.float64), "normalised": True},
}


def act(policy, rows):
    return policy.act(rows, None, STARTS)[0]


def rows_for(policy, count=200, seed=0):
    shape = (count, *policy.observation_space.shape)
    drawn = np.random.default_rng(seed).normal(size=shape) * 3.0
    return drawn.astype(policy.observation_space.dtype)


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_rows_action_is_the_same_bits_in_any_batch(network, kind):
    policy = network(**VARIANTS[kind])
    rows = rows_for(policy)
    whole = act(policy, rows)
    assert isinstance(policy, Policy)
    assert np.array_equal(act(policy, rows[::-1]), whole[::-1])
    for at in range(0, 200, 7):
        assert np.array_equal(act(policy, rows[at : at + 1]), whole[at : at + 1])
    assert act(policy, rows[:0]).shape == (0, *policy.action_space.shape)


@pytest.mark.parametrize("kind", VARIANTS)
def test_actions_are_those_of_the_formula_up_to_binary32_rounding(network, kind):
    policy = network(**VARIANTS[kind])
    rows = rows_for(policy).astype(np.float64)
    values = rows.reshape(len(rows), -1)
    if policy.normalisation is not None:
        held = policy.normalisation
        values = (values - held.mean.reshape(-1)) / held.scale.reshape(-1)
        values = np.clip(values, -held.clip, held.clip)
    table = {
        "identity": lambda x: x,
        "relu": lambda x: np.maximum(x, 0.0),
        "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
        "tanh": np.tanh,
        "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    }
    for layer in policy.layers:
        sums = values @ layer.weight.astype(np.float64).T + layer.bias
        values = table[layer.activation](sums)
    found = policy.values(rows_for(policy))
    assert found.dtype == np.float32
    assert np.allclose(found, values, rtol=1e-4, atol=1e-4)
    if policy.squash:
        low, high = policy.action_space.low, policy.action_space.high
        assert np.array_equal(act(policy, rows), low + (0.5 * (found + 1.0) * (high - low)))
    elif isinstance(policy.action_space, spaces.Discrete):
        assert np.array_equal(act(policy, rows), found.argmax(axis=1))
    else:
        expected = np.clip(found, policy.action_space.low, policy.action_space.high)
        assert np.array_equal(act(policy, rows), expected)


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_saved_policy_comes_back_with_the_same_bits_and_digest(network, kind, tmp_path):
    policy = network(**VARIANTS[kind])
    rows = rows_for(policy)
    assert policy.save(tmp_path / "p") == policy.card.digest
    loaded = NetworkPolicy.load(tmp_path / "p")
    for other in (loaded, pickle.loads(pickle.dumps(policy))):
        assert other.card == policy.card
        assert np.array_equal(act(other, rows), act(policy, rows))
        assert other.observation_space == policy.observation_space
        assert other.action_space == policy.action_space
    files = policy.files()
    assert stored_digest(files[DOCUMENT], files[WEIGHTS], WIDTH) == policy.card.digest
    assert NetworkPolicy.is_stored_at(tmp_path / "p")
    assert not NetworkPolicy.is_stored_at(tmp_path)


def test_a_worker_process_gives_the_same_bits(network):
    policy = network()
    with ProcessPoolExecutor(1) as pool:
        found = pool.submit(act, policy, rows_for(policy)).result()
    assert np.array_equal(found, act(policy, rows_for(policy)))


def test_the_digest_moves_with_everything_that_decides_an_action_and_not_with_the_name(network):
    base = network(normalised=True)
    others = [
        network(normalised=True, seed=1),
        network(),
        network(normalised=True, clip=9.0),
        network(normalised=True, activation="leaky_relu"),
        network(normalised=True, action=spaces.Box(-1.5, 0.75, (2,), np.float32)),
        network(normalised=True, observation=spaces.Box(-99.0, 99.0, (4,), np.float32)),
        network(normalised=True, last="tanh", squash=True),
        network(normalised=True, last="tanh"),
    ]
    digests = {base.card.digest, *(each.card.digest for each in others)}
    assert len(digests) == len(others) + 1
    assert network(normalised=True, name="other").card.digest == base.card.digest


def test_torch_is_not_needed():
    code = "import safegym.policy.network, sys; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@pytest.mark.slow
def test_evidence_about_a_network_policy_is_rederived_from_its_stored_files(tmp_path, monkeypatch):
    monkeypatch.setenv("SAFEGYM_HOME", str(tmp_path / "home"))
    spec = find("classic/braking-v0")
    env = spec.make_env()
    inputs = int(np.prod(env.observation_space.shape))
    policy = NetworkPolicy(
        [Layer(np.zeros((1, inputs)), [-1.0])],
        observation_space=env.observation_space,
        action_space=env.action_space,
        name="brake",
    )
    certify(spec, policy, budget=500, out=tmp_path / "run")
    key = read_key(tmp_path / "run" / "public.pem")
    report = verify(tmp_path / "run", keys=[key], rederive=rederive)
    assert report.result == "intact", report
    (kept,) = (tmp_path / "run" / "policies").iterdir()
    assert NetworkPolicy.load(kept).card == policy.card
    weights = kept / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x07")
    assert verify(tmp_path / "run", keys=[key], rederive=rederive).result == "broken"


WEIGHT, BIAS = np.ones((2, 4)), np.zeros(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": []}, "at least one layer"),
        ({"layers": [Layer(np.ones((2, 3)), BIAS)]}, "takes 3 numbers, but it is given 4"),
        ({"layers": [Layer(np.ones((5, 4)), np.zeros(5))]}, "gives 5 values, the action needs 2"),
        ({"action_space": spaces.MultiBinary(2)}, "must be a Box or Discrete"),
        ({"action_space": spaces.Discrete(2, start=1)}, "starts at 1"),
        ({"observation_space": spaces.Discrete(4)}, "observation space must be a Box"),
        ({"observation_space": spaces.Box(0, 9, (4,), np.int64)}, "dtype int64; float32"),
        ({"squash": True}, "needs a Box action and a last layer"),
        ({"normalisation": Normalisation(np.zeros(3), np.ones(3))}, "of shape .3,., the policy"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    usual = {
        "layers": [Layer(WEIGHT, BIAS)],
        "observation_space": spaces.Box(-1.0, 1.0, (4,), np.float32),
        "action_space": spaces.Box(-1.0, 1.0, (2,), np.float32),
    }
    arguments = {**usual, **change}
    with pytest.raises(PolicyError, match=message):
        NetworkPolicy(arguments.pop("layers"), **arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Layer([[np.nan]], [0.0]), "weight has values that are not finite"),
        (lambda: Layer([[1.0]], [1e39]), "bias has values that are not finite"),
        (lambda: Layer([[1.0]], [0.0, 1.0]), "weight has shape .1, 1. and its bias .2,"),
        (lambda: Layer([[1.0]], [0.0], "elu"), "Activation 'elu' is not known; use identity"),
        (lambda: Layer([[1.0]], [0.0], "leaky_relu", np.inf), "slope is inf"),
        (lambda: Normalisation(np.zeros(2), np.zeros(2)), "above 0"),
        (lambda: Normalisation(np.zeros(2), np.ones(3)), "mean has shape"),
        (lambda: Normalisation(np.zeros(2), np.ones(2), np.nan), "above 0"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_decide_nothing_are_refused(make, message):
    with pytest.raises(PolicyError, match=message):
        make()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.full((3, 4), np.nan), "row 0 .* is not finite"),
        (np.ones((3, 5)), r"shape \(B, 4\), found \(3, 5\)"),
        (np.float32(1.0), r"found \(\)"),
        (np.full((3, 4), 3e38), "binary32 overflowed"),
    ],
)
def test_observations_that_cannot_be_acted_on_are_refused(network, rows, message):
    with pytest.raises(PolicyError, match=message):
        act(network(scale=1e3), rows)


def test_files_that_were_changed_raise_only_our_error(network, tmp_path):
    policy = network(normalised=True)
    policy.save(tmp_path)
    originals = {name: (tmp_path / name).read_bytes() for name in (DOCUMENT, WEIGHTS)}
    generator = np.random.default_rng(0)
    refused = 0
    for trial in range(600):
        name = (DOCUMENT, WEIGHTS)[trial % 2]
        body = bytearray(originals[name])
        for at in generator.integers(0, len(body), 1 + trial % 4):
            body[at] = generator.integers(0, 256)
        if trial % 7 == 0:
            body = body[: generator.integers(0, len(body))]
        (tmp_path / name).write_bytes(bytes(body))
        try:
            act(NetworkPolicy.load(tmp_path), rows_for(policy, 3))
        except PolicyError:
            refused += 1
        (tmp_path / name).write_bytes(originals[name])
    assert refused > 200


def test_what_is_no_network_folder_is_refused(network, tmp_path, monkeypatch):
    with pytest.raises(PolicyError, match="no folder of a network policy"):
        NetworkPolicy.load(tmp_path / "nowhere")
    network().save(tmp_path / "p")
    document = json.loads((tmp_path / "p" / DOCUMENT).read_text())
    (tmp_path / "p" / DOCUMENT).write_text(json.dumps({**document, "format": "other"}))
    with pytest.raises(PolicyError, match="not of the format safegym-network-1"):
        NetworkPolicy.load(tmp_path / "p")
    network().save(tmp_path / "p")
    monkeypatch.setattr("safegym.policy.network_files.MAX_WEIGHTS", 10)
    with pytest.raises(PolicyError, match="larger than the 10 bytes"):
        NetworkPolicy.load(tmp_path / "p")
    (tmp_path / "p" / WEIGHTS).unlink()
    with pytest.raises(PolicyError, match="missing, or is not a plain file"):
        NetworkPolicy.load(tmp_path / "p")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="failed"):
        network().save(tmp_path / "file" / "p")
