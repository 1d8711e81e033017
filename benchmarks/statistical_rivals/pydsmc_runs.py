"""Runs pydsmc as its documentation says, on the forks of the scenario pack.

A script of its own, so that it may run under another interpreter: jobs come as one JSON list on
standard input, and one JSON object with the answers goes to standard output. An answer is whether
the property converged, its interval, and the episodes it took; {"facts": true} asks what the
interface offers.
"""

import inspect
import json
import logging
import sys
from functools import partial
from importlib.metadata import version
from typing import Any

import gymnasium as gym
import numpy as np

ENVS = 8
ID = "safegym/fork-v0"
Job = dict[str, Any]


def run(job: Job) -> Job:
    """One evaluation. job: failure, lengths, seed, sound, epsilon, limit, and `sees`."""
    from pydsmc import Evaluator, create_custom_property, create_eval_envs

    envs = create_eval_envs(
        num_threads=1,
        num_envs_per_thread=ENVS,
        env_seed=job["seed"],
        gym_id=ID,
        vecenv_cls=gym.vector.SyncVectorEnv,
        failures=(job["failure"],),
        lengths=tuple(job["lengths"]),
    )
    crash = create_custom_property(
        name="crash_prob",
        epsilon=job["epsilon"],
        kappa=0.05,
        relative_error=False,
        binomial=True,
        bounds=(0, 1),
        sound=job["sound"],
        check_fn=partial(_sees_end, _failing_states(job)) if job["sees"] == "end" else _crashed,
    )
    evaluator = Evaluator(env=envs, log_dir=None, log_level=logging.ERROR)
    evaluator.register_property(crash)
    evaluator.eval(predict_fn=_act, stop_on_convergence=True, episode_limit=job["limit"])
    converged, interval = crash.get_interval()
    for each in envs:
        each.close()
    return {
        **job,
        "method": type(crash.st_method).__name__,
        "fell_back": crash.fallbacked is not None,
        "converged": bool(converged),
        "interval": None if interval is None else [float(end) for end in interval],
        "episodes": int(crash.num_episodes),
        "mean": float(crash.mean),
    }


def facts() -> Job:
    """What its interface offers: parameters by function, and levels when ten are asked at once."""
    import pydsmc

    public: list[Any] = [
        pydsmc.create_custom_property,
        pydsmc.create_predefined_property,
        pydsmc.Evaluator.eval,
        pydsmc.Evaluator.register_property,
    ]
    evaluator = pydsmc.Evaluator(env=_envs(0), log_dir=None, log_level=logging.ERROR)
    for _ in range(10):
        evaluator.register_property(
            pydsmc.create_custom_property("crash", _crashed, binomial=True, bounds=(0, 1))
        )
    return {
        "parameters": {each.__name__: list(inspect.signature(each).parameters) for each in public},
        "methods": [name for name in dir(pydsmc.Property) if not name.startswith("_")],
        "levels": [each.kappa for each in evaluator.properties],
        "draws": [_draws(seed) for seed in (0, 1)],
    }


def _envs(seed: int) -> list[Any]:
    from pydsmc import create_eval_envs

    found: list[Any] = create_eval_envs(
        num_threads=1,
        num_envs_per_thread=ENVS,
        env_seed=seed,
        gym_id=ID,
        vecenv_cls=gym.vector.SyncVectorEnv,
        failures=("1/100",),
        lengths=(1, 1),
    )
    return found


def _draws(seed: int) -> list[list[int]]:
    """The first numbers that each copy of an evaluation with this seed will draw."""
    (vector,) = _envs(seed)
    vector.reset()
    return [each.unwrapped.np_random.integers(10**9, size=4).tolist() for each in vector.envs]


def _crashed(_: Any, trajectory: Any) -> float:
    """Their documentation's crash property: the last reward says so."""
    return float(trajectory[-1].reward == -1.0)


def _sees_end(failing: frozenset[int], _: Any, trajectory: Any) -> float:
    """The same from observations: whether a state with the hazard was seen."""
    return float(any(int(step.state) in failing for step in trajectory))


def _failing_states(job: Job) -> frozenset[int]:
    from safegym_scenarios.chain_fork import fork_model

    model = fork_model((job["failure"],), tuple(job["lengths"]))
    return frozenset(at for at, state in enumerate(model.states) if model.values[state][0] > 0.5)


def _act(observations: Any, states: Any, starts: Any) -> tuple[Any, Any]:
    return np.zeros(len(observations), np.int64), states


def main() -> None:
    """Read jobs, print answers."""
    gym.register(id=ID, entry_point="safegym_scenarios.chain_fork:make_fork")
    jobs: list[Job] = json.load(sys.stdin)
    answers = [facts() if job.get("facts") else run(job) for job in jobs]
    print(json.dumps({"version": version("pydsmc"), "answers": answers}))


if __name__ == "__main__":
    main()
