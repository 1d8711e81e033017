"""Questions as SMT-LIB 2 files with the answer they were given, for another solver to repeat."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safegym.check.symbolic.engine import Bool, z3
from safegym.errors import RunFolderError

LONGEST_NAME = 80


class SmtLib:
    """A folder that gets one file for each question. Raises RunFolderError if it cannot."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._count = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(f"{folder} cannot be made: {error.strerror or error}.") from error

    def write(self, name: str, constraints: Sequence[Bool], word: str) -> Path:
        """Writes one question. word: "sat", "unsat" or "unknown", as `(set-info :status ...)`."""
        self._count += 1
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:LONGEST_NAME]
        path = self._folder / f"{self._count:03}-{plain}.smt2"
        try:
            path.write_text(smtlib_text(constraints, word), encoding="ascii")
        except OSError as error:
            raise RunFolderError(f"{path} cannot be written: {error.strerror}.") from error
        return path


def smtlib_text(constraints: Sequence[Bool], word: str) -> str:
    """One question as SMT-LIB 2, over exact rationals, ending in `(check-sat)`."""
    goal = z3.Goal()
    goal.add(*constraints)
    linear = z3.Probe("is-qflra")(goal) == 1.0
    rules: list[Any] = list(constraints) or [z3.BoolVal(True)]
    array = (z3.Ast * (len(rules) - 1))(*(rule.as_ast() for rule in rules[:-1]))
    return str(
        z3.Z3_benchmark_to_smtlib_string(
            z3.main_ctx().ref(),
            "safegym",
            "QF_LRA" if linear else "QF_NRA",
            word,
            "",
            len(rules) - 1,
            array,
            rules[-1].as_ast(),
        )
    )
