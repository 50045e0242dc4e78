"""Questions: each a function whose first argument is a Mechanism or a Machine.

    assemble             coordinates and speeds that close every loop                                  assembly
    mobility             degrees of freedom, redundant rows, what motors can hold                      mobility
    hybrid_dynamics      motion of some coordinates, forces of others: the rest                        hybrid_dynamics
    impulse              blows at points and joints, capture, sudden lock                              impulse
    reactions            the wrench in every joint, loops included                                     machine.reactions
    inverse_dynamics     the forces of a motion, for a named set of motors, with loops                 actuation
    equilibrium          where it stays still; static_torques: what holds it                           statics
    linearize            state matrices, poles                                                         linearization
    modes                natural frequencies, damping ratios, shapes; highest_frequency: for a step    vibration
    inverse_kinematics   coordinates that bring a frame somewhere                                      inverse_kinematics
    kinematics           drive some coordinates, get the motion of all                                 kinematic_drive
    routes               constrained dynamics by other routes, to check the machine against            routes
"""

from ..machine.constraint_rows import Rows, rows_at, spaces
from ..machine.reactions import reactions
from .actuation import Actuation, inverse_dynamics
from .assembly import assemble
from .capture import Target
from .hybrid_dynamics import hybrid_dynamics
from .impulse import Impulse, impulse
from .inverse_kinematics import inverse_kinematics
from .kinematic_drive import Motion, kinematics
from .linearization import Linear, linearize
from .mobility import Mobility, mobility
from .projection import project
from .statics import equilibrium, static_torques
from .vibration import Modes, highest_frequency, modes

__all__ = [
    "Actuation", "Impulse", "Linear", "Mobility", "Modes", "Motion", "Rows", "Target", "assemble", "equilibrium",
    "highest_frequency", "hybrid_dynamics", "impulse", "inverse_dynamics", "inverse_kinematics", "kinematics", "linearize",
    "mobility", "modes", "project", "reactions", "rows_at", "spaces", "static_torques",
]  # fmt: skip
