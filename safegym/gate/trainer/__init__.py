"""Training under a gate. Import from the modules; `loop` and `learner` load torch."""
