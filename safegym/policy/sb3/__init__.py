"""Policies of stable-baselines3: frozen for evidence, and stored without pickle."""

from safegym.policy.sb3.archive import load_zip
from safegym.policy.sb3.checkpoint import load_algorithm, read_checkpoint, save_checkpoint
from safegym.policy.sb3.normaliser import Normaliser
from safegym.policy.sb3.policy import SB3Policy, freeze, load_policy

__all__ = [
    "Normaliser",
    "SB3Policy",
    "freeze",
    "load_algorithm",
    "load_policy",
    "load_zip",
    "read_checkpoint",
    "save_checkpoint",
]
