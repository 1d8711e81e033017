"""Scenarios of the library, run: the good policy keeps its claims, the bad ones break them.

Every twelfth by default, which takes less than a minute; all of them with SAFEGYM_VERIFY=all, as
`safegym scenarios verify --all` does. `test_library_declared.py` holds every scenario to the
table that such a run wrote, by the digest of what the scenario is.
"""

import os

import pytest

from safegym.check.controls import verify_all
from safegym.scenario.registry import names

EVERY = 1 if os.environ.get("SAFEGYM_VERIFY") == "all" else 12


@pytest.mark.slow
def test_core_scenarios_are_verified_when_they_are_run_again():
    chosen = names("core")[::EVERY]
    outcomes = verify_all(chosen, workers=2, limit=600.0, brief=True)
    issues = [f"{each.name}: {issue}" for each in outcomes for issue in each.issues]
    assert len(outcomes) == len(chosen)
    assert issues == []
