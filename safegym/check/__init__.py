"""Checkers: claims and traces, or claims and models, become verdicts and evidence."""
