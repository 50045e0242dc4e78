"""Schema: the keys each table of a file may have, and what its values measure."""

from __future__ import annotations

TOP_KEYS = (
    "name", "gravity", "planar", "as_found", "notes", "cut", "parameters", "expressions", "body", "joint", "frame", "loop", "load", "row",
    "constraint", "ground", "collisions", "contact", "include", "scenario", "optimize",
)  # fmt: skip
COMPANION_KEYS = ("gravity", "parameters", "expressions", "body", "ground", "collisions", "joint", "frame", "loop", "load", "row", "constraint", "contact")

BODY_KEYS = ("name", "mass", "com", "inertia", "shapes", "flexible")
BEAM_KEYS = (
    "kind", "length", "EI", "EA", "GJ", "rhoA", "rhoJ", "damping", "segments", "modes", "ends", "shapes", "stiffening",
)  # fmt: skip
INERTIA = ("xx", "xy", "xz", "yy", "yz", "zz")
SHAPE_KEYS = ("name", "kind", "size", "at", "rotate", "file", "colour", "collides", "drawn")
COLLISION_KEYS = ("include", "exclude", "only", "groups")
CONTACT_KEYS = ("name", "between", "friction", "restitution", "law", "impacts", "paradox", "radius", "surface", "surface_radius",
                "clearance")  # fmt: skip
FRAME_KEYS = ("name", "body", "at", "rotate")

LIMIT_KEYS = ("lower", "upper", "effort", "speed")
LOSS_KEYS = ("damping", "friction", "armature")
PLACE_KEYS = ("at", "rotate", "child_at", "child_rotate", "axis")  # what Denavit-Hartenberg parameters stand for
DH_KEYS = ("custom", "a", "alpha", "d", "theta")
MIMIC_KEYS = ("joint", "multiplier", "offset", "function")
FUNCTION_KEYS = ("kind", "x", "y")
LOOP_KEYS = ("name", "kind", "parent", "child", *PLACE_KEYS, "dh", "pitch", "sequence", "limits", *LOSS_KEYS)
JOINT_KEYS = (*LOOP_KEYS, "mimic")
MEASURES = {  # of each value of a joint: its dimension where the joint slides, and where it turns
    "lower": ("length", "angle"), "upper": ("length", "angle"), "effort": ("force", "torque"),
    "speed": ("speed", "angular speed"), "damping": ("damping", "angular damping"), "friction": ("force", "torque"),
    "armature": ("mass", "inertia"),
}  # fmt: skip

ROTATIONS = (("rpy",), ("quaternion",), ("axis", "angle"), ("matrix",))
