"""Properties of a policy, in the language, as clauses over one graph."""
