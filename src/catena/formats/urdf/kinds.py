"""Kinds: URDF's joint types and catena's kinds."""

from __future__ import annotations

import sys

KINDS = {  # of each type of URDF
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "floating": "free",
    "planar": "planar",
}  # fmt: skip
TYPES = {"revolute": "continuous", "prismatic": "prismatic", "fixed": "fixed", "free": "floating", "planar": "planar"}
LIMITED = {"continuous": "revolute"}  # the type of a joint with limits, where it is another
UNLIMITED = sys.float_info.max  # URDF has no word for infinity; the largest double is read and written as one
