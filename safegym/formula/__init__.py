"""The predicate language: terms, formulas, claims. Standard library only."""
