import multiprocessing
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scenario_models import Walk, follow, follower, walk

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.process import end_idle_workers
from safegym.scenario.registry import find
from safegym.scenario.runner import Task


@pytest.fixture(autouse=True, scope="module")
def no_workers_left():
    yield
    end_idle_workers()


def seed_of(index):
    return 1000 + index


def digests(spec, policy, workers, *, episodes=40, copies=8):
    with Campaign(
        spec, policy, seed_of=seed_of, tail=0, copies=copies, workers=workers, episodes=episodes
    ) as campaign:
        return [(index, trace.digest) for index, trace in campaign]


@pytest.mark.slow
def test_one_two_and_four_workers_give_the_same_traces_in_the_same_order():
    spec = find("classic/cartpole-v0")
    assert spec.good is not None
    one = digests(spec, spec.good(), 1)
    assert [index for index, _ in one] == list(range(40))
    assert digests(spec, spec.good(), 2) == one
    assert digests(spec, spec.good(), 4) == one


def test_a_scenario_that_is_not_registered_goes_to_a_worker_pickled():
    assert digests(walk(), follower(), 2) == digests(walk(), follower(), 1)


def test_stop_finishes_what_the_workers_had_begun_as_surplus():
    spec = walk()
    with Campaign(spec, follower(), seed_of=seed_of, tail=0, copies=8, workers=2) as campaign:
        for index, _ in campaign:
            if index == 5:
                campaign.stop()
        surplus = campaign.surplus
    everything = dict(digests(spec, follower(), 1, episodes=surplus[-1][0] + 1))
    assert [index for index, _ in surplus] == list(range(6, 6 + len(surplus)))
    assert all(everything[index] == trace.digest for index, trace in surplus)


def test_a_policy_that_does_not_pickle_is_refused_with_the_way_out():
    policy = ScriptedPolicy("mine", lambda o: follow(o))
    with pytest.raises(PolicyError, match=r"mine cannot go to a worker process.*or pass workers=1"):
        digests(walk(), policy, 2)


def test_a_scenario_that_cannot_cross_is_refused_with_the_way_out():
    with pytest.raises(ScenarioError, match=r"not registered in the group.*or pass workers=1"):
        digests(walk(lambda: Walk()), follower(), 2)


def die_once(marker, main_process, observations):
    if os.getpid() != main_process and not Path(marker).exists():
        Path(marker).touch()
        os._exit(9)
    return follow(observations)


def die_always(main_process, observations):
    if os.getpid() != main_process:
        os._exit(9)
    return follow(observations)


@pytest.mark.slow
def test_a_worker_that_dies_has_its_episodes_run_again(tmp_path):
    function = partial(die_once, str(tmp_path / "died"), os.getpid())
    policy = ScriptedPolicy("follow", function)
    found = digests(walk(), policy, 2)
    assert (tmp_path / "died").exists()
    assert found == digests(walk(), policy, 1)


@pytest.mark.slow
def test_a_policy_that_ends_every_worker_ends_the_campaign_with_the_exit_code():
    policy = ScriptedPolicy("killer", partial(die_always, os.getpid()))
    with pytest.raises(
        ScenarioError, match=r"None of the first 8.*died, also when it ran alone: exit code 9"
    ):
        digests(walk(), policy, 2, episodes=8, copies=4)


def test_a_fault_in_a_worker_is_settled_as_in_one_process():
    spec = walk(partial(Walk, faults={1002: "reset", 1005: "raise", 1006: "nan"}))
    assert digests(spec, follower(), 2) == digests(spec, follower(), 1)


class Unbuildable(Walk):
    def __init__(self, main_process):
        if os.getpid() != main_process:
            raise RuntimeError("no licence on this machine")
        super().__init__()


def test_an_environment_that_cannot_be_built_in_a_worker_is_reported_with_its_trace():
    spec = walk(partial(Unbuildable, os.getpid()))
    with pytest.raises(ScenarioError, match=r"(?s)worker process failed.*no licence on this"):
        digests(spec, follower(), 2)


def children():
    return {process.pid for process in multiprocessing.active_children()}


def test_idle_workers_serve_the_next_campaign_and_another_policy():
    digests(walk(), follower(), 2)
    before = children()
    other = ScriptedPolicy("still", still)
    assert digests(walk(), other, 2) == digests(walk(), other, 1)
    assert children() == before != set()
    end_idle_workers()
    assert children() == set()


def still(observations):
    return np.zeros((len(observations), 1), np.float32)


def test_workers_that_are_busy_when_a_campaign_is_dropped_are_ended():
    end_idle_workers()
    slow = walk(partial(Walk, endless=True), horizon=200_000)
    with Campaign(slow, follower(), seed_of=seed_of, tail=0, copies=4, workers=2) as campaign:
        iter(campaign)
        campaign._open().submit([Task(0, 1), Task(1, 2)])
        assert len(children()) == 2
    assert children() == set()


def test_an_idle_worker_that_was_killed_meanwhile_is_replaced():
    digests(walk(), follower(), 2)
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    assert digests(walk(), follower(), 2) == digests(walk(), follower(), 1)
