"""A small deterministic MDP as a scenario, a pole on a cart, and value iteration."""

from fractions import Fraction
from functools import partial

import gymnasium as gym
import numpy as np

from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.spec import Parameter, ScenarioSpec
from safegym.trace.model import Clock

PLACE = Signal("place", "1", scale=2.0)
HEIGHT = Signal("height", "1", scale=1.0)
ANGLE = Signal("angle", "rad", scale=0.1)
CART = Signal("cart", "m", shape=(2,), scale=1.0)
UPRIGHT = Claim("cart.upright", always(abs(ANGLE) < 0.1))
ARRIVES = Claim("cart.arrives", eventually(CART[0] > 0.05))


class World(gym.Env):
    """moves[s][a] is the next state, pays[s][a] the reward; states in `ends` are terminal."""

    def __init__(self, moves, pays, ends, heights):
        self.moves, self.pays, self.ends, self.heights = moves, pays, ends, heights
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float64)
        self.action_space = gym.spaces.Discrete(len(moves[0]))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        given = (options or {}).get("parameters", {}).get("start")
        self.state = int(self.np_random.integers(len(self.moves)) if given is None else given)
        return self._seen(), {"parameters": {"start": float(self.state)}}

    def step(self, action):
        paid = self.pays[self.state][int(action)]
        self.state = self.moves[self.state][int(action)]
        return self._seen(), paid, self.state in self.ends, False, {"terminal": "done"}

    def _seen(self):
        return np.array([float(self.state)])


def read_world(env):
    return float(env.state), float(env.heights[env.state])


def world_spec(moves, pays, ends, heights, reward=None):
    """The MDP as a scenario; `height` is any function of the state."""
    return ScenarioSpec(
        name="test/world-v0",
        summary="A small MDP.",
        make_env=partial(World, moves, pays, ends, heights),
        read_signals=read_world,
        signals=(PLACE, HEIGHT),
        clock=Clock(Fraction(1)),
        horizon=12,
        claims=(),
        parameters=(Parameter("start", "1", 0.0, len(moves) - 1.0),),
        terminals={"done": "absorbed"},
        physics=("gymnasium",),
        reward=reward,
    )


def random_world(rng, states=7, actions=3):
    """Moves, pays, ends and heights; the last state is terminal and can be reached."""
    moves = rng.integers(states, size=(states, actions))
    moves[rng.integers(states - 1), rng.integers(actions)] = states - 1
    pays, heights = rng.normal(size=(states, actions)), rng.normal(scale=3.0, size=states)
    return plain(moves), plain(pays), (states - 1,), tuple(heights.tolist())


def plain(table):
    return tuple(tuple(row) for row in table.tolist())


def make_cart():
    return gym.make("CartPole-v1", max_episode_steps=-1)


def read_cart(env):
    return float(env.state[2]), np.array([env.state[0], env.state[1]])


def cart_spec(**changes):
    fields = {
        "name": "test/rewarded-cart-v0",
        "summary": "A pole on a cart.",
        "make_env": make_cart,
        "read_signals": read_cart,
        "signals": (ANGLE, CART),
        "clock": Clock(Fraction(1, 50)),
        "horizon": 30,
        "claims": (UPRIGHT, ARRIVES),
        "terminals": {"terminated": "failed"},
        "physics": ("gymnasium",),
    }
    return ScenarioSpec(**{**fields, **changes})


def optimal_values(moves, pays, ends, gamma, sweeps=4000):
    """Q*(s, a) by value iteration, of states that are not terminal."""
    after, paid = np.array(moves), np.array(pays)
    value = np.zeros(len(after))
    for _ in range(sweeps):
        quality = paid + gamma * value[after]
        best = quality.max(axis=1)
        best[list(ends)] = 0.0
        if np.abs(best - value).max() < 1e-13:
            break
        value = best
    return quality


def episode(env, seed, policy=None):
    """Rewards and infos of one episode under random actions."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    rewards, infos, over = [], [], False
    while not over:
        action = int(rng.integers(env.action_space.n)) if policy is None else policy(rng)
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        infos.append(info)
        over = terminated or truncated
    return np.array(rewards), infos
