"""What the benchmark of proofs runs.

A part is a module of this folder with `measure(quick: bool, say) -> dict`, whose four entries
`figures`, `rivals`, `ratios` and `bars` go into the benchmark's own; a bar has the name of the
ratio that may not be above it.
"""
