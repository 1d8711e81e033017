"""How an explanation is asked for, kept, saved and refused."""

import gc
import pickle
import sys
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import safegym as sg
from safegym.check.dispatch import check
from safegym.check.explanation import Explanation, explain
from safegym.check.monitor import judge
from safegym.errors import TraceError, UnsupportedError
from safegym.formula.build import always, eventually
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.trace.model import Trace
from safegym.verdict import Verdict

SPEED = Signal("speed", unit="m/s")
SLOW = always(SPEED <= 0.5)
SEEN = Trace.from_arrays({"speed": [0.0, 1.0, 0.25]}, dt="0.1")


def test_a_verdict_of_check_explains_itself() -> None:
    explanation = sg.check(SLOW, SEEN).explain()
    assert str(explanation) == explanation.words
    assert explanation.words.startswith("The formula is violated.")
    assert explanation.svg.startswith("<svg ")


def test_a_verdict_of_judge_takes_its_trace_again() -> None:
    verdict = judge(SLOW, SEEN)
    assert str(verdict.explain(SEEN)) == str(sg.check(SLOW, SEEN).explain())
    with pytest.raises(UnsupportedError, match=r"write verdict\.explain\(trace\)"):
        verdict.explain()


def test_judging_does_not_keep_the_trace() -> None:
    seen = Trace.from_arrays({"speed": np.zeros(3)}, dt="0.1")
    values = weakref.ref(seen.signals["speed"])
    verdict = judge(SLOW, seen)
    del seen
    gc.collect()
    assert values() is None
    assert verdict.status == "satisfied"


def test_another_trace_is_refused() -> None:
    other = Trace.from_arrays({"speed": [0.0]}, dt="0.1")
    with pytest.raises(TraceError, match=r"The verdict is about trace sha256:.*the one that was"):
        judge(SLOW, SEEN).explain(other)


def test_a_verdict_made_by_hand_says_what_would_work() -> None:
    bare = Verdict("a.b", "violated", None, None, SEEN.digest)
    with pytest.raises(UnsupportedError, match=r"safegym\.check\(claim, trace\)\.explain\(\)"):
        bare.explain(SEEN)


def test_what_a_verdict_keeps_takes_no_part_in_equality_or_text() -> None:
    kept, plain = check(SLOW, SEEN), judge(SLOW, SEEN)
    assert kept == plain
    assert "explainer" not in repr(kept)


def test_verdicts_and_explanations_pickle() -> None:
    verdict = pickle.loads(pickle.dumps(check(SLOW, SEEN)))
    assert verdict == check(SLOW, SEEN)
    explanation = verdict.explain()
    again = pickle.loads(pickle.dumps(explanation))
    assert (again.words, again.svg) == (explanation.words, explanation.svg)


def test_pictures_and_words_are_the_same_each_time() -> None:
    assert explain(SLOW, SEEN).svg == explain(SLOW, SEEN).svg


def test_a_verdict_of_the_second_backend_explains_itself() -> None:
    verdict = check(SLOW, SEEN, backend="z3")
    assert verdict.witness is None
    words = str(verdict.explain())
    assert "At its worst, at 0.1 s (sample 1), speed was 1 m/s" in words
    assert "Robustness" not in words


def test_a_refined_verdict_says_what_was_open_and_who_decided() -> None:
    sure = eventually((SPEED > 0) | (SPEED <= 0), window=("0.5", "0.6"))
    verdict = check(Claim(id="a.sure", statement=sure), SEEN, exact=True)
    words = str(verdict.explain())
    assert words.startswith("Claim a.sure is satisfied.")
    assert "was still open" in words
    assert words.endswith("Decided by z3 over all values of the unseen samples.")


def test_saving_takes_the_kind_from_the_name(tmp_path: Path) -> None:
    explanation = explain(SLOW, SEEN)
    explanation.save(tmp_path / "why.svg")
    explanation.save(str(tmp_path / "why.TXT"))
    assert (tmp_path / "why.svg").read_text(encoding="utf-8").strip() == explanation.svg
    assert (tmp_path / "why.TXT").read_text(encoding="utf-8").strip() == explanation.words
    with pytest.raises(UnsupportedError, match=r'\.svg, \.txt or \.png.*save\("why\.svg"\)'):
        explanation.save(tmp_path / "why.pdf")


def test_a_notebook_shows_the_picture() -> None:
    explanation = explain(SLOW, SEEN)
    assert isinstance(explanation, Explanation)
    assert explanation._repr_svg_() == explanation.svg
    assert repr(explanation) == "<Explanation formula: violated>"


def test_without_matplotlib_the_line_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    explanation = explain(SLOW, SEEN)
    with pytest.raises(UnsupportedError, match=r"pip install matplotlib"):
        explanation.plot()
    with pytest.raises(UnsupportedError, match=r"pip install matplotlib"):
        explanation.save(tmp_path / "why.png")
    assert not list(tmp_path.iterdir())


def test_a_tail_makes_the_shown_text_hold() -> None:
    """What the words say would decide an open claim does decide it."""
    soon = always((SPEED > 0.5).implies(eventually(SPEED < 0.25, within="0.3")))
    short = Trace.from_arrays({"speed": [0.0, 0.0, 1.0]}, dt="0.1", horizon=2)
    assert "A tail of 0.3 s past the horizon would decide it." in str(explain(soon, short))
    longer = Trace.from_arrays({"speed": [0.0, 0.0, 1.0, 1, 1, 1]}, dt="0.1", horizon=2)
    assert judge(soon, longer).status == "violated"


def test_replacing_a_field_keeps_the_explainer() -> None:
    renamed = replace(check(SLOW, SEEN), claim_id="b.c")
    assert str(renamed.explain()).startswith("Claim b.c is violated.")
