"""Scenarios: simulated systems with named signals, hazards, claims, and control policies."""
