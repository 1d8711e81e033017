"""The gate: which policy is released, held, rolled back, and on what evidence."""
