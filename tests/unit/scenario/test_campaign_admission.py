"""Admission in index order, whatever finishes first and whatever goes wrong on the way."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenario_models import Walk, follow, follower, walk

from safegym.errors import ScenarioError
from safegym.policy.base import PolicyCard
from safegym.scenario.campaign import LOST_AT_FIRST, Campaign
from safegym.scenario.disturbance import Disturbance
from safegym.scenario.lost import is_lost
from safegym.scenario.runner import Runner, Task
from safegym.scenario.spec import Parameter
from safegym.scenario.staging import Staging


class AnyOrder:
    """An engine that ends its episodes in an order of its own, and may stall."""

    def __init__(self, spec, policy, seed, room):
        self._runner = Runner(Staging(spec).stage, policy, copies=1)
        self._dice, self._room, self._waiting = np.random.default_rng(seed), room, []
        self.started = []

    @property
    def room(self):
        return self._room - len(self._waiting)

    @property
    def running(self):
        return len(self._waiting)

    def submit(self, tasks):
        assert len(tasks) <= self.room
        self._waiting.extend(tasks)
        self.started.extend(task.index for task in tasks)

    def collect(self):
        ended = []
        for _ in range(self._dice.integers(0, min(3, len(self._waiting)), endpoint=True)):
            task = self._waiting.pop(self._dice.integers(len(self._waiting)))
            self._runner.submit([task])
            while self._runner.running:
                ended += self._runner.collect()
        return ended

    def close(self):
        self._waiting.clear()
        self._runner.close()


class Sick:
    """A policy that raises wherever the level is high at step 2."""

    card = PolicyCard(name="sick", digest="sha256:sick", kind="scripted")

    def act(self, observations, state, starts):
        if ((observations[:, 1] == 2) & (observations[:, 0] > 1.5)).any():
            raise ValueError("unwell")
        return follow(observations), state


def alone(spec, policy, index):
    """The episode's trace, run by itself: what admission may never change."""
    runner = Runner(Staging(spec).stage, policy, copies=1)
    runner.submit([Task(index, index)])
    found = []
    while runner.running:
        found += runner.collect()
    runner.close()
    return found[0][1].digest


FAULTS = st.dictionaries(st.integers(0, 40), st.sampled_from(["raise", "nan", "reset"]), max_size=9)


@settings(max_examples=80, deadline=None)
@given(
    order=st.integers(0, 2**32 - 1),
    faults=FAULTS,
    sick=st.booleans(),
    endless=st.booleans(),
    room=st.integers(1, 12),
    episodes=st.integers(1, 25),
    stop_at=st.none() | st.integers(0, 24),
)
def test_no_finishing_order_and_no_fault_changes_what_is_admitted(
    order, faults, sick, endless, room, episodes, stop_at
):
    spec = walk(partial(Walk, faults=faults, endless=endless), horizon=15)
    policy = Sick() if sick else follower()
    with Campaign(spec, policy, seed_of=lambda i: i, tail=0, episodes=episodes) as campaign:
        engine = AnyOrder(spec, policy, order, room)
        campaign._open = lambda: setattr(campaign, "_engine", engine) or engine
        admitted = {}
        for index, trace in campaign:
            admitted[index] = trace
            if index == stop_at:
                campaign.stop()
        surplus = campaign.surplus
    last = episodes - 1 if stop_at is None else min(stop_at, episodes - 1)
    assert list(admitted) == list(range(last + 1))
    assert [index for index, _ in surplus] == list(range(last + 1, len(engine.started)))
    assert engine.started == list(range(len(engine.started)))
    for index, trace in [*admitted.items(), *surplus]:
        assert trace.digest == alone(spec, policy, index)
        assert is_lost(trace) == (faults.get(index) == "reset")
        if faults.get(index) in ("raise", "nan") and trace.steps >= 3 and not sick:
            assert trace.end.kind == "interrupted"


@settings(max_examples=30, deadline=None)
@given(faults=FAULTS, copies=st.sampled_from([1, 3, 8, 64]), sick=st.booleans())
def test_the_real_runner_admits_the_same_with_any_number_of_copies(faults, copies, sick):
    spec, policy = walk(partial(Walk, faults=faults), horizon=15), Sick() if sick else follower()
    with Campaign(
        spec, policy, seed_of=lambda i: 1 + i, tail=0, episodes=20, copies=copies
    ) as campaign:
        if faults.get(0) == "reset":
            return  # the rehearsal refuses it: test_campaign
        found = list(campaign)
    assert [index for index, _ in found] == list(range(20))
    for index, trace in found:
        assert trace.digest == _alone_with_seed(spec, policy, index)


def _alone_with_seed(spec, policy, index):
    return alone(spec, policy, index + 1)


@pytest.mark.parametrize("lost", [LOST_AT_FIRST - 1, LOST_AT_FIRST])
def test_only_a_campaign_that_never_saw_a_sample_is_given_up(lost):
    spec = walk(partial(Walk, faults=dict.fromkeys(range(1, lost + 1), "reset")))
    with Campaign(spec, follower(), seed_of=lambda i: 1 + i, tail=0, episodes=12) as campaign:
        if lost < LOST_AT_FIRST:
            assert sum(is_lost(trace) for _, trace in campaign) == lost
        else:
            with pytest.raises(Exception, match="None of the first 8 episodes gave a sample"):
                list(campaign)


def test_a_lost_episode_keeps_the_parameters_that_were_asked_for():
    spec = walk(
        partial(Walk, faults={3: "reset"}),
        parameters=(Parameter("tilt", "m", 0.0, 9.0),),
        disturbances=(Disturbance("gust", "N", -1.0, 1.0, 2),),
    )
    with Campaign(
        spec,
        follower(),
        seed_of=lambda index: index,
        options_of=lambda index: {
            "parameters": {"tilt": float(index)},
            "disturbances": {"gust": [0.5, -0.5]},
        },
        tail=0,
        episodes=5,
    ) as campaign:
        found = dict(campaign)
    assert dict(found[3].parameters) == {"tilt": 3.0, "gust[0]": 0.5, "gust[1]": -0.5}
    assert np.all(found[3].signals["level"] == 0.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parameters": {"tlit": 1.0}}, r"Episode 1 is not begun: There is no parameter 'tlit'"),
        ({"parameters": {"tilt": 9.5}}, r"Episode 1 is not begun: Parameter tilt = 9\.5 m lies"),
        ({"parametres": {}}, "Episode 1 is not begun: There is no option 'parametres'"),
    ],
)
def test_options_that_are_not_declared_are_refused_before_their_episode(options, said):
    """Walk takes whatever it is given, so that nobody else would refuse them."""
    spec = walk(parameters=(Parameter("tilt", "m", 0.0, 9.0),))
    with (
        Campaign(
            spec,
            follower(),
            seed_of=lambda index: index,
            options_of=lambda index: options if index else {},
            tail=0,
            episodes=5,
        ) as campaign,
        pytest.raises(ScenarioError, match=said),
    ):
        list(campaign)
