"""One small function for each operation: two lines (or planes) around it on an interval.

Slopes may be any floats; each intercept is derived from the slope as it is, outward. Every
function takes arrays of finite ends with low <= high and works entry by entry.
"""
