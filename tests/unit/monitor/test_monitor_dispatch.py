"""Backends: who is asked, who refuses, and what may refine what."""

import subprocess
import sys
from dataclasses import replace

import pytest

from safegym.check import dispatch
from safegym.check.backend import Backend
from safegym.check.monitor import judge, support
from safegym.errors import UnsupportedError
from safegym.formula.build import always, eventually, fraction, mean
from safegym.formula.claim import Claim
from safegym.formula.nodes import Formula
from safegym.formula.terms import Signal
from safegym.trace.model import Trace
from safegym.verdict import Support, Verdict

X = Signal("x")
TRACE = Trace.from_arrays({"x": [1.0, 1.0]}, dt="0.1")
OPEN = eventually((X > 0) | (X <= 0), window=("0.5", "0.6"))


class Solver:
    """Answers what it is told to."""

    name = "z3"

    def __init__(self, status: str, ok: bool = True) -> None:
        self.status = status
        self.ok = ok
        self.asked: list[bool] = []

    def support(self, subject: Formula | Claim, /) -> Support:
        return Support(ok=self.ok, reason="no sin" if not self.ok else "")

    def check(self, subject: Formula | Claim, trace: Trace, /, *, exact: bool = False) -> Verdict:
        self.asked.append(exact)
        return replace(judge(subject, trace), status=self.status)  # type: ignore[arg-type]  # a status


def with_solver(monkeypatch: pytest.MonkeyPatch, solver: Solver) -> None:
    real = dispatch.find

    def find(name: str) -> Backend:
        return solver if name == "z3" else real(name)

    monkeypatch.setattr(dispatch, "find", find)


def test_the_monitor_is_the_default_backend() -> None:
    assert dispatch.check(always(X > 0), TRACE) == judge(always(X > 0), TRACE)


def test_exact_refines_an_inconclusive_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver("satisfied")
    with_solver(monkeypatch, solver)
    verdict = dispatch.check(OPEN, TRACE, exact=True)
    assert verdict.status == "satisfied"
    assert solver.asked == [True]
    assert any("z3" in note for note in verdict.notes)


def test_exact_never_contradicts_a_settled_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Solver("violated")
    with_solver(monkeypatch, solver)
    assert dispatch.check(always(X > 0), TRACE, exact=True).status == "satisfied"
    assert solver.asked == []


def test_a_refusal_is_never_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    with_solver(monkeypatch, Solver("satisfied", ok=False))
    with pytest.raises(UnsupportedError, match="no sin"):
        dispatch.check(always(X > 0), TRACE, backend="z3")


def test_a_mean_is_refused_before_any_work() -> None:
    claim = Claim(id="a.mean", statement=mean(fraction(X > 0)) >= 0.9)
    assert not support(claim).ok
    with pytest.raises(UnsupportedError, match="mean over episodes"):
        dispatch.check(claim, TRACE)


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(UnsupportedError, match="no backend 'prism'"):
        dispatch.find("prism")


def test_every_formula_is_supported_and_tight() -> None:
    answer = support(always(X > 0))
    assert (answer.ok, answer.tight) == (True, True)


def test_the_monitor_loads_neither_numba_nor_z3() -> None:
    code = (
        "import sys, safegym.check.dispatch as d; "
        "heavy = ('numba', 'z3', 'torch', 'scipy', 'pyarrow', 'gymnasium'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
