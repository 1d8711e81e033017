"""The replay bank: starts from which a claim was violated, to be trained on again.

Sampling follows Jiang, Grefenstette and Rocktaeschel, Prioritized Level Replay (2021): a mixture
of rank-based priority and staleness. Replayed episodes never count as evidence, and their seeds are
burnt for certification.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safegym.digest import digest_json
from safegym.errors import GateError
from safegym.trace.model import Trace

Origin = Literal["train", "screen", "certify", "falsify"]


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How failing starts are trained on again.

    share: largest share of the episodes started in an epoch that are replays, in [0, 1).
    capacity: most starts held. retire_after: passes in a row after which a start is dropped.
    staleness: share of the drawing probability given to starts not drawn for long, in [0, 1].
    temperature: > 0; small draws the deepest violation almost always, large draws evenly.
    """

    share: float = 0.25
    capacity: int = 1000
    retire_after: int = 3
    staleness: float = 0.3
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.share < 1.0:
            raise GateError(f"The replay share is {self.share}; give a number in [0, 1).")
        if self.capacity < 1 or self.retire_after < 1:
            raise GateError("The replay capacity and retire_after must be at least 1.")
        if not 0.0 <= self.staleness <= 1.0:
            raise GateError(f"The replay staleness is {self.staleness}; give a number in [0, 1].")
        if not (self.temperature > 0.0 and math.isfinite(self.temperature)):
            raise GateError(f"The replay temperature is {self.temperature}; give a number > 0.")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            "share": self.share,
            "capacity": self.capacity,
            "retire_after": self.retire_after,
            "staleness": self.staleness,
            "temperature": self.temperature,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ReplaySettings":
        """The settings of `to_json`. Raises GateError when a field is missing or unknown."""
        try:
            return cls(**data)
        except TypeError as error:
            raise GateError(f"Stored replay settings are malformed: {error}.") from error


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A start from which a claim was violated.

    seed: given to reset. options: given to reset too; empty where the seed alone decides.
    parameters, disturbance_seed: as the episode's trace recorded them. margin: robustness in
    multiples of scale, <= 0, None where refused.
    """

    scenario_digest: str
    claim_id: str
    seed: int
    margin: float | None
    trace_digest: str
    origin: Origin
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbance_seed: int = 0

    @property
    def key(self) -> str:
        """Same for the same start and claim, whatever the outcome."""
        return digest_json([self.claim_id, str(self.seed), dict(self.options)])

    @classmethod
    def of(
        cls,
        trace: Trace,
        claim_id: str,
        margin: float | None,
        origin: Origin,
        options: Mapping[str, Any] | None = None,
    ) -> "Counterexample":
        """The start of a trace. options: what was given to reset beside the seed."""
        return cls(
            scenario_digest=trace.scenario_digest,
            claim_id=claim_id,
            seed=trace.seed,
            margin=margin,
            trace_digest=trace.digest,
            origin=origin,
            options=dict(options or {}),
            parameters=dict(trace.parameters),
            disturbance_seed=trace.disturbance_seed,
        )

    def to_json(self) -> dict[str, Any]:
        """The start as JSON; whole numbers that JSON would round are text."""
        return {
            "scenario_digest": self.scenario_digest,
            "claim_id": self.claim_id,
            "seed": str(self.seed),
            "margin": _number(self.margin),
            "trace_digest": self.trace_digest,
            "origin": self.origin,
            "options": dict(self.options),
            "parameters": dict(self.parameters),
            "disturbance_seed": str(self.disturbance_seed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Counterexample":
        """The start of `to_json`. Raises GateError when it is malformed."""
        try:
            fields = dict(data)
            margin = fields["margin"]
            fields["margin"] = None if margin is None else float(margin)
            fields["seed"] = int(fields["seed"])
            fields["disturbance_seed"] = int(fields["disturbance_seed"])
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"A stored counterexample is malformed: {error!r}.") from error


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

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The starts held, oldest first."""
        return tuple(self._entries.values())

    @property
    def burnt(self) -> frozenset[int]:
        """Seeds that were replayed and so may not certify."""
        return frozenset(self._burnt)

    def add(self, start: Counterexample) -> bool:
        """Hold a start, or renew it; True if it is new.

        A full bank lets its shallowest violation go. Raises GateError for another scenario.
        """
        if start.scenario_digest != self._scenario_digest:
            raise GateError(
                f"A counterexample of scenario {start.scenario_digest or '(none)'} was offered to "
                f"the bank of {self._scenario_digest}; starts are not carried between scenarios."
            )
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

        Returns True when the start is retired: passed `retire_after` times in a row.
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
            "entries": [
                {
                    "start": entry.start.to_json(),
                    "margin": _number(entry.margin),
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
            owner = data["scenario_digest"]
        except (KeyError, TypeError, ValueError) as error:
            raise GateError(f"A stored replay bank is malformed: {error!r}.") from error
        if owner != scenario_digest:
            raise GateError(
                f"The stored replay bank is of scenario {owner}, not {scenario_digest}."
            )
        return bank


@dataclass(frozen=True, slots=True, eq=False)
class ReplayPlan:
    """Starts and drawing probabilities, fixed for one epoch. Draws touch no global generator."""

    starts: tuple[Counterexample, ...]
    probabilities: NDArray[np.float64]
    share: float
    root: int
    epoch: int

    def draw(self, number: int) -> Counterexample:
        """The start of the epoch's replay `number`, from 0: the same whenever it is asked."""
        sequence = np.random.SeedSequence(
            entropy=self.root, spawn_key=(0x5245504C, self.epoch, number)
        )
        generator = np.random.Generator(np.random.PCG64(sequence))
        return self.starts[int(generator.choice(len(self.starts), p=self.probabilities))]


@dataclass(slots=True)
class ReplayDesk:
    """Hands starts to the environments at their resets, never more than the plan's share.

    started, replayed: episodes since the epoch began.
    """

    plan: ReplayPlan | None = None
    started: int = 0
    replayed: int = 0

    def open(self, plan: ReplayPlan) -> None:
        """Begin an epoch."""
        self.plan, self.started, self.replayed = plan, 0, 0

    def next(self) -> Counterexample | None:
        """The start of the next episode; None for a fresh one."""
        self.started += 1
        plan = self.plan
        if plan is None or not plan.starts or self.replayed + 1 > plan.share * self.started:
            return None
        self.replayed += 1
        return plan.draw(self.replayed - 1)


def _depth(margin: float | None) -> float:
    return 0.0 if margin is None or math.isnan(margin) else -margin


def _number(value: float | None) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)
