"""Which claims a gate takes: objects, one or several, and nothing else."""

from typing import Any

import pytest

from safegym.errors import GateError, PolicyError
from safegym.formula.build import eventually, prob
from safegym.formula.claim import Claim
from safegym.formula.terms import Signal
from safegym.gate.plan import Gate
from safegym.policy.base import as_policy

CLAIM = Claim(id="own.hit", statement=prob(eventually(Signal("force", "N") >= 1)) < 0.01)


def test_one_claim_stands_for_itself() -> None:
    one: Any = CLAIM
    assert Gate(claims=one) == Gate(claims=(CLAIM,))


@pytest.mark.parametrize("claims", ["own.hit", ["own.hit"], [CLAIM, CLAIM.statement]])
def test_what_is_no_claim_is_refused_with_the_line_that_works(claims: Any) -> None:
    with pytest.raises(GateError, match=r"takes Claim objects, found .* some of the scenario's"):
        Gate(claims=claims)


def test_the_name_of_a_policy_is_refused_with_how_to_make_it() -> None:
    with pytest.raises(PolicyError, match=r"A str is not a policy.*find\(scenario\)\.good\(\)"):
        as_policy("good")
