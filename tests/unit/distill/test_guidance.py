"""What teachers say along a student's episodes, and the losses against it."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import stable_baselines3 as sb3
import torch
from gymnasium import spaces
from point_worlds import LEFT, RIGHT, Point, left, point_spec, right, right_by_choice

from safegym.errors import PolicyError
from safegym.gate.distill.guidance import Guidance, actions_along, graded, guidance
from safegym.gate.distill.imitation import SquaredError, divergence, targets_of
from safegym.gate.distill.mixing import Mixture
from safegym.gate.distill.observed import acted_on
from safegym.gate.distill.worlds import ScenarioWorld
from safegym.policy.base import PolicyCard
from safegym.policy.sb3 import freeze
from safegym.policy.sequence import ActionSequence
from safegym.scenario.spec import ScenarioSpec


def world(spec: ScenarioSpec) -> ScenarioWorld:
    return ScenarioWorld(spec, spec.claims)


def watched(policy: Any, make: Any = right, episodes: int = 5) -> list[Any]:
    return world(point_spec(make)).roll(policy, 0, 0, episodes)


def discrete_ppo() -> sb3.PPO:
    return sb3.PPO("MlpPolicy", right_by_choice(), seed=3, n_steps=8, batch_size=8, device="cpu")


@pytest.mark.parametrize(
    "leader", [RIGHT, ActionSequence(np.linspace(-1.0, 1.0, 20)[:, None].astype(np.float32))]
)
def test_a_teacher_asked_along_its_own_episodes_says_what_it_did(leader: Any) -> None:
    traces = watched(leader)
    found = actions_along(leader, [acted_on(trace) for trace in traces])
    for trace, actions in zip(traces, found, strict=True):
        np.testing.assert_array_equal(trace.actions, actions)


def test_a_memory_is_carried_along_episodes_of_different_lengths() -> None:
    steps = np.arange(6, dtype=np.float64)[:, None]
    found = actions_along(ActionSequence(steps), [np.zeros((n, 2)) for n in (2, 6, 1, 4)])
    for length, actions in zip((2, 6, 1, 4), found, strict=True):
        np.testing.assert_array_equal(actions, steps[:length])


def test_more_episodes_than_a_batch_has_rows_are_asked_in_turn() -> None:
    rng = np.random.default_rng(0)
    episodes = [rng.normal(size=(int(n), 2)) for n in rng.integers(1, 9, 150)]
    for rows, actions in zip(episodes, actions_along(RIGHT, episodes), strict=True):
        np.testing.assert_array_equal(actions, np.clip(2.0 * (1.0 - rows[:, :1]), -1.0, 1.0))


def test_graded_choices_are_the_log_probabilities_of_plain_stable_baselines3() -> None:
    model = discrete_ppo()
    rows = np.random.default_rng(1).normal(size=(70, 2)).astype(np.float32)
    own = graded(freeze(model), rows)
    assert own is not None
    with torch.no_grad():
        distribution: Any = model.policy.get_distribution(torch.from_numpy(rows))
        wanted = distribution.distribution.logits.numpy()
    np.testing.assert_allclose(own, wanted, atol=2e-6)
    np.testing.assert_allclose(np.exp(own).sum(axis=1), 1.0, atol=1e-12)


def test_teachers_without_probabilities_grade_nothing() -> None:
    rows = np.zeros((3, 2), np.float32)
    dqn = sb3.DQN("MlpPolicy", right_by_choice(), buffer_size=10, device="cpu")
    for policy in (RIGHT, freeze(dqn), freeze(sb3.PPO("MlpPolicy", right(), device="cpu"))):
        assert graded(policy, rows) is None


def test_the_divergence_is_that_of_torch_and_its_gradient_too() -> None:
    torch.manual_seed(0)
    given = torch.randn(6, 4, requires_grad=True)
    wanted = torch.log_softmax(3.0 * torch.randn(6, 4), dim=1)
    loss = divergence(given, wanted)
    pair = [torch.distributions.Categorical(logits=each) for each in (wanted, given)]
    reference = torch.distributions.kl_divergence(*pair).mean()
    torch.testing.assert_close(loss, reference)
    (own,) = torch.autograd.grad(loss, given, retain_graph=True)
    (other,) = torch.autograd.grad(reference, given)
    torch.testing.assert_close(own, other)


def test_a_bare_choice_gives_the_cross_entropy() -> None:
    given = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), requires_grad=True)
    actions = np.array([1, 3, 2, 1, 3])
    target = targets_of(Guidance(np.zeros((5, 2)), actions, None), spaces.Discrete(3, start=1))
    reference = torch.nn.functional.cross_entropy(given, torch.from_numpy(actions - 1))
    loss = divergence(given, target)
    torch.testing.assert_close(loss, reference)
    (own,) = torch.autograd.grad(loss, given, retain_graph=True)
    (other,) = torch.autograd.grad(reference, given)
    torch.testing.assert_close(own, other)


def test_past_a_limit_at_which_the_teacher_stands_there_is_no_error() -> None:
    loss = SquaredError(torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 4.0]))
    wanted = torch.tensor([[1.0, 0.0]])
    assert float(loss(torch.tensor([[3.0, -2.0]]), wanted)) == 0.0
    assert float(loss(torch.tensor([[0.0, 4.0]]), wanted)) == pytest.approx((1.0 + 4.0) / 2)
    assert float(loss(torch.tensor([[-2.0, 0.0]]), wanted)) == pytest.approx(9.0 / 2)


def test_an_action_that_is_not_finite_is_refused_with_its_step() -> None:
    class Lost:
        card = PolicyCard(name="lost", digest="unknown:x", kind="foreign")

        def act(self, observations: Any, state: Any, starts: Any) -> tuple[Any, None]:
            return np.where(observations[:, :1] > 0.9, np.nan, 0.0), None

    with pytest.raises(PolicyError, match=r"lost acts \[nan\], which is not finite, at step \d+"):
        guidance(Lost(), watched(RIGHT), right().action_space)


def test_a_mixture_takes_the_teachers_share_and_follows_the_seed_alone() -> None:
    spec = point_spec(right, horizon=400)
    mixed = Mixture(RIGHT, LEFT, 0.3)
    many = world(spec).roll(mixed, 5, 1, 12)
    again = world(spec).roll(Mixture(RIGHT, LEFT, 0.3), 5, 1, 3)
    for one, other in zip(many, again, strict=False):
        assert one.digest == other.digest
    taken, steps = 0, 0
    for trace in many:
        rows = acted_on(trace)
        theirs = np.clip(2.0 * (1.0 - rows[:, :1]), -1.0, 1.0)
        ours = np.clip(2.0 * (-1.0 - rows[:, :1]), -1.0, 1.0)
        told = (theirs != ours).all(axis=1)
        assert ((trace.actions == theirs) | (trace.actions == ours)).all()
        taken += int((trace.actions == theirs)[told].sum())
        steps += int(told.sum())
    assert steps > 1000
    assert abs(taken / steps - 0.3) < 5.0 * (0.3 * 0.7 / steps) ** 0.5


def test_the_environment_under_test_is_one_that_gymnasium_accepts() -> None:
    env = gym.wrappers.TimeLimit(Point(1.0), 5)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert world(point_spec(left)).claims[0].id == "point.left"
