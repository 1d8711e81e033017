"""Closed loops of declared dynamics and a policy: simulated, enclosed, proved, compared."""
