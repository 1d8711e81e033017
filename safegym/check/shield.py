"""A runtime shield: a fallback policy acts while a guard is not known to hold.

The guard is a formula of the present and the past, watched online on every sample. The shield
trusts the fallback: that it keeps the system safe from where the guard fails is not shown here.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np

from safegym.check.live import conversions, in_units, make, one_episode
from safegym.check.monitor import Monitor
from safegym.check.monitor.online import Outcome
from safegym.errors import PolicyError, ScenarioError, TraceError, UnsupportedError
from safegym.formula.expression import short
from safegym.formula.interning import postorder
from safegym.formula.nodes import Always, And, Formula, Fraction, all_of
from safegym.formula.reading import margin_scale, reads_future
from safegym.formula.rewrite import nnf
from safegym.policy.base import Policy, as_policy
from safegym.scenario.registry import find
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.trace.record import Recorder


class Shield(gym.Wrapper[Any, Any, Any, Any]):
    """Replaces the action by the fallback's where the guard is not known to hold.

    env: a recorded environment (`safegym.make`); its trace holds the actions that were executed,
    and an event "shield" wherever the fallback took over or gave back. guard: formula of the
    present and the past. fallback: a policy, or a function from one observation to one action.
    margin: the guard must hold with at least this robustness, in multiples of the atoms' scale.
    hold: steps for which the fallback stays once it has taken over. A policy with a state begins
    anew, with `starts` true, each time it takes over.

    info["shield"] tells whether the fallback acts on the observation just given ("active"), the
    guard's robustness there ("margin", None where margins do not compare), and how many steps of
    this episode it has acted ("steps").

    A sample that cannot be judged (NaN) ends the episode as interrupted, so that no action is
    let through after it.

    Raises UnsupportedError for a guard that looks ahead, is a share of samples, or whose margins
    are refused while a margin is asked for; UnitError for a guard that reads a signal in a unit of
    another dimension (of the same, it is converted); ScenarioError for a margin below 0 or a hold
    below 1. In use: PolicyError for a fallback's choice that is no action, TraceError for a sample
    that cannot be judged.
    """

    def __init__(
        self,
        env: Recorder,
        spec: ScenarioSpec,
        guard: Formula,
        fallback: Policy | Callable[[Any], Any],
        *,
        margin: float = 0.0,
        hold: int = 1,
    ) -> None:
        super().__init__(env)
        _check_numbers(margin, hold)
        self._recorder, self._spec = env, spec
        self._monitor = _monitor(guard, spec, margin)
        self._units = conversions(guard, spec)
        self._guard, self._margin, self._hold = short(guard), margin, hold
        self._policy = as_policy(fallback)
        self._forget()

    def _forget(self) -> None:
        self._state: Any = None
        self._begins, self._active, self._steps, self._left = True, False, 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode and judges the guard at sample 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._monitor.reset()
        self._forget()
        self._observation = observation
        return observation, {**info, "shield": self._look()}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps with the action, or with the fallback's while the shield is up."""
        if self._active:
            action = self._fallback_action()
            self._steps += 1
            self._left -= 1
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._observation = observation
        ended = bool(terminated or truncated)
        return observation, reward, terminated, truncated, {**info, "shield": self._look(ended)}

    @property
    def trace(self) -> Trace | None:
        """The last whole trace, with the actions that were executed; None before the first."""
        return self._recorder.trace

    def _fallback_action(self) -> Any:
        batch = np.asarray(self._observation)[None]
        actions, self._state = self._policy.act(batch, self._state, np.array([self._begins]))
        self._begins = False
        chosen = np.asarray(actions)[0]
        if not isinstance(self.action_space, gym.spaces.Discrete):
            return chosen
        number = np.asarray(chosen)
        plain = number.ndim == 0 and number.dtype.kind in "iufb"
        whole = int(number) if plain and float(number).is_integer() else None
        if whole is None or not self.action_space.contains(whole):
            raise PolicyError(
                f"The shield's fallback chose {chosen!r:.60}, which is no action of "
                f"{self.action_space}."
            )
        return whole

    def _look(self, ended: bool = False) -> dict[str, Any]:
        """Judges the guard on the newest sample and decides who acts next."""
        now = self._judged()
        low = None if now.lo is None else float(now.lo[0])
        holds = bool(now.must[0]) and (low is None or low >= self._margin)
        self._decide(holds, low, ended)
        return {"active": self._active, "margin": low, "steps": self._steps}

    def _judged(self) -> Outcome:
        row = self._spec.read_signals(self.env.unwrapped)
        names = (signal.name for signal in self._spec.signals)
        try:
            sample = in_units(one_episode(dict(zip(names, row, strict=True))), self._units)
            return self._monitor.update(sample).delayed
        except TraceError as error:
            self._recorder.interrupt(f"the shield cannot judge: {error}")
            raise

    def _decide(self, holds: bool, low: float | None, ended: bool) -> None:
        before = self._active
        if not holds:
            self._left = self._hold
        self._active = self._left > 0
        self._begins = self._begins or not before
        if ended or self._active == before:
            return
        found = "" if low is None else f" (margin {low:.6g}, asked {self._margin:.6g})"
        word = f"took over: `{self._guard}`{found}" if self._active else "gave back"
        self._recorder.note("shield", word)


