"""How long does it take to derive a spatial six-axis arm, and how many operations are its
accelerations?

Every formulation of catena beside SymPy's own KanesMethod on the same arm, in one run. Asked: under
2 s and at most 20 000 operations for lagrange, hamilton, kane, boltzmann_hamel and recursive.
"""

from __future__ import annotations

import time

import sympy as sm
import sympy.physics.mechanics as me
from peers import size

import catena
from zoo import arm


def by_sympy(mechanism: catena.Mechanism) -> tuple[float, int]:
    """Seconds and operations of KanesMethod: mass matrix and forcing, as SymPy gives them."""
    began = time.perf_counter()
    N = me.ReferenceFrame("N")
    O = me.Point("O")
    O.set_vel(N, 0)
    q = me.dynamicsymbols(f"q:{len(mechanism.joints)}")
    u = me.dynamicsymbols(f"u:{len(mechanism.joints)}")
    g = sm.Symbol("g")
    frame = N
    point = O
    bodies = []
    loads = []
    for k, (joint, body) in enumerate(zip(mechanism.joints, mechanism.bodies)):
        placed = me.ReferenceFrame(f"P{k}")
        placed.orient_explicit(frame, sm.Matrix(joint.placement.rotation).applyfunc(sm.nsimplify))
        A = placed.orientnew(f"A{k}", "Axis", [q[k], placed.z])
        A.set_ang_vel(placed, u[k] * placed.z)
        p = sm.nsimplify
        origin = point.locatenew(
            f"O{k}",
            sum(p(x) * e for x, e in zip(joint.placement.position, (frame.x, frame.y, frame.z))),
        )
        origin.v2pt_theory(point, N, frame)
        com = origin.locatenew(f"C{k}", sum(x * e for x, e in zip(body.com, (A.x, A.y, A.z))))
        com.v2pt_theory(origin, N, A)
        xx, xy, xz, yy, yz, zz = body.inertia
        bodies.append(
            me.RigidBody(body.name, com, A, body.mass, (me.inertia(A, xx, yy, zz, xy, yz, xz), com))
        )
        loads.append((com, -body.mass * g * N.z))
        frame, point = A, origin
    kane = me.KanesMethod(
        N, q_ind=q, u_ind=u, kd_eqs=[x.diff(me.dynamicsymbols._t) - y for x, y in zip(q, u)]
    )
    kane.kanes_equations(bodies, loads)
    seconds = time.perf_counter() - began
    return seconds, sm.count_ops(kane.mass_matrix) + sm.count_ops(kane.forcing)


def main() -> None:
    mechanism = arm(size(6, 1))
    print(f"{'':18} {'derived in':>10} {'operations':>11}")
    for name in catena.ALL_FORMULATIONS:
        began = time.perf_counter()
        equations = catena.derive(mechanism, name)
        print(f"{name:18} {time.perf_counter() - began:8.2f} s {equations.counts.operations:11}")
    seconds, operations = by_sympy(mechanism)
    print(
        f"{'SymPy KanesMethod':18} {seconds:8.2f} s {operations:11}   (mass matrix and forcing"
        " only, not solved)"
    )


if __name__ == "__main__":
    main()
