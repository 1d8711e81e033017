"""The command line."""

from safegym.cli.application import main

__all__ = ["main"]
