"""Copies of what a training tells, for people who watch: TensorBoard scalars, an MLflow run.

A mirror is never the record: that is the audit log. A mirror that fails is let go with a warning,
and training goes on.
"""

from safegym.gate.mirror.mirrors import Mirrors, open_mirrors
from safegym.gate.mirror.scalars import Scalars

__all__ = ["Mirrors", "Scalars", "open_mirrors"]
