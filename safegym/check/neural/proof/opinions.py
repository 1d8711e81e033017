"""What another solver says of the same question."""

from safegym.check.neural.outcome import SearchResult
from safegym.check.neural.proof.result import Proof, SolverAnswer
from safegym.errors import UnsupportedError

SOLVERS = ("marabou", "cvc5")


def check_solver(solver: str | None) -> None:
    """Before any work. Raises UnsupportedError for a name that is no solver's."""
    if solver is not None and solver not in SOLVERS:
        raise UnsupportedError(
            f'second_opinion is "marabou" or "cvc5", found {solver!r:.40}; both come with '
            "pip install 'safegym[second-opinion]'."
        )


def opinions_of(proof: Proof, solver: str, timeout: float) -> tuple[SolverAnswer, ...]:
    """The answers of "marabou" or "cvc5" in real arithmetic, one a part that the search answered.

    timeout: seconds for each. Raises DisagreementError where one of the two must be wrong.
    """
    from safegym.check.neural.second_opinion import second_opinion

    found: list[SolverAnswer] = []
    for problem, outcome in zip(proof.problems, proof.outcomes, strict=False):
        failed = proof.result == "VIOLATED" and outcome is proof.outcomes[-1]
        ours: SearchResult = "COUNTEREXAMPLE" if failed else outcome.result
        for each in second_opinion(problem, (solver,), timeout=timeout, ours=ours):
            found.append(SolverAnswer(each.solver, each.answer, each.reason, each.seconds))
    return tuple(found)
