"""Planar linkages in closed form, in lanes of machine code.

planar_elements     a planar mechanism as links and elementary joints in its plane
triangles           the closed forms: three groups of links, each pair joined by one joint
assur_groups        a linkage decomposed into dyads, which are solved one after the other
linkage             Linkage: positions, velocities, accelerations of many states at once
circuits            branches, circuits and dead points of a linkage with one driven joint
"""

from typing import TYPE_CHECKING

from ..doors import door

if TYPE_CHECKING:
    from .assur_groups import AssurGroup, Decomposition
    from .balancing import Balance, balance_force
    from .bearing_loads import BearingLoads, Peak, bearing_loads
    from .circuits import Branch, Circuits, circuits
    from .linkage import Linkage, Positions, linkage
    from .tolerances import Tolerances, tolerances
    from .triangles import TRIANGLES, Triangle

__getattr__, __dir__ = door(__name__)
