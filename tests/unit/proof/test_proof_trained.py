"""Proofs about policies of stable-baselines3, against many runs of their own predict."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import safegym as sg
from safegym.check.neural.importing import policy_graph
from safegym.check.neural.proof import Proof, never_chooses, never_saturates, prove

pytestmark = pytest.mark.slow
SAMPLES = 20_000


def small() -> dict[str, Any]:
    """Options of a small policy; a new dictionary each, since the algorithms change theirs."""
    return {"policy_kwargs": {"net_arch": [24, 24]}, "device": "cpu", "seed": 3}


def samples(low: Any, high: Any) -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(0).uniform(low, high, (SAMPLES, len(low)))
    return np.clip(drawn.astype(np.float32), low, high).astype(np.float32)


def test_choices_of_cart_pole_policies_agree_with_their_own_predict() -> None:
    low, high = np.full(4, -0.2), np.full(4, 0.2)
    region = {at: (-0.2, 0.2) for at in range(4)}
    seen = set[str]()
    for kind in (PPO, A2C, DQN):
        graph = policy_graph(sg.freeze(kind("MlpPolicy", "CartPole-v1", **small())))
        choices = graph.predict(samples(low, high))
        for choice in (0, 1):
            proof = prove(graph, never_chooses(choice), region=region, timeout=4)
            seen.add(proof.result)
            if proof.result == "PROVED":
                assert not (choices == choice).any()
            if proof.result == "VIOLATED":
                assert proof.witness is not None
                row = np.array([proof.witness.observation], dtype=np.float32)
                assert graph.predict(row)[0] == choice
    assert "VIOLATED" in seen


@pytest.mark.parametrize("kind", [PPO, SAC, TD3])
def test_actions_of_pendulum_policies_agree_with_their_own_predict(kind: Any) -> None:
    graph = policy_graph(sg.freeze(kind("MlpPolicy", "Pendulum-v1", **small())))
    low, high = np.array([0.7, -0.3, -0.5]), np.array([1.0, 0.3, 0.5])
    region = {at: (low[at], high[at]) for at in range(3)}
    actions = graph.predict(samples(low, high))
    tightest = float(np.abs(actions).max())

    def asked(limit: float) -> Proof:
        return prove(graph, f"abs(action[0]) <= {limit}", region=region, timeout=10)

    assert asked(tightest + 0.05).result == "PROVED"
    assert asked(max(tightest - 0.05, 0.0)).result == "VIOLATED"
    assert prove(graph, never_saturates(), region=region, timeout=10).result == "PROVED"


def test_a_normaliser_is_part_of_what_is_proved() -> None:
    env = VecNormalize(DummyVecEnv([lambda: gym.make("Pendulum-v1")]), clip_obs=0.5)
    for _ in range(50):
        env.reset()
    model = PPO("MlpPolicy", env, **small())
    graph = policy_graph(sg.freeze(model))
    low, high = np.array([-1.0, -1.0, -8.0]), np.array([1.0, 1.0, 8.0])
    actions = graph.predict(samples(low, high))
    bound = float(np.abs(actions).max())
    proof = prove(graph, f"abs(action[0]) <= {bound + 0.05}", timeout=10)
    assert proof.result == "PROVED"
    assert prove(graph, f"abs(action[0]) <= {bound - 0.02}", timeout=10).result == "VIOLATED"
