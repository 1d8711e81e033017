"""A compiled monitor: 64-bit words that say what to do, and cells that hold what is remembered.

One array holds both, so that a compiled call takes one argument. words = header | one record per
instruction. cells = rows of B values, one per episode: the newest samples, terms (float64 bits),
ordered keys (truth and margin in one word, see `keys`), and rings of past rows. `program` lays both
out, `windows` moves records along the rings, `machine` (compiled) and `arrays` (numpy) carry them
out.
"""

from typing import Final

# Header.
BATCH: Final = 0
"""B, the number of episodes."""
TERMS: Final = 1
"""How many records are of samples, terms and atoms: these run first, and only after them cells
change that last."""
COUNT: Final = 2
"""How many records there are."""
AGE: Final = 3
"""The row of each episode's newest sample index, -1 before its first sample."""
OLDEST: Final = 4
"""The largest of them."""
ROOM: Final = 5
"""Updates that still fit into the shortest ring that is being filled."""
LIMIT: Final = 6
"""The age, in samples, from which on the rings being filled no longer serve an episode."""
FROM: Final = 7
"""With TO > FROM, only the records FROM..TO - 1 are run, which are streams."""
TO: Final = 8
CELLS: Final = 9
"""Where the cells start."""
HEIGHT: Final = 10
"""How many rows of cells there are."""
STRIDE: Final = 11
"""Cells of a row, at least B."""
HEADER: Final = 16

# Every record: what to do, the row it writes, the rows it reads.
CODE: Final = 0
OUT: Final = 1
X: Final = 2
Y: Final = 3
RECORD: Final = 20

# Samples and terms, on float64 rows.
SAMPLE: Final = 0
"""An input row, as it is."""
ADD: Final = 1
"""x + SIGN * y, with SIGN 1 or -1."""
MULTIPLY: Final = 2
DIVIDE: Final = 3
MOST: Final = 4
"""SIGN * max(SIGN * x, OTHER * y), with signs 1 or -1: the larger, the smaller, the magnitude."""
ROOT: Final = 5
KEY: Final = 6
"""The key of an atom: x difference, y scaled difference, ZERO key of 0, BARE -1 for truth only."""
SIGN: Final = 4
OTHER: Final = 5
CHECKED: Final = 6
"""1 where every result must be finite."""
ZERO: Final = 4
BARE: Final = 5

# Streams, on key rows. A flip of -1 reads complements, which reverses the order.
FOLD: Final = 7
"""out = max(x ^ FLIP_X, y ^ FLIP_Y), FILL instead of y where age - LAG is not in LOW..HIGH.

y is REPEAT rows of a ring of ROWS rows, from its row START backwards, LOW growing by STEP; x is
what came out so far from the second on, OUT and the row SPARE taking turns.
"""
PAIR: Final = 8
"""The same with pairs (reach, path), an older y before a newer x: see `arrays`.

Paths lie OUT_GAP, X_GAP and Y_GAP rows after reaches; FLIP_X and FLIP_Y are those of x's two rows.
"""
TALLY: Final = 9
"""out = out + 1 where x ^ FLIP_X is true and LOW <= age - LAG <= HIGH, from 0 at age 0."""
FLIP_X: Final = 4
FLIP_Y: Final = 5
LAG: Final = 6
LOW: Final = 7
HIGH: Final = 8
FILL: Final = 9
REPEAT: Final = 10
START: Final = 11
ROWS: Final = 12
STEP: Final = 13
AHEAD: Final = 14
"""-1 for until (reach goes from the oldest on), 0 for since."""
OUT_GAP: Final = 15
X_GAP: Final = 16
Y_GAP: Final = 17
SPARE: Final = 18

# Rings: records that move the records after them; see `windows`.
DELAY: Final = 10
WINDOW: Final = 11
RING: Final = 1
LENGTH: Final = 2
"""Rows of the ring, times two where it holds pairs."""
AT: Final = 3
"""The ring's next row."""
CHUNK: Final = 4
CHUNKS: Final = 5
RECENT: Final = 6
PARTS: Final = 7
SCANS: Final = 8
LOWEST: Final = 9
"""A row (pair) that leaves what it is combined with as it is."""
PLACE: Final = 10
"""The next row's place in its chunk."""
PART: Final = 11
"""The row of PARTS that the chunk is summed up in."""
SIDE: Final = 12
"""The half of SCANS that is being read."""

FALSE: Final = -0x7FF0000000000001
"""The key of -inf; its complement is the key of +inf."""
TRUE: Final = 0x7FF0000000000000
NEVER: Final = 1 << 60
"""A position that is never reached."""
FREE: Final = -(1 << 61)
"""The lag of what no position bounds."""
MISSING: Final = 1 << 62
"""A bound that no position meets."""

# What `advance` returns.
DONE: Final = 0
NOT_FINITE: Final = 1
FULL: Final = 2
