"""A sample of recorded episodes, run again."""

from functools import partial

import numpy as np
import pytest
from scenario_models import Walk, follow, follower, walk

from safegym.errors import ScenarioError
from safegym.policy.base import ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.determinism import first_difference, recheck
from safegym.scenario.lost import is_lost
from safegym.scenario.record import record
from safegym.scenario.spec import Parameter


def seed_of(index):
    return 1000 + index


def sample(spec, policy, indices, **more):
    with Campaign(spec, policy, seed_of=seed_of, tail=0, episodes=12, **more) as campaign:
        found = dict(campaign)
    return [(index, seed_of(index), {}, found[index]) for index in indices]


def test_episodes_that_their_seeds_decide_are_the_same_when_run_again():
    taken = sample(walk(), follower(), (0, 3, 4, 11))
    assert recheck(walk(), follower(), taken) == ()


class Drifting(Walk):
    """Its level depends on how many episodes this environment has run, from step 2 on."""

    episodes = 0

    def reset(self, *, seed=None, options=None):
        self.episodes += 1
        return super().reset(seed=seed, options=options)

    def step(self, action):
        if self.count == 1:
            self.level += self.episodes
        return super().step(action)


def test_an_environment_that_remembers_is_named_with_episode_step_and_signal():
    spec = walk(Drifting)
    taken = sample(spec, follower(), range(12), copies=1)
    found = recheck(spec, follower(), taken)
    assert found
    assert [difference.index for difference in found] == sorted(d.index for d in found)
    assert {difference.step for difference in found} == {2}
    assert {difference.what for difference in found} == {"level"}
    last = found[-1]
    assert f"episode {last.index} (seed {seed_of(last.index)}) differs from step 2" in str(last)


def test_options_are_given_again_and_others_give_another_episode():
    spec = walk(Tilted, parameters=(Parameter("tilt", "m", 0.0, 9.0),))
    trace = record(spec, follower(), 5, options={"parameters": {"tilt": 2.0}})
    given = {"parameters": {"tilt": 2.0}}
    assert recheck(spec, follower(), [(0, 5, given, trace)]) == ()
    other = recheck(spec, follower(), [(0, 5, {"parameters": {"tilt": 3.0}}, trace)])
    assert [(difference.step, difference.what) for difference in other] == [(0, "level")]


class Tilted(Walk):
    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed, options=options)
        self.level += (options or {}).get("parameters", {}).get("tilt", 0.0)
        return self._seen(), info


def test_kept_observations_and_the_tail_are_compared_too():
    spec = walk(partial(Walk, endless=True), horizon=10)
    trace = record(spec, follower(), 3, tail=4, keep_observations=True)
    assert recheck(spec, follower(), [(0, 3, {}, trace)], tail=4) == ()
    shorter = recheck(spec, follower(), [(0, 3, {}, trace)])
    assert shorter[0].what.startswith("length or end")
    assert shorter[0].step == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec": walk(horizon=41)}, "Episode 4 was recorded with scenario sha256:"),
        ({"policy": ScriptedPolicy("other", follow)}, "Episode 4 was recorded with policy sha256:"),
        ({"seed": 99}, "Episode 4 was recorded with seed 1004, and is to be run again with 99"),
    ],
)
def test_a_trace_of_something_else_is_refused(change, message):
    index, seed, options, trace = sample(walk(), follower(), [4])[0]
    entry = (index, change.get("seed", seed), options, trace)
    with pytest.raises(ScenarioError, match=message):
        recheck(change.get("spec", walk()), change.get("policy", follower()), [entry])


def test_episodes_of_which_nothing_was_seen_are_passed_over():
    spec = walk(partial(Walk, faults={1004: "reset"}))
    taken = sample(spec, follower(), [4, 5])
    assert is_lost(taken[0][3])
    assert recheck(spec, follower(), taken) == ()
    assert recheck(spec, follower(), taken[:1]) == ()


def test_an_environment_that_cannot_begin_again_differs_at_its_first_sample():
    taken = sample(walk(BeginsOnce), follower(), [2])
    BeginsOnce.broken = True
    try:
        found = recheck(walk(BeginsOnce), follower(), taken)
    finally:
        BeginsOnce.broken = False
    assert found[0].step == 0
    assert found[0].index == 2


class BeginsOnce(Walk):
    broken = False

    def reset(self, *, seed=None, options=None):
        if self.broken:
            raise RuntimeError("not again")
        return super().reset(seed=seed, options=options)


def test_a_negative_zero_is_a_difference_as_it_is_in_the_digest():
    one = record(walk(), follower(), 1)
    two = record(walk(), follower(), 1)
    assert first_difference(one, two) is None
    signals = {"level": np.array([0.0, 1.0])}
    from safegym.trace.model import Trace

    plus = Trace.from_arrays(signals, dt="0.1")
    minus = Trace.from_arrays({"level": np.array([-0.0, 1.0])}, dt="0.1")
    assert plus.digest != minus.digest
    assert first_difference(plus, minus).step == 0
