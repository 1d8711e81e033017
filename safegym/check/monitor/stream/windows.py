"""How windows slide: chunks, and the rows that are read and written at each update.

A ring keeps the last `width` rows, cut into chunks. A window is, from new to old: RECENT rows one
by one; the prefix of the chunk that is being filled; CHUNKS whole chunks, of which only the sum is
kept (the largest value, or the pair of until) and combined once a chunk; the suffix of the oldest
chunk. Suffixes are worked out one row an update, ahead of their use, in one half of a scan buffer
while the other half is read. So width = CHUNK * (CHUNKS + 1) + RECENT, and an update costs the
same whatever the width: one row of the ring is written and one read. This is the block scheme of
van Herk 1992 and Gil and Werman 1993 in two levels; pairs compose associatively, so it serves
until and since as well.

A row older than its episode is left out by comparing its lag with the episode's age, so that a new
episode needs no clearing.
"""

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safegym.check.monitor.stream import words as w

Words = NDArray[np.int64]
SMALL = 8
"""Up to this width, rows are combined one by one."""


class Chunking(NamedTuple):
    """A window's CHUNK, CHUNKS and RECENT."""

    chunk: int
    chunks: int
    recent: int


def chunking(width: int) -> Chunking:
    """Returns how a window of `width` rows is cut: few rows one by one, and CHUNKS near CHUNK."""
    if width <= SMALL:
        return Chunking(1, 0, width - 1)
    root, most = isqrt(width), width // 2
    sizes = range(min(max(2, root // 2), most), min(3 * root, most) + 1)
    chunk = min(sizes, key=lambda size: width % size + (width // size - 1) / size + size / root)
    return Chunking(chunk, width // chunk - 1, width % chunk)


def move_delay(words: Words, at: int) -> None:
    """Moves a delay on: record 1 reads the oldest row, record 2 puts the newest in its place."""
    slot = words[at + w.AT]
    row = words[at + w.RING] + slot
    words[at + w.RECORD + w.Y] = row
    words[at + 2 * w.RECORD + w.OUT] = row
    words[at + w.AT] = slot + 1 if slot + 1 < words[at + w.LENGTH] else 0


def move_window(words: Words, at: int) -> None:
    """Moves a window on.

    The records after it: storing the newest row, the prefix, the recent rows, the result's further
    parts (prefix, whole chunks, suffix), the scan, the sum of the last CHUNKS.
    """
    ring, slot, length = words[at + w.RING], words[at + w.AT], words[at + w.LENGTH]
    chunk, chunks, recent = words[at + w.CHUNK], words[at + w.CHUNKS], words[at + w.RECENT]
    place, part, side = words[at + w.PLACE], words[at + w.PART], words[at + w.SIDE]
    scans, prefix = words[at + w.SCANS], words[at + w.PARTS] + part
    more = place + 1 < chunk
    record = at + w.RECORD
    words[record + w.OUT] = ring + slot
    record += w.RECORD
    words[record + w.OUT] = prefix
    words[record + w.X] = ring + (slot - recent) % length
    words[record + w.Y] = prefix
    words[record + w.LOW] = recent + 1 if place > 0 else w.MISSING
    record += w.RECORD
    words[record + w.START] = slot
    record += w.RECORD
    words[record + w.Y] = prefix
    if chunks > 0:
        record += w.RECORD
        words[record + w.LOW] = recent + place + 1
        record += w.RECORD
        words[record + w.Y] = scans + side * chunk + place + 1 if more else scans
        words[record + w.LOW] = recent + chunks * chunk + place + 1 if more else w.MISSING
        record += w.RECORD
        back = (chunks - 1) * chunk + 2 * place + recent + 1
        scanned = scans + (2 - side) * chunk - 1 - place
        words[record + w.OUT] = scanned
        words[record + w.X] = scanned + 1 if place > 0 else words[at + w.LOWEST]
        words[record + w.X_GAP] = words[record + w.OUT_GAP] if place > 0 else 1
        words[record + w.START] = (slot - back) % length
        words[record + w.LOW] = back
        record += w.RECORD
        words[record + w.START] = part
        words[record + w.REPEAT] = 0 if more else chunks
    words[at + w.AT] = slot + 1 if slot + 1 < length else 0
    words[at + w.PLACE] = place + 1 if more else 0
    if not more:
        words[at + w.PART] = part + 1 if part < chunks else 0
        words[at + w.SIDE] = 1 - side
