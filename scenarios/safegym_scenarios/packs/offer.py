"""What a pack offers, and what it needs before it can."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from safegym.scenario.spec import ScenarioSpec
from safegym_scenarios.packs.row import Row, rows_of

Maker = Callable[[], ScenarioSpec]


class Offer(Mapping[str, Maker]):
    """Scenario name -> what builds its spec; empty while a distribution is missing.

    absent: names that would be there, and `missing`: in words what to install; "" if nothing is
    missing. Nothing of the simulator is imported before a scenario is built.
    """

    def __init__(self, pack: str, needs: tuple[str, ...], install: str) -> None:
        self.pack, self.needs = pack, needs
        lacking = [name for name in needs if not _is_installed(name)]
        self.missing = f"needs {' and '.join(lacking)}: {install}" if lacking else ""
        named = tuple(row.name for row in _rows(pack))
        self.absent = named if lacking else ()
        self._names = () if lacking else named

    def __getitem__(self, name: str) -> Maker:
        if name not in self._names:
            raise KeyError(name)
        return partial(_build, self.pack, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _build(pack: str, name: str) -> ScenarioSpec:
    row = next(each for each in _rows(pack) if each.name == name)
    made: ScenarioSpec = import_module(f"safegym_scenarios.packs.{pack}.adapter").spec_of(row)
    return made


@cache
def _rows(pack: str) -> tuple[Row, ...]:
    table = files(f"safegym_scenarios.packs.{pack}").joinpath("table.json")
    return rows_of(table.read_text(encoding="utf-8")) if table.is_file() else ()
