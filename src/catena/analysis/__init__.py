"""Questions: functions whose first argument is a Mechanism or a Machine, open or with closed loops.

One file per question; `QUESTIONS` lists them. Other files:

    tangent             derivatives of the equations of motion at one state; differences: the same
                        for mechanisms of hundreds of bodies
    joint_orientation   whether the two sides of a joint that closes a loop point the same way
    *_in_lanes          the same question for many starts or configurations at once
"""

from typing import TYPE_CHECKING, Any

from ..doors import door

if TYPE_CHECKING:
    from . import catalogue, questions
    from .actuation import Actuation, inverse_dynamics
    from .assembly import assemble, gauss_newton, residual
    from .capture import Target
    from .catalogue import QUESTIONS, register
    from .clearance import Clearance, Pairs, Proximities, clearance, proximities
    from .closure_search import CLOSED
    from .contact_ranges import ContactRanges, contact_ranges
    from .hybrid_dynamics import hybrid_dynamics
    from .impulse import ImpulseResponse, impulse
    from .inverse_kinematics import inverse_kinematics
    from .joint_orientation import rotation_vector
    from .kinematic_drive import DrivenMotion, kinematics
    from .linearization import linearize
    from .markers import MarkerMotion, marker_kinematics
    from .mobility import Mobility, highest_rank, mobility, other_assemblies
    from .operational_space import OperationalSpace, operational_space
    from .outputs import OUTPUT_WORDS, Outputs, OutputWord, trace_expression, trace_outputs
    from .projection import require_apart
    from .questions import Question
    from .reactions import Rows, reactions, rows_at, spaces
    from .state_space import StateSpace
    from .statics import equilibrium, static_torques
    from .vibration import Modes, highest_frequency, modes

_load, _names = door(__name__)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except AttributeError:
        if name.startswith("__"):
            raise
    from .catalogue import QUESTIONS

    if name in QUESTIONS:  # one that was added from outside
        return QUESTIONS[name].ask
    raise AttributeError(
        f"module 'catena.analysis' has no attribute {name!r}; its questions are:"
        f" {', '.join(QUESTIONS)}"
    )


def __dir__() -> list[str]:
    from .catalogue import QUESTIONS

    return sorted({*_names(), *QUESTIONS})
