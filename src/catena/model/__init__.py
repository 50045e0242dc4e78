"""The description of a mechanism: frozen records of bodies, joints and loads, and the rules that
they obey. From the bottom:

    pose            Pose, a rotation and a position; values: the number of an expression of
                    parameters
    expressions     strings such as "m1*l1^2/12", parsed against a whitelist and evaluated over any
                    scalar; coordinate_functions: polynomials and splines of one coordinate
    motions         turns, slides, screws, balls; closure: the rows that joints impose where they
                    close loops
    joint_kinds     the catalogue of joint kinds, a registry; joints: Joint, Mimic
    loads           springs, bushings, forces, knife edges, rolling, speed rows, a registry
    shapes          Shape, a registry of its kinds; CollisionFilter
    beams           Beam, a flexible body; bodies: Body
    sensors         Sensor, what is measured, and its kinds; sensor_places: whether they exist
    contacts        Contact, a pair that may touch; impact_laws: the registry of laws of impact
    mechanism       Mechanism, Frame: data only; freedom_units: the units of coordinates and
                    speeds; followers: the damping and armature that mimicking joints add
    planarity       the plane in which a mechanism moves
    flexible        discretise: replaces flexible bodies by bodies, joints and springs
    spanning_tree   cuts a graph of bodies and joints to a tree and the joints that close it
    validation      every fault of a mechanism, in one error

A module uses those above it in this list. The checks of `Mechanism.validate` are registered here,
since they stand above it.
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
    from .coordinate_functions import KINDS as COORDINATE_FUNCTION_KINDS
    from .coordinate_functions import CoordinateFunction, closed_spline, piecewise
    from .dimension_analysis import analyse, contradictions, law_faults, parameter_units
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
    from .expression_syntax import MAX_LENGTH, fit_name, names_in, shown
    from .expressions import evaluate, parse, write
    from .followers import per_speed, rough_joints
    from .freedom_units import MEASURES, coordinate_units, slides, speed_units
    from .impact_laws import IMPACT_LAWS
    from .joint_kinds import CATALOGUE, JointKind
    from .joint_kinds import KINDS as JOINT_KINDS
    from .joints import Joint, Mimic
    from .mechanism import GRAVITY, GROUND, Frame, Mechanism, mechanism_of, walk
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
    from .sensors import SENSOR_KINDS, Sensor, SensorKind
    from .shapes import KINDS as SHAPE_KINDS
    from .shapes import CollisionFilter, Shape
    from .validation import doubts, impossible_inertia
    from .values import value_of, with_scalars

__getattr__, __dir__ = door(__name__)
