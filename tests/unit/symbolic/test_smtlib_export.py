"""Every question as an SMT-LIB file: z3 reads it back, cvc5 repeats it, both agree with it."""

from fractions import Fraction
from pathlib import Path

import pytest

from safegym.check.symbolic.engine import LOCK, z3
from safegym.check.symbolic.model import check_model
from safegym.check.symbolic.model_policy import LinearPolicy
from safegym.check.symbolic.repeat import cvc5_word, expected, repeated
from safegym.check.symbolic.smtlib import smtlib_text
from safegym.check.symbolic.specification import check_specification
from safegym.errors import RunFolderError, UnsupportedError
from safegym.formula.build import always, eventually, fraction, prob
from safegym.formula.claim import Claim
from safegym.formula.dynamics import Dynamics
from safegym.formula.terms import Signal

X = Signal("x", "m", bounds=(0.0, 10.0), max_rate=2.0)
Y = Signal("y", bounds=(-1.0, 1.0))
DT = Fraction(1, 2)


def claims() -> list[Claim]:
    return [
        Claim(id="s.low", statement=always(X <= 5)),
        Claim(id="s.high", statement=eventually((X > 6) & (Y > 0.5))),
        Claim(id="s.share", statement=fraction(X * Y >= 0) >= 0.5),
        Claim(id="s.rare", statement=prob(eventually(Y > 0.75)) <= 0.25),
        Claim(id="s.often", statement=prob(eventually(Y > 0.5)) >= 0.125),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("questions")
    check_specification(claims(), dt=DT, horizon=4, smtlib=where)
    check_specification(claims()[3:], dt=DT, horizon=4, smtlib=where / "some")
    return where


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.smt2"))


def z3_word(text: str) -> str:
    with LOCK:
        solver = z3.Solver()
        solver.from_string(text)
        return str(solver.check())


def test_z3_reads_every_file_back_to_the_same_answer(folder: Path) -> None:
    found = files(folder)
    assert len(found) > 20
    words = {expected(path.read_text()) for path in found}
    assert words == {"sat", "unsat"}
    for path in found:
        text = path.read_text()
        assert text.count("(check-sat)") == 1
        assert z3_word(text) == expected(text), path.name


def test_cvc5_gives_every_file_the_same_answer(folder: Path) -> None:
    pytest.importorskip("cvc5")
    for path in files(folder):
        said, answer = repeated(path, timeout=30)
        assert answer == said, path.name


def test_a_file_uses_no_word_that_only_z3_knows(folder: Path) -> None:
    for path in files(folder):
        text = path.read_text()
        assert "at-least" not in text
        assert "pble" not in text
        assert "(set-logic QF_" in text


def test_names_of_files_say_the_question_and_the_claim(folder: Path) -> None:
    names = [path.name for path in files(folder)]
    assert "001-can-hold-s.low.smt2" in names
    assert any("can-hold-together" in name for name in names)


def test_a_models_obligations_are_written_too(tmp_path: Path) -> None:
    pytest.importorskip("cvc5")
    x, u = Signal("x"), Signal("u", bounds=(-1.0, 1.0))
    plant = Dynamics("halved", states=(x,), actions=(u,), next={"x": 0.5 * x + u}, dt="1")
    found = check_model(
        plant,
        LinearPolicy([[-0.25]]),
        always(abs(x) <= 1),
        initial={"x": (-0.5, 0.5)},
        steps=2,
        smtlib=tmp_path,
    )
    assert found.result == "PROVED"
    written = files(tmp_path)
    assert [expected(path.read_text()) for path in written] == [
        each.answer for each in found.obligations
    ]
    for path in written:
        said, answer = repeated(path, timeout=30)
        assert said == answer, path.name


def test_a_question_about_products_says_that_it_is_not_linear() -> None:
    with LOCK:
        a, b = z3.Real("a"), z3.Real("b")
        text = smtlib_text([a * b > 2, a < 1, b < 1, a > 0], "unsat")
    assert "(set-logic QF_NRA)" in text
    assert expected(text) == "unsat"


def test_a_changed_file_no_longer_agrees() -> None:
    pytest.importorskip("cvc5")
    with LOCK:
        text = smtlib_text([z3.Real("a") > 1, z3.Real("a") < 1], "unsat")
    assert cvc5_word(text) == "unsat"
    assert cvc5_word(text.replace("(< a 1.0)", "(< a 2.0)")) == "sat"


def test_text_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="does not say what it was answered"):
        expected("(check-sat)")
    with pytest.raises(UnsupportedError, match="is no file"):
        repeated(tmp_path / "none.smt2")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be made"):
        check_specification(claims(), dt=DT, horizon=2, smtlib=tmp_path / "file" / "in")
