"""The gallery: the worked examples of the documents catena comes from, run, compared with the
print, and shown.

    file -> run -> Page (numbers, pictures, tables) -> docs/gallery/NAME.md and its pictures

One file an example, with a record EXAMPLE of what it is and a function `run() -> Page`. A page is
made by running the example, so it cannot rot. `build` makes them all.
"""

from __future__ import annotations

from importlib import import_module

from catena.errors import UnknownNameError

from .page import Example, Misprint, Number, Page, Picture, Table

__all__ = ["NAMES", "Example", "Misprint", "Number", "Page", "Picture", "Table", "example"]

NAMES = (  # in the order of the index
    "triple_pendulum",
    "planar_two_link",
    "spatial_six_dof",
    "stanford_worked",
    "stanford_valve",
    "four_link_closed",
    "two_links_one_load",
    "high_stiffness_low_mass",
    "space_manipulator",
    "rolling_disc",
    "knife_edge",
    "hanging_chain",
    "human_in_free_fall",
    "four_bar",
    "slider_crank",
    "bricard",
    "cable_by_segments",
    "flexible_arm",
    "spinning_boom",
    "two_link_flexible",
    "arm_at_wall",
    "gripper",
    "rimless_wheel",
    "compass_walker",
    "domino_row",
    "billiard",
    "cam_follower",
    "loose_pin",
)


def example(name: str) -> Example:
    """The example of that name."""
    if name not in NAMES:
        raise UnknownNameError("example", name, NAMES, "the gallery")
    return import_module(f".{name}", __name__).EXAMPLE
