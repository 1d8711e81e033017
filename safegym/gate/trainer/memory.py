"""Memory that training has freed, given back to the system.

glibc keeps freed blocks of thousands of episodes for itself where newer ones stand between them, so
that a process that trains several times would hold more than any of its runs needs.
"""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Ask glibc to return free memory; nothing happens where the C library is another one.

    Source: malloc_trim(3).
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
