from functools import partial

import numpy as np
import pytest
from scenario_models import LEVEL, Walk, follow, follower, walk

from safegym.check.dispatch import check
from safegym.errors import PolicyError, ScenarioError, UnsupportedError
from safegym.formula.build import eventually, never
from safegym.policy.base import PolicyCard, ScriptedPolicy
from safegym.scenario.campaign import Campaign
from safegym.scenario.lost import is_lost
from safegym.scenario.record import record


def seed_of(index):
    return 1000 + index


def traces(spec, policy=None, *, episodes=20, **more):
    more = {"seed_of": seed_of, "tail": 0, **more}
    with Campaign(spec, policy or follower(), episodes=episodes, **more) as campaign:
        return dict(campaign)


def digests(found):
    return {index: trace.digest for index, trace in found.items()}


def test_episodes_come_in_index_order_though_others_finish_first():
    spec = walk()
    with Campaign(spec, follower(), seed_of=seed_of, tail=0, copies=8, episodes=30) as campaign:
        indices = [index for index, _ in campaign]
    assert indices == list(range(30))


def test_the_trace_of_a_seed_does_not_depend_on_copies_or_slots():
    spec = walk()
    alone = digests(traces(spec, copies=1))
    for copies in (2, 5, 64):
        assert digests(traces(spec, copies=copies)) == alone


def test_the_trace_of_a_seed_is_the_same_when_recorded_alone():
    spec = walk()
    for index, trace in traces(spec, episodes=5).items():
        assert record(spec, follower(), seed_of(index)).digest == trace.digest


def test_another_first_index_continues_the_same_sequence():
    spec = walk()
    every = digests(traces(spec, episodes=20))
    later = digests(traces(spec, episodes=8, first_index=12))
    assert later == {index: every[index] for index in range(12, 20)}


def test_after_stop_nothing_starts_and_what_was_started_is_surplus_in_order():
    started = []

    def seed(index):
        started.append(index)
        return seed_of(index)

    spec = walk()
    with Campaign(spec, follower(), seed_of=seed, tail=0, copies=8) as campaign:
        admitted = []
        for index, _ in campaign:
            admitted.append(index)
            if index == 10:
                campaign.stop()
                begun = len(started)
        surplus = campaign.surplus
    assert admitted == list(range(11))
    assert len(started) == begun
    assert [index for index, _ in surplus] == list(range(11, begun))
    expected = digests(traces(spec, episodes=begun))
    assert all(trace.digest == expected[index] for index, trace in surplus)


def test_stop_with_break_still_finishes_the_surplus():
    with Campaign(walk(), follower(), seed_of=seed_of, tail=0, copies=4) as campaign:
        for _ in campaign:
            campaign.stop()
            break
        assert len(campaign.surplus) >= 3


def test_surplus_of_a_running_campaign_is_refused():
    with (
        Campaign(walk(), follower(), seed_of=seed_of, tail=0) as campaign,
        pytest.raises(ScenarioError, match=r"call stop\(\) before surplus"),
    ):
        _ = campaign.surplus


def test_a_campaign_that_ran_out_has_no_surplus():
    with Campaign(walk(), follower(), seed_of=seed_of, tail=0, episodes=3) as campaign:
        assert len(list(campaign)) == 3
        assert campaign.surplus == ()


def test_a_second_pass_is_refused():
    with Campaign(walk(), follower(), seed_of=seed_of, tail=0, episodes=1) as campaign:
        list(campaign)
        with pytest.raises(ScenarioError, match="iterated once"):
            iter(campaign)


def test_no_more_than_the_look_ahead_is_started_past_a_slow_episode():
    started = []

    def seed(index):
        started.append(index)
        return 7 if index == 0 else 1000 * 7 + 1 + 7 * index  # only the first one is long

    spec = walk(partial(Walk), horizon=5000)
    with Campaign(spec, follower(), seed_of=seed, tail=0, copies=64) as campaign:
        next(iter(campaign))
    assert len(started) <= 256


def test_the_tail_runs_past_the_horizon_and_ends_as_horizon():
    spec = walk(partial(Walk, endless=True), horizon=10)
    trace = traces(spec, episodes=1, tail=4)[0]
    assert (trace.steps, trace.horizon, trace.end.kind) == (14, 10, "horizon")


def test_the_policy_goes_on_acting_in_the_tail():
    spec = walk(partial(Walk, endless=True), horizon=10)
    trace = traces(spec, episodes=1, tail=4)[0]
    expected = np.clip(-0.3 * trace.signals["level"][10:14].astype(np.float32), -1, 1)
    np.testing.assert_allclose(trace.actions[10:, 0], expected, rtol=1e-6)


