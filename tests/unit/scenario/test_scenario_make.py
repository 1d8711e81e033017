from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scenario_models import Walk, follow, follower, walk

from safegym.errors import PolicyError, ScenarioError, UnsupportedError
from safegym.policy.base import Policy, as_policy
from safegym.scenario.determinism import check_determinism
from safegym.scenario.record import record
from safegym.scenario.wrap import make, recorded


def test_make_builds_a_gymnasium_environment_that_ends_at_the_horizon():
    env = make("classic/pendulum-v0")
    env.reset(seed=0)
    over, steps = False, 0
    while not over:
        *_, terminated, truncated, _ = env.step(np.zeros(1, np.float32))
        over, steps = terminated or truncated, steps + 1
    assert (steps, truncated) == (200, True)
    assert env.trace is not None
    assert (env.trace.end.kind, env.trace.horizon) == ("horizon", 200)


@pytest.mark.filterwarnings("ignore:.*WARN")
def test_make_passes_gymnasiums_own_checker():
    check_env(make("classic/cartpole-v0"), skip_render_check=True)


def test_make_of_an_unknown_name_offers_the_nearest():
    with pytest.raises(ScenarioError, match="did you mean classic/pendulum-v0"):
        make("classic/pendulm-v0")


def level_so_far(spec):
    """An online judge for the test: the largest level so far, by claim id."""

    def begin():
        levels = []

        def update(sample):
            levels.append(sample["level"])
            return {claim.id: max(levels) for claim in spec.claims}

        return update

    return begin


def test_live_claims_stand_in_info_from_the_reset_on_and_start_afresh():
    env = make(walk(), live=level_so_far)
    for seed in (0, 1):
        _, info = env.reset(seed=seed)
        levels = [env.unwrapped.level]
        assert info["claims"] == {"walk.level": levels[0]}
        for _ in range(3):
            *_, info = env.step(np.ones(1, np.float32))
            levels.append(env.unwrapped.level)
            assert info["claims"] == {"walk.level": max(levels)}


def test_live_claims_change_nothing_of_the_trace():
    assert record(make(walk(), live=level_so_far), follower(), 7) == record(walk(), follower(), 7)


def test_a_time_limit_of_the_environments_own_is_refused():
    spec = walk(partial(gym.make, "CartPole-v1"))
    with pytest.raises(ScenarioError, match=r"brings a time limit.*gym.make\(...\).unwrapped"):
        make(spec)


def test_recorded_with_a_tail_needs_a_simulator_that_runs_on():
    with pytest.raises(UnsupportedError, match="look ahead 3 samples"):
        recorded(walk(can_run_tail=False), tail=3)
    with pytest.raises(ScenarioError, match="tail must be >= 0 and limit >= 1, found -1"):
        recorded(walk(), tail=-1)


def test_record_takes_a_name_a_spec_or_an_environment_and_gives_one_trace():
    spec = walk()
    env = gym.wrappers.TransformReward(make(spec), lambda reward: 2 * reward)
    one = record(spec, follower(), 7)
    assert record(env, follower(), 7) == one
    assert record(env, follower(), 7) == one
    assert record("classic/cartpole-v0", as_policy(lambda o: 1), 0).end.kind == "failed"


def test_record_refuses_an_environment_that_records_nothing():
    with pytest.raises(ScenarioError, match=r"records no signals; build it with safegym.make"):
        record(Walk(), follower(), 0)


def test_record_refuses_a_tail_on_an_environment_that_is_passed_in():
    with pytest.raises(ScenarioError, match="Pass the scenario's name instead"):
        record(make(walk()), follower(), 0, tail=2)


def test_record_of_an_environment_that_raises_gives_the_interrupted_episode():
    env = make(walk(partial(Walk, faults={7: "raise"})))
    trace = record(env, follower(), 7)
    assert (trace.end.kind, trace.steps) == ("interrupted", 2)
    assert "RuntimeError in step: the gearbox broke" in trace.end.reason
    assert record(env, follower(), 8).end.kind in ("absorbed", "horizon")


def test_record_keeps_observations_when_asked():
    trace = record(walk(), follower(), 7, keep_observations=True)
    assert trace.observations is not None
    np.testing.assert_array_equal(
        trace.observations[:, 0], trace.signals["level"].astype(np.float32)
    )


class Model:
    """Has `predict` as stable-baselines3 has it."""

    observation_space, action_space = Walk.observation_space, Walk.action_space

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        assert len(episode_start) == 64
        return follow(observation), state


class Bare:
    def predict(self, observation):
        return follow(observation)


@pytest.mark.parametrize("source", [Model(), Bare(), lambda o: follow(o[None])[0]])
def test_foreign_policies_act_like_a_scripted_one_but_have_no_known_digest(source):
    policy = as_policy(source)
    assert isinstance(policy, Policy)
    assert (policy.card.kind, policy.card.is_known) == ("foreign", False)
    assert policy.card.digest.startswith("unknown:test_scenario_make.")
    one, other = record(walk(), source, 7), record(walk(), follower(), 7)
    np.testing.assert_array_equal(one.actions, other.actions)
    assert one.policy_digest == policy.card.digest


def test_the_digest_of_a_scripted_policy_is_known():
    assert follower().card.is_known
    assert as_policy(follower()).card.kind == "scripted"


def test_the_spaces_of_a_predict_object_are_checked():
    model = Model()
    model.action_space = gym.spaces.Discrete(2)
    with pytest.raises(PolicyError, match=r"made for the action space Discrete\(2\), the envir"):
        record(walk(), model, 0)


def test_something_that_is_no_policy_is_refused():
    with pytest.raises(PolicyError, match="A int is not a policy; pass a safegym policy"):
        as_policy(3)


def test_dictionaries_as_observations_are_refused_with_the_wrapper_that_helps():
    class Dicts(Walk):
        observation_space = gym.spaces.Dict({"level": gym.spaces.Box(-1, 1)})

    with pytest.raises(UnsupportedError, match=r"Wrap it in gymnasium.wrappers.FlattenObservation"):
        record(walk(Dicts), follower(), 0)


def test_a_system_that_a_reset_resets_fully_is_deterministic():
    assert check_determinism(walk(), follower(), seeds=(1, 2, 3)) == ()


class Worn(Walk):
    """Forgets to reset its wear, which shows at step 2."""

    wear = 0.0

    def step(self, action):
        self.wear += 0.5
        if self.count == 1:
            self.level += int(self.wear) % 5
        return super().step(action)


def test_a_reset_that_forgets_a_piece_of_state_is_reported_with_step_and_signal():
    found = check_determinism(walk(Worn), follower(), seeds=(1, 2, 3))
    assert found
    assert {difference.what for difference in found} == {"level"}
    assert {difference.step for difference in found} == {2}
    assert all(difference.first != difference.second for difference in found)
