"""The replay bank: starts from which a claim was violated, to be trained on again.

Sampling follows Jiang, Grefenstette and Rocktaeschel, Prioritized Level Replay (2021): a mixture
of rank-based priority and staleness. Replayed episodes never count as evidence, and their seeds are
burnt for certification. A start that was passed often enough leaves the bank for the regression
suite (`safegym.gate.suite`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safegym.errors import GateError
from safegym.gate.counterexample import Counterexample, Origin, margin_json
from safegym.gate.replay_settings import ReplaySettings
from safegym.gate.replaying import ReplayDesk, ReplayPlan
from safegym.gate.suite import RegressionSuite

__all__ = [
    "Counterexample",
    "Entry",
    "Origin",
    "ReplayBank",
    "ReplayDesk",
    "ReplayPlan",
    "ReplaySettings",
]


@dataclass(slots=True)
class Entry:
    """A start in the bank. last_drawn: the bank's count of draws when it was last drawn."""

    start: Counterexample
    margin: float | None
    passes: int = 0
    replays: int = 0
    last_drawn: int = 0


class ReplayBank:
    """Failing starts of one scenario, by claim and start."""

    def __init__(self, scenario_digest: str, settings: ReplaySettings) -> None:
        self._scenario_digest = scenario_digest
        self._settings = settings
        self._entries: dict[str, Entry] = {}
        self._draws = 0
        self._burnt: set[int] = set()
        self._suite = RegressionSuite(settings.suite)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The starts held, oldest first."""
        return tuple(self._entries.values())

    def holds(self, start: Counterexample) -> bool:
        """Whether the start is in the bank now."""
        return start.key in self._entries

    @property
    def burnt(self) -> frozenset[int]:
        """Seeds that were replayed and so may not certify."""
        return frozenset(self._burnt)

    @property
    def suite(self) -> RegressionSuite:
        """Retired starts, which a policy must pass before an attempt to certify it."""
        return self._suite

    def add(self, start: Counterexample) -> bool:
        """Hold a start, or renew it; True if it is new.

        A full bank lets its shallowest violation go. A start that failed again in the regression
        suite is held like any other and stays in the suite. Raises GateError for another scenario.
        """
        start.refuse_other(self._scenario_digest, "bank")
        known = self._entries.get(start.key)
        if known is not None:
            known.margin, known.passes = start.margin, 0
            return False
        if len(self._entries) >= self._settings.capacity:
            weakest = min(self._entries, key=lambda key: _depth(self._entries[key].margin))
            del self._entries[weakest]
        self._entries[start.key] = Entry(start, start.margin, last_drawn=self._draws)
        return True

    def record(self, start: Counterexample, status: str, margin: float | None) -> bool:
        """Take in how a replay ended: "satisfied", "violated" or "inconclusive".

        Returns True when the start is retired: passed `retire_after` times in a row. It then joins
        the regression suite.
        """
        self._draws += 1
        self._burnt.add(start.seed)
        entry = self._entries.get(start.key)
        if entry is None:
            return False
        entry.replays += 1
        entry.last_drawn = self._draws
        if status == "violated":
            entry.passes, entry.margin = 0, margin
        elif status == "satisfied":
            entry.passes += 1
        if entry.passes < self._settings.retire_after:
            return False
        del self._entries[start.key]
        self._suite.add(entry.start)
        return True

    def probabilities(self) -> NDArray[np.float64]:
        """Drawing probabilities of `entries`, shape (len(self),), summing to 1."""
        count = len(self._entries)
        if count == 0:
            return np.zeros(0)
        depths = np.array([_depth(entry.margin) for entry in self._entries.values()])
        ranks = np.empty(count)
        ranks[np.argsort(-depths, kind="stable")] = np.arange(1, count + 1)
        priority = ranks ** (-1.0 / self._settings.temperature)
        priority /= priority.sum()
        age = np.array([self._draws - e.last_drawn for e in self._entries.values()], np.float64)
        stale = age / age.sum() if age.sum() > 0 else np.full(count, 1.0 / count)
        share = self._settings.staleness
        mixed = (1.0 - share) * priority + share * stale
        total: NDArray[np.float64] = mixed / mixed.sum()
        return total

    def plan(self, root: int, epoch: int) -> "ReplayPlan":
        """What the environments draw from during one epoch: a copy, fixed at its boundary."""
        return ReplayPlan(
            starts=tuple(entry.start for entry in self._entries.values()),
            probabilities=self.probabilities(),
            share=self._settings.share,
            root=root,
            epoch=epoch,
        )

    def to_json(self) -> dict[str, Any]:
        """The whole bank as JSON."""
        return {
            "scenario_digest": self._scenario_digest,
            "settings": self._settings.to_json(),
            "draws": self._draws,
            "burnt": sorted(str(seed) for seed in self._burnt),
            "suite": self._suite.to_json(),
            "suite_joined": self._suite.joined,
            "entries": [
                {
                    "start": entry.start.to_json(),
                    "margin": margin_json(entry.margin),
                    "passes": entry.passes,
                    "replays": entry.replays,
                    "last_drawn": entry.last_drawn,
                }
                for entry in self._entries.values()
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], scenario_digest: str) -> "ReplayBank":
        """The bank of `to_json`. Raises GateError when malformed or of another scenario."""
        try:
            bank = cls(scenario_digest, ReplaySettings.from_json(data["settings"]))
            for item in data["entries"]:
                start = Counterexample.from_json(item["start"])
                bank.add(start)
                margin = item["margin"]
                entry = bank._entries[start.key]
                entry.margin = None if margin is None else float(margin)
                entry.passes, entry.replays = int(item["passes"]), int(item["replays"])
                entry.last_drawn = int(item["last_drawn"])
            bank._draws = int(data["draws"])
            bank._burnt = {int(seed) for seed in data["burnt"]}
            kept, most = data.get("suite", ()), bank._settings.suite
            joined = int(data.get("suite_joined", len(kept)))
            bank._suite = RegressionSuite.from_json(kept, most, scenario_digest, joined)
            owner = data["scenario_digest"]
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"A stored replay bank is malformed: {error!r}.") from error
        if owner != scenario_digest:
            raise GateError(
                f"The stored replay bank is of scenario {owner}, not {scenario_digest}."
            )
        return bank


def _depth(margin: float | None) -> float:
    return 0.0 if margin is None or math.isnan(margin) else -margin
