"""What resumptions set aside: as a slow reference has it, and in time that does not explode."""

import random
import time
from types import SimpleNamespace

from safegym.audit.references import LeafIndex, LiveLeaves
from safegym.audit.slice_steps import _set_aside

START = "run_resumed"


def resumed(size: int) -> dict:
    return {"from": {"size": size}}


def test_live_leaves_are_those_that_no_later_resumption_set_aside():
    draw = random.Random(8)
    index, gone, names = LeafIndex(), set[int](), list[str]()
    for at in range(400):
        if at and draw.random() < 0.2:
            size = draw.randrange(1, at + 1)
            gone.update(range(size, at))
            names.append("again")
            index.add(START, "again", resumed(size))
        else:
            names.append(draw.choice("abcde"))
            index.add(START if names[-1] == "again" else "penalty", names[-1], {})
        live = [k for k, name in enumerate(names) if name == "a" and k not in gone]
        if live:
            found = index.resolve({"kind": "penalty", "record": "a"})
            assert found == (live[-1],)
    assert index.superseded == gone


def test_a_log_of_resumptions_alone_is_read_in_no_time():
    began, index = time.process_time(), LeafIndex()
    for at in range(20_000):
        index.add(START, str(at), resumed(1)) if at else index.add("penalty", "x", {})
    assert time.process_time() - began < 2
    assert len(index.superseded) == 19_998


def test_a_slice_of_a_log_of_a_billion_records_takes_no_memory_for_them():
    live = LiveLeaves()
    live.add(7)
    assert live.cut(1) == [7]
    far = [(1, 10**9), (5, 10**12), (10**12 + 1, 10**12 + 4)]
    records = [
        SimpleNamespace(kind=START, index=stop, payload=resumed(start)) for start, stop in far
    ]
    assert _set_aside(records) == 10**12 - 1 + 3