def shielded(
    scenario: str | ScenarioSpec,
    fallback: Policy | Callable[[Any], Any],
    *,
    guard: Formula | None = None,
    margin: float = 0.0,
    hold: int = 1,
) -> Shield:
    """Returns the scenario's environment behind a shield; see `Shield`.

    guard: None for what the scenario's `always` claims ask of each sample, as far as that looks
    at the present and the past. Raises ScenarioError for an unknown name, or where no claim has
    that shape.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    return Shield(
        make(spec),
        spec,
        guard_of(spec) if guard is None else guard,
        fallback,
        margin=margin,
        hold=hold,
    )


def guard_of(spec: ScenarioSpec) -> Formula:
    """Returns the conjunction of what the scenario's `always` claims ask of each sample.

    Only parts of the present and the past count. Raises ScenarioError if there is none.
    """
    bodies: list[Formula] = []
    for claim in spec.claims:
        if claim.kind == "mean":
            continue
        normal = nnf(claim.property)
        parts = normal.arguments if isinstance(normal, And) else (normal,)
        bodies += [
            part.argument
            for part in parts
            if isinstance(part, Always) and part.window.lo == 0 and not reads_future(part.argument)
        ]
    if not bodies:
        raise ScenarioError(
            f"No claim of {spec.name} asks something of every sample by itself; say what must hold "
            "for the policy to act: guard=clearance > 0.3."
        )
    return all_of(bodies)


def _monitor(guard: object, spec: ScenarioSpec, margin: float) -> Monitor:
    if not isinstance(guard, Formula):
        raise UnsupportedError(
            f"A guard is a formula of the present and the past, found {guard!r:.80}; write "
            "guard=clearance > 0.3."
        )
    if any(isinstance(part, Fraction) for part in postorder(guard)):
        raise UnsupportedError(
            f"The guard `{short(guard)}` is a share of an episode's samples, which is known at its "
            "end only; use historically(..., lasting=s) or once(..., within=s)."
        )
    if reads_future(guard):
        raise UnsupportedError(
            f"The guard `{short(guard)}` looks ahead, and a shield decides now; use the present "
            "and the past: once(..., within=s), historically(..., lasting=s), since."
        )
    refusal = margin_scale(guard).reason
    if margin > 0.0 and refusal:
        raise UnsupportedError(
            f"margin={margin:g} was asked of the guard `{short(guard)}`, but {refusal} Or use "
            "margin=0."
        )
    return Monitor(guard, spec.clock.dt, batch=1)


def _check_numbers(margin: object, hold: object) -> None:
    if not (isinstance(margin, Real) and 0.0 <= float(margin) < np.inf):
        raise ScenarioError(f"A shield's margin is a finite number >= 0, found {margin!r:.40}.")
    if isinstance(hold, bool) or not isinstance(hold, Integral) or hold < 1:
        raise ScenarioError(f"A shield holds for a whole number of steps >= 1, found {hold!r:.40}.")
