"""Policies: what maps observations to actions."""
