"""Penalties at the step where a violation settles, inside any training loop.

The wrapper listens to the online monitors of `make(..., live=True)`. safegym's own trainer finds
the same steps offline, in its rollout buffer (`penalty`); other loops (off-policy, other
libraries) get them here, in the reward itself.
"""

from collections.abc import Sequence
from typing import Any, SupportsFloat

import gymnasium as gym

from safegym.check.live import make
from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.penalty import Penaliser, PenaltySettings, penalty_size
from safegym.gate.weighting.settings import REASON
from safegym.scenario.registry import find
from safegym.scenario.reward_wrap import owed_at_terminal
from safegym.scenario.spec import ScenarioSpec
from safegym.trace.model import Trace
from safegym.trace.record import Recorder


class StepPenalty(gym.Wrapper[Any, Any, Any, Any]):
    """Lowers the reward of the action that settles a violation.

    env: made with `safegym.make(spec, live=claims)`; what else it watches costs nothing. A
    violation that the online monitor sees settle is penalised at once, by its margin there; what
    only the episode's end decides (or a monitor that is not tight sees late) is judged on the
    finished trace and penalised at the last step. Each claim is penalised once an episode, never at
    sample 0, before any action. With `ends`, such a violation that the samples show terminates the
    episode, unless it was there at sample 0.

    info["penalties"]: claim id -> what was added to the reward of this step, <= 0. Raises GateError
    for settings that name unknown claims or that only the trainer can follow (`adapt`,
    `cost_critic`), and in use where the environment has no live claims.
    """

    def __init__(
        self,
        env: Recorder,
        spec: ScenarioSpec,
        claims: Sequence[Claim],
        settings: PenaltySettings,
    ) -> None:
        super().__init__(env)
        _refuse_trainers_own(settings)
        self._recorder, self._settings = env, settings
        self._penaliser = Penaliser(claims, spec.clock, spec.horizon, settings)
        self._ids = frozenset(claim.id for claim in claims)
        self._seen: set[str] = set()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; a claim violated at sample 0 is never penalised."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._seen = set(self._violated(info))
        return observation, {**info, "penalties": {}}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps, and adds the penalties of the claims whose violation settled."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        penalties = self._at_end() if terminated or truncated else self._settled(info)
        lowered = float(reward) + sum(penalties.values())
        told = {**info, "penalties": penalties}
        if self._settings.ends and penalties and not terminated and self._shown(info, penalties):
            self._recorder.interrupt(REASON + next(iter(penalties)))
            return observation, lowered + owed_at_terminal(self._recorder), True, False, told
        return observation, lowered, terminated, truncated, told

    @property
    def trace(self) -> Trace | None:
        """The last whole trace, with the environment's own rewards; None before the first."""
        return self._recorder.trace

    def _settled(self, info: dict[str, Any]) -> dict[str, float]:
        """Penalties of the violations that the newest sample settled."""
        fresh = [claim for claim in self._violated(info) if claim not in self._seen]
        self._seen.update(fresh)
        sizes = {claim: self._size(claim, info["claims"][claim]["hi"]) for claim in fresh}
        return {claim: size for claim, size in sizes.items() if size < 0.0}

    def _shown(self, info: dict[str, Any], penalties: dict[str, float]) -> bool:
        """Whether the samples so far violate a claim that was just penalised."""
        return not set(penalties).isdisjoint(self._violated(info))

    def _violated(self, info: dict[str, Any]) -> list[str]:
        """Of the claims that are penalised, those that the samples so far violate."""
        if "claims" not in info:
            raise GateError(
                "Penalties listen to live claims, and info has none; make the environment with "
                "safegym.make(spec, live=claims), or take safegym.penalised(spec)."
            )
        found = info["claims"].items()
        return [name for name, now in found if now["status"] == "violated" and name in self._ids]

    def _size(self, claim: str, margin: float | None) -> float:
        return penalty_size(margin, self._settings.weight_of(claim), self._settings)

    def _at_end(self) -> dict[str, float]:
        """Penalties of what the finished trace violates and no sample before showed."""
        trace = self._recorder.trace
        if trace is None:
            return {}
        return {
            violation.claim_id: violation.size
            for violation in self._penaliser.violations(trace)
            if violation.claim_id not in self._seen and violation.size < 0.0
        }


def _refuse_trainers_own(settings: PenaltySettings) -> None:
    for name in ("adapt", "cost_critic"):
        if getattr(settings, name) is not None:
            raise GateError(
                f"PenaltySettings({name}=...) needs the rollouts of safegym.train; a wrapped "
                f"environment takes fixed weights: dataclasses.replace(settings, {name}=None)."
            )


def penalised(
    scenario: str | ScenarioSpec,
    settings: PenaltySettings | None = None,
    *,
    claims: Sequence[Claim] | None = None,
) -> StepPenalty:
    """Returns the scenario's environment with penalties in its reward; see `StepPenalty`.

    claims: those that are penalised, None for the scenario's; means over episodes are passed over.
    Raises ScenarioError for an unknown name, GateError for settings that name unknown claims.
    """
    spec = find(scenario) if isinstance(scenario, str) else scenario
    chosen = tuple(spec.claims if claims is None else claims)
    judged = tuple(claim for claim in chosen if claim.kind != "mean")
    return StepPenalty(make(spec, live=judged), spec, chosen, settings or PenaltySettings())
