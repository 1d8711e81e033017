"""Rows: tasks as JSON lines, in the three forms that NeMo Gym reads."""
