"""The O(n) passes over a tree of nodes, each written once.

A pass takes a `Tree` (what the mechanism is), arrays of coordinates and speeds, and a `Work` (where everything is), and
fills its results. It branches on structure, never on values, so that it can be compiled by Numba for every mechanism at
once, or called with CasADi symbols for one mechanism alone.
"""
