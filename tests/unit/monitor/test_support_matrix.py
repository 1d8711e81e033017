"""The support page says what the code does, and nothing in the language is left out of it."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from safegym.check.matrix import ask
from safegym.check.matrix.__main__ import main
from safegym.check.matrix.ask import Column, columns
from safegym.check.matrix.page import page
from safegym.check.matrix.probes import Probe, probes, unprobed
from safegym.check.matrix.refusal import Answer, MatrixError
from safegym.formula.nodes import Not, Unary
from safegym.verdict import Support

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "support.md"


@pytest.fixture(scope="module")
def text() -> str:
    return page()


def probe_of(name: str) -> Probe:
    return next(probe for probe in probes() if probe.name == name)


def column_of(name: str) -> Column:
    return next(column for column in columns() if column.name == name)


def test_page_and_code_agree(text: str) -> None:
    assert text == PAGE.read_text(encoding="utf-8"), "python -m safegym.check.matrix --write"


def test_every_kind_of_the_language_has_a_row(text: str) -> None:
    assert unprobed() == ()
    for probe in probes():
        assert f"| `{probe.name}` |" in text


def test_a_new_node_class_is_missed_until_it_has_a_probe() -> None:
    class Sometimes(Unary):
        __slots__ = ("argument",)

    Sometimes.__module__ = "safegym.formula.nodes"
    assert unprobed() == ("Sometimes",)
    del Sometimes
    gc.collect()
    assert unprobed() == ()


def test_the_page_is_refused_while_a_kind_has_no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safegym.check.matrix.page.unprobed", lambda: ("Sometimes",))
    with pytest.raises(MatrixError, match=r"for Sometimes; add one in .*probes\.py"):
        page()


def test_a_support_that_refuses_what_runs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "support", lambda subject: Support(ok=False, reason="not today"))
    with pytest.raises(MatrixError, match="refuses and, but it runs: not today"):
        column_of("offline, numpy").ask(probe_of("and"))


def test_a_support_that_takes_what_does_not_run_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "support", lambda subject: Support(ok=True))
    with pytest.raises(MatrixError, match=r"takes mean.* but: "):
        column_of("offline, numpy").ask(probe_of("mean(fraction(f)) >= c"))


def test_backends_that_disagree_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ask.judge
    monkeypatch.setattr(ask, "judge", lambda subject, trace: judge(Not(subject), trace))
    with pytest.raises(MatrixError, match=r"z3 says .*, the monitor .*: always, "):
        column_of("z3, trace").ask(probe_of("always"))


def test_what_is_refused_has_its_reason_on_the_page(text: str) -> None:
    assert column_of("z3, claims").ask(probe_of("norm")).reason in text
    for probe in probes():
        if probe.group == "formula nodes" and probe.name != "fraction(f) >= c":
            assert column_of("z3, claims").ask(probe) == Answer("yes")


def test_the_command_compares_and_says_what_to_do(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("safegym.check.matrix.__main__.page", lambda: text)
    copy = tmp_path / "support.md"
    assert main(["--check", str(copy)]) == 2
    assert main(["--write", str(copy)]) == 0
    assert main(["--check", str(copy)]) == 0
    copy.write_text(text.replace("| tight |", "| outer |", 1), encoding="utf-8")
    assert main(["--check", str(copy)]) == 1
    assert "If you meant it: python -m safegym.check.matrix --write" in capsys.readouterr().err
    assert main([]) == main(["--write", "--check"]) == main(["--other"]) == 2


def test_listing_the_probes_loads_neither_torch_nor_z3() -> None:
    code = (
        "import sys, safegym.check.matrix.ask, safegym.check.matrix.page; "
        "print({'torch', 'z3'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
