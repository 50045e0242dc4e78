"""Contact: unilateral contact with Coulomb friction, independent of how time advances.

gaps               gaps, normals and Jacobian rows of contact points as expressions
modes              which contacts open, stick or slip; splitting: an approximate start for many
                   contacts; friction: their coefficients and directions of slip
cone_programmes    linear programmes over friction cones; force_shares: a choice of forces where
                   they are not unique
boxed_problem      forces between limits: joints that stick or slip, stops that push
impact             the impact equations; impact_laws: Newton, Poisson and others; routh: friction
                   integrated along an impact
light_motions      motions of little or no inertia in the problem of contact
flat_ends          the flat end of a cylinder that stands on a plane
loop_stops         stops of joints that close a loop, as contacts
problem, response, selection, patches
                   the contact problem of a time step, over lanes
solvers/           block Gauss-Seidel, Anderson acceleration, interior point, certificate
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .boxed_problem import boxed_forces
    from .cone_programmes import Cone, ConeProgramme, NoForces
    from .flat_ends import END_PROVED_SLIPS as ENOUGH
    from .flat_ends import POINT_ANGLES as FLAT_END_POINTS
    from .flat_ends import RimImpact, RimMotion, lowest, turn
    from .force_shares import Cones, centre, centre_to_first_order, deepest
    from .friction import Friction
    from .gaps import (
        START_DEPTH,
        Meet,
        margins_of_rounded,
        meet,
        meet_features,
        meet_rounded,
        moving,
        place_of_features,
        slant_of_rounded,
        solid,
        velocity_at,
    )
    from .impact import NEGLIGIBLE_RATIO as NOTHING
    from .impact import impact
    from .impact_laws import Blow, blow, response
    from .light_motions import ContactRows, Response
    from .loop_stops import can_stop, has_limits, loop_stops
    from .modes import FIXED_TANGENT_RATIO as DEAD
    from .modes import (
        LIFTED,
        OPEN,
        SLIP,
        STICK,
        Solution,
        cones_of,
        row_sizes,
        slip_directions,
        solutions,
        with_directions,
    )
    from .modes import MAX_ENUMERATED_CONTACTS as MOST
    from .modes import MAX_PROVED_SLIPS as PROVED
    from .patches import see
    from .problem import (
        CERTIFICATE,
        ContactAnswer,
        ContactProblem,
        ContactScratch,
        pair_shapes,
        scratch_shapes,
    )
    from .problem import MAX_UNPACKED_CONTACTS as MANY

__getattr__, __dir__ = door(__name__)
