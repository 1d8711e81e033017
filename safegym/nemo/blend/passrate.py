"""Pass rates from rollouts: the share of a task's rollouts whose reward reaches a threshold.

Two kinds of record are read, in any mixture: the profiler's rows, one a task, with
`rollout_infos[].reward`; and plain rollouts, one a rollout, with `reward`. A rollout that was
masked (`mask_sample`: the simulator broke, not the policy) counts neither way.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safegym.errors import BlendError
from safegym.nemo.blend.joining import joined
from safegym.nemo.blend.places import Place, refuse
from safegym.nemo.blend.rates import rated
from safegym.nemo.blend.rollouts import ROLLOUT_INDEX, infos_of, refuse_twice
from safegym.nemo.blend.stored import Tell, silent, stored_rows, writing

PASS, FAIL, MASKED, REWARDLESS = range(4)
Named = str | Path | Place


@dataclass(frozen=True, slots=True)
class RateReport:
    """What was rated: rows, rows without a rollout that counts, rollouts and how many count.

    passed, failed, masked, rewardless: rollouts. threshold: of the reward.
    """

    out: str
    rows: int
    unrated: int
    passed: int
    failed: int
    masked: int
    rewardless: int
    threshold: float
    digest: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def pass_rates(
    rollouts: Sequence[Named],
    out: Named,
    *,
    rows: Named | None = None,
    threshold: float = 1.0,
    by: str = "",
    keep_unrated: bool = False,
    tell: Tell = silent,
) -> RateReport:
    """Write rows with `pass_rate`, `pass_rate_passed` and `pass_rate_total`.

    rollouts: files of rollouts or profiles. rows: the rows that were rolled out, joined by
    `_ng_task_index` (the number of the distinct row where it has none), or by the value of `by`, a
    dotted key such as task_id; None takes each profile's own `sample`. keep_unrated: keep rows
    without a rollout that counts, without a rate. Raises BlendError for a rollout counted twice,
    one that belongs to no row, unrated rows, or a reward that is no number.
    """
    if not math.isfinite(threshold):
        raise BlendError(f"The threshold of the reward is a finite number, found {threshold}.")
    sources = [Place.of(each) for each in rollouts]
    target = Place.of(out)
    _ = target.kind
    if not sources:
        raise BlendError("Name a file of rollouts, such as rollouts.jsonl.")
    tally = _Tally(threshold, by, keep_unrated=keep_unrated)
    if rows is None:
        refuse([target], sources)
        return _from_samples(sources, target, tally, tell)
    place = Place.of(rows)
    refuse([target], [*sources, place])
    return _joined(sources, place, target, tally, tell)


class _Tally:
    """Judges rollouts, and counts what they were."""

    def __init__(self, threshold: float, by: str, *, keep_unrated: bool) -> None:
        self.threshold, self.by, self.keep_unrated = threshold, by, keep_unrated
        self.seen = [0, 0, 0, 0]
        self.unrated = 0
        self._first: list[int] = []

    def outcome(self, rollout: Mapping[str, Any], where: str) -> int:
        """PASS, FAIL, MASKED or REWARDLESS."""
        reward = rollout.get("reward")
        if rollout.get("mask_sample"):
            found = MASKED
        elif reward is None:
            found = REWARDLESS
        elif isinstance(reward, bool) or not isinstance(reward, int | float):
            raise BlendError(f"{where}: a reward is a number, found {reward!r:.40}.")
        else:
            found = PASS if reward >= self.threshold else FAIL
        self.seen[found] += 1
        return found

    def row(self, row: Mapping[str, Any], number: int, counts: Sequence[int]) -> dict[str, Any]:
        """The row with its rate, or as it is where no rollout counts."""
        total = counts[PASS] + counts[FAIL]
        if total:
            return rated(row, counts[PASS], total)
        self.unrated += 1
        if len(self._first) < 5:
            self._first.append(number)
        return dict(row)

    def report(self, target: Place, rows: int, digest: str) -> RateReport:
        passed, failed, masked, rewardless = self.seen
        return RateReport(
            out=target.text,
            rows=rows,
            unrated=self.unrated,
            passed=passed,
            failed=failed,
            masked=masked,
            rewardless=rewardless,
            threshold=self.threshold,
            digest=digest,
        )

    def refuse_unrated(self, place: Place) -> None:
        if self.unrated and not self.keep_unrated:
            raise BlendError(
                f"{place.text}: {self.unrated} rows have no rollout that counts (lines "
                f"{', '.join(map(str, self._first))}{', ...' if self.unrated > 5 else ''}); roll "
                "them out, or pass --keep-unrated to keep them without a rate."
            )


def _from_samples(sources: Sequence[Place], target: Place, tally: _Tally, tell: Tell) -> RateReport:
    """Rows out of profiles, each with its own rollouts."""
    with writing(target, tell) as written:
        for place in sources:
            for line, record in stored_rows(place, tell):
                where = f"{place.text} line {line.number}"
                sample = record.get("sample")
                if not isinstance(sample, Mapping) or "rollout_infos" not in record:
                    raise BlendError(
                        f"{where} is no profile with rollout_infos and sample; pass the rows that "
                        "were rolled out: --rows FILE."
                    )
                counts, seen = [0, 0, 0, 0], set[Any]()
                for info in infos_of(record, where):
                    refuse_twice(info.get(ROLLOUT_INDEX), seen, where)
                    counts[tally.outcome(info, where)] += 1
                written.row(tally.row(sample, line.number, counts))
        tally.refuse_unrated(sources[0])
    return tally.report(target, written.rows, written.digest)


def _joined(
    sources: Sequence[Place], place: Place, target: Place, tally: _Tally, tell: Tell
) -> RateReport:
    """Rows with the rollouts that name them."""
    counts = joined(sources, place, tally.by, tally.outcome, tell)
    with closing(counts), writing(target, tell) as written:
        for line, row in stored_rows(place, tell, f"rating {place.text}"):
            written.row(tally.row(row, line.number, next(counts, (0, 0, 0, 0))))
        tally.refuse_unrated(place)
    return tally.report(target, written.rows, written.digest)
