"""Registers the questions that come with catena: importing this module fills `QUESTIONS`."""

from __future__ import annotations

from ..machine import reactions
from .actuation import inverse_dynamics
from .assembly import assemble
from .clearance import clearance
from .contact_ranges import contact_ranges
from .hybrid_dynamics import hybrid_dynamics
from .impulse import impulse
from .inverse_kinematics import inverse_kinematics
from .kinematic_drive import kinematics
from .linearization import linearize
from .markers import marker_kinematics
from .mobility import mobility
from .operational_space import operational_space
from .questions import QUESTIONS, Question, markdown, register
from .statics import equilibrium, static_torques
from .vibration import highest_frequency, modes

for _question in (
    Question(
        "assemble", assemble, "coordinates and speeds that close every loop", "q (nq,), v (nv,)"
    ),
    Question(
        "mobility",
        mobility,
        "degrees of freedom by rank, redundant rows, what motors can drive",
        "`Mobility`",
    ),
    Question(
        "kinematics",
        kinematics,
        "drive some coordinates, find the motion of all",
        "`DrivenMotion`: q, v, a",
    ),
    Question(
        "inverse_kinematics",
        inverse_kinematics,
        "coordinates that bring a frame to a pose",
        "q (nq,)",
    ),
    Question(
        "marker_kinematics",
        marker_kinematics,
        "coordinates that bring frames nearest to measured points, over time",
        "`MarkerMotion`: q (T, nq)",
    ),
    Question(
        "inverse_dynamics",
        inverse_dynamics,
        "the motor forces of a motion, loops included",
        "`Actuation`: tau (nv,)",
    ),
    Question(
        "operational_space",
        operational_space,
        "inertia, bias force and consistent inverse Jacobian of a frame, loops included",
        "`OperationalSpace`: Lambda (..., k, k), bias (..., k), inverse (..., nv, k)",
    ),
    Question(
        "hybrid_dynamics",
        hybrid_dynamics,
        "some accelerations and some forces given, find the others",
        "tau (nv,), a (nv,)",
    ),
    Question(
        "reactions",
        reactions,
        "the wrench in every joint, loops included",
        "{joint: (6,)}, torque first",
    ),
    Question(
        "impulse",
        impulse,
        "the jump of speeds from blows, captures and sudden locks",
        "`ImpulseResponse`",
    ),
    Question(
        "equilibrium", equilibrium, "coordinates at which the mechanism stays at rest", "q (nq,)"
    ),
    Question(
        "static_torques",
        static_torques,
        "the motor forces that hold it at rest",
        "`Actuation`: tau (nv,)",
    ),
    Question(
        "linearize",
        linearize,
        "state matrices at a state, with outputs; their poles, zeros, and what cannot be reached or"
        " seen",
        "`StateSpace`: A, B, C, D",
    ),
    Question("modes", modes, "natural frequencies, damping ratios and shapes", "`Modes`"),
    Question(
        "clearance",
        clearance,
        "signed distances of the shapes that may collide",
        "`Clearance`: distance (..., pairs)",
    ),
    Question(
        "contact_ranges",
        contact_ranges,
        "the smallest and the largest value of every contact force",
        "`ContactRanges`: normal (k, 2)",
    ),
    Question(
        "highest_frequency",
        highest_frequency,
        "the fastest rate of springs and dampers, for a step",
        "rad/s",
    ),
):
    register(_question)

__all__ = ["QUESTIONS", "markdown", "register"]
