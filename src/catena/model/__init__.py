"""What a mechanism is: frozen records that describe bodies, joints and loads, and the rules they
obey. From the bottom:

    pose            Pose, a rotation and a position; values: the number of an expression of
                    parameters
    expressions     texts such as "m1*l1^2/12", parsed against a whitelist and evaluated over any
                    scalar
    motions         turns, slides, screws, balls; closure: rows that joints impose where they close
                    loops
    joint_kinds     the catalogue of joint kinds, a registry; joints: Joint, Mimic
    loads           springs, bushings, forces, knife edges, rolling, speed rows, a registry
    shapes          Shape, a registry of its kinds; CollisionFilter
    beams           Beam, a flexible body; bodies: Body
    contacts        Contact, a pair that may touch
    mechanism       Mechanism, Frame: inert data; freedom_units: the units of coordinates and
                    speeds; followers: what mimics are felt as
    planarity       the plane in which a mechanism moves; collision_pairs: the shapes that may meet;
                    contact_points: where contacts touch
    flexible        discretise: flexible bodies made into bodies, joints and springs
    spanning_tree   a graph of bodies and joints cut to a tree and the joints that close it
    validation      every fault of a mechanism, told at once

A module uses those above it in this list. What `Mechanism.validate` does is registered here, as it
stands above it.
"""

from typing import TYPE_CHECKING

from ..doors import door
from .mechanism import CHECKS
from .spanning_tree import cut_cycles
from .validation import checked

CHECKS[:] = [cut_cycles, checked]

if TYPE_CHECKING:
    from . import expression_syntax, expressions, flexible, joint_kinds, shapes, validation
    from .beams import DIRECTIONS, Beam, Flexed
    from .bodies import Body, symmetric
    from .carriers import MOTIONS, place_names, travel
    from .closure import POINT, WELD, ClosureRow, RowKind, named
    from .contacts import ORDERS, PARADOX, SURFACES, Contact
    from .courses import KINDS as COURSE_KINDS
    from .courses import Course, closed_spline, piecewise
    from .dimension_analysis import analyse, contradictions, parameter_units
    from .dimension_places import measure_of
    from .dimensions import (
        DIMENSIONS,
        accepted,
        name_of,
        si_powers,
        unit_text,
        wanted,
        without_radian,
    )
    from .expression_functions import FUNCTIONS, apply
    from .expression_syntax import LENGTH, fit_name, names_in, shown
    from .expressions import evaluate, parse, write
    from .followers import per_speed
    from .freedom_units import MEASURES, coordinate_units, slides, speed_units
    from .impact_laws import IMPACT_LAWS
    from .joint_kinds import CATALOGUE, JointKind
    from .joint_kinds import KINDS as JOINT_KINDS
    from .joints import Joint, Mimic
    from .mechanism import GRAVITY, GROUND, Frame, Mechanism, walk
    from .motions import (
        GENERAL,
        SMOOTH,
        Freedom,
        Motion,
        Shift,
        X,
        Y,
        Z,
        displacement,
        elementary,
        onto_z,
        plane_of,
    )
    from .planarity import plane
    from .pose import IDENTITY, ORIGIN, Matrix, Pose, Scalar, Vector, vector
    from .scenes import attach
    from .shapes import KINDS as SHAPE_KINDS
    from .shapes import CollisionFilter, Shape
    from .validation import doubts, impossible_inertia
    from .values import value_of, with_scalars

__getattr__, __dir__ = door(__name__)
