"""The curriculum in a training run: what its episodes say, and what the next ones begin with."""

from collections.abc import Mapping, Sequence
from typing import Any

from safegym.check.monitor import judge
from safegym.gate.penalty import Penaliser
from safegym.gate.replay import ReplayDesk
from safegym.gate.reward.staged import CurriculumProgress, closed_at_cut
from safegym.gate.trainer.correction import JudgedEpisode
from safegym.gate.trainer.events import Event, StageBegan
from safegym.gate.trainer.settings import TrainSettings


class Course:
    """A run's place in its curriculum. Without one it changes nothing."""

    def __init__(self, settings: TrainSettings, horizon: int) -> None:
        self._curriculum, self._total = settings.curriculum, settings.steps
        self._progress = CurriculumProgress(settings.curriculum)
        self._limits = () if self._curriculum is None else self._curriculum.limits(horizon)
        self._desk = ReplayDesk()

    @property
    def stage(self) -> int | None:
        """The stage for reports; None without a curriculum."""
        return self._progress.shown

    def attach(self, desk: ReplayDesk) -> None:
        """From now on `desk` says which stage an episode begins in."""
        self._desk = desk
        desk.stage = self._progress.open

    def after(
        self, judged: Sequence[JudgedEpisode], penaliser: Penaliser, epoch: int, steps: int
    ) -> list[Event]:
        """Take in a rollout's finished episodes; returns that a later stage begins, if one does."""
        if self._curriculum is None or self._progress.open is None:
            return []
        told = [
            (item.finished.start.stage, _succeeded(item, penaliser))
            for item in judged
            if item.finished.start.replay is None
        ]
        if not self._progress.tell(told, steps / self._total):
            return []
        stage = self._progress.stage
        self._desk.stage = self._progress.open
        horizon = self._limits[stage]
        return [StageBegan(epoch, steps, stage, len(self._curriculum.stages), horizon)]

    def state(self) -> dict[str, Any]:
        """Everything that was learned, as JSON."""
        return self._progress.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put `state` back. Raises GateError when it is malformed."""
        self._progress.restore(state)
        self._desk.stage = self._progress.open


def _succeeded(item: JudgedEpisode, penaliser: Penaliser) -> bool:
    """Whether every claim of its stage was kept, taking the stage's horizon for the scenario's."""
    trace, stage = item.finished.trace, item.finished.start.stage
    if item.violations or trace.end.kind == "failed":
        return False
    closed = closed_at_cut(trace)
    if closed is trace:
        return True
    return all(judge(claim, closed).status != "violated" for claim in penaliser.at(stage).claims)
