"""The version of safegym."""

__version__ = "0.1.0"
