"""Learners: one stable-baselines3 algorithm each, behind the one protocol that the loop drives."""
