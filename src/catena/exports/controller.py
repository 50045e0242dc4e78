"""Controllers as C: a function that a robot's computer calls once per sample.

    void arm_lqr(double t, const double *q, const double *v, const double *state, double *tau,
                 double *next);

Every controller with a traced law can be written so: regulators, filters with regulators,
operational-space control, drives, networks. A controller with states is sampled, and the function
computes the next ones.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from ..compiler import read
from ..errors import CompileError
from ..machine import CArgument, CKernel, Machine, identifier, machine_of
from ..model import Mechanism
from ..simulation.system import System


def c_controller(
    mechanism: Mechanism | Machine, controller: Any, name: str | None = None
) -> CKernel:
    """Return a controller as a C function without branches, loops or memory of its own.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What is controlled; its parameters are written into the code.
    controller : Controller
        A controller with a law that is traced, such as those of `catena.control`. With states of
        its own, such as an integral or an estimate, it is sampled: give it `sample`, or wrap it in
        `Hold`.
    name : str, optional
        Of the C function; by default the mechanism's name and "control".

    Returns
    -------
    CKernel
        `source` and `header` are its texts, `write(folder)` writes both, `operations` counts what
        every call computes, and `start` of the argument `state` is in the header.

    Raises
    ------
    CompileError
        If the controller is called from Python, or has states that change between samples.
    """
    machine = machine_of(mechanism)
    if not hasattr(controller, "law"):
        raise CompileError(
            f"controller {type(controller).__name__} is called from Python and has no expressions;"
            " catena.control.traced makes one of a function where that is possible"
        )
    system = System(machine.mechanism, law=controller, friction="smooth", snap=machine.snap)
    law = system.controller
    rates = ca.SX(law.rate)
    if any(not rates[k].is_zero() for k in range(rates.numel())):
        raise CompileError(
            f"controller {type(controller).__name__} has states that change between samples:"
            f" {', '.join(law.names)}; give it a sample time, or wrap it in catena.control.Hold"
        )
    if system.pieces:
        raise CompileError(
            f"controller {type(controller).__name__} follows a trajectory in pieces, which its C"
            " would have to store; give it a target that does not move, or feed the target from"
            " outside"
        )
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", machine.nq), ca.SX.sym("v", machine.nv)
    state = ca.SX.sym("state", len(law.names))
    p = ca.DM(list(machine.mechanism.parameters.values()))
    if not system.equations.state_is_qv:
        raise CompileError("the C of a controller takes coordinates and speeds")
    jump = system.c if law.jump is None else law.jump
    inner = ca.Function(
        "law",
        [system.t, system.x, system.u, system.c, system.p],
        [ca.densify(law.tau), ca.densify(ca.SX(jump))],
    )
    x, zero = ca.vertcat(q, v), ca.DM.zeros(system.nv)
    after = inner(t, x, zero, state, p)[1]
    tau = inner(t, x, zero, after, p)[0]
    names = (t, q, v, state) if law.names else (t, q, v)
    outputs = [tau, after] if law.names else [tau]
    f = ca.Function("control", list(names), [ca.densify(y) for y in ca.cse(outputs)])
    m = machine.mechanism
    inputs = [
        CArgument("t", (1,), "time, s"),
        CArgument("q", (machine.nq,), "coordinates", tuple(m.coordinate_names)),
        CArgument("v", (machine.nv,), "speeds", tuple(m.speed_names)),
    ]
    results = [CArgument("tau", (machine.nv,), "joint forces", tuple(m.speed_names))]
    if law.names:
        starts = tuple(
            f"{n}, {s!r} at the start" for n, s in zip(law.names, law.start, strict=False)
        )
        inputs.append(CArgument("state", (len(law.names),), "states after the last sample", starts))
        results.append(CArgument("next", (len(law.names),), "states after this sample", law.names))
    return CKernel(
        name or identifier(f"{m.name}_control"),
        f"{type(controller).__name__} of mechanism {m.name!r}, once per sample",
        read(f),
        tuple(inputs),
        tuple(results),
    )
