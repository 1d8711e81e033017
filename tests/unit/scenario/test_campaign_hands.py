"""The runner's own stepping against `Recorder.step`, the slow second opinion, bit for bit."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_models import LEVEL, Walk, follow, follower, walk

from safegym.formula.terms import Signal
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.scenario.hands import ActionLog, Hands
from safegym.scenario.registry import find
from safegym.scenario.runner import Runner, Task
from safegym.scenario.staging import Staging


def digests(spec, policy, seeds, *, copies, tail=0, by_step=False):
    """Trace digests by index; by_step: every episode through `Recorder.step`."""
    runner = Runner(Staging(spec, tail).stage, policy, copies=copies)
    if by_step:
        runner._hands.take = lambda *_: None
    waiting = [Task(index, seed) for index, seed in enumerate(seeds)]
    found = {}
    while waiting or runner.running:
        begun, waiting = waiting[: runner.room], waiting[runner.room :]
        runner.submit(begun)
        assert not by_step or not runner._hands._held
        found.update((index, trace.digest) for index, trace in runner.collect())
    runner.close()
    return found


FAULTS = st.sampled_from(["raise", "nan", "reset", "info", "wide", "huge", "event", None])


class Odd(Walk):
    """A walk with every oddity that a step can have."""

    def step(self, action):
        found = super().step(action)
        match self.faults.get(self.seed) if self.count == 4 else None:
            case "info":
                return *found[:4], {**found[4], "events": [("fault", "a wheel came off")]}
            case "wide":
                return np.float64([self.level, 1e300]), *found[1:]
            case "huge":
                return found[0], np.float32(3.5), *found[2:]
            case "event":
                return *found[:4], {"events": "not a list"}
        return found


@settings(max_examples=60, deadline=None)
@given(
    faults=st.dictionaries(st.integers(0, 30), FAULTS, max_size=12),
    seeds=st.lists(st.integers(0, 30), min_size=1, max_size=20),
    copies=st.sampled_from([1, 2, 5, 16]),
    tail=st.sampled_from([0, 3]),
    endless=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_traces_are_those_of_the_recorders_own_step(faults, seeds, copies, tail, endless):
    spec = walk(partial(Odd, faults=faults, endless=endless), horizon=12)
    expected = digests(spec, follower(), seeds, copies=copies, tail=tail, by_step=True)
    assert digests(spec, follower(), seeds, copies=copies, tail=tail) == expected


class Compact:
    """A policy of width 1: it sees the running rows only."""

    card = PolicyCard(name="compact", digest="sha256:c", kind="scripted", width=1)

    def act(self, observations, state, starts):
        return follow(observations), state


@pytest.mark.parametrize("copies", [1, 4, 9])
def test_a_policy_of_width_one_gives_the_same_traces_too(copies):
    seeds = range(30)
    expected = digests(walk(), Compact(), seeds, copies=copies, by_step=True)
    assert digests(walk(), Compact(), seeds, copies=copies) == expected


def wild(observations):
    return np.where(observations[:, :1] > 2.0, 1.5, follow(observations)).astype(np.float32)


def test_actions_outside_the_space_end_the_same_episodes_at_the_same_step():
    policy = ScriptedPolicy("wild", wild)
    expected = digests(walk(), policy, range(30), copies=8, by_step=True)
    assert digests(walk(), policy, range(30), copies=8) == expected


class Steps(Walk):
    """Discrete actions, and a vector among the signals in a buffer that every step overwrites."""

    action_space = gym.spaces.Discrete(3, start=-1)

    def __init__(self):
        super().__init__()
        self.pair = np.zeros(2)

    def step(self, action):
        assert type(action) is int
        found = super().step((float(action),))
        self.pair[:] = self.level, -self.level
        return found


def read_both(env):
    return env.level, env.pair


def turn(observations):
    return np.sign(-observations[:, 0]).astype(np.int64)


def test_whole_actions_and_reused_buffers_are_kept_as_they_were():
    base = walk(Steps)
    spec = type(base)(
        **{
            **{name: getattr(base, name) for name in base.__slots__ if name != "digest"},
            "read_signals": read_both,
            "signals": (LEVEL, Signal("pair", unit="m", shape=(2,))),
        }
    )
    policy = ScriptedPolicy("turn", turn)
    expected = digests(spec, policy, range(20), copies=6, by_step=True)
    assert digests(spec, policy, range(20), copies=6) == expected


@pytest.mark.parametrize("name", ["classic/cartpole-v0", "classic/pendulum-v0"])
def test_library_scenarios_give_the_same_traces_either_way(name):
    spec = find(name)
    assert spec.good is not None
    expected = digests(spec, spec.good(), range(6), copies=4, by_step=True)
    assert digests(spec, spec.good(), range(6), copies=4) == expected


def test_a_wrapped_environment_steps_by_its_own_step():
    hands = Hands(np.zeros((4, 2), np.float32))
    stage = Staging(walk()).stage()
    stage.env.reset(seed=1)
    hands.take(2, stage.recorder)
    assert hands.hold([2])
    assert not hands.hold([2, 3])
    hands.let_go(2)
    assert not hands.hold([2])


@settings(max_examples=100, deadline=None)
@given(lengths=st.lists(st.integers(1, 700), min_size=1, max_size=6), width=st.sampled_from([1, 3]))
def test_the_log_of_actions_gives_back_what_was_put_in_through_any_growth(lengths, width):
    log, at, first = ActionLog(), 0, 0
    for length in lengths:
        first = at
        for _ in range(length):
            log.add(at, np.full((width, 2), at, np.float32), False, first)
            at += 1
        kept = log.of(width - 1, first, at)
        np.testing.assert_array_equal(kept[:, 0], np.arange(first, at))
        assert kept.dtype == np.float32
        assert kept.flags.c_contiguous
