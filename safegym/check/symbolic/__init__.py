"""z3 over exact rationals: a second judge of traces, and questions about claims themselves."""
