"""Errors that say which claim was judged."""

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from safegym.errors import SafegymError
from safegym.formula.claim import Claim

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def naming_its_claim(judging: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Makes refusals of `judging(..., subject, ...)` begin with the claim's id, if it is a claim.

    The claim is the one among the arguments, or an argument's own `_subject` (a monitor's).
    """

    @wraps(judging)
    def named(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            return judging(*args, **kwargs)
        except SafegymError as error:
            for argument in (*args, *kwargs.values()):
                name_claim(error, getattr(argument, "_subject", argument))
            raise

    return named


def name_claim(error: SafegymError, subject: object) -> None:
    """Puts the id of the claim that was judged before the message, unless it is named there."""
    if isinstance(subject, Claim) and not _named(subject.id, str(error)):
        error.args = (f"Claim {subject.id}: {error}", *error.args[1:])


def _named(claim: str, message: str) -> bool:
    return re.search(rf"\b[Cc]laim {re.escape(claim)}(?![\w-]|\.\w)", message) is not None
