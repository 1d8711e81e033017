"""Regions: numbers as they are written, unions, constraints, and what is refused."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from safegym.check.neural.problem import HalfSpace, Region
from safegym.check.neural.property.layout import Layout
from safegym.check.neural.property.region import read_region, regions_of
from safegym.errors import SafegymError, UnsupportedError
from safegym.formula.text import parse

LAYOUT = Layout(2, 1, fields={"speed": ("obs", 1)})
LOW, HIGH = np.array([-1.0, -np.inf]), np.array([float(np.float32(0.9)), np.inf])


def region(given: Any) -> Region:
    (found,) = regions_of(given, LAYOUT, LOW, HIGH)
    return found


@pytest.mark.parametrize(
    ("limits", "low", "high"),
    [
        ((-0.1, 0.1), Fraction(-0.1), Fraction(0.1)),
        (("-0.1", "0.1"), Fraction(-1, 10), Fraction(1, 10)),
        ("-0.1..0.1", Fraction(-1, 10), Fraction(1, 10)),
        ("-1/3 .. 1e-3", Fraction(-1, 3), Fraction(1, 1000)),
        ((Decimal("0.1"), Fraction(1, 3)), Fraction(1, 10), Fraction(1, 3)),
        (np.array([-0.5, 0.5], dtype=np.float32), Fraction(-1, 2), Fraction(1, 2)),
        (np.float32(0.1), Fraction(float(np.float32(0.1))), Fraction(float(np.float32(0.1)))),
        ("0.1", Fraction(1, 10), Fraction(1, 10)),
        (0, Fraction(0), Fraction(0)),
    ],
)
def test_limits_are_read_exactly_as_written(limits: Any, low: Fraction, high: Fraction) -> None:
    found = region({"obs[0]": limits, "speed": 0})
    assert (found.low[0], found.high[0]) == (low, high)
    assert (found.low[1], found.high[1]) == (0, 0)


def test_entries_are_named_by_index_name_or_field() -> None:
    assert region({0: (0, 0.5), 1: 2}) == region({"obs[0]": (0, 0.5), "speed": 2})


def test_what_is_not_named_comes_from_the_observation_space() -> None:
    found = region({"speed": (0, 1)})
    assert found.low[0] == -1
    assert found.high[0] == Fraction(float(np.float32(0.9)))


def test_a_limit_that_binary32_cannot_tell_from_the_space_is_the_space() -> None:
    assert float(np.float32(0.9)) < 0.9
    assert region({"obs[0]": ("0", "0.9"), "speed": 0}).high[0] == Fraction(float(np.float32(0.9)))


def test_a_list_is_a_union_and_so_is_an_or() -> None:
    parts = regions_of([{0: 0, 1: 0}, {0: 0.5, 1: 1}], LAYOUT, LOW, HIGH)
    assert [part.low[1] for part in parts] == [0, 1]
    where = "(obs[0] <= -1/2 or obs[0] >= 1/2) and abs(speed) <= 2"
    parts = regions_of(where, LAYOUT, LOW, HIGH)
    ends = {(part.low[0], part.high[0], part.low[1], part.high[1]) for part in parts}
    top = Fraction(float(np.float32(0.9)))
    half = Fraction(1, 2)
    assert ends == {(Fraction(-1), -half, -2, 2), (half, top, Fraction(-2), Fraction(2))}


def test_constraints_over_several_entries_become_exact_half_spaces() -> None:
    found = region({"speed": (-1, 1), "where": ["obs[0] + 2*speed <= 1/2", "obs[0] >= speed"]})
    assert found.contains([Fraction(1, 2), Fraction(0)])
    assert not found.contains([Fraction(1, 2), Fraction(1, 10**30)])
    assert not found.contains([Fraction(0), Fraction(1, 10**30)])
    text = "obs[0] + 2*speed <= 1/2 and obs[0] >= speed"
    assert set(region({"speed": (-1, 1), "where": parse(text)}).cuts) == set(found.cuts)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, r"no finite limits for speed.*region=\{\"speed\": \(-1, 1\)\}"),
        (
            {"speed": (1, -1)},
            r"is empty: speed is to lie from 1 up to -1; write \"speed\": \(-1, 1\)",
        ),
        (
            {"speed": (0, 1), 0: (-2, 0)},
            r"outside the observation space: obs\[0\] at -2.*\(-1, 0\.8999",
        ),
        ({"speed": (0, float("nan"))}, "speed is limited by nan, which is no finite number"),
        ({"speed": (0, float("inf"))}, "limited by inf"),
        ({"speed": (0, 1e39)}, r"beyond 3\.40282347e\+38, the greatest of binary32"),
        ({"speed": (0, 10**400)}, "beyond 3"),
        ({"speed": (0, Decimal("1e99999999"))}, "which is no finite number"),
        (
            Region(
                (Fraction(0),) * 2, (Fraction(1),) * 2, (HalfSpace((Fraction(1),), Fraction(1)),)
            ),
            "half space of the region has not 2 coefficients",
        ),
        ({"speed": "fast"}, r"number such as \"0\.1\".*\.\.0\.1"),
        ({"speed": (0, 1, 2)}, r"3 limits.*write \(-0\.1, 0\.1\)"),
        ({"speed": True}, "a truth value"),
        ({"obs[4]": (0, 1)}, r"obs\[0\] to obs\[1\], and 'obs\[4\]' is none"),
        ({"action[0]": (0, 1)}, "limits observations"),
        ({"height": (0, 1)}, "no entry of this policy's"),
        ({"speed": 0, "obs[1]": 0}, "limits speed twice"),
        ([], "list of no parts, so it is empty"),
        (3.5, "A region is a mapping, found 3.5"),
        ({"speed": (-1, 1), "where": "obs[0] + speed < 1"}, "written with <= and >="),
        ({"speed": (-1, 1), "where": "obs[0] * speed <= 1"}, "is not linear"),
        ({"speed": (-1, 1), "where": "action[0] <= 1"}, "belongs into the claim"),
        ({"speed": (-1, 1), "where": "obs[0] + speed >= 5"}, "empty, or too thin"),
        ({"speed": (-1, 1), "where": "obs[0] <= 0 and obs[0] >= 1/2"}, "is empty: obs"),
        ({"speed": (-1, 1), "where": 3}, "Constraints of a region are text or a formula"),
        ("obs[0] <= 0 and speed <= 1", "limit speed on one side only"),
    ],
)
def test_a_region_that_is_none_is_refused_with_the_line_that_works(given: Any, says: str) -> None:
    with pytest.raises(SafegymError, match=says):
        regions_of(given, LAYOUT, LOW, HIGH)


def test_cuts_that_meet_in_no_point_are_refused_as_empty() -> None:
    where = ["obs[0] + speed <= -1/2", "obs[0] + speed >= 1/2"]
    with pytest.raises(UnsupportedError, match="its 2 linear constraints"):
        regions_of({"speed": (-1, 1), "where": where}, LAYOUT, LOW, HIGH)


def test_numbers_of_a_region_file_keep_all_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "region.json"
    path.write_text('[{"obs[0]": [-0.1, "0.1"], "speed": 0.30000000000000000001}]')
    found = region(read_region(path))
    assert found.low[0] == Fraction(-1, 10)
    assert found.low[1] == Fraction("0.30000000000000000001")


@pytest.mark.parametrize("number", ["1e999", "1e99999999", "Infinity"])
def test_a_number_of_a_file_without_measure_is_refused_at_once(tmp_path: Path, number: str) -> None:
    path = tmp_path / "region.json"
    path.write_text(f'{{"obs[0]": 0, "speed": [0, {number}]}}')
    with pytest.raises(UnsupportedError, match="no finite number"):
        regions_of(read_region(path), LAYOUT, LOW, HIGH)


def test_a_file_that_limits_an_entry_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "region.json"
    path.write_text('{"obs[0]": [-1, 0.5], "speed": 0, "obs[0]": 0}')
    with pytest.raises(UnsupportedError, match=r"'obs\[0\]' stands twice in one object"):
        read_region(path)


def test_numpy_integers_name_entries_too() -> None:
    assert region({np.int64(1): 0}) == region({1: 0})


@pytest.mark.parametrize("text", ["{", "[1]", "3", '["obs[0] < 1"]'])
def test_a_file_without_a_region_is_refused_with_an_example(tmp_path: Path, text: str) -> None:
    path = tmp_path / "region.json"
    path.write_text(text)
    with pytest.raises(UnsupportedError, match="A region file holds"):
        read_region(path)
