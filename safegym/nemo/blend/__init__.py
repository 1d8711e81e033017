"""Blends: parts mixed by ratio, filled, ordered by pass rate, sampled, split and checked."""
