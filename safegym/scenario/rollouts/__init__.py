"""Campaigns on `mujoco.rollout`: the physics of many episodes in compiled loops and threads.

A scenario that can be run so declares a `Rollout` (`declaration`). `Campaign` with engine="rollout"
(`engine`) and `rollout_traces` (`traces`) give the traces of a plain campaign, bit for bit.
"""
