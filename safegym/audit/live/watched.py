"""One run that is watched: its log followed, its pages kept until the log moves on."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from safegym.audit.live.follow import Follower, Seen
from safegym.audit.live.page import run_page
from safegym.audit.report.integrity import own_key
from safegym.audit.sign import KeyRing, PublicKey
from safegym.errors import AuditError

MakeReport = Callable[[Path, bool], bytes]
"""Makes the full report of a run or bundle; told whether the run is closed."""

READ_FOR = 0.4
"""Seconds that one request reads on at most."""
REST = 4.0
"""Times a page's drawing time before it is drawn again, so that drawing stays a small share."""


class WatchedRun:
    """A run folder or a bundle under watch; safe to ask from several threads.

    keys: the keys that are trusted; without any, the run's own key shows only that the signatures
    fit together, and pages say so. A bundle does not grow: its page is its report.
    """

    def __init__(
        self, place: Path, name: str, keys: tuple[PublicKey, ...], report: MakeReport
    ) -> None:
        self.place = place
        self.name = name
        self.bundle = place.is_file()
        self._keys = keys
        self._make_report = report
        self._lock = threading.Lock()
        self._reporting = threading.Lock()
        self._follower: Follower | None = None
        self._page: tuple[tuple[str, str], bytes] | None = None
        self._drawn = (0.0, 0.0)
        self._report: tuple[str, bytes] | None = None

    def look(self, seconds: float = READ_FOR) -> Seen:
        """Read on for about so long; what is known then."""
        with self._lock:
            return self._look(seconds)

    def state(self) -> dict[str, Any]:
        """The state for machines. age: seconds since the log was written, None without a log."""
        seen = self.look()
        age = round(max(0.0, time.time() - seen.modified), 1) if seen.modified else None
        return {
            "version": _version(seen),
            "state": seen.state,
            "fault": seen.fault,
            "records": len(seen.records),
            "signed": seen.signed,
            "root": seen.root,
            "torn_bytes": seen.torn,
            "age": age,
        }

    def page(self, home: str) -> bytes:
        """The live page. home: address of the index, "" without one."""
        with self._lock:
            seen = self._look(READ_FOR)
            version = _version(seen)
            key = (version, home)
            ended, took = self._drawn
            resting = time.monotonic() < ended + REST * took
            if self._page is not None and (self._page[0] == key or resting):
                return self._page[1]
            begin = time.monotonic()
            page = run_page(
                seen, name=self.name, trusted=bool(self._keys), home=home, version=version
            )
            self._page = (key, page)
            self._drawn = (time.monotonic(), time.monotonic() - begin)
            return page

    def report(self) -> bytes:
        """The full report as of now; made once for each state of the log. Raises AuditError."""
        version, closed = "", True
        if not self.bundle:
            seen = self.look()
            version, closed = _version(seen), seen.state == "closed"
        with self._reporting:
            if self._report is None or self._report[0] != version:
                self._report = (version, self._make_report(self.place, closed))
            return self._report[1]

    def _look(self, seconds: float) -> Seen:
        if self._follower is None:
            try:
                self._follower = Follower(self.place, KeyRing(self._keys or (own_key(self.place),)))
            except AuditError as error:  # no key yet: the run is being made
                return Seen("empty", (), frozenset(), "", fault=str(error))
        return self._follower.refresh(seconds)


def _version(seen: Seen) -> str:
    """Of pages and reports on what was read: another one each hour, since waivers expire."""
    return f"{seen.version}-{datetime.now(UTC):%Y%m%d%H}"
