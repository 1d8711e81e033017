"""MuJoCo's warnings while a model of Gymnasium's is compiled."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager

from safegym.scenario.signals.engine import mj

_KNOWN = "settotalmass"
"""Gymnasium's half_cheetah.xml uses this attribute, which MuJoCo is to drop; nobody can act on it
here, and it would be said once for each copy of the environment, and kept in MUJOCO_LOG.TXT.
"""


@contextmanager
def expected_warnings() -> Generator[None, None, None]:
    """Within it MuJoCo's warnings are Python's, but for the one that is known of the models."""
    before = mj.get_mju_user_warning()
    mj.set_mju_user_warning(_told)
    try:
        yield
    finally:
        mj.set_mju_user_warning(before)


def _told(message: str) -> None:
    if _KNOWN not in message:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
