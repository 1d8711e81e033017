"""The reference traces in `traces/`: intact, and judged as worked out by hand."""

import json
from pathlib import Path

import pytest

from safegym.check.monitor import judge
from safegym.errors import TraceError
from safegym.formula.terms import Signal
from safegym.formula.text import parse
from safegym.trace.manifest import NAME, check_manifest, main, manifest_text
from safegym.trace.reference import load_reference, load_references

FOLDER = Path(__file__).parents[3] / "traces"
REFERENCES = load_references(FOLDER)
CASES = [
    pytest.param(reference, expected, id=f"{reference.name}-{number}")
    for reference in REFERENCES
    for number, expected in enumerate(reference.expected)
]


@pytest.mark.parametrize(("reference", "expected"), CASES)
def test_the_monitor_gives_the_verdict_worked_out_by_hand(reference, expected):
    signals = [
        Signal(name, unit=declared.unit, shape=declared.shape, scale=declared.scale)
        for name, declared in reference.signals.items()
    ]
    verdict = judge(parse(expected.formula, signals=signals), reference.trace)
    assert verdict.status == expected.status
    assert verdict.trace_digest == reference.trace.digest
    assert verdict.robustness is not None
    found = (verdict.robustness.lo, verdict.robustness.hi)
    assert found == pytest.approx(expected.robustness, abs=1e-15)


def test_there_are_ten_references_of_every_end_kind():
    assert len(REFERENCES) == 10
    kinds = {reference.trace.end.kind for reference in REFERENCES}
    assert kinds == {"absorbed", "failed", "horizon", "interrupted", "cut"}
    assert any(reference.trace.steps > (reference.trace.horizon or 99) for reference in REFERENCES)
    statuses = {expected.status for r in REFERENCES for expected in r.expected}
    assert statuses == {"satisfied", "violated", "inconclusive"}


def test_the_manifest_is_the_one_that_the_command_writes():
    assert (FOLDER / NAME).read_text(encoding="utf-8") == manifest_text(FOLDER)


@pytest.fixture
def folder(tmp_path):
    for path in FOLDER.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_changed_missing_or_added_file_is_named(folder):
    assert len(check_manifest(folder)) == 10
    path = folder / "vector-position.json"
    content = path.read_bytes()
    path.write_bytes(content + b" ")
    with pytest.raises(TraceError, match=r"vector-position.json is missing or was changed"):
        load_references(folder)
    path.unlink()
    with pytest.raises(TraceError, match=r"vector-position.json is missing or was changed"):
        check_manifest(folder)
    path.write_bytes(content)
    (folder / "extra.json").write_text("{}")
    with pytest.raises(TraceError, match=r"extra.json is not listed"):
        check_manifest(folder)


def test_the_command_checks_and_writes(folder, capsys):
    assert main([str(folder), "--check"]) == 0
    (folder / "extra.json").write_text("{}")
    assert main([str(folder), "--check"]) == 1
    assert "python -m safegym.trace.manifest" in capsys.readouterr().err
    assert main([str(folder)]) == 0
    assert main([str(folder), "--check"]) == 0
    assert main([]) == 2
    assert main([str(folder / "nowhere"), "--check"]) == 1


@pytest.mark.parametrize("bad", ["", "[]", '{"format": "other", "files": {}}'])
def test_a_malformed_manifest_is_refused(folder, bad):
    (folder / NAME).write_text(bad)
    with pytest.raises(TraceError, match=r"manifest|MANIFEST"):
        load_references(folder)


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(TraceError, match="There is no file"):
        load_references(tmp_path)


def test_a_link_is_not_followed(folder):
    (folder / "link.json").symlink_to(folder / "vector-position.json")
    with pytest.raises(TraceError, match=r"There is no file .*link\.json"):
        load_reference(folder / "link.json")


def changed(document, place, value):
    *way, last = place
    target = document
    for step in way:
        target = target[step]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return document


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (["format"], "other", "exactly the fields"),
        (["about"], None, "exactly the fields"),
        (["trap"], "", '"trap" must be text'),
        (["signals"], {"x": {"unit": "m"}}, "It declares x, its trace has position"),
        (["signals", "position"], {}, 'is declared by "unit"'),
        (["signals", "position"], {"unit": "m", "scale": 0}, "has scale 0"),
        (["trace"], [], '"trace" must be an object'),
        (["trace", "digest"], "sha256:0", "it was changed after it was recorded"),
        (["trace", "signals", "position", 1, 1], 4.5, "it was changed after it was recorded"),
        (["verdicts"], [], "at least one verdict"),
        (["verdicts", 0, "why"], None, "exactly the fields"),
        (["verdicts", 0, "status"], "fine", "found 'fine'"),
        (["verdicts", 0, "robustness"], [1], "lo, hi"),
        (["verdicts", 0, "robustness"], [1, 0], "lo <= hi"),
        (["verdicts", 0, "robustness"], ["nan", 0], "found 'nan'"),
    ],
)
def test_a_malformed_reference_is_refused_and_named(folder, place, value, words):
    path = folder / "vector-position.json"
    path.write_text(json.dumps(changed(json.loads(path.read_text()), place, value)))
    with pytest.raises(TraceError, match=r"vector-position\.json is not sound") as caught:
        load_reference(path)
    assert caught.match(words)
