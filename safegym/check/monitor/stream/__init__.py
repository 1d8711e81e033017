"""The streaming online monitor: constant work for each sample, whatever the windows."""
