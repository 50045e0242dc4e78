"""The O(n) passes over a tree of nodes, each written once.

A pass takes a `Tree` (what the mechanism is), arrays of coordinates and speeds, and a `Work` (its
scratch memory), and fills its results. It branches on structure, never on values, so that it can be
compiled once for every mechanism (`compiler.kernel_compiler`), or called with CasADi symbols for
one mechanism alone.
"""
