"""Every scenario of the library, without running it: declared whole, locked, and verified.

One short test each; `test_library_verified.py` runs them all.
"""

import functools

import pytest

from safegym.check.controls.declared import shortcomings
from safegym.scenario.lock import changes, entry_of, lock_path, read_lock
from safegym.scenario.registry import find, names
from safegym.scenario.verified import is_current, read_table, table_path

NAMES = names("core")
locked = functools.cache(lambda: read_lock(lock_path()))
verified = functools.cache(lambda: read_table(table_path()))


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_is_declared_whole_locked_and_verified(name):
    spec = find(name)
    assert list(shortcomings(spec)) == []
    entry = entry_of(spec)
    assert name in locked(), "run python -m safegym.scenario.lock --write"
    assert changes(locked()[name], entry) == [], "see python -m safegym.scenario.lock --check"
    assert locked()[name].digest == entry.digest
    row = verified().get(name)
    assert row is not None, f"run safegym scenarios verify {name} --write-table"
    assert is_current(row, spec), f"run safegym scenarios verify {name} --write-table"
    assert [each.claim for each in row.claims] == [claim.id for claim in spec.claims]


def test_lock_and_table_hold_no_scenario_that_is_gone():
    assert set(locked()) == set(NAMES)
    assert set(verified()) == set(NAMES)


def test_claims_of_one_family_have_one_prefix_and_no_scenario_two_names():
    digests = [find(name).digest for name in NAMES]
    assert len(set(digests)) == len(NAMES)
    for name in NAMES:
        prefixes = {claim.id.partition(".")[0] for claim in find(name).claims}
        assert len(prefixes) == 1, (name, prefixes)
