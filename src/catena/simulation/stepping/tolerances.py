"""Defaults of the options of time stepping, which a file may set: how long its solver works."""

ITERATIONS = 200  # the most sweeps over the contacts of a step
RESIDUAL = 1e-8  # of the contact problem, relative to the fastest speed of a contact
