"""How far past the horizon an episode must run so that a property is settled."""

from safegym.check.tail import tail_steps

__all__ = ["tail_steps"]
