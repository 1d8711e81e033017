"""A process that trains several times holds what its runs need, not what they needed."""

import platform
from pathlib import Path

import pytest
from cart_training import cart_spec, small_settings

from safegym.gate.trainer import loop
from safegym.gate.trainer.hook import NoGate
from safegym.gate.trainer.loop import Trainer
from safegym.gate.trainer.memory import give_back

STATM = Path("/proc/self/statm")
MEGABYTE = 2**20


def resident() -> int:
    """Megabytes of this process that are in memory, in pages of 4 KiB."""
    return int(STATM.read_text().split()[1]) * 4096 // MEGABYTE


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory")
def test_freed_memory_between_blocks_in_use_goes_back_to_the_system():
    blocks = [bytes(4096) + bytes([1]) for _ in range(25_000)]
    kept = blocks[::500]
    del blocks
    before = resident()
    give_back()
    assert before - resident() > 50
    assert len(kept) == 50


def test_a_run_gives_back_what_it_freed_however_it_ends(tmp_path, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(loop, "give_back", lambda: told.append("given back"))
    Trainer(cart_spec(), small_settings(steps=64), tmp_path / "r", NoGate()).run()
    assert told == ["given back"]

    def cut(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Trainer(cart_spec(), small_settings(), tmp_path / "c", NoGate(), listener=cut).run()
    assert told == ["given back", "given back"]
