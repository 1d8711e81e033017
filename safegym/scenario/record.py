"""One episode, from a name, a scenario, or an environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from safegym.errors import ScenarioError
from safegym.policy.base import Policy, as_policy
from safegym.scenario.inputs import checked_options, refuse_unheeded
from safegym.scenario.registry import find
from safegym.scenario.runner import Runner, Stage, Task
from safegym.scenario.spec import Environment, ScenarioSpec
from safegym.scenario.staging import Staging
from safegym.trace.model import Trace
from safegym.trace.record import Recorder


def record(
    scenario: str | ScenarioSpec | Environment,
    policy: object,
    seed: int,
    *,
    options: Mapping[str, Any] | None = None,
    tail: int = 0,
    keep_observations: bool = False,
) -> Trace:
    """Runs one episode of `policy` from `reset(seed=seed, options=options)`; returns its trace.

    scenario: a name, a spec, or an environment that `make` built (wrapped further or not).
    policy: a Policy, an object with `predict`, or a function of one observation. tail: samples
    past the horizon. Inference is done as in a campaign, so the same policy and seed give the same
    trace. Raises ScenarioError for an unknown name, options that the scenario does not declare or
    does not heed, or an environment that records nothing, PolicyError if the policy does not fit.
    """
    acting = as_policy(policy)
    if isinstance(scenario, gym.Env):
        _refuse_extras(tail, keep_observations)
        stage = Stage(scenario, _recorder_in(scenario))
        return _run(Runner(lambda: stage, acting, copies=1), Task(0, seed, options or {}))
    spec = find(scenario) if isinstance(scenario, str) else scenario
    task = Task(0, seed, checked_options(spec, options))
    trace = episode(Staging(spec, tail, keep_observations), acting, task)
    refuse_unheeded(task.options, trace)
    return trace


def episode(staging: Staging, policy: Policy, task: Task) -> Trace:
    """The trace of one episode, whatever the environment made of its options."""
    runner = Runner(staging.stage, policy, copies=1)
    try:
        runner.rehearse()
        return _run(runner, task)
    finally:
        runner.close()


def _run(runner: Runner, task: Task) -> Trace:
    runner.start(task)
    while True:
        for _, trace in runner.collect():
            return trace


def _recorder_in(env: Environment) -> Recorder:
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, Recorder):
            return layer
        layer = layer.env
    raise ScenarioError(
        f"{env} records no signals; build it with safegym.make(NAME), or pass the scenario's name."
    )


def _refuse_extras(tail: int, keep_observations: bool) -> None:
    if tail or keep_observations:
        raise ScenarioError(
            "tail= and keep_observations= shape the environment that record() builds; they do not "
            "apply to one that is passed in. Pass the scenario's name instead."
        )
