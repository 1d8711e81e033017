"""What `benchmarks/monitors.py` measures: cases, rivals, first calls, memory."""
