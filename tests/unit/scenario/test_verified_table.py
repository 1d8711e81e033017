"""The table of verified scenarios: kept beside the code, and outdated by a change."""

from dataclasses import replace

import pytest

from safegym.check.controls import Outcome
from safegym.cli import scenarios_table
from safegym.errors import ScenarioError
from safegym.scenario import verified
from safegym.scenario.lock_entry import controls_digest, entry_of
from safegym.scenario.registry import find
from safegym.scenario.verified import Row, Separation, current, read_table, write_table

ROW = Row("sha256:12", 20, 19, (Separation("a.x", 20, 13, "p"), Separation("a.y", 19, 4, "q")))


def test_rows_are_read_back_as_they_were_written(tmp_path):
    path = tmp_path / "verified.json"
    write_table(path, {"b/two-v0": ROW, "a/one-v0": ROW})
    assert read_table(path) == {"a/one-v0": ROW, "b/two-v0": ROW}
    assert path.read_text(encoding="utf-8").index("a/one") < 60
    assert ROW.worst_bad == 4
    assert read_table(tmp_path / "none.json") == {}


def test_a_row_is_current_until_the_scenario_or_its_policies_change():
    spec = find("chain/plant-v0")
    row = replace(ROW, lock=entry_of(spec).digest, controls=controls_digest(spec))
    assert current({spec.name: row, "a/gone-v0": ROW}, [spec]) == {spec.name: row}
    assert current({}, [spec]) == {}
    for changed in (replace(row, lock="sha256:99"), replace(row, controls="sha256:99")):
        assert current({spec.name: changed}, [spec]) == {}
    reckless = replace(spec, good=next(iter(spec.bad.values())))
    assert entry_of(reckless) == entry_of(spec)
    assert current({spec.name: row}, [reckless]) == {}


@pytest.mark.parametrize(
    ("text", "said"), [("{", "JSONDecodeError"), ('{"format": 7}', "has format 7, known is 1")]
)
def test_a_file_that_is_no_table_is_refused(tmp_path, text, said):
    path = tmp_path / "verified.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=said):
        read_table(path)


def test_a_run_adds_what_passed_and_takes_out_what_failed_or_is_gone(tmp_path, monkeypatch):
    path = tmp_path / "verified.json"
    monkeypatch.setattr(verified, "table_path", lambda pack: path)
    names = ("chain/plant-v0", "chain/quick-failures-v0", "chain/gone-v0", "arm/human-stop-v0")
    write_table(path, dict.fromkeys(names, ROW))
    scenarios_table.keep(
        (
            Outcome(names[0], good=20, claims=(Separation("plant.burst", 20, 13, "chain.hasty"),)),
            Outcome(names[1], good=3, issues=("It is off.",)),
        ),
        "core",
    )
    rows = read_table(path)
    assert set(rows) == {"chain/plant-v0", "arm/human-stop-v0"}
    assert rows["arm/human-stop-v0"] == ROW
    assert rows["chain/plant-v0"] == Row(
        entry_of(find("chain/plant-v0")).digest,
        20,
        20,
        (Separation("plant.burst", 20, 13, "chain.hasty"),),
        controls_digest(find("chain/plant-v0")),
    )
