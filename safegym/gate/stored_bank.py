"""The replay bank and the regression suite of a run, as its last checkpoint holds them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safegym.errors import GateError, RunFolderError
from safegym.gate.counterexample import Counterexample
from safegym.gate.replay import ReplayBank

Place = Literal["bank", "suite", "waiting"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A start and where it stands.

    place: "bank" is replayed in training, "suite" must be passed before an attempt, "waiting" was
    given from outside and is taken when the run goes on. margin: at its last violation, in
    multiples of scale. passes: in a row. replays: in all.
    """

    start: Counterexample
    place: Place
    margin: float | None
    passes: int = 0
    replays: int = 0
    probability: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The start and its numbers as JSON."""
        return {
            "key": self.start.key,
            "place": self.place,
            **self.start.to_json(),
            "margin": self.margin,
            "passes": self.passes,
            "replays": self.replays,
            "probability": self.probability,
        }


@dataclass(frozen=True, slots=True)
class StoredBank:
    """What a run holds after `epoch`. burnt: how many seeds it has replayed."""

    scenario: str
    epoch: int
    kept: tuple[Kept, ...]
    burnt: int

    def find(self, name: str) -> tuple[Kept, ...]:
        """The starts of a seed, or whose key begins with `name`. Raises GateError for none."""
        found = tuple(each for each in self.kept if _named(each.start, name))
        if not found:
            raise GateError(
                f"No start of this run has the seed or key {name!r}; see them with: "
                "safegym bank list RUN"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "scenario": self.scenario,
            "epoch": self.epoch,
            "burnt": self.burnt,
            "starts": [each.to_json() for each in self.kept],
        }


def read_bank(run: str | Path) -> StoredBank:
    """The bank of the run in a folder, whether it goes on or has ended.

    Starts stand in this order: the bank, oldest first; the suite, in the order they joined; those
    given from outside and not taken yet. Raises RunFolderError where the folder holds no training
    or its checkpoint is damaged, GateError where a start is of another scenario than the run's.
    """
    from safegym.gate.trainer.folder import IDENTITY, LAST, RunFolder
    from safegym.gate.trainer.given import given_starts

    folder = RunFolder(run)
    identity, last = folder.read(IDENTITY), folder.read(LAST)
    if identity is None:
        raise folder.not_a_run()
    given = given_starts(folder.path)
    if last is None:
        return StoredBank(str(identity["scenario"]), 0, tuple(_waiting(given)), 0)
    extra = _extra(folder.checkpoint(int(last["epoch"])))
    bank = ReplayBank.from_json(extra["bank"], str(identity["scenario_digest"]))
    fresh = given[int(extra.get("given", 0)) :]
    kept = (*_banked(bank), *_suite(bank), *_waiting(fresh))
    return StoredBank(str(identity["scenario"]), int(last["epoch"]), kept, len(bank.burnt))


def _extra(checkpoint: Path) -> dict[str, Any]:
    from safegym.policy.sb3.checkpoint import TRAINING
    from safegym.policy.sb3.folder import read_folder

    try:
        extra: dict[str, Any] = json.loads(read_folder(checkpoint, [TRAINING])[TRAINING])["extra"]
    except (KeyError, TypeError, ValueError) as error:
        raise RunFolderError(f"{checkpoint} holds no training state: {error!r}.") from error
    return extra


def _banked(bank: ReplayBank) -> Iterator[Kept]:
    for entry, chance in zip(bank.entries, bank.probabilities(), strict=True):
        yield Kept(
            entry.start, "bank", entry.margin, entry.passes, entry.replays, round(float(chance), 6)
        )


def _suite(bank: ReplayBank) -> Iterator[Kept]:
    for start in bank.suite.starts:
        yield Kept(start, "suite", start.margin)


def _waiting(starts: tuple[Counterexample, ...]) -> Iterator[Kept]:
    for start in starts:
        yield Kept(start, "waiting", start.margin)


def _named(start: Counterexample, name: str) -> bool:
    return str(start.seed) == name or start.key.partition(":")[2].startswith(name)
