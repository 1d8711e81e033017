"""A scenario whose simulator is missing, or computes wrongly, is refused with the line to run."""

from importlib.metadata import EntryPoint

import pytest

from safegym.errors import ScenarioError
from safegym.scenario import fingerprint, registry, requirements


@pytest.fixture
def mujoco(monkeypatch):
    """Lets a test say which version of mujoco is installed."""

    def pretend(found):
        real = requirements.version
        monkeypatch.setattr(
            requirements, "version", lambda name: found if name == "mujoco" else real(name)
        )
        fingerprint._version.cache_clear()
        registry._built.cache_clear()

    yield pretend
    monkeypatch.undo()
    fingerprint._version.cache_clear()
    registry._built.cache_clear()


def test_mujoco_4_0_0_is_refused_with_the_reason(mujoco):
    mujoco("4.0.0")
    with pytest.raises(
        ScenarioError,
        match=r"arm/human-stop-v0.*mujoco 4\.0\.0 cannot be used: its constraint solver is wrong "
        r"\(sparse Cholesky, upstream issue #3767, fixed in 4\.0\.1\)\. "
        r"Run `pip install 'mujoco>=3\.8,!=4\.0\.0'`",
    ):
        registry.find("arm/human-stop-v0")
    assert registry.find("chain/plant-v0").name == "chain/plant-v0"


@pytest.mark.parametrize("found", ["3.8.0", "3.17.0", "4.0.1", "4.0.0.post1"])
def test_other_versions_are_taken(mujoco, found):
    mujoco(found)
    assert requirements.installed("mujoco") == found


def test_a_distribution_of_an_extra_is_installed_by_that_extra(monkeypatch):
    lines = ["numpy>=2", "ray>=2.40; extra == 'test'", "ray>=2.40; extra == 'ray'"]
    lines.append('cvc5>=1.3 ; extra == "second-opinion"')
    monkeypatch.setattr(requirements, "requires", lambda name: lines)
    requirements._extras.cache_clear()
    assert requirements.install_line("cvc5") == "pip install 'safegym[second-opinion]'"
    assert requirements.install_line("ray.util") == "pip install 'safegym[ray]'"
    assert requirements.install_line("some_thing") == "pip install some-thing"
    requirements._extras.cache_clear()


def test_a_missing_distribution_is_named_with_the_line():
    with pytest.raises(ScenarioError, match=r"needs 'no-such-sim'.*run `pip install no-such-sim`"):
        requirements.installed("no-such-sim")


NEEDY = {"test/needy-v0": lambda: __import__("no_such_simulator")}


def test_a_scenario_that_imports_what_is_missing_is_refused_with_the_line(monkeypatch):
    points = [EntryPoint("mine", "test_requirements:NEEDY", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry._packs.cache_clear()
    try:
        with pytest.raises(ScenarioError, match=r"No module named 'no_such_simulator'; run `pip i"):
            registry.find("test/needy-v0")
    finally:
        monkeypatch.undo()
        registry._packs.cache_clear()
