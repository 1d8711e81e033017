"""Ray as the engine: the same traces as one process, though a node dies meanwhile."""

import logging
import os
import subprocess
import sys
import textwrap
import warnings
from functools import partial

import pytest
from scenario_models import Walk, follow, follower, walk

from safegym.check.dispatch import check
from safegym.errors import PolicyError, UnsupportedError
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.lost import is_lost

pytest.importorskip("ray", reason="the extra [ray] is not installed")

pytestmark = pytest.mark.filterwarnings(
    # Ray leaves sockets, pipes and processes to the garbage collector, and warns of its own future.
    "ignore::ResourceWarning",
    "ignore::FutureWarning:ray",
    "ignore::DeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::pytest.PytestUnhandledThreadExceptionWarning",
)


def seed_of(index):
    return 1000 + index


def run(spec, policy=None, *, episodes=24, during=None, **more):
    with Campaign(
        spec, policy or follower(), seed_of=seed_of, tail=0, episodes=episodes, **more
    ) as campaign:
        found = []
        for index, trace in campaign:
            found.append((index, trace))
            if during is not None:
                during(index)
    assert [index for index, _ in found] == list(range(episodes))
    return dict(found)


def digests(found):
    return {index: trace.digest for index, trace in found.items()}


def verdicts(spec, found):
    return {index: check(spec.claims[0], trace) for index, trace in found.items()}


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one processor each, on the loopback interface, without dashboard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from safegym.scenario.ray_engine import import_ray, stay_on_loopback

        ray = import_ray()
        from ray.cluster_utils import Cluster

        stay_on_loopback()
        logging.getLogger("ray").setLevel(logging.CRITICAL)
        node = {
            "num_cpus": 1,
            "include_dashboard": False,
            "node_ip_address": "127.0.0.1",
            "object_store_memory": 80 * 2**20,
        }
        made = Cluster(initialize_head=True, head_node_args=node)
        made.second = made.add_node(**node)
        ray.init(address=made.address, log_to_driver=False, logging_level=logging.CRITICAL)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.mark.slow
def test_two_nodes_give_the_traces_and_verdicts_of_one_process(cluster):
    spec = walk(partial(Walk, faults={1002: "reset", 1005: "raise", 1006: "nan"}))
    alone = run(spec)
    far = run(spec, engine="ray", workers=2, copies=4)
    assert digests(far) == digests(alone)
    assert verdicts(spec, far) == verdicts(spec, alone)


@pytest.mark.slow
def test_a_policy_that_cannot_cross_is_refused_with_the_way_out(cluster):
    policy = ScriptedPolicy("mine", lambda o: follow(o))
    with pytest.raises(PolicyError, match=r"mine cannot go to a worker process"):
        run(walk(), policy, engine="ray")


class Dying(Walk):
    """Ends its process in the episode of seed 1007."""

    def step(self, action):
        if self.seed == 1007 and self.count == 1:
            os._exit(7)
        return super().step(action)


@pytest.mark.slow
def test_an_episode_that_ends_its_worker_is_lost_as_with_worker_processes(cluster):
    far = run(walk(Dying), episodes=12, engine="ray", workers=2, copies=4)
    assert [index for index, trace in far.items() if is_lost(trace)] == [7]
    assert far[7].end.reason == "its worker process died, also when it ran alone: exit code 7"


class Unhurried(Walk):
    """Takes its time, so that a node can die meanwhile."""

    def step(self, action):
        import time

        time.sleep(0.01)
        return super().step(action)


@pytest.mark.slow
def test_a_node_that_is_killed_meanwhile_changes_no_trace_and_no_verdict(cluster):
    spec = walk(Unhurried)
    ended = []

    def kill_a_node(index):
        if index == 3:
            cluster.remove_node(cluster.second, allow_graceful=False)
            ended.append(index)

    far = run(spec, episodes=48, during=kill_a_node, engine="ray", workers=2, copies=4)
    assert ended == [3]
    alone = run(spec, episodes=48)
    assert digests(far) == digests(alone)
    assert verdicts(spec, far) == verdicts(spec, alone)
    assert not any(is_lost(trace) for trace in far.values())


def test_without_ray_the_line_that_installs_it_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnsupportedError, match=r'pip install "safegym\[ray\]"'):
        run(walk(), engine="ray")


def test_naming_the_engine_loads_no_ray_until_the_campaign_runs():
    code = textwrap.dedent(
        """
        import sys
        import safegym.scenario.campaign, safegym.scenario.workers, safegym.scenario.chunks
        print("ray" in sys.modules)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
