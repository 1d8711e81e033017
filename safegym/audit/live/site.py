"""All runs that are served, by their place in addresses, and the list of them."""

import hashlib
import threading
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from safegym.audit.live.page import Row, index_page
from safegym.audit.live.places import MOST, is_folder_of_runs, run_folders, slug_of
from safegym.audit.live.telling import STATE_WORDS
from safegym.audit.live.watched import MakeReport, WatchedRun
from safegym.audit.record import AuditRecord
from safegym.audit.report.figures import short
from safegym.audit.sign import PublicKey

SEARCHED_EVERY = 2.0
"""Seconds between searches for new runs."""
READ_ALL_FOR = 1.0
"""Seconds that one look at the list reads logs, all together."""


class Site:
    """What is served. Addresses are looked up among the runs found, never made into paths.

    keys: the keys that are trusted. report: makes full reports. Raises AuditError if `place` holds
    nothing to serve.
    """

    def __init__(self, place: Path, keys: tuple[PublicKey, ...], report: MakeReport) -> None:
        self.place = place
        self._keys = keys
        self._make_report = report
        self._lock = threading.Lock()
        self._runs: dict[str, WatchedRun] = {}
        self._searched = -SEARCHED_EVERY
        self._left = 0
        self.listed = is_folder_of_runs(place)
        self.single = None if self.listed else self._watch(place, place.name or str(place))

    def run(self, slug: str) -> WatchedRun | None:
        """The run at this address, or None."""
        return self._search().get(slug)

    def rows(self) -> tuple[list[Row], str, int]:
        """The list of runs as far as their logs were read, its version, and how many are left."""
        until = time.monotonic() + READ_ALL_FOR
        rows = [
            _row(slug, run, max(0.0, until - time.monotonic()))
            for slug, run in self._search().items()
        ]
        version = hashlib.sha256(repr(rows).encode("utf-8")).hexdigest()[:16]
        return rows, version, self._left

    def index(self) -> bytes:
        """The page that lists the runs."""
        rows, version, left = self.rows()
        return index_page(self.place.name or str(self.place), rows, version=version, left=left)

    def _watch(self, place: Path, name: str) -> WatchedRun:
        return WatchedRun(place, name, self._keys, self._make_report)

    def _search(self) -> dict[str, WatchedRun]:
        with self._lock:
            if time.monotonic() < self._searched + SEARCHED_EVERY:
                return self._runs
            found = list(islice(run_folders(self.place), 2 * MOST))
            self._left = max(0, len(found) - MOST)
            runs: dict[str, WatchedRun] = {}
            for place in found[:MOST]:
                name = place.relative_to(self.place).as_posix()
                slug = slug_of(name)
                runs[slug] = self._runs.get(slug) or self._watch(place, name)
            self._runs = runs
            self._searched = time.monotonic()
            return runs


def _row(slug: str, run: WatchedRun, seconds: float) -> Row:
    seen = run.look(seconds)
    words = STATE_WORDS[seen.state]
    if seen.state == "closed":
        words = f"closed: {_last(seen.records, 'run_closed', 'outcome')}"
    if seen.state == "broken":
        words = f"BROKEN: {short(seen.fault, 200)}"
    moment = seen.records[-1].time[:19].replace("T", " ") if seen.records else ""
    scenario = _last(seen.records, "scenario_registered", "name")
    return Row(slug, run.name, scenario, seen.state, words, len(seen.records), moment)


def _last(records: Sequence[AuditRecord], kind: str, field: str) -> str:
    found = (record.payload[field] for record in reversed(records) if record.kind == kind)
    return short(str(next(found, "")), 80)
