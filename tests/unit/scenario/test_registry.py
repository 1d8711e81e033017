from importlib.metadata import EntryPoint

import pytest
from scenario_models import walk

from safegym.errors import ScenarioError
from safegym.scenario import registry

MINE = {"test/walk-v0": walk}
CLASH = {"test/walk-v0": walk}
WRONG = {"test/other-v0": walk}
NOT_A_SPEC = {"test/none-v0": lambda: None}
FAILING = {"test/failing-v0": lambda: 1 / 0}
A_LIST = ["test/walk-v0"]
NOT_CALLABLE = {"test/walk-v0": 3}


@pytest.fixture
def installed(monkeypatch):
    """Lets a test install packs; the registry is read afresh."""

    def install(**packs):
        points = [EntryPoint(name, value, registry.GROUP) for name, value in packs.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        registry._packs.cache_clear()
        registry._built.cache_clear()

    yield install
    monkeypatch.undo()
    registry._packs.cache_clear()
    registry._built.cache_clear()


def test_the_library_is_found_through_its_entry_point():
    assert {"classic/cartpole-v0", "classic/pendulum-v0"} <= set(registry.names())
    assert registry.find("classic/cartpole-v0").pack == "core"


def test_a_users_pack_is_found_through_the_same_door(installed):
    installed(mine="test_registry:MINE")
    assert registry.names() == ("test/walk-v0",)
    assert registry.find("test/walk-v0").pack == "mine"


def test_a_scenario_is_built_once_per_process(installed):
    installed(mine="test_registry:MINE")
    assert registry.find("test/walk-v0") is registry.find("test/walk-v0")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(
        ScenarioError, match="no scenario 'classic/cartpol-v0'; did you mean classic/c"
    ):
        registry.find("classic/cartpol-v0")


def test_a_broken_pack_is_named_and_the_others_still_work(installed):
    installed(mine="test_registry:MINE", broken="no_such_module_at_all:X")
    assert registry.find("test/walk-v0").name == "test/walk-v0"
    with pytest.raises(ScenarioError, match=r"Pack 'broken'.*did not load: ModuleNotFoundError"):
        registry.find("test/absent-v0")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("test_registry:A_LIST", "is a list; it must map scenario names to functions"),
        ("test_registry:NOT_CALLABLE", "has an entry 'test/walk-v0' that is not a name with a"),
        ("test_registry:ABSENT", "AttributeError"),
    ],
)
def test_a_malformed_pack_is_a_problem_in_words(installed, value, problem):
    installed(odd=value)
    (pack,) = registry.packs()
    assert problem in pack.problem
    assert registry.names() == ()


def test_two_packs_that_offer_one_name_are_both_named(installed):
    installed(a="test_registry:MINE", b="test_registry:CLASH")
    with pytest.raises(ScenarioError, match=r"offered by packs a \(test_registry:MINE\) and b"):
        registry.find("test/walk-v0")


@pytest.mark.parametrize(
    ("pack", "name", "message"),
    [
        ("WRONG", "test/other-v0", "its spec is named 'test/walk-v0'"),
        ("NOT_A_SPEC", "test/none-v0", "gives a NoneType"),
        ("FAILING", "test/failing-v0", "cannot build scenario.*ZeroDivisionError"),
    ],
)
def test_a_pack_that_cannot_build_its_scenario_is_named(installed, pack, name, message):
    installed(odd=f"test_registry:{pack}")
    with pytest.raises(ScenarioError, match=message):
        registry.find(name)


def test_a_survey_shows_what_works_and_says_what_does_not(installed):
    installed(mine="test_registry:MINE", f="test_registry:FAILING", gone="no_such_module_at_all:X")
    specs, problems = registry.survey()
    assert [spec.name for spec in specs] == ["test/walk-v0"]
    assert len(problems) == 2
    assert "Pack 'gone' (no_such_module_at_all:X): ModuleNotFoundError" in problems[0]
    assert "cannot build scenario 'test/failing-v0': ZeroDivisionError" in problems[1]
