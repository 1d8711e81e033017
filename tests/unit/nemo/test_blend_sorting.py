"""The external sort against Python's own, with so little memory that it must spill and merge."""

import random

import pytest

from safegym.nemo.blend import sorting
from safegym.nemo.blend.sorting import external_sort


@pytest.mark.parametrize("count", [0, 1, 7, 500, 3000])
def test_it_gives_what_sorted_gives_equal_keys_in_their_order(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "FAN_IN", 4)  # so that runs are merged in several passes
    chance = random.Random(count)
    records = [(chance.randbytes(chance.randrange(3)), str(i).encode()) for i in range(count)]
    with external_sort(budget=5_000) as sort:
        for key, payload in records:
            sort.add(key, payload)
        assert list(sort.merged()) == sorted(records, key=lambda record: record[0])