def test_a_tail_that_cannot_be_run_is_refused_with_the_look_ahead():
    spec = walk(can_run_tail=False)
    with pytest.raises(UnsupportedError, match=r"look ahead 7 samples \(0.7 s\)"):
        traces(spec, tail=7)


def test_an_endless_environment_is_cut_at_the_limit():
    found = traces(walk(partial(Walk, endless=True), horizon=25), episodes=3)
    assert [trace.steps for trace in found.values()] == [25, 25, 25]


def test_an_environment_that_raises_interrupts_its_episode_only():
    broken = walk(partial(Walk, faults={1004: "raise"}))
    found = traces(broken, copies=4)
    healthy = traces(walk(), copies=4)
    assert found[4].end.kind == "interrupted"
    assert "the gearbox broke" in found[4].end.reason
    assert found[4].steps == 2
    for index in set(found) - {4}:
        assert_same_course(found[index], healthy[index])


def test_a_nan_from_the_simulator_interrupts_with_the_signals_name():
    found = traces(walk(partial(Walk, faults={1003: "nan"}), horizon=10), episodes=6)
    assert found[3].end.kind == "interrupted"
    assert "level is not finite" in found[3].end.reason or "observation" in found[3].end.reason


def test_an_episode_that_cannot_be_reset_is_lost_with_the_reason_and_the_others_go_on():
    spec = walk(partial(Walk, faults={1002: "reset"}))
    found = traces(spec, copies=4)
    assert [index for index, trace in found.items() if is_lost(trace)] == [2]
    assert found[2].end.reason == "reset(seed=1002) raised RuntimeError: no reset today"
    assert found[2].unseen == {"level": ((0, 0),)}
    healthy = traces(walk(), copies=4)
    for index in set(found) - {2}:
        assert_same_course(found[index], healthy[index])


def test_a_claim_is_undecided_on_a_lost_episode_whatever_it_says():
    spec = walk(partial(Walk, faults={1002: "reset"}))
    trace = traces(spec, episodes=3)[2]
    for formula in (never(LEVEL > 100.0), never(LEVEL > -100.0), eventually(LEVEL > 0.0)):
        assert check(formula, trace).status == "inconclusive"


def test_a_lost_episode_does_not_depend_on_copies_or_on_a_second_run():
    spec = walk(partial(Walk, faults={1002: "reset", 1007: "reset"}))
    one = digests(traces(spec, copies=1))
    assert digests(traces(spec, copies=7)) == one
    assert digests(traces(spec, copies=7)) == one


def test_an_environment_that_can_never_be_reset_is_refused_before_any_episode():
    spec = walk(partial(Walk, faults=dict.fromkeys(range(2000), "reset")))
    with pytest.raises(ScenarioError, match=r"Episode 0 cannot begin: reset\(seed=0\) raised"):
        traces(spec)


def test_a_campaign_whose_first_episodes_are_all_lost_ends_with_the_reason():
    spec = walk(partial(Walk, faults=dict.fromkeys(range(1000, 2000), "reset")))
    with pytest.raises(ScenarioError, match=r"None of the first 8 episodes.*no reset today.*1007"):
        traces(spec)
    assert len(traces(spec, episodes=7)) == 7


def test_signals_of_the_wrong_shape_lose_the_episode_and_say_so():
    spec = walk(Shrinking)
    found = traces(spec, episodes=6)
    lost = [index for index, trace in found.items() if is_lost(trace)]
    assert lost == [3]
    assert "cannot be recorded: TraceError" in found[3].end.reason


class Shrinking(Walk):
    """Its level becomes a vector in the episode of seed 1003."""

    def step(self, action):
        found = super().step(action)
        if self.seed == 1003:
            self.level = np.zeros(3)
        return np.zeros(2, np.float32), 0.0, *found[2:]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"engine": "threads"}, r"engine is .threads.; write .*rollout.*, or nothing"),
        ({"episode_seconds": 0.0}, r"episode_seconds is 0.0; give seconds above 0"),
        ({"episode_seconds": float("nan")}, r"episode_seconds is nan; give seconds above 0"),
    ],
)
def test_an_engine_or_a_limit_that_makes_no_sense_is_refused(more, message):
    with pytest.raises(ScenarioError, match=message):
        Campaign(walk(), follower(), seed_of=seed_of, tail=0, **more)


