"""Workspace: the scratch memory of the kernels, one row per node, allocated once and used by every
pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Work(NamedTuple):
    """Scratch arrays with one row per node, in the node's own axes unless stated otherwise; letters
    of [Featherstone2008] and [Merwe1995].
    """

    c: np.ndarray  # (n,) cosine and sine of a turn
    s: np.ndarray  # (n,)
    Q: np.ndarray  # (n, 3, 3) rotation of a ball, from its turned axes into its unturned ones
    r: np.ndarray  # (n, 3) origin in the parent's frame
    w: np.ndarray  # (n, 3) angular velocity
    u: np.ndarray  # (n, 3) velocity of the origin
    dw: np.ndarray  # (n, 3) angular acceleration
    du: np.ndarray  # (n, 3) acceleration of the origin, minus gravity where forces are asked for
    T: np.ndarray  # (n, 3, 3) angular acceleration tensor
    t: np.ndarray  # (n, 3) torque about the origin
    f: np.ndarray  # (n, 3) force
    m: np.ndarray  # (n,) composite mass
    h: np.ndarray  # (n, 3) composite first moment
    J: np.ndarray  # (n, 6) composite Euler tensor
    A: np.ndarray  # (n, 6) articulated inertia [A B; B' C], angular block
    B: np.ndarray  # (n, 3, 3)
    C: np.ndarray  # (n, 6) its linear block
    D: np.ndarray  # (n, 6) the inverse pivot: one value, or six of a ball
    y: np.ndarray  # (n, 3) pivot times the joint force that is left
    R: np.ndarray  # (n, 3, 3) rotation into the ground's axes
    p: np.ndarray  # (n, 3) origin in the ground's frame

    @staticmethod
    def empty(n: int, dtype: type = np.float64) -> Work:
        """Return memory for n nodes: doubles for compiled code, objects for symbols."""
        shapes = {
            "c": (n,),
            "s": (n,),
            "m": (n,),
            "J": (n, 6),
            "A": (n, 6),
            "C": (n, 6),
            "D": (n, 6),
        }
        shapes |= dict.fromkeys(("Q", "T", "B", "R"), (n, 3, 3))
        return Work(*(np.full(shapes.get(name, (n, 3)), 0.0, dtype=dtype) for name in Work._fields))
