"""Traces: what one episode showed, and how it is recorded and stored."""
