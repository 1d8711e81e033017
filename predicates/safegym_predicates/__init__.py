"""Claim sets by hazard."""
