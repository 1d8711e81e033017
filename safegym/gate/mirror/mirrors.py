"""All mirrors of one training, behind one listener."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from safegym.gate.events import GateEvent, ScreenDone
from safegym.gate.mirror.scalars import Scalars
from safegym.gate.mirror.to_mlflow import MlflowMirror
from safegym.gate.mirror.to_tensorboard import TensorBoardMirror
from safegym.gate.setting import Setting
from safegym.version import __version__

if TYPE_CHECKING:
    from safegym.gate.trainer.events import Event
    from safegym.gate.training import TrainingRun

_logger = logging.getLogger("safegym.mirror")
RunListener = Callable[["Event | GateEvent"], None]
Mirror = TensorBoardMirror | MlflowMirror


def open_mirrors(
    listener: RunListener,
    run: Path,
    *,
    tensorboard: str | Path | None = None,
    mlflow: str | Path | None = None,
) -> "Mirrors":
    """The mirrors that were asked for, opened before anything runs.

    listener: hears every event before they do. Raises GateError if one cannot be opened.
    """
    found: list[Mirror] = []
    if tensorboard is not None:
        found.append(TensorBoardMirror(Path(tensorboard)))
    if mlflow is not None:
        found.append(MlflowMirror(str(mlflow), run))
    return Mirrors(listener, found)


@dataclass(slots=True)
class Mirrors:
    """Passes each event on, and notes its numbers in each mirror.

    A mirror that raises is let go with a warning (log "safegym.mirror"): training never waits for
    or ends by one.
    """

    listener: RunListener
    mirrors: list[Mirror]
    scalars: Scalars = field(default_factory=Scalars)
    banded: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for mirror in tuple(self.mirrors):
            if kind is not None and isinstance(mirror, MlflowMirror):
                status = "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed"
                self._try(mirror, mirror.end, status, {"safegym.status": kind.__name__})
            self._try(mirror, mirror.close)

    def begin(self, setting: Setting, training: Mapping[str, Any], run: str) -> None:
        """Tell what the run is: its scenario, claims, plan and hyperparameters, and its id."""
        spec = setting.spec
        facts = {
            "scenario": spec.name,
            "scenario_digest": spec.digest,
            "claims": {claim.id: claim.canonical_text for claim in setting.claims},
            "plan": setting.plan.to_json(),
            "training": training,
        }
        tags = {"safegym.run": run, "safegym.version": __version__}
        for mirror in tuple(self.mirrors):
            if isinstance(mirror, MlflowMirror):
                self._try(mirror, mirror.begin, facts, tags)

    def hear(self, event: "Event | GateEvent") -> None:
        """Listen to a training run."""
        self.listener(event)
        if not self.mirrors:
            return
        from safegym.gate.trainer.events import EpochEnded, GateDecided, RunStarted

        numbers = self.scalars.of(event)
        steps = self.scalars.steps
        for mirror in tuple(self.mirrors):
            if isinstance(event, RunStarted) and event.resumed_from is not None:
                self._try(mirror, mirror.resumed, steps)
            if numbers:
                self._try(mirror, mirror.numbers, steps, numbers)
            if isinstance(event, ScreenDone) and isinstance(mirror, TensorBoardMirror):
                self._bands(mirror, event)
            if isinstance(event, GateDecided):
                self._try(mirror, mirror.text, steps, "gate/reasons", _decided(event))
            if isinstance(event, EpochEnded | GateDecided):
                self._try(mirror, mirror.flush)

    def _bands(self, mirror: TensorBoardMirror, event: ScreenDone) -> None:
        """Lay out the screened rates once their claims are known."""
        claims = tuple(event.violations)
        if not event.label and claims != self.banded:
            self.banded = claims
            self._try(mirror, mirror.bands, claims)

    def ended(self, run: "TrainingRun") -> "TrainingRun":
        """Tell how the run ended, with the released policy's files; returns the run."""
        for mirror in tuple(self.mirrors):
            if isinstance(mirror, MlflowMirror):
                self._try(mirror, _finish, mirror, run)
        return run

    def _try(self, mirror: Mirror, act: Callable[..., None], *given: Any) -> None:
        if mirror not in self.mirrors:
            return
        try:
            act(*given)
        except Exception as error:
            self.mirrors.remove(mirror)
            _logger.warning(
                "%s takes nothing more (%s: %s); training and its audit log go on without it.",
                mirror.name,
                type(error).__name__,
                error,
            )


def _decided(event: Any) -> str:
    return f"epoch {event.epoch}: {event.action}: {'; '.join(event.reasons)}"


def _finish(mirror: MlflowMirror, run: "TrainingRun") -> None:
    from safegym.gate.evidence import stored_json

    if run.evidence:
        mirror.document("evidence.json", [stored_json(item) for item in run.evidence])
    if run.policy is not None:
        mirror.files(run.policy, f"policies/{run.policy.name}")
    mirror.end(
        run.status,
        {
            "safegym.status": run.status,
            "safegym.reasons": "; ".join(run.reasons),
            "safegym.policy": run.policy_digest,
            "safegym.log_root": run.root,
        },
    )
