"""Neural policies as graphs, sound bounds on them, proofs by branch and bound, certificates."""
