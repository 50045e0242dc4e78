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

from .mechanism import CHECKS
from .spanning_tree import cut_cycles
from .validation import checked

CHECKS[:] = [cut_cycles, checked]
