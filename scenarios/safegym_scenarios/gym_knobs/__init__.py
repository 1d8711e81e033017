"""Faults and disturbances for any environment of Gymnasium, as inputs that a scenario declares.

A family subclasses `KnobbedEnv`, says in its hooks what pushes and starts mean to its system, and
declares `knobs.standard_faults(...)`. Without a knob its episodes are Gymnasium's, bit for bit.
"""
