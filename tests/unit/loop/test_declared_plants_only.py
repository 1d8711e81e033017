"""What is no declared plant is refused in words, whoever is asked."""

import pytest
from safegym_scenarios.models import double_integrator, find_model

from safegym.check.loop.inductive import prove_inductive
from safegym.check.loop.reach import prove_reach
from safegym.check.symbolic.model import check_model
from safegym.errors import UnsupportedError
from safegym.formula.build import always

NEAR = {"position": (-0.1, 0.1), "velocity": (-0.1, 0.1)}
SAFE = abs(double_integrator.POSITION) <= 1.0


@pytest.mark.parametrize("given", ["double-integrator", None])
def test_a_plant_that_was_not_declared_is_refused_with_what_to_pass(given):
    model = find_model("double-integrator")
    wrong = model if given is None else given
    told = r"is no declared plant; pass Dynamics.*find_model\(NAME\)\.dynamics"
    with pytest.raises(UnsupportedError, match=told):
        prove_inductive(wrong, model.policy(), NEAR, SAFE, double_integrator.SET)
    with pytest.raises(UnsupportedError, match=told):
        prove_reach(wrong, model.policy(), always(SAFE), NEAR, steps=2)
    with pytest.raises(UnsupportedError, match=told):
        check_model(wrong, None, always(SAFE), initial=NEAR, steps=2)
