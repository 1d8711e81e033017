"""What a rollout cannot do, said before it runs."""

from safegym.errors import PolicyError, ScenarioError
from safegym.policy.base import Policy
from safegym.scenario.rollouts.declaration import Rollout
from safegym.scenario.runner import Task
from safegym.scenario.spec import ScenarioSpec
from safegym.scenario.staging import Staging

_ELSE = 'leave engine="rollout" out'


def rollout_of(spec: ScenarioSpec) -> Rollout:
    """What the scenario declares. Raises ScenarioError if it declares none, or a reward."""
    if spec.rollout is None:
        raise ScenarioError(
            f"Scenario {spec.name} declares no rollout: its signals or observations are not "
            f"functions of positions and velocities alone; {_ELSE}."
        )
    if spec.reward is not None:
        raise ScenarioError(
            f"Scenario {spec.name} declares a reward of its own, and a rollout computes the "
            f"environment's; {_ELSE}."
        )
    return spec.rollout


def refuse_run(staging: Staging, policy: Policy, episode_seconds: float | None) -> None:
    """Raises ScenarioError or PolicyError for what no rollout of any scenario can do."""
    rollout_of(staging.spec)
    if staging.keep_observations:
        raise ScenarioError(f"A rollout keeps no observations; {_ELSE}.")
    if episode_seconds is not None:
        raise ScenarioError(
            "episode_seconds needs worker processes that can be ended, and a rollout runs in "
            f'threads; write engine="processes", or {_ELSE}.'
        )
    if hasattr(policy, "begin"):
        raise PolicyError(
            f"Policy {policy.card.name} draws its actions from each episode's seed; rollouts run "
            f"deterministic policies only. Use deterministic mode, or {_ELSE}."
        )


def refuse_options(spec: ScenarioSpec, rollout: Rollout, task: Task) -> None:
    """Raises ScenarioError for options that act during the episode, not through its start."""
    given = task.options
    named = [name for name in given.get("parameters") or {} if name not in rollout.heeds]
    named += list(given.get("disturbances") or {})
    named += [name for name in given if name in spec.options]
    if named:
        heeded = ", ".join(sorted(rollout.heeds)) or "none"
        raise ScenarioError(
            f"Episode {task.index} of {spec.name} is given {', '.join(named)}, which acts while it "
            f"runs; a rollout heeds what changes the model or the start ({heeded}). For this one "
            f"{_ELSE}."
        )
