"""Second opinions on a problem from cvc5 and Marabou, both optional."""

from collections.abc import Callable, Sequence

from safegym.check.neural.outcome import SearchResult
from safegym.check.neural.problem import Problem
from safegym.check.neural.second_opinion.cvc5_solver import ask_cvc5
from safegym.check.neural.second_opinion.marabou_solver import ask_marabou
from safegym.check.neural.second_opinion.opinion import Answer, DisagreementError, Opinion
from safegym.check.neural.second_opinion.smtlib import smtlib
from safegym.errors import UnsupportedError

__all__ = ["Answer", "DisagreementError", "Opinion", "second_opinion", "smtlib"]

SOLVERS: dict[str, Callable[[Problem, float], Opinion]] = {
    "cvc5": ask_cvc5,
    "marabou": ask_marabou,
}


def second_opinion(
    problem: Problem,
    solvers: Sequence[str] = ("cvc5", "marabou"),
    *,
    timeout: float = 30.0,
    ours: SearchResult | None = None,
) -> tuple[Opinion, ...]:
    """What each solver says of the problem in real arithmetic, in the order asked.

    timeout: seconds for each. ours: our own answer; an opinion never replaces it. Raises
    DisagreementError, with both, where a point replayed exactly breaks what we proved, or where,
    in real arithmetic, a solver proves what we have a counterexample to. A solver that is missing,
    out of time or not able to read the problem gives UNKNOWN and says so.

    Raises UnsupportedError for a solver that is not known, or a timeout that is not positive.
    """
    unknown = [name for name in solvers if name not in SOLVERS]
    if unknown or not timeout > 0:
        raise UnsupportedError(
            f"solvers={list(solvers)}, timeout={timeout:g}: known are {sorted(SOLVERS)}, "
            "and the timeout must be positive."
        )
    opinions = tuple(_asked(name, problem, timeout) for name in solvers)
    for each in opinions:
        _compare(each, problem, ours)
    return opinions


def _asked(name: str, problem: Problem, timeout: float) -> Opinion:
    try:
        return SOLVERS[name](problem, timeout)
    except ImportError:
        reason = f"{name} is not installed; pip install 'safegym[second-opinion]'."
        return Opinion(name, "UNKNOWN", reason, 0.0)
    except UnsupportedError as fault:
        return Opinion(name, "UNKNOWN", f"It cannot read the problem: {fault}.", 0.0)
    except RuntimeError as fault:
        return Opinion(name, "UNKNOWN", f"It failed: {fault}.", 0.0)


def _compare(opinion: Opinion, problem: Problem, ours: SearchResult | None) -> None:
    broken = ours == "PROVED" and opinion.answer == "VIOLATED"
    real = problem.semantics == "real"
    missed = ours == "COUNTEREXAMPLE" and opinion.answer == "HOLDS" and real
    if broken or missed:
        point = "" if opinion.point is None else f" at {[float(x) for x in opinion.point]}"
        raise DisagreementError(
            f"Ours: {ours}. {opinion.solver}: {opinion.answer}{point} ({opinion.reason}) One of "
            "them is wrong; please report the problem with this message."
        )
