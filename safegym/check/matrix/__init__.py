"""The support matrix: what each backend does with each node, found out by asking and running it.

`python -m safegym.check.matrix --write` writes docs/reference/support.md, `--check` compares.
"""
