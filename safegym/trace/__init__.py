"""Traces: what one episode showed, and how it is recorded and stored."""

from safegym.trace.model import Clock, EndKind, EpisodeEnd, Event, Trace

__all__ = ["Clock", "EndKind", "EpisodeEnd", "Event", "Trace"]
