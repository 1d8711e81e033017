"""Differentiable models against the environments they stand for."""

import numpy as np
import pytest
import torch

from safegym.scenario.inputs import options_of
from safegym.scenario.model import deviations, inputs_of, simulate
from safegym.scenario.record import record
from safegym.scenario.registry import find, names

MODELLED = [name for name in names() if find(name).model is not None]
CASES = [(name, which) for name in MODELLED for which in ("good", *find(name).bad)]


def policy_of(spec, which):
    return (spec.good if which == "good" else spec.bad[which])()


def stirred(spec, seed):
    """Options that set every input at random."""
    generator = np.random.default_rng(seed)
    inputs = (*spec.parameters, *spec.faults)
    return {
        "parameters": {p.name: float(generator.uniform(p.low, p.high)) for p in inputs},
        "disturbances": {
            d.name: generator.uniform(d.low, d.high, d.pieces).tolist() for d in spec.disturbances
        },
    }


def test_three_scenarios_have_a_model():
    assert {"classic/braking-v0", "classic/cartpole-v0", "classic/pendulum-v0"} <= set(MODELLED)


@pytest.mark.parametrize(("name", "which"), CASES)
def test_in_numpy_the_model_gives_the_recorded_episode_bit_for_bit(name, which):
    spec = find(name)
    for seed in range(2):
        for options in (None, stirred(spec, seed)):
            trace = record(spec, policy_of(spec, which), seed, options=options)
            assert deviations(spec, trace) == dict.fromkeys(spec.layout, 0.0)


@pytest.mark.parametrize("name", MODELLED)
def test_in_torch_the_model_gives_the_recorded_episode_to_rounding(name):
    spec = find(name)
    trace = record(spec, spec.good(), 0, options=stirred(spec, 0))
    parameters, disturbances = inputs_of(spec, trace)

    def act(step, observation):
        action = torch.from_numpy(trace.actions[step].reshape(-1).copy())[0]
        return action if action.is_floating_point() else int(action)

    rows = simulate(
        spec,
        torch,
        {key: torch.tensor(value, dtype=torch.float64) for key, value in parameters.items()},
        {key: torch.tensor(value, dtype=torch.float64) for key, value in disturbances.items()},
        act,
        trace.steps,
    )
    for at, key in enumerate(spec.layout):
        found = np.array([float(row[at]) for row in rows])
        np.testing.assert_allclose(found, trace.signals[key], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", MODELLED)
def test_every_twin_is_of_a_policy_of_the_scenario_and_acts_like_it(name):
    spec = find(name)
    makers = (spec.good, *spec.bad.values(), *spec.baselines.values())
    policies = {policy.card.name: policy for policy in (maker() for maker in makers)}
    assert set(spec.model.twins) == set(policies)
    generator = np.random.default_rng(0)
    width = spec.make_env().observation_space.shape[0]
    for card, policy in policies.items():
        seen = generator.normal(0, 1, (200, width)).astype(np.float32)
        actions, _ = policy.act(seen, None, np.zeros(200, bool))
        twin = spec.model.twins[card]
        for xp, rows in ((np, seen.astype(np.float64)), (torch, torch.from_numpy(seen).double())):
            found = [np.float32(float(twin(xp, *row))) for row in rows]
            np.testing.assert_allclose(found, actions.reshape(-1), rtol=1e-6, atol=1e-6)
        assert policy.card.kind == "scripted"


@pytest.mark.parametrize("name", MODELLED)
def test_the_inputs_of_a_trace_are_its_options_completed_by_what_rests(name):
    spec = find(name)
    options = stirred(spec, 3)
    parameters, disturbances = inputs_of(spec, record(spec, spec.good(), 0, options=options))
    assert parameters == options["parameters"]
    assert {key: list(values) for key, values in disturbances.items()} == options["disturbances"]
    plain = record(spec, spec.good(), 0)
    rested = inputs_of(spec, plain)[1]
    told = options_of(plain).get("disturbances", {})
    for each in spec.disturbances:
        assert list(rested[each.name]) == told.get(each.name, [each.neutral] * each.pieces)
