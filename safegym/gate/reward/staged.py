"""Where a run stands in its curriculum, and who judges its training episodes there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from safegym.check.monitor import judge
from safegym.errors import GateError
from safegym.formula.claim import Claim
from safegym.gate.penalty import Penaliser, PenaltySettings
from safegym.gate.reward.curriculum import Curriculum
from safegym.trace.model import Clock, EpisodeEnd, Trace


def closed_at_cut(trace: Trace) -> Trace:
    """An episode that was cut before the scenario's horizon, as if the cut were that horizon.

    Any other trace is returned as it is.
    """
    steps = len(trace.rewards)
    if trace.end.kind != "interrupted" or trace.end.reason != f"limit of {steps} steps":
        return trace
    end = EpisodeEnd("horizon", trace.end.time, "horizon")
    return replace(trace, end=end, horizon=steps, digest="")


class _StageJudge(Penaliser):
    """Judges episodes of one stage, which may all be cut short."""

    def void(self, trace: Trace, violated: Collection[str]) -> frozenset[str]:
        """A claim counts where the cut, taken for the horizon, leaves it kept.

        Else only failing episodes would count, as every other one is cut.
        """
        closed = closed_at_cut(trace)
        unconditioned = super().void(closed, violated)
        if closed is trace:
            return unconditioned
        return unconditioned | {
            claim.id
            for claim in self.claims
            if claim.id not in violated and judge(claim, closed).status != "satisfied"
        }


class StagedPenaliser(Penaliser):
    """A penaliser that judges each training episode by the claims of the stage it began in.

    By itself it judges by the claims as they are: what a gate found is banked by those. Weights
    are one and the same in all stages.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        clock: Clock,
        horizon: int,
        settings: PenaltySettings,
        curriculum: Curriculum,
    ) -> None:
        super().__init__(claims, clock, horizon, settings)
        easier = curriculum.claim_sets(claims)[:-1]
        self._stages = tuple(
            _StageJudge(judged, clock, horizon, settings, self.weights) for judged in easier
        )

    def at(self, stage: int | None) -> Penaliser:
        """Who judges training episodes that began in this stage."""
        return self if stage is None else self._stages[stage]


def penaliser_of(
    claims: Sequence[Claim],
    clock: Clock,
    horizon: int,
    settings: PenaltySettings,
    curriculum: Curriculum | None,
) -> Penaliser:
    """The penaliser of a run, with its curriculum if it has one."""
    if curriculum is None:
        return Penaliser(claims, clock, horizon, settings)
    return StagedPenaliser(claims, clock, horizon, settings, curriculum)


class CurriculumProgress:
    """The stage that new training episodes begin in. Stages only go forward.

    Without a curriculum it stays at stage 0, the scenario as it stands.
    """

    def __init__(self, curriculum: Curriculum | None) -> None:
        self._curriculum = curriculum
        self._stage = 0
        self._recent: list[bool] = []

    @property
    def stage(self) -> int:
        """The stage, from 0; as many as there are stages for the scenario as it stands."""
        return self._stage

    @property
    def shown(self) -> int | None:
        """The stage for reports; None without a curriculum."""
        return None if self._curriculum is None else self._stage

    @property
    def open(self) -> int | None:
        """The stage that episodes begin in; None for the scenario as it stands."""
        curriculum = self._curriculum
        return None if curriculum is None or self._stage >= len(curriculum.stages) else self._stage

    def tell(self, episodes: Sequence[tuple[int | None, bool]], progress: float) -> bool:
        """Take in a rollout; returns whether a later stage begins.

        episodes: (stage it began in, whether it succeeded) of each finished one, replays left out.
        progress: share of the run's steps done, in [0, 1].
        """
        curriculum, before = self._curriculum, self._stage
        if curriculum is None or before >= len(curriculum.stages):
            return False
        fresh = [succeeded for stage, succeeded in episodes if stage == before]
        self._recent = (self._recent + fresh)[-curriculum.window :]
        if self._mastered(curriculum):
            self._stage += 1
        due = sum(progress >= stage.until for stage in curriculum.stages)
        self._stage = max(self._stage, due)
        if self._stage == before:
            return False
        self._recent = []
        return True

    def _mastered(self, curriculum: Curriculum) -> bool:
        if curriculum.success is None or len(self._recent) < curriculum.window:
            return False
        return sum(self._recent) / curriculum.window >= curriculum.success

    def state(self) -> dict[str, Any]:
        """Everything that was learned, as JSON."""
        return {"stage": self._stage, "recent": [int(one) for one in self._recent]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put `state` back. Raises GateError when it is malformed or beyond the last stage."""
        try:
            stage, recent = int(state["stage"]), [bool(one) for one in state["recent"]]
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"The stored curriculum is malformed: {error!r}.") from error
        last = 0 if self._curriculum is None else len(self._curriculum.stages)
        if not 0 <= stage <= last:
            raise GateError(f"The stored curriculum is at stage {stage}; there are {last}.")
        self._stage, self._recent = stage, recent
