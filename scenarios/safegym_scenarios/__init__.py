"""The scenario library."""
