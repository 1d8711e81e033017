import shutil
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from scenario_models import LEVEL, Walk, follower, read_level, walk

from safegym.errors import ScenarioError
from safegym.formula.build import eventually, never
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.scenario.fingerprint import source_files
from safegym.scenario.spec import Parameter
from safegym.trace.model import Clock

OTHER = Signal("other", unit="m")


def test_the_same_declaration_has_the_same_digest():
    assert walk().digest == walk().digest
    assert walk().digest.startswith("sha256:")


@pytest.mark.parametrize(
    "change",
    [
        {"name": "test/other-v0"},
        {"horizon": 41},
        {"clock": Clock(Fraction(1, 20))},
        {"clock": Clock(Fraction(1, 10), start=Fraction(1))},
        {"claims": (Claim(id="walk.level", statement=never(LEVEL > 99.0)),)},
        {"claims": ()},
        {"parameters": (Parameter("mass", "kg", 1.0, 2.0),)},
        {"faults": (Parameter("mass", "kg", 1.0, 2.0),)},
        {"parameters": (Parameter("mass", "kg", 1.0, 2.0, default=1.0),)},
        {"terminals": {"done": "failed"}},
        {"physics": ("gymnasium", "mujoco")},
        {"signals": (Signal("level", unit="m", hold="max"),)},
        {"signals": (Signal("level", unit="m", scale=2.0),)},
        {"make_env": partial(Walk, endless=True)},
        {"make_env": lambda: Walk(endless=True)},
        {"can_run_tail": False},
    ],
)
def test_whatever_decides_an_episode_changes_the_digest(change):
    spec = walk()
    assert replace(spec, **change).digest != spec.digest


def test_what_decides_nothing_leaves_the_digest():
    spec = walk()
    assert replace(spec, summary="Other words.", pack="mine").digest == spec.digest


def test_values_that_a_nested_function_closes_over_are_in_the_digest():
    def maker(endless):
        return lambda: Walk(endless=endless)

    assert walk(maker(True)).digest != walk(maker(False)).digest
    assert walk(maker(True)).digest == walk(maker(True)).digest


def test_a_value_without_a_stable_form_is_refused():
    with pytest.raises(ScenarioError, match=r"make_env carries a object \(<object.*build the rest"):
        walk(partial(Walk, endless=object()))


def test_an_asset_is_in_the_digest(tmp_path):
    asset = tmp_path / "model.xml"
    asset.write_text("<mujoco/>")
    one = walk(sources=(asset,)).digest
    asset.write_text("<mujoco></mujoco>")
    assert len({one, walk(sources=(asset,)).digest, walk().digest}) == 3


def test_a_missing_asset_is_refused_by_name(tmp_path):
    with pytest.raises(ScenarioError, match=r"source '.*gone.xml' is not a file"):
        walk(sources=(tmp_path / "gone.xml",))


def test_a_missing_physics_distribution_is_refused_with_the_install_line():
    with pytest.raises(ScenarioError, match="pip install warp-drive"):
        replace(walk(), physics=("warp-drive",))


PACKAGE = {
    "__init__.py": "",
    "system.py": (
        "from scenario_models import Walk\nfrom . import plant\nfrom walkpack.gains import GAIN\n"
        "def make():\n    return Walk()\n"
    ),
    "plant.py": "import scenario_models\nfrom scenario_models import Walk\n",
    "gains.py": "GAIN = 1\n",
    "unrelated.py": "",
}


def test_modules_imported_from_the_scenarios_own_package_are_in_the_digest(tmp_path, monkeypatch):
    folder = tmp_path / "walkpack"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    import walkpack.system  # type: ignore[import-not-found]

    try:
        spec = walk(walkpack.system.make)
        names = {path.name for path in source_files(spec) if path.parent == folder}
        assert names >= {"system.py", "plant.py", "gains.py"}
        assert "unrelated.py" not in names
        (folder / "gains.py").write_text("GAIN = 2\n")
        assert walk(walkpack.system.make).digest != spec.digest
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "walkpack"]:
            del sys.modules[name]
        shutil.rmtree(folder)


CARRIER = """
from dataclasses import dataclass
from functools import partial
from typing import Callable

from scenario_models import Walk

@dataclass(frozen=True)
class Machine:
    name: str
    parts: tuple[tuple[str, Callable[[], object]], ...]

def make(machine, *, names=()):
    return Walk()
"""
OUTSIDE = {
    "__init__.py": "",
    "carrier.py": CARRIER,
    "motor.py": "from .coil import TURNS\ndef torque():\n    return TURNS\n",
    "coil.py": "TURNS = 3\n",
    "gear.py": "class Gear:\n    ratio = 2\n",
    "unrelated.py": "",
}


def test_files_of_functions_deep_in_what_make_env_carries_are_in_the_digest(tmp_path, monkeypatch):
    folder = tmp_path / "walkparts"
    folder.mkdir()
    for name, text in OUTSIDE.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    from walkparts import carrier, gear, motor  # type: ignore[import-not-found]

    def made():
        machine = carrier.Machine("one", (("motor", partial(motor.torque)),))
        return walk(partial(carrier.make, machine, names={"gear": [gear.Gear]}))

    try:
        spec = made()
        names = {path.name for path in source_files(spec) if path.parent == folder}
        assert names == {"carrier.py", "motor.py", "coil.py", "gear.py"}
        (folder / "coil.py").write_text("TURNS = 4\n")
        assert made().digest != spec.digest
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "walkparts"]:
            del sys.modules[name]
        shutil.rmtree(folder)


def test_a_sound_declaration_has_no_issues():
    assert walk().validate() == []


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        ({"name": "Walk"}, "Name 'Walk' is not of the form 'family/name-v0'"),
        ({"horizon": 0}, "The horizon is 0 steps"),
        ({"signals": ()}, "No signal is declared"),
        ({"signals": (LEVEL, LEVEL)}, "Signal 'level' is declared 2 times"),
        ({"signals": (OTHER,)}, "reads signal 'level'; the scenario declares other"),
        ({"signals": (Signal("level", unit="m", hold="max"),)}, "declared otherwise than by the"),
        ({"bad": {}}, "No bad policy violates claim walk.level"),
        ({"bad": {"walk.lvl": follower, "walk.level": follower}}, "names no claim; the claims are"),
        ({"good": None}, "There is no good policy"),
        ({"terminals": {"done": "over"}}, "Terminal 'done' is 'over'"),
        ({"parameters": (Parameter("m", "kg", 2.0, 1.0),)}, "has range"),
        ({"parameters": (Parameter("m", "kg", 1.0, 2.0, default=3.0),)}, "has default 3.0 outside"),
        ({"parameters": (Parameter("m", "kg", 1, 2), Parameter("m", "kg", 1, 2))}, "2 times"),
        (
            {"claims": (Claim(id="walk.level", statement=eventually(LEVEL > 1, within="0.25")),)},
            "Claim walk.level does not fit the clock, dt = 1/10 s",
        ),
    ],
)
def test_each_fault_of_a_declaration_is_an_issue_in_words(change, issue):
    assert any(issue in found for found in replace(walk(), **change).validate())


def test_versions_name_what_ran():
    assert set(walk().versions) == {"gymnasium", "numpy", "safegym"}


def test_the_layout_follows_the_signals():
    assert walk().layout == {"level": ()}
    assert read_level(Walk()) == (0.0,)
