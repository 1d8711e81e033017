"""SMT-LIB questions put to another solver: cvc5, an optional second opinion."""

import re
from pathlib import Path
from typing import Any

from safegym.errors import UnsupportedError

LARGEST = 256 << 20
"""Bytes of the largest file that is read."""


_STATUS = re.compile(r"\(set-info :status (sat|unsat|unknown)\)")


def expected(text: str) -> str:
    """The answer that a file says it was given: "sat", "unsat" or "unknown"."""
    found = _STATUS.search(text[:2000])
    if found is None:
        raise UnsupportedError("The SMT-LIB text does not say what it was answered.")
    return found.group(1)


def cvc5_word(text: str, timeout: float = 60.0) -> str:
    """cvc5's answer to SMT-LIB text that ends in one `(check-sat)`: "sat", "unsat", "unknown".

    timeout: seconds; at the limit the answer is "unknown". Raises UnsupportedError where cvc5 is
    not installed or the text asks nothing.
    """
    try:
        import cvc5
    except ImportError as error:
        raise UnsupportedError(
            f"cvc5 cannot be loaded ({error}); pip install 'safegym[second-opinion]'."
        ) from error
    api: Any = cvc5
    solver = api.Solver(api.TermManager())
    solver.setOption("tlimit-per", str(max(1, int(timeout * 1000))))
    parser = api.InputParser(solver)
    alone = _STATUS.sub("", text)  # cvc5 would answer with an error where it disagrees
    parser.setStringInput(api.InputLanguage.SMT_LIB_2_6, alone, "question")
    symbols = parser.getSymbolManager()
    answers: list[str] = []
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        said = str(command.invoke(solver, symbols)).strip()
        if said:
            answers.append(said)
    if not answers or answers[-1] not in ("sat", "unsat", "unknown"):
        raise UnsupportedError(f"cvc5 gave no answer: {answers[-1:] or 'nothing was asked'}.")
    return answers[-1]


def repeated(path: str | Path, timeout: float = 60.0) -> tuple[str, str]:
    """(the answer on file, cvc5's answer). Raises UnsupportedError, as `cvc5_word` does."""
    place = Path(path)
    if not place.is_file() or place.stat().st_size > LARGEST:
        raise UnsupportedError(f"{path} is no file of at most {LARGEST} bytes.")
    text = place.read_text(encoding="ascii")
    return expected(text), cvc5_word(text, timeout)
