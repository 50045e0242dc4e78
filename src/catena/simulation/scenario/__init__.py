"""Scenario: the description of a run (its duration, start, controllers, events and options), read
from the [scenario] table of a mechanism's file, or from a file that names the file of a mechanism.

    [scenario]              mechanism = "arm.urdf"      # or { file = "solo.urdf", floating = true }
    until = "5 s"
    output = "10 ms"                              [scenario]
    initial = { q = { elbow = "30 deg" } }        until = "2 s"

Values carry units as everywhere in a file; names are those of joints and coordinates; every fault
is reported at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...doors import door
from .read import PLOTS, Scenario, near, read, start

__all__ = ["PLOTS", "Scenario", "near", "read", "start"]

if TYPE_CHECKING:
    from .inverse import along, placed
    from .marker_motion import marked
    from .names import named_values, state_entries
    from .read import SCENARIO, mechanism_of_table, read_table

__getattr__, __dir__ = door(__name__)
