"""Episodes that end their worker, or never end: each is lost with its reason, alone."""

import multiprocessing
import os
import signal
import time
from functools import partial

import numpy as np
import pytest
from scenario_models import Walk, follow, follower, walk

from safegym.errors import ScenarioError
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.lost import is_lost
from safegym.scenario.process import end_idle_workers


@pytest.fixture(autouse=True, scope="module")
def no_workers_left():
    yield
    end_idle_workers()


def seed_of(index):
    return 1000 + index


def traces(spec, policy=None, *, episodes=24, copies=4, **more):
    with Campaign(
        spec,
        policy or follower(),
        seed_of=seed_of,
        tail=0,
        copies=copies,
        episodes=episodes,
        **more,
    ) as campaign:
        found = list(campaign)
    assert [index for index, _ in found] == list(range(episodes))
    return dict(found)


def digests(found):
    return {index: trace.digest for index, trace in found.items()}


class Deadly(Walk):
    """Ends or blocks its process at a step of the episodes that it is told of.

    deadly: seed -> "kill" | "sleep" | "slow" | "sleep in reset" | any fault of `Walk`.
    """

    def __init__(self, deadly):
        super().__init__(faults=deadly)

    def reset(self, *, seed=None, options=None):
        if self.faults.get(seed) == "sleep in reset":
            time.sleep(60)
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if self.count == 1:
            match self.faults.get(self.seed):
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "sleep":
                    time.sleep(60)
        return super().step(action)


def deadly(**seeds):
    return walk(partial(Deadly, {int(seed[1:]): what for seed, what in seeds.items()}))


@pytest.mark.slow
def test_an_episode_that_ends_its_worker_is_lost_alone_with_any_number_of_workers():
    spec = deadly(_1005="kill")
    one = traces(spec, workers=2)
    assert [index for index, trace in one.items() if is_lost(trace)] == [5]
    assert one[5].end.reason == (
        "its worker process died, also when it ran alone: SIGKILL, as the system sends when "
        "memory runs out"
    )
    healthy = traces(walk())
    for index in set(one) - {5}:
        np.testing.assert_array_equal(one[index].signals["level"], healthy[index].signals["level"])
    assert digests(traces(spec, engine="processes", copies=7)) == digests(one)


@pytest.mark.slow
def test_an_episode_that_hangs_is_lost_and_its_neighbours_are_run_again():
    spec = deadly(_1005="sleep", _1009="sleep in reset")
    begun = time.monotonic()
    first = traces(spec, episode_seconds=0.4)
    assert time.monotonic() - begun < 30
    assert [index for index, trace in first.items() if is_lost(trace)] == [5, 9]
    assert first[5].end.reason == (
        "took more than 0.4 s of its environment (episode_seconds); it was ended"
    )
    again = traces(spec, episode_seconds=0.4, workers=2, copies=3)
    assert digests(again) == digests(first)


def block(observations):
    if (observations[:, 1] == 2).any() and (observations[:, 0] > 3.0).any():
        time.sleep(60)
    return follow(observations)


@pytest.mark.slow
def test_a_policy_that_hangs_on_some_episodes_loses_just_these():
    policy = ScriptedPolicy("blocked", block)
    first = traces(walk(), policy, episodes=12, episode_seconds=0.5, copies=12)
    lost = [index for index, trace in first.items() if is_lost(trace)]
    healthy = traces(walk(), episodes=12)
    assert lost == [
        index for index, trace in healthy.items() if (trace.signals["level"][2:3] > 3.0).any()
    ]
    for index in lost:
        assert first[index].end.reason == "the policy took more than 0.5 s for one action; ended"


class Slow(Walk):
    """Every call comes back, but one episode's calls take 30 ms each."""

    def step(self, action):
        if self.seed == 1002:
            time.sleep(0.03)
        return super().step(action)


def test_an_episode_that_is_only_slow_is_lost_once_its_own_calls_took_the_limit():
    found = traces(walk(partial(Slow, endless=True)), episodes=6, episode_seconds=0.3)
    assert [index for index, trace in found.items() if is_lost(trace)] == [2]
    assert found[2].digest == traces(Lasting(), episodes=6, episode_seconds=0.3)[2].digest


def Lasting():
    return walk(partial(Slow, endless=True))


def test_without_a_hang_a_limit_changes_no_trace():
    assert digests(traces(walk(), episode_seconds=20.0)) == digests(traces(walk()))


class HangsAtFirst(Walk):
    def reset(self, *, seed=None, options=None):
        time.sleep(60)


def test_an_environment_that_hangs_from_the_start_is_refused(monkeypatch):
    monkeypatch.setattr("safegym.scenario.workers._START_SECONDS", 0.5)
    with pytest.raises(ScenarioError, match=r"did not get through a first reset and action in 0.5"):
        traces(walk(HangsAtFirst), episode_seconds=0.2)
    end_idle_workers()
    assert multiprocessing.active_children() == []


class Hungry(Walk):
    """Asks for more memory than there can be, in one episode."""

    def step(self, action):
        if self.seed == 1003 and self.count == 2:
            np.zeros(1 << 62, np.uint8)
        return super().step(action)


def test_a_lack_of_memory_that_is_raised_interrupts_its_episode():
    found = traces(walk(Hungry), engine="processes")
    assert found[3].end.kind == "interrupted"
    assert "Memory" in found[3].end.reason
    assert digests(found) == digests(traces(walk(Hungry)))


@pytest.mark.slow
def test_all_that_can_go_wrong_at_once_leaves_every_other_episode_as_it_was():
    spec = deadly(
        _1003="kill", _1004="reset", _1008="raise", _1011="sleep", _1012="nan", _1020="kill"
    )
    found = traces(spec, workers=2, episode_seconds=1.0)
    assert [index for index, trace in found.items() if is_lost(trace)] == [3, 4, 11, 20]
    assert {found[8].end.kind, found[12].end.kind} == {"interrupted"}
    assert digests(found) == digests(traces(spec, workers=1, episode_seconds=1.0, copies=5))
