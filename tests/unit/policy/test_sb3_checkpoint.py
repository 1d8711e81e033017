"""Checkpoints without pickle: algorithms come back with equal actions, corruption does not."""

import json
import pickle
import random

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import DQN, PPO, SAC, TD3
from stable_baselines3.common.utils import LinearSchedule

from safegym.digest import canonical_json, digest_bytes
from safegym.errors import PolicyError, RunFolderError
from safegym.policy.sb3 import (
    codec,
    folder,
    freeze,
    generators,
    load_algorithm,
    load_policy,
    read_checkpoint,
    save_checkpoint,
)
from safegym.policy.sb3.spaces import decode_space, encode_space, same_space
from safegym.policy.sb3.tensors import digest_tensors, from_bytes, to_bytes

torch.set_num_threads(1)
OFF = {"learning_starts": 10, "batch_size": 8, "buffer_size": 100}
ON = {"n_steps": 32, "batch_size": 16}


def _train(cls, env, steps, **kwargs):
    model = cls("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=1, device="cpu", **kwargs)
    model.learn(steps)
    return model


MAKERS = {
    "ppo": lambda: _train(
        PPO, "CartPole-v1", 64, learning_rate=LinearSchedule(1e-3, 0.0, 0.5), **ON
    ),
    "ppo-gsde": lambda: _train(PPO, "Pendulum-v1", 64, use_sde=True, **ON),
    "sac": lambda: _train(SAC, "Pendulum-v1", 30, **OFF),
    "td3": lambda: _train(TD3, "Pendulum-v1", 30, **OFF),
    "dqn": lambda: _train(DQN, "CartPole-v1", 30, **OFF),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_algorithm_comes_back_with_equal_actions_weights_and_optimisers(kind, tmp_path):
    model = MAKERS[kind]()
    _, frozen = save_checkpoint(model, tmp_path / "c", name=kind)
    loaded = load_algorithm(tmp_path / "c")
    space = model.observation_space
    space.seed(0)
    observations = np.stack([space.sample() for _ in range(500)])
    observations = np.clip(observations, -5, 5)
    starts = np.zeros(500, dtype=bool)
    policy = load_policy(tmp_path / "c")
    assert policy.card == frozen.card == freeze(model, name=kind).card
    assert np.array_equal(
        policy.act(observations, None, starts)[0], frozen.act(observations, None, starts)[0]
    )
    assert np.array_equal(
        loaded.predict(observations, deterministic=True)[0],
        model.predict(observations, deterministic=True)[0],
    )
    assert loaded.num_timesteps == model.num_timesteps
    left, right = model.get_parameters(), loaded.get_parameters()
    assert left.keys() == right.keys()
    for name in left:
        torch.testing.assert_close(left[name], right[name], rtol=0, atol=0)


def test_a_linear_schedule_comes_back_as_data(tmp_path):
    save_checkpoint(MAKERS["ppo"](), tmp_path / "c")
    loaded = load_algorithm(tmp_path / "c")
    assert loaded.lr_schedule(1.0) == 1e-3
    assert loaded.lr_schedule(0.75) == 5e-4
    assert loaded.lr_schedule(0.2) == 0.0


def test_a_callers_own_state_comes_back(tmp_path):
    save_checkpoint(
        MAKERS["ppo"](), tmp_path / "c", extra={"epoch": 3}, extra_tensors={"x": torch.arange(3)}
    )
    checkpoint = read_checkpoint(tmp_path / "c")
    assert checkpoint.extra == {"epoch": 3}
    assert torch.equal(checkpoint.extra_tensor("x"), torch.arange(3))
    with pytest.raises(PolicyError, match="no tensor 'y'"):
        checkpoint.extra_tensor("y")


def test_no_file_of_a_checkpoint_is_a_pickle(tmp_path):
    save_checkpoint(MAKERS["sac"](), tmp_path / "c")
    names = {path.name for path in (tmp_path / "c").iterdir()}
    assert names == {
        "MANIFEST.json",
        "policy.json",
        "policy.safetensors",
        "training.json",
        "training.safetensors",
    }
    for path in (tmp_path / "c").iterdir():
        with pytest.raises(Exception, match=r".*"):
            pickle.loads(path.read_bytes())


@pytest.fixture
def stored(tmp_path):
    save_checkpoint(MAKERS["ppo"](), tmp_path / "c")
    return tmp_path / "c"


def _rewrite(stored, name, change):
    """Change one file and forge the manifest, as an attacker would."""
    files = folder.read_folder(stored)
    document = json.loads(files[name])
    change(document)
    folder.write_folder(stored, {**files, name: json.dumps(document).encode()})


@pytest.mark.parametrize(
    "name", ["os.system", "torch.nn.modules.linear.Linear", "builtins.eval", 7]
)
def test_a_class_off_the_allow_list_is_refused(stored, name):
    _rewrite(stored, "policy.json", lambda d: d["architecture"].update({"class": name}))
    with pytest.raises(PolicyError, match=r"not on the allow-list"):
        load_policy(stored)


def test_an_allowed_class_in_the_wrong_place_is_refused(stored):
    _rewrite(
        stored,
        "policy.json",
        lambda d: d["architecture"].update({"class": "torch.nn.modules.activation.Tanh"}),
    )
    with pytest.raises(PolicyError, match="no policy class"):
        load_policy(stored)


def test_an_unknown_class_deep_in_the_parameters_is_refused(stored):
    _rewrite(
        stored,
        "policy.json",
        lambda d: d["architecture"]["parameters"].update(
            {"activation_fn": {"$class": "os.system"}}
        ),
    )
    with pytest.raises(PolicyError, match=r"os\.system.*not on the allow-list"):
        load_policy(stored)


def test_a_huge_layer_is_not_built(stored):
    _rewrite(
        stored, "policy.json", lambda d: d["architecture"]["parameters"].update(net_arch=[10**9])
    )
    with pytest.raises(PolicyError, match="width 1000000000"):
        load_policy(stored)


def test_weights_of_another_architecture_are_refused(stored):
    _rewrite(stored, "policy.json", lambda d: d["architecture"]["parameters"].update(net_arch=[9]))
    with pytest.raises(PolicyError, match="do not fit"):
        load_policy(stored)


@pytest.mark.parametrize("name", ["policy.json", "policy.safetensors", "training.safetensors"])
def test_a_flipped_bit_is_found(stored, name):
    body = bytearray((stored / name).read_bytes())
    body[len(body) // 2] ^= 1
    (stored / name).write_bytes(bytes(body))
    with pytest.raises(PolicyError, match="does not match the digest"):
        read_checkpoint(stored)


def test_a_missing_file_and_a_missing_folder_are_named(stored, tmp_path):
    (stored / "policy.safetensors").unlink()
    with pytest.raises(PolicyError, match=r"policy\.safetensors is missing"):
        load_policy(stored)
    with pytest.raises(PolicyError, match="not a checkpoint folder"):
        load_policy(tmp_path / "nothing")


def test_a_truncated_tensor_file_with_a_forged_manifest_is_refused(stored):
    files = folder.read_folder(stored)
    folder.write_folder(stored, {**files, "policy.safetensors": files["policy.safetensors"][:-9]})
    with pytest.raises(PolicyError, match="safetensors form"):
        load_policy(stored)


def test_weights_that_are_not_finite_are_neither_written_nor_replace_the_old(tmp_path):
    model = MAKERS["ppo"]()
    save_checkpoint(model, tmp_path / "c")
    before = folder.folder_digest(tmp_path / "c")
    with torch.no_grad():
        model.policy.value_net.bias[0] = float("inf")
    with pytest.raises(PolicyError, match="not finite"):
        save_checkpoint(model, tmp_path / "c")
    assert folder.folder_digest(tmp_path / "c") == before


def test_a_write_that_fails_halfway_leaves_the_old_folder(tmp_path, monkeypatch):
    folder.write_folder(tmp_path / "c", {"a": b"old"})

    def fail(path, body):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_write_durably", fail)
    with pytest.raises(RunFolderError, match=r"No space left on device\. Nothing"):
        folder.write_folder(tmp_path / "c", {"a": b"new"})
    assert folder.read_folder(tmp_path / "c") == {"a": b"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_symbolic_link_in_a_checkpoint_is_refused(tmp_path):
    folder.write_folder(tmp_path / "c", {"a": b"text"})
    (tmp_path / "outside").write_bytes(b"text")
    (tmp_path / "c" / "a").unlink()
    (tmp_path / "c" / "a").symlink_to(tmp_path / "outside")
    with pytest.raises(PolicyError, match="not a plain file"):
        folder.read_folder(tmp_path / "c")


def test_a_manifest_cannot_name_a_file_outside(tmp_path):
    folder.write_folder(tmp_path / "c", {"a": b"text"})
    entry = {"digest": digest_bytes(b"x"), "bytes": 1}
    (tmp_path / "x").write_bytes(b"x")
    manifest = {"format": folder.FORMAT, "files": {"../x": entry}}
    (tmp_path / "c" / folder.MANIFEST).write_bytes(canonical_json(manifest))
    with pytest.raises(PolicyError, match=r"no file '\.\./x'"):
        folder.read_folder(tmp_path / "c")


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-np.inf, np.inf, (2, 3), np.float64),
        spaces.Box(np.array([0.1, -7], np.float32), np.array([0.3, 1e20], np.float32)),
        spaces.Box(0, 255, (3, 4, 4), np.uint8),
        spaces.Discrete(5, start=-2),
        spaces.MultiDiscrete([3, 4]),
        spaces.MultiBinary(4),
        spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Box(-1, 1, (1,))}),
    ],
    ids=str,
)
def test_a_space_comes_back_exactly(space):
    data = json.loads(canonical_json(encode_space(space)))
    assert same_space(decode_space(data), space)
    assert decode_space(data) == space


