"""Policies distilled into decision trees, which a person can read and z3 can prove things of."""

from safegym.gate.distill.cart import grow
from safegym.gate.distill.distilled import Distilled
from safegym.gate.distill.viper import distil

__all__ = ["Distilled", "distil", "grow"]
