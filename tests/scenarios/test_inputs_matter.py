"""Every declared input does something, and what a trace tells brings its episode back.

Here for a few scenarios, in depth; `safegym scenarios verify` probes the inputs of all.
"""

import numpy as np
import pytest
from looked_into import DEEP

from safegym.check.monitor import judge
from safegym.check.tail import tail_steps
from safegym.formula.rewrite import to_steps
from safegym.scenario.inputs import options_of
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.scenario.snapshot import capture, restore

SEEDS = range(4)
TAKING = [n for n in DEEP if find(n).parameters or find(n).faults or find(n).disturbances]
INPUTS = [
    (name, each.name)
    for name in TAKING
    for each in (*find(name).parameters, *find(name).faults, *find(name).disturbances)
]
CLAIMS = [(name, claim.id) for name in TAKING for claim in find(name).claims]


def options_at(spec, name, end):
    """Options with one input at an end of its range; where it is a fault, the others half on."""
    channel = next((each for each in spec.disturbances if each.name == name), None)
    if channel is not None:
        return {"disturbances": {name: [getattr(channel, end)] * channel.pieces}}
    chosen = next(each for each in (*spec.parameters, *spec.faults) if each.name == name)
    others = spec.faults if chosen in spec.faults else ()
    parameters = {each.name: (each.low + each.high) / 2.0 for each in others}
    return {"parameters": {**parameters, name: getattr(chosen, end)}}


@pytest.mark.parametrize(("scenario", "name"), INPUTS)
def test_moving_an_input_from_one_end_to_the_other_changes_a_recorded_signal(scenario, name):
    spec = find(scenario)
    for seed in SEEDS:
        low, high = (
            record(spec, spec.good(), seed, options=options_at(spec, name, end))
            for end in ("low", "high")
        )
        if any(not np.array_equal(low.signals[key], high.signals[key]) for key in spec.layout):
            return
    pytest.fail(f"{name} of {scenario} changed nothing on seeds {list(SEEDS)}.")


def first_violation(spec, claim):
    policy, tail = spec.bad[claim.id](), look_ahead(spec, claim)
    for seed in range(20):
        trace = record(spec, policy, seed, tail=tail)
        if judge(claim, trace).status == "violated":
            return trace, tail
    return pytest.fail(f"No seed below 20 violates {claim.id}.")


def look_ahead(spec, claim):
    formula = to_steps(claim.property, spec.clock.dt, rounding=claim.rounding)
    return tail_steps(formula, spec.horizon)


@pytest.mark.parametrize(("scenario", "identity"), CLAIMS)
def test_declared_inputs_alone_bring_a_violation_back_bit_for_bit_under_another_seed(
    scenario, identity
):
    spec = find(scenario)
    claim = next(claim for claim in spec.claims if claim.id == identity)
    found, tail = first_violation(spec, claim)
    given = options_of(found)
    again = record(spec, spec.bad[identity](), 2**40 + 1, options=given, tail=tail)
    assert judge(claim, again).status == "violated"
    for key, values in found.signals.items():
        assert again.signals[key].tobytes() == values.tobytes()
    kept = record(spec, spec.good(), 2**40 + 1, options=given, tail=tail)
    assert judge(claim, kept).status == "satisfied"


@pytest.mark.parametrize("scenario", TAKING)
def test_a_trace_tells_every_parameter_and_fault(scenario):
    spec = find(scenario)
    trace = record(spec, spec.good(), 0)
    assert {each.name for each in (*spec.parameters, *spec.faults)} <= set(trace.parameters)
    for each in (*spec.parameters, *spec.faults):
        assert each.low <= trace.parameters[each.name] <= each.high


@pytest.mark.parametrize("scenario", TAKING)
def test_the_names_that_a_trace_gives_are_options_too(scenario):
    """The bank of counterexamples stores a trace's parameters as they stand."""
    spec = find(scenario)
    channels = {each.name: [each.high] * each.pieces for each in spec.disturbances}
    first = record(spec, spec.good(), 1, options={"disturbances": channels})
    flat = {"parameters": dict(first.parameters), "disturbance_seed": first.disturbance_seed}
    again = record(spec, spec.good(), 1, options=flat)
    assert dict(again.parameters) == dict(first.parameters)
    assert all(
        again.signals[key].tobytes() == values.tobytes() for key, values in first.signals.items()
    )


@pytest.mark.parametrize("scenario", TAKING)
def test_faults_and_disturbances_survive_a_snapshot(scenario):
    spec = find(scenario)
    env = spec.make_env()
    options = {
        "parameters": {each.name: (each.low + each.high) / 4.0 for each in spec.faults},
        "disturbances": {d.name: np.linspace(d.low, d.high, d.pieces) for d in spec.disturbances},
    }
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(60)]

    def drive(some):
        seen = [env.step(action) for action in some]
        return [(step[0].tobytes(), float(step[1]), spec.read_signals(env)) for step in seen]

    env.reset(seed=1, options=options)
    drive(actions[:8])
    snapshot = capture(env)
    onward = drive(actions[8:])
    env.reset(seed=2)
    drive(actions[:5])
    restore(env, snapshot)
    assert drive(actions[8:]) == onward