def test_a_normaliser_of_another_shape_is_refused(tmp_path):
    document = {"epsilon": 1e-8, "clip": 10.0}
    frozen = freeze(MAKERS["ppo"]())
    files = frozen.files()
    body = json.loads(files["policy.json"])
    weights = {
        **from_bytes(files["policy.safetensors"]),
        "normaliser.mean": torch.zeros(3, dtype=torch.float64),
        "normaliser.var": torch.ones(3, dtype=torch.float64),
    }
    body["normaliser"] = document
    folder.write_folder(
        tmp_path / "c",
        {"policy.json": canonical_json(body), "policy.safetensors": to_bytes(weights)},
    )
    with pytest.raises(PolicyError, match=r"shape \(3,\), the policy takes \(4,\)"):
        load_policy(tmp_path / "c")


def test_malformed_spaces_are_refused():
    for data in (
        None,
        {"kind": "Box"},
        {"kind": "Tuple"},
        {"kind": "Discrete", "n": 3, "start": 0, "dtype": "object"},
        {"kind": "MultiBinary", "shape": [10**12]},
    ):
        with pytest.raises(PolicyError, match="space"):
            decode_space(data)


def test_a_lambda_schedule_is_refused_with_what_would_work():
    with pytest.raises(PolicyError, match="LinearSchedule"):
        codec.encode(lambda progress: progress, where="learning_rate")


