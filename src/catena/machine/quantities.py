"""The table of quantities: everything that a machine can compute, each in one record.

    Quantity -> Machine.evaluate, argument checks, backends (router), Machine.function,
    export to C, docs/quantities.md

A record holds the inputs of a quantity, its outputs with their shapes, its expression in the
symbols of a mechanism, and the names of compiled kernels, if there are any. The expression alone is
enough: batches, single states, derivatives and C all follow from it. `register` adds a quantity
from outside.

    register(Quantity("power", ("q", "v", "tau"), (Output("power", "power of the joint forces,
    W"),),
                      "tau' v: the power of the joint forces.", lambda s: ca.dot(s.tau, s.v)))
    (power,) = machine.evaluate("power", q, v, tau)        # any leading shape is a batch
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..compiler import (
    AFTER,
    BEFORE,
    ENERGY,
    Tracer,
    derivatives,
    frame_dynamics,
    loss_forces,
    regressor,
)
from ..errors import StateError, UnknownNameError
from ..kernels import Layout
from ..registry import Registry
from . import generic_kernels as generic
from .request import Output, Quantity

QUANTITIES: Registry[Quantity] = Registry("quantity", error=StateError)
register = QUANTITIES.register


def find(name: str, kind: str = "quantity") -> Quantity:
    """Return the quantity of that name. kind: the word for "quantity" in the error message where
    there is none.
    """
    if name not in QUANTITIES:
        raise UnknownNameError(kind, name, QUANTITIES, "a machine")
    return QUANTITIES[name]


def markdown() -> str:
    """Return the table of quantities as docs/quantities.md shows it."""
    return "\n".join(_markdown())


def _markdown() -> Iterator[str]:
    yield "| quantity | result | shape | what it is |"
    yield "|---|---|---|---|"
    for quantity in QUANTITIES.values():
        for k, y in enumerate(quantity.outputs):
            shape = ", ".join(["...", *map(str, y.shape)])
            row_note = (
                "; by `evaluate` only"
                if quantity.method == "none"
                else f"; by `machine.{quantity.name}`: {quantity.method}"
                if quantity.method
                else ""
            )
            yield (
                f"| {f'`{quantity.signature}`' if k == 0 else ''} | `{y.name}` | ({shape}) |"
                f" {y.meaning}{row_note if k == 0 else ''} |"
            )


# --- the members
def _always(kernel: str) -> Callable[[Layout], str]:
    return lambda layout: kernel


QV = ("q", "v")
QVA = ("q", "v", "a")
QVTAU = ("q", "v", "tau")
SQUARE = ("nv", "nv")

for _quantity in (
    Quantity(
        "inverse_dynamics",
        QVA,
        (Output("tau", "the forces of the motion, M(q) a + bias(q, v)", ("nv",)),),
        "The forces of a motion: tau = M a + bias - sum of J' wrench.",
        Tracer.inverse_dynamics,
        generic.dynamics("inverse_dynamics"),
        _always("inverse_dynamics"),
        wrenches=True,
        time=True,
        springs=AFTER,
    ),
    Quantity(
        "forward_dynamics",
        QVTAU,
        (Output("a", "the accelerations that the forces tau cause", ("nv",)),),
        "The motion of forces: a = M^-1 (tau - bias + sum of J' wrench), under the constraint rows"
        " where there are any.",
        Tracer.forward_dynamics,
        generic.accelerations,
        generic.forward,
        wrenches=True,
        time=True,
        springs=BEFORE,
        inverts=True,
        on_rows=True,
    ),
    Quantity(
        "multipliers",
        QVTAU,
        (Output("multipliers", "the forces of the loops' rows at the motion of tau", ("rows",)),),
        "The multipliers lambda of the constraint rows at the motion of tau.",
        Tracer.multipliers,
        generic.multipliers,
        wrenches=True,
        time=True,
        springs=BEFORE,
        of_rows=True,
        on_rows=True,
    ),
    Quantity(
        "constraint_rows",
        QV,
        (
            Output(
                "error", "residuals of the loops' rows (m, or the cosine of an angle)", ("rows",)
            ),
            Output("rate", "their rates, A v", ("rows",)),
            Output("gamma", "right side of A a = gamma", ("rows",)),
            Output("A", "the constraint Jacobian: A v = rate", ("rows", "nv")),
        ),
        "Residuals of the constraint rows, their rates, gamma and A: A v = rate, A a = gamma.",
        Tracer.constraint_rows,
        generic.plain("constraint_rows"),
        time=True,
        of_rows=True,
    ),
    Quantity(
        "row_wrenches",
        ("q",),
        (
            Output(
                "row_wrenches",
                "the wrench of each row on its two bodies, torque first",
                ("loop_rows", 12),
            ),
        ),
        "The wrench of each loop's row on its two nodes, about the nodes' origins in their axes.",
        Tracer.row_wrenches,
        of_rows=True,
        method="none",
    ),
    Quantity(
        "mass_matrix",
        ("q",),
        (Output("M", "mass matrix; kinetic energy is 1/2 v' M v", SQUARE),),
        "The mass matrix M: kinetic energy is 1/2 v' M v.",
        Tracer.mass_matrix,
        generic.plain("mass_matrix"),
        _always("mass_matrix"),
    ),
    Quantity(
        "coriolis_matrix",
        QV,
        (Output("C", "Coriolis matrix: C v + gravity = bias, and Mdot - 2 C is skew", SQUARE),),
        "The Coriolis matrix C with C v + gravity = bias and Mdot - 2 C skew.",
        Tracer.coriolis_matrix,
        generic.plain("coriolis_matrix"),
    ),
    Quantity(
        "bias",
        QV,
        (Output("bias", "the forces of the motion with a = 0", ("nv",)),),
        "The forces of a motion with a = 0: Coriolis, centrifugal and gravity.",
        Tracer.bias,
        generic.still,
        _always("inverse_dynamics"),
        wrenches=True,
        time=True,
        springs=AFTER,
    ),
    Quantity(
        "gravity",
        ("q",),
        (Output("gravity", "the forces that hold the mechanism still", ("nv",)),),
        "The forces that hold the mechanism still, dV/dq.",
        Tracer.gravity,
        generic.still,
        _always("inverse_dynamics"),
        time=True,
        springs=AFTER,
    ),
    Quantity(
        "losses",
        ("v",),
        (
            Output(
                "losses",
                "the forces of joint damping and dry friction along the speeds; they act in"
                " addition to tau in a simulation, and are not in the other quantities",
                ("nv",),
            ),
        ),
        "The forces of joint damping and of dry friction, smoothed over small speeds.",
        loss_forces,
    ),
    Quantity(
        "energy",
        QV,
        (Output("energy", "kinetic and potential energy, J", (2,)),),
        "Kinetic and potential energy (J); the potential counts from the ground's origin.",
        Tracer.energy,
        generic.plain("energy"),
        springs=ENERGY,
        method="a pair, kinetic and potential, (...) each",
    ),
    Quantity(
        "momentum",
        QV,
        (
            Output(
                "momentum",
                "mass (kg), centre of mass (m), its velocity (m/s), angular momentum about it (kg"
                " m2/s)",
                (10,),
            ),
        ),
        "Mass, centre of mass, its velocity, and the angular momentum about it, in the ground's"
        " axes.",
        Tracer.momentum,
        generic.plain("momentum"),
        moving=True,
        method="a dictionary of mass, com, com_velocity, linear and angular",
    ),
    Quantity(
        "pose",
        ("q",),
        (
            Output(
                "pose",
                "rotation and, as fourth column, origin (m) of the frame in the ground",
                (3, 4),
            ),
        ),
        "The pose of a frame or body in the ground.",
        Tracer.pose,
        generic.framed("pose"),
        frame=True,
        method="(..., 4, 4), with the row 0, 0, 0, 1 below",
    ),
    Quantity(
        "jacobian",
        ("q",),
        (
            Output(
                "J",
                "angular velocity (three rows) and velocity of the frame's origin are J v",
                (6, "nv"),
            ),
        ),
        "The Jacobian of a frame, angular first.",
        Tracer.jacobian,
        generic.framed("jacobian"),
        frame=True,
        axes=True,
    ),
    Quantity(
        "jacobian_rate",
        QV,
        (Output("rate", "Jdot v, angular first", (6,)),),
        "Jdot v, in the same axes as J.",
        Tracer.jacobian_rate,
        generic.jacobian_rate,
        frame=True,
        axes=True,
    ),
    Quantity(
        "frame_velocity",
        QV,
        (Output("velocity", "angular velocity (rad/s), then velocity of the origin (m/s)", (6,)),),
        "Angular velocity of a frame and velocity of its origin.",
        Tracer.frame_velocity,
        generic.framed("frame_velocity"),
        frame=True,
        axes=True,
    ),
    Quantity(
        "frame_acceleration",
        QVA,
        (
            Output(
                "acceleration",
                "angular acceleration (rad/s2), then acceleration of the origin (m/s2)",
                (6,),
            ),
        ),
        "Angular acceleration of a frame and acceleration of its origin.",
        Tracer.frame_acceleration,
        generic.framed("frame_acceleration"),
        frame=True,
        axes=True,
    ),
    Quantity(
        "operational_space",
        QV,
        (
            Output("response", "Lambda^-1 = J M^-1 J', the frame's acceleration per force", (6, 6)),
            Output("omega", "M^-1 J', the accelerations per force on the frame", ("nv", 6)),
            Output("acceleration", "of the frame at tau = 0, angular first", (6,)),
            Output("J", "the Jacobian", (6, "nv")),
        ),
        "The dynamics seen at a frame; M^-1 obeys loops and speed rows.",
        frame_dynamics,
        frame=True,
        axes=True,
        time=True,
        moving=True,
        inverts=True,
        on_rows=True,
        method="none",
    ),
    Quantity(
        "reactions",
        QVA,
        (
            Output(
                "reactions",
                "the wrench in each joint on its child, torque (N m) first, child body's axes and"
                " origin",
                ("joints", 6),
            ),
        ),
        "The wrench in every joint of the tree.",
        Tracer.reactions,
        generic.reactions,
        wrenches=True,
        time=True,
        method="a dictionary, {joint: (..., 6)}, loops included",
    ),
    Quantity(
        "inverse_dynamics_derivatives",
        QVA,
        (
            Output("dtau_dq", "d tau / d q, along the speeds", SQUARE),
            Output("dtau_dv", "d tau / d v", SQUARE),
            Output("dtau_da", "d tau / d a, the mass matrix", SQUARE),
            Output("dtau_dp", "d tau / d parameters", ("nv", "parameters"), optional=True),
        ),
        "Derivatives of the inverse dynamics.",
        derivatives.inverse_dynamics_derivatives,
        wrenches=True,
        time=True,
        moving=True,
    ),
    Quantity(
        "forward_dynamics_derivatives",
        QVTAU,
        (
            Output("da_dq", "d a / d q, along the speeds", SQUARE),
            Output("da_dv", "d a / d v", SQUARE),
            Output("da_dtau", "d a / d tau, the inverse mass matrix", SQUARE),
            Output("da_dp", "d a / d parameters", ("nv", "parameters"), optional=True),
        ),
        "Derivatives of the forward dynamics.",
        derivatives.forward_dynamics_derivatives,
        wrenches=True,
        time=True,
        moving=True,
        on_rows=True,
    ),
    Quantity(
        "regressor",
        QVA,
        (
            Output(
                "Y",
                "tau = Y theta: columns m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body",
                ("nv", "inertial"),
            ),
        ),
        "The regressor Y of the inertial parameters: tau = Y theta + armature a, less loads.",
        regressor,
        moving=True,
    ),
):
    register(_quantity)
