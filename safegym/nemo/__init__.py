"""NeMo Gym: rows of tasks, blends of rows, and the server that judges what a model did."""
