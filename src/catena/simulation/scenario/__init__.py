"""Scenario: what a run of a mechanism is, read from the [scenario] table of its file or from a file
that names another.

    [scenario]              mechanism = "arm.urdf"      # or { file = "solo.urdf", floating = true }
    until = "5 s"
    output = "10 ms"                              [scenario]
    initial = { q = { elbow = "30 deg" } }        until = "2 s"

Values carry units as everywhere in a file; names are those of joints and coordinates; every fault
is told at once.
"""

from __future__ import annotations

from .read import PLOTS, Scenario, near, read, start

__all__ = ["PLOTS", "Scenario", "near", "read", "start"]