class Sick:
    """Raises where the level, as first seen, is above a threshold."""

    card = PolicyCard(name="sick", digest="sha256:sick", kind="scripted")

    def act(self, observations, state, starts):
        late = observations[:, 1] >= 2
        if (late & (observations[:, 0] > 1.0)).any():
            raise ValueError("I feel unwell")
        return follow(observations), state


@pytest.mark.parametrize("copies", [1, 6, 64])
def test_a_policy_that_raises_interrupts_only_the_episode_it_raises_on(copies):
    spec = walk()
    found = traces(spec, Sick(), copies=copies)
    reasons = {index for index, trace in found.items() if "I feel unwell" in trace.end.reason}
    assert 0 < len(reasons) < 20
    assert all(found[index].end.kind == "interrupted" for index in reasons)
    assert digests(found) == digests(traces(spec, Sick(), copies=3))


def out_of_bounds_when_high(observations):
    return np.where(observations[:, :1] > 2.0, 1.5, 0.0).astype(np.float32)


def test_an_action_outside_the_space_interrupts_its_episode():
    found = traces(walk(), ScriptedPolicy("wild", out_of_bounds_when_high))
    wild = [trace for trace in found.values() if "outside the space" in trace.end.reason]
    assert wild
    assert all(trace.end.kind == "interrupted" for trace in wild)
    assert all(trace.signals["level"][-1] > 2.0 for trace in wild)


def constant(value):
    return ScriptedPolicy("constant", lambda o: np.tile(value, (len(o), 1)))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (constant(np.float32([0.0, 0.0])), r"constant gives actions float32 of shape \(2,\); the"),
        (constant(np.int64([0])), r"gives actions int64.*action space is Box\(-1.0, 1.0, \(1,\)"),
        (constant(np.float32([3.0])), r"acts \[3.\], outside the environment's action space Box"),
        (constant(np.float32([np.nan])), r"acts \[nan\], outside"),
        (ScriptedPolicy("one", lambda o: np.zeros((1, 1), np.float32)), "returned 1 actions for"),
        (ScriptedPolicy("bug", lambda o: 1 / 0), "raised on a first observation: ZeroDivision"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_before_any_episode(policy, message):
    with pytest.raises(PolicyError, match=message):
        traces(walk(), policy)


def test_a_policy_made_for_other_spaces_is_refused_naming_both():
    policy = follower()
    policy.observation_space = Walk.action_space
    with pytest.raises(
        PolicyError, match=r"made for the observation space Box\(-1.0.*has Box\(-inf"
    ):
        traces(walk(), policy)


def test_more_copies_than_the_policys_width_are_refused():
    with pytest.raises(PolicyError, match=r"copies must lie in 1..64, found 65"):
        traces(walk(), copies=65)


class Drawing:
    """Draws its actions from a generator of each episode's seed."""

    card = PolicyCard(name="drawing", digest="sha256:d", kind="scripted", mode="sampled")

    def __init__(self):
        self.generators = {}

    def begin(self, row, seed):
        self.generators[row] = np.random.default_rng(seed)

    def act(self, observations, state, starts):
        actions = np.zeros((len(observations), 1), np.float32)
        for row, generator in self.generators.items():
            actions[row] = generator.uniform(-1, 1)
        return actions, state


def test_a_sampled_policy_that_draws_from_the_episodes_seed_is_the_same_in_any_slot():
    spec = walk()
    one = digests(traces(spec, Drawing(), copies=1))
    assert digests(traces(spec, Drawing(), copies=7)) == one


def test_a_sampled_policy_that_cannot_be_seeded_is_refused():
    policy = follower()
    policy._card = PolicyCard(name="dice", digest="sha256:d", kind="sb3", mode="sampled")
    with pytest.raises(PolicyError, match="dice draws its actions"):
        traces(walk(), policy)


class Remembering:
    """A policy with a state: the sum of what it has seen since the episode began."""

    card = PolicyCard(name="remembering", digest="sha256:r", kind="scripted")

    def act(self, observations, state, starts):
        before = np.zeros(len(observations)) if state is None else np.where(starts, 0.0, state)
        after = before + observations[:, 0]
        return np.clip(-0.05 * after, -1, 1)[:, None].astype(np.float32), after


def test_a_policy_with_state_starts_afresh_in_every_episode():
    spec = walk()
    one = digests(traces(spec, Remembering(), copies=1))
    assert digests(traces(spec, Remembering(), copies=5)) == one


def assert_same_course(one, other):
    np.testing.assert_array_equal(one.signals["level"], other.signals["level"])
    np.testing.assert_array_equal(one.actions, other.actions)
    assert one.end == other.end
