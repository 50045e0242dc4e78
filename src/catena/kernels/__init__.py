"""The O(n) passes over a tree of nodes, each written once.

A pass takes a `Tree` (the mechanism as arrays), arrays of coordinates and speeds, and a `Work` (its
scratch memory), and fills its results. It branches on structure, never on values, so that it can be
compiled once for every mechanism (`compiler.kernel_compiler`), or called with CasADi symbols for
one mechanism alone.
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from . import (
        constrained_forward_dynamics,
        constraint_rows,
        coriolis,
        dynamics,
        kinematics,
        motion,
        reactions,
        switched_rows,
    )
    from .constrained_forward_dynamics import (
        constrained_dynamics,
        constrained_dynamics_dense,
        factor_rows,
        meet,
    )
    from .constraint_rows import (
        Constraints,
        active_rows,
        constraints,
        evaluate_rows,
        on_child,
        row_jacobian,
        row_names,
    )
    from .coriolis import coriolis_matrix
    from .dynamics import factor, solve
    from .dynamics_derivatives import inverse_dynamics_derivatives
    from .kinematics import frame_pose
    from .lifting import Lift
    from .loop_reactions import DOUBTFUL, JointRows, loop_reactions
    from .motion import BALL, SLIDE, speeds
    from .rank import (
        EXACT,
        RANK,
        column_scales,
        independent,
        motion_without_energy,
        own_length,
        speed_row_scales,
        usual_length,
    )
    from .reactions import BodyTable, body_table, joint_wrenches
    from .regrouping import regrouped
    from .switched_rows import ROUNDS, HeldRows, OffRows
    from .tree import SNAP, CoordinateRange, Layout, Seat, Tree, as_array, layout, seated
    from .workspace import Work

__getattr__, __dir__ = door(__name__)
