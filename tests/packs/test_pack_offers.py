"""Packs without their simulator: counted apart, and named with the line that installs them."""

import json

import pytest
from safegym_scenarios.packs.offer import Offer
from typer.testing import CliRunner

from safegym.cli.scenarios import app
from safegym.errors import ScenarioError
from safegym.scenario.registry import find, packs

ABSENT = [pack for pack in packs() if pack.missing and pack.absent]


def test_every_extra_pack_loads_whatever_is_installed():
    assert [pack.problem for pack in packs()] == [""] * len(packs())
    known = {"core", "dm-control", "highway", "menagerie", "metaworld", "robosuite", "robotics"}
    assert known <= {pack.name for pack in packs()}


@pytest.mark.parametrize("pack", ABSENT, ids=lambda pack: pack.name)
def test_a_scenario_of_an_absent_pack_tells_how_to_install_it(pack):
    assert pack.makers == {}
    with pytest.raises(ScenarioError, match=r"is in the extra pack .* which needs .*pip install"):
        find(pack.absent[0])


def test_the_core_count_has_no_extra_scenario_in_it():
    found = json.loads(CliRunner().invoke(app, ["--json"]).output)
    core = [each for each in found if each["pack"] == "core"]
    assert len(core) >= 200
    assert not {each["name"] for each in core} & {n for pack in packs() for n in pack.absent}


def test_an_offer_is_empty_while_something_is_missing():
    offer = Offer("menagerie", ("no-such-distribution",), "pip install it")
    assert len(offer) == 0
    assert offer.missing == "needs no-such-distribution: pip install it"
    assert "menagerie/panda-floor-v0" in offer.absent
    there = Offer("menagerie", ("numpy",), "pip install numpy")
    assert there.missing == ""
    assert "menagerie/panda-floor-v0" in there
    with pytest.raises(KeyError):
        there["menagerie/none-v0"]
