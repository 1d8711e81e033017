"""Seeds that replay has used, which certification must refuse."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safegym.check.statistics.exact import count
from safegym.check.statistics.journal import Journal
from safegym.errors import EvidenceError

KIND = "burnt"


class BurntSeeds:
    """The burnt seeds of one scenario, durable, shared by all claim sets and processes.

    Raises EvidenceError if the file was tampered with, or a seed is not a whole number >= 0.
    """

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._seeds: set[int] = set()
        self._read = 0
        self._take_in()

    def burn(self, seeds: Iterable[int]) -> None:
        """Marks seeds as used by replay; durable on return. Seeds already burnt cost nothing."""
        wanted = {count(seed, "seed") for seed in seeds}
        with self._journal.exclusive():
            self._take_in()
            fresh = sorted(wanted - self._seeds)
            if fresh:
                self._journal.append(KIND, {"seeds": [str(seed) for seed in fresh]})
                self._take_in()

    def is_burnt(self, seed: int) -> bool:
        """Whether any process has burnt this seed on this scenario."""
        number = count(seed, "seed")
        self._journal.refresh_if_grown()
        self._take_in()
        return number in self._seeds

    def __len__(self) -> int:
        self._journal.refresh_if_grown()
        self._take_in()
        return len(self._seeds)

    def _take_in(self) -> None:
        start = self._read  # read once: another thread may be taking the same records in
        entries = self._journal.entries[start:]
        for entry in entries:
            if entry.kind == KIND:
                self._seeds.update(_numbers(entry.payload.get("seeds"), self._journal.path))
        self._read = start + len(entries)


def _numbers(texts: Any, path: Path) -> list[int]:
    try:
        return [int(text) for text in texts]
    except (TypeError, ValueError) as error:
        raise EvidenceError(f"{path} cannot be trusted: its seeds are not numbers.") from error
