"""The table of algorithms agrees with the algorithms; settings and options follow it."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv

from safegym.digest import canonical_json
from safegym.errors import GateError
from safegym.gate.trainer.algorithms import ALGORITHMS, algorithm
from safegym.gate.trainer.choosing import chosen_settings
from safegym.gate.trainer.learner import algorithm_class, make_learner
from safegym.gate.trainer.settings import Linear, TrainSettings
from safegym.policy.sb3.names import ALGORITHMS as STORED

RENAMED = {"return_steps": "n_steps", "noise": "action_noise", "noise_sigma": "action_noise"}
"""Options that are no argument by their own name."""
OF_OUR_BUFFERS = {"failing_share", "failing_steps"}
OURS = ("n_steps", "batch_size")
"""Defaults that are ours for on-policy algorithms: rollouts divide the usual epoch."""
POLICIES = {"critic_arch": "net_arch"}


class Anything(gym.Env):
    def __init__(self, actions) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (3,))
        self.action_space = actions

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}


def actions_of(card):
    return spaces.Box(-1.0, 1.0, (2,)) if "Box" in card.actions else spaces.Discrete(3)


def plain(card, **changes):
    settings = TrainSettings.of({"algo": card.name, "net_arch": [8], **changes})
    return make_learner(settings, DummyVecEnv([lambda: Anything(actions_of(card))]))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_is_an_argument_of_the_algorithm_or_of_its_policy(name):
    card = ALGORITHMS[name]
    taken = inspect.signature(algorithm_class(card).__init__).parameters
    assert {RENAMED.get(each, each) for each in card.options} - OF_OUR_BUFFERS <= set(taken)
    made = inspect.signature(type(plain(card).policy).__init__).parameters
    assert {POLICIES.get(option, option) for option in card.network} <= set(made)
    assert set(card.fields) - {"log_std_init"} <= set(taken)
    assert STORED[name] is algorithm_class(card)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_defaults_are_those_of_the_library_but_for_rollouts(name):
    card = ALGORITHMS[name]
    taken = inspect.signature(algorithm_class(card).__init__).parameters
    chosen = TrainSettings.of({"algo": name})
    for field in ("learning_rate", "gamma", *card.fields):
        if field in taken and not (field in OURS and card.family == "on"):
            assert getattr(chosen, field) == taken[field].default, field
    if card.family == "off":
        assert chosen.n_steps == taken["train_freq"].default


@pytest.mark.parametrize("name", ALGORITHMS)
def test_options_reach_the_algorithm(name):
    card = ALGORITHMS[name]
    gamma = plain(card, gamma=0.5, learning_rate=1e-4)
    assert gamma.gamma == 0.5
    assert gamma.lr_schedule(1.0) == 1e-4
    if "critic_arch" in card.network:
        arch = plain(card, critic_arch=[16]).policy.net_arch
        assert sorted(arch.values()) == [[8], [16]]
    if "tau" in card.options:
        assert plain(card, tau=0.25).tau == 0.25


def test_an_algorithm_takes_its_own_defaults_where_nothing_is_given():
    sac = TrainSettings.of({"algo": "sac"})
    assert (sac.n_steps, sac.batch_size, sac.net_arch, sac.activation) == (
        1,
        256,
        (256, 256),
        "relu",
    )
    dqn = TrainSettings.of({"algo": "dqn", "batch_size": 64})
    assert (dqn.n_steps, dqn.batch_size, dqn.learning_rate) == (4, 64, 1e-4)
    assert TrainSettings.of({"algo": "ppo"}) == TrainSettings()


def test_options_stand_beside_the_fields_and_come_back_from_json():
    chosen = TrainSettings.of({"algo": "sac", "tau": 1, "ent_coef": "auto_0.1", "noise": "normal"})
    assert chosen.options == {"ent_coef": "auto_0.1", "noise": "normal", "tau": 1.0}
    again = TrainSettings.from_json(json.loads(canonical_json(chosen.to_json())))
    assert again == chosen
    assert again.digest == chosen.digest
    assert TrainSettings.of({"algo": "sac", "options": {"tau": 1.0}}).options == {"tau": 1.0}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"algo": "sac", "clip_range": 0.1}, "Unknown option 'clip_range'; sac takes batch_size, "),
        ({"algo": "ppo", "tau": 0.1}, "Unknown option 'tau'; ppo takes batch_size, clip_range"),
        ({"algo": "dqn", "tua": 0.1}, r"'tua' \(did you mean 'tau'\?\)"),
        ({"algo": "sac", "options": {"speed": 1}}, "Unknown option 'speed'; sac takes"),
        ({"algo": "sac", "tau": "much"}, "tau is 'much'; give a number in"),
        ({"algo": "sac", "ent_coef": "car"}, "'auto_0.1' to begin at 0.1"),
        ({"algo": "sac", "use_sde": 1}, "use_sde is 1; give true or false"),
        ({"algo": "td3", "noise": "pink"}, "one of none, normal, ornstein-uhlenbeck"),
        ({"algo": "dqn", "buffer_size": 0}, "a whole number of at least 1"),
        ({"algo": "ppo", "critic_arch": [0]}, "a list of layer widths"),
        ({"algo": "PPO"}, "by that name, 'ppo' can"),
        ({"algo": "RecurrentPPO"}, "'recurrent-ppo' can"),
        ({"algo": "ars"}, "no buffer to write penalties into; give algo= one of ppo, a2c"),
        ({"algo": "crossq"}, "mixes the rows"),
        ({"algo": Anything}, "classes are not taken"),
    ],
)
def test_what_an_algorithm_does_not_take_is_refused_with_what_it_does(data, words):
    with pytest.raises(GateError, match=words):
        TrainSettings.of(data)


def test_another_algorithm_keeps_only_what_means_the_same_to_it():
    base = TrainSettings(n_envs=4, n_steps=512, clip_range=0.3, learning_rate=1e-5, net_arch=(32,))
    chosen = chosen_settings(base, "sac", {"tau": 0.01})
    assert (chosen.n_envs, chosen.net_arch) == (4, (32,))
    assert (chosen.n_steps, chosen.learning_rate) == (1, 3e-4)
    assert chosen.options == {"tau": 0.01}
    data = {"n_envs": 4, "n_steps": 512, "penalty": {"weight": 3.0}, "gae_lambda": 0.9}
    declared = chosen_settings(data, "dqn")
    assert (declared.n_envs, declared.n_steps, declared.penalty.weight) == (4, 4, 3.0)
    assert declared.net_arch == TrainSettings().net_arch


def test_the_same_algorithm_keeps_everything_and_takes_changes():
    base = TrainSettings(n_steps=512, learning_rate=Linear(1e-3, 0.0), clip_range=0.3)
    assert chosen_settings(base) == chosen_settings(base, "ppo") == base
    changed = chosen_settings(base, None, {"penalty": {"weight": 9.0}, "clip_range": 0.1})
    assert (changed.penalty.weight, changed.penalty.cap) == (9.0, base.penalty.cap)
    assert changed.clip_range == 0.1
    assert changed.learning_rate == Linear(1e-3, 0.0)


@pytest.mark.parametrize(
    ("name", "actions", "words"),
    [
        ("sac", spaces.Discrete(3), "takes Box actions, .*Discrete.* These take them: ppo, a2c"),
        ("dqn", spaces.Box(-1, 1, (2,)), "takes Discrete actions, .*td3, ddpg, tqc"),
        ("qr-dqn", spaces.MultiDiscrete([2, 2]), "These take them: ppo, a2c, trpo, recurrent-ppo"),
        ("ppo", spaces.Tuple([spaces.Discrete(2)]), "No algorithm takes them"),
    ],
)
def test_actions_that_do_not_fit_are_refused_with_who_takes_them(name, actions, words):
    with pytest.raises(GateError, match=words):
        algorithm(name).check_actions(actions)


def test_the_table_loads_neither_torch_nor_the_algorithms():
    code = (
        "import sys, safegym.gate.trainer.algorithms, safegym.gate.trainer.choosing\n"
        "assert not {'torch', 'stable_baselines3', 'sb3_contrib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_page_lists_every_name_that_an_algorithm_reads(name):
    page = Path(__file__).parents[3] / "docs" / "how-to" / "train-under-a-gate.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1
    listed = rows[0].rstrip(" |").rpartition("| ")[2].replace("`", "").split(", ")
    assert listed == list(ALGORITHMS[name].takes)