def test_values_come_back_through_json():
    value = {"a": (1, 2.5, None), "b": [True, float("inf")], "c": torch.nn.Tanh, "d": 2**70}
    assert codec.decode(json.loads(canonical_json(codec.encode(value)))) == value


def test_an_unknown_tag_and_deep_nesting_are_refused():
    with pytest.raises(PolicyError, match=r"Unknown tag '\$pickle'"):
        codec.decode({"$pickle": "gASV"})
    nested: list = []
    for _ in range(100):
        nested = [nested]
    with pytest.raises(PolicyError, match="nested deeper"):
        codec.decode(nested)


def test_random_generators_come_back():
    random.gauss(0, 1)
    document, tensors = generators.capture()
    document = json.loads(canonical_json(document))

    def draw():
        return torch.rand(2).tolist(), np.random.normal(size=3).tolist(), random.gauss(0, 1)

    expected = draw()
    generators.restore(document, tensors)
    assert draw() == expected
    with generators.preserved():
        inner = draw()
    assert draw() == inner


def test_tensor_digests_see_names_shapes_dtypes_and_values():
    base = {"a": torch.zeros(4)}
    others = [
        {"b": torch.zeros(4)},
        {"a": torch.zeros(2, 2)},
        {"a": torch.zeros(4, dtype=torch.int32)},
        {"a": torch.full((4,), -0.0)},
    ]
    assert len({digest_tensors(t) for t in [base, *others]}) == 5
