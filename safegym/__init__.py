"""Formal policy verification for safety-critical control reinforcement learning."""
