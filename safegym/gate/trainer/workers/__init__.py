"""Rollout workers: training's environments in processes of their own, or on Ray."""
