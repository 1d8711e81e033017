"""Exports of a verified run: statements, JUnit XML, an assurance argument, clauses, a matrix."""

from safegym.audit.exports.standing import Dossier, Standing, open_dossier

__all__ = ["Dossier", "Standing", "open_dossier"]
