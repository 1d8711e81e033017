"""A model of z3 as a trace: simulated in binary64 with the deployed policy, then judged."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safegym.check.loop.simulate import advance, observe
from safegym.check.monitor import judge
from safegym.check.symbolic.affine import Interval
from safegym.check.symbolic.engine import Model, value_of
from safegym.check.symbolic.model_claim import Asked
from safegym.check.symbolic.model_policy import Encoding, FreeEncoding
from safegym.check.symbolic.symbols import symbol
from safegym.errors import PolicyError, TraceError
from safegym.formula.dynamics import Dynamics
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace
from safegym.verdict import Verdict

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Replay:
    """The trace, and the monitor's verdict on it. real: whether it refutes the property."""

    trace: Trace
    verdict: Verdict
    real: bool


def replayed(
    model: Model,
    asked: Asked,
    dynamics: Dynamics,
    policy: Encoding,
    start: dict[str, Interval],
    initial: Formula | None,
    *,
    horizon: int,
    samples: int,
) -> Replay | None:
    """The path of a model from its start, under its disturbances; None where it leaves numbers.

    Every sample has its own action and disturbance, the last one too.
    """
    state = np.array([_inside(_at(model, s, 0), start.get(s.name)) for s in dynamics.states])
    states, actions = [state], list[Floats]()
    acting = np.array(
        [[_within(_at(model, s, at), s) for s in dynamics.disturbances] for at in range(samples)]
    ).reshape(samples, len(dynamics.disturbances))
    try:
        for at in range(samples):
            actions.append(_action(model, dynamics, policy, states[-1], at))
            if at + 1 < samples:
                following = advance(dynamics, states[-1][None], actions[-1][None], acting[at][None])
                states.append(following[0])
        trace = _trace(dynamics, policy, np.array(states), np.array(actions), acting, horizon)
    except (TraceError, PolicyError, FloatingPointError):
        return None
    verdict = judge(asked.claim, trace)
    real = verdict.status == "violated" and _starts_in(start, trace)
    if initial is not None:
        real = real and judge(initial, trace).status == "satisfied"
    return Replay(trace, verdict, real)


def _starts_in(start: dict[str, Interval], trace: Trace) -> bool:
    """Whether sample 0 lies in the initial intervals, decided exactly."""
    first = {name: Fraction(float(trace.signals[name][0])) for name in start}
    return all(low <= first[name] <= high for name, (low, high) in start.items())


def _at(model: Model, signal: Signal, at: int) -> float:
    return value_of(model, symbol(signal.name, 0, at))


def _inside(value: float, span: Interval | None) -> float:
    """The number, moved by one place where rounding took it out of an exact interval."""
    if span is None:
        return value
    if Fraction(value) < span[0]:
        return float(np.nextafter(value, np.inf))
    return float(np.nextafter(value, -np.inf)) if Fraction(value) > span[1] else value


def _within(value: float, signal: Signal) -> float:
    low, high = signal.bounds or (-np.inf, np.inf)
    return min(max(value, low), high)


def _action(model: Model, dynamics: Dynamics, policy: Encoding, state: Floats, at: int) -> Floats:
    if isinstance(policy, FreeEncoding):
        found = np.array([_at(model, signal, at) for signal in dynamics.actions])
    else:
        found = policy.predict(observe(dynamics, state[None]))[0]
    return np.array([_within(float(v), s) for v, s in zip(found, dynamics.actions, strict=True)])


def _trace(
    dynamics: Dynamics,
    policy: Encoding,
    states: Floats,
    actions: Floats,
    acting: Floats,
    horizon: int,
) -> Trace:
    signals = {s.name: states[:, at] for at, s in enumerate(dynamics.states)}
    signals |= {s.name: actions[:, at] for at, s in enumerate(dynamics.actions)}
    signals |= {s.name: acting[:, at] for at, s in enumerate(dynamics.disturbances)}
    if not all(np.isfinite(values).all() for values in signals.values()):
        raise TraceError("A replayed state is not finite.")
    return Trace.from_arrays(
        signals,
        dt=dynamics.dt,
        end="horizon",
        horizon=horizon,
        actions=actions[:-1],
        units={signal.name: signal.unit for signal in dynamics.signals},
        scenario_digest=dynamics.digest,
        policy_digest=policy.digest,
    )
