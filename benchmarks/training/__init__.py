"""Parts of the training benchmarks."""
