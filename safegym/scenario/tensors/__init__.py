"""Simulators that step thousands of copies as tensors: their episodes as traces.

recorder = TensorRecorder(env, signals=SIGNALS, read=read, clock=Clock(dt), horizon=H,
                          autoreset="same step", before_reset="_reset_idx")
for index, trace in TensorCampaign(recorder, policy, rounds=2):
    sg.check(claim, trace)
"""

from safegym.scenario.tensors.campaign import TensorCampaign
from safegym.scenario.tensors.recorder import Autoreset, TensorRecorder

__all__ = ["Autoreset", "TensorCampaign", "TensorRecorder"]
