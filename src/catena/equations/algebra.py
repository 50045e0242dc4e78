"""Everett's algebra of variations on SymPy's frames, vectors and dyadics ([Everett1988] eq. 1-24,
28-32).

    N_delta V = R_delta V + N_theta_R x V                      relative and absolute variations  (6)
    A_delta BD V = BD A_delta V + (A_delta B_omega_A) x V
            they commute with differentiation in the same frame only (7)
    BD B_theta_A = A_delta B_omega_A                                                             (9)
    C_delta I = (delta I_ij) a_i b_j + C_theta_A x I - I x C_theta_B                            (14)

with A_delta the variation of the components along the axes of A, and A_theta_B the virtual rotation
of frame B in frame A. Coordinates are SymPy's dynamicsymbols; the variation of q is `virtual(q)`, a
function of time of its own, so that delta q' is (delta q)' and time stands still. Derivatives BD V
are SymPy's own `V.dt(B)`.

>>> from sympy.physics.vector import dynamicsymbols
>>> q, r = dynamicsymbols("q r")
>>> A, B = frames("A B")
>>> B.orient_axis(A, A.z, q)
>>> variation(r * B.x, in_frame=B)
δr(t)*B.x
>>> variation(r * B.x, in_frame=A)
δr(t)*B.x + r(t)*δq(t)*B.y
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.vector import Dyadic, ReferenceFrame, Vector, dynamicsymbols

from ..errors import FormulationError

MARK = "δ"  # a virtual quantity's name is its coordinate's behind this


def frames(names: str) -> Any:
    """Return SymPy reference frames by their names.

    Parameters
    ----------
    names : str
        Names separated by blanks or commas, "A B" or "A, B".

    Returns
    -------
    ReferenceFrame or tuple of ReferenceFrame
        One frame, or one per name. They are not oriented yet: `B.orient_axis(A, A.z, q)`.

    Raises
    ------
    FormulationError
        If no name is given.

    Examples
    --------
    >>> frames("A B")
    (A, B)
    """
    found = tuple(ReferenceFrame(name) for name in names.replace(",", " ").split())
    if not found:
        raise FormulationError("frames: no name was given; write frames('A B')")
    return found if len(found) > 1 else found[0]


def virtual(q: Any) -> Any:
    """Return delta q, the virtual change of a coordinate (or the virtual quantity of a speed), as a
    function of time of its own.
    """
    if not isinstance(q, AppliedUndef):
        raise FormulationError(
            f"virtual: {q!r} is no coordinate; a coordinate is a dynamicsymbol such as q(t)"
        )
    return sm.Function(f"{MARK}{q.func.__name__}")(*q.args)


def variation(
    x: Any, in_frame: ReferenceFrame | None = None, coordinates: Iterable[Any] | None = None
) -> Any:
    """Return the variation of a scalar, a vector or a dyadic, relative to a frame.

    The variation is absolute if the frame is an inertial one. Each scalar component is varied along
    its own axes, (4), (5), and these axes add their virtual rotation relative to the frame, (6),
    (14).

    Parameters
    ----------
    x : sympy expression, Vector or Dyadic
        What is varied.
    in_frame : ReferenceFrame, optional
        The frame relative to which x is varied. Required for vectors and dyadics; a scalar varies
        alike in all frames.
    coordinates : iterable, optional
        The functions of time that vary. Default: all in x that are not virtual quantities
        themselves.

    Returns
    -------
    sympy expression, Vector or Dyadic
        The variation, with `virtual(q)` for the variation of q.

    Raises
    ------
    FormulationError
        If a vector or dyadic is given without a frame.

    Examples
    --------
    >>> from sympy.physics.vector import dynamicsymbols
    >>> q = dynamicsymbols("q")
    >>> variation(q**2)
    2*q(t)*δq(t)
    """
    if isinstance(x, (Vector, Dyadic)) and not isinstance(in_frame, ReferenceFrame):
        raise FormulationError(
            "variation: in which frame? Vectors vary differently in each (6); found"
            f" in_frame={in_frame!r}"
        )
    only = None if coordinates is None else list(coordinates)
    if isinstance(x, Vector):
        return sum((_varied(part, f, in_frame, only) for part, f in x.args), Vector(0))
    if isinstance(x, Dyadic):
        total = Dyadic(0)
        moved = {e: variation(e, in_frame, only) for e in {e for _, *pair in x.args for e in pair}}
        for scalar, a, b in x.args:  # (11): a dyadic is a vector whose components are vectors
            total += _scalar(scalar, only) * (a | b) + scalar * ((moved[a] | b) + (a | moved[b]))
        return total
    return _scalar(sm.sympify(x), only)


def virtual_rotation(
    frame: ReferenceFrame, in_frame: ReferenceFrame, coordinates: Iterable[Any] | None = None
) -> Vector:
    """Return A_theta_B, the virtual rotation of frame B in frame A (6): the coefficients of q_r' in
    A_omega_B, times delta q_r. Equation numbers: [Everett1988].

    That is (24) with the rates of the coordinates as speeds. Where angular velocities were set by
    speeds u, use `virtual_displacement(B.ang_vel_in(A), speeds)`.
    """
    omega = frame.ang_vel_in(in_frame)
    t = dynamicsymbols._t
    only = None if coordinates is None else list(coordinates)
    hidden = _functions(in_frame.dcm(frame), only) - _functions(
        omega.to_matrix(in_frame), only, rates=True
    )
    if hidden:
        named = ", ".join(sorted(str(q) for q in hidden))
        raise FormulationError(
            f"virtual_rotation: the angular velocity of {frame.name} in {in_frame.name} was set"
            f" without the rate of {named}; take"
            f" virtual_displacement({frame.name}.ang_vel_in({in_frame.name}), speeds)"
        )
    total = Vector(0)
    for part, f in omega.args:
        components = [
            sum(
                (c.diff(q.diff(t)) * virtual(q) for q in _ordered(_functions(c, only, rates=True))),
                sm.S.Zero,
            )
            for c in part
        ]
        total += _vector(components, f)
    return total


# --- generalised speeds
def partials(
    velocity: Vector, speeds: Sequence[Any], dependent: Mapping[Any, Any] | None = None
) -> list[Vector]:
    """Return Kane's partial velocities of a velocity or an angular velocity, one per speed: dV/du_s
    (19), nonholonomic ones (22). Equation numbers: [Everett1988].

    dependent: {u_r: sum_s A_rs u_s + B_r}, the speeds that simple nonholonomic constraints
    determine (2), substituted first (20).
    """
    placed = velocity.subs(dict(dependent)) if dependent else velocity
    found = []
    for u in speeds:
        parts = [_vector([c.diff(u) for c in part], f) for part, f in placed.args]
        if any(
            sm.sympify(c).diff(u, 2) != 0 and sm.simplify(c.diff(u, 2)) != 0
            for part, _ in placed.args
            for c in part
        ):
            raise FormulationError(
                f"partials: the velocity is not linear in {u}, so that {u} is no generalised"
                " speed (1)"
            )
        found.append(sum(parts, Vector(0)))
    return found


def virtual_displacement(
    velocity: Vector, speeds: Sequence[Any], dependent: Mapping[Any, Any] | None = None
) -> Vector:
    """Return A_delta p from the velocity of p in A, or A_theta_B from the angular velocity of B in
    A: sum_i dV/du_i delta_i (23), (24). Equation numbers: [Everett1988].

    The delta_i are `virtual(u_i)`: arbitrary, the same for all vectors of a system; displacements
    along u_i, not changes of it (18). Terms of V without the u, such as B_r of (2) or dp/dt of
    (17), are no displacements (21).
    """
    return sum(
        (virtual(u) * P for u, P in zip(speeds, partials(velocity, speeds, dependent))), Vector(0)
    )


def passerello_huston(
    kinetic: Any,
    coordinates: Sequence[Any],
    W: Any,
    A: Any = None,
    dependent: Mapping[Any, Any] | None = None,
) -> list[Any]:
    """Return Kane's generalised inertia forces from kinetic energy (3), one for each independent
    speed. Equation numbers: [Everett1988].

        F*_r = -sum_s (d/dt dT/dq_s' - dT/dq_s) (W_sr + sum_k W_sk A_kr)

    kinetic: T(q, q', t). W (n x n): q' = W u + X (1). A (m x p): the last m speeds are A u + B of
    the first p (2). The print lacks the minus; inertia forces oppose the acceleration. dependent:
    substituted into the result, such as {q': W u + X}.
    """
    t, W = dynamicsymbols._t, sm.Matrix(W)
    n = len(coordinates)
    m = 0 if A is None else sm.Matrix(A).rows
    if W.shape != (n, n) or (A is not None and sm.Matrix(A).cols != n - m):
        raise FormulationError(
            f"passerello_huston: {n} coordinates want W of {n} x {n} and A of m x ({n} - m); found"
            f" W {W.shape}, A {None if A is None else sm.Matrix(A).shape}"
        )
    lagrange = [sm.diff(sm.diff(kinetic, q.diff(t)), t) - sm.diff(kinetic, q) for q in coordinates]
    free = W[:, : n - m] + (W[:, n - m :] * sm.Matrix(A) if m else sm.zeros(n, n - m))
    rows = [-sum(lagrange[s] * free[s, r] for s in range(n)) for r in range(n - m)]
    return [row.subs(dict(dependent)) for row in rows] if dependent else rows


def rows(
    bodies: Sequence[Any],
    gravity: Vector,
    speeds: Sequence[Any],
    ground: ReferenceFrame,
    origin: Any,
    varied: ReferenceFrame | None = None,
    dependent: Mapping[Any, Any] | None = None,
) -> list[Any]:
    """Return the equations of motion of SymPy RigidBody's under gravity by Hamilton's principle,
    each zero, one per speed (30)-(32). Equation numbers: [Everett1988].

    bodies: their mass centres, frames and central inertias. varied: the frame j of (28) in which
    weights are varied, by default the ground. origin: the ground's point from which positions are
    measured. Kane's F_r + F*_r is the same expression: it is the case j = ground, with 0D(I . w) =
    I . alpha + w x I . w.
    """
    j = varied or ground
    total = [sm.S.Zero] * len(speeds)
    theta_j = partials(j.ang_vel_in(ground), speeds, dependent)
    for b in bodies:
        w = b.frame.ang_vel_in(ground)
        V = b.masscenter.vel(ground)
        p = b.masscenter.pos_from(origin)
        torque = -(b.central_inertia.dot(w)).dt(ground)
        force = -(b.mass * V).dt(ground)
        theta = partials(w, speeds, dependent)
        moved = partials(V, speeds, dependent)
        seen = partials(V - j.ang_vel_in(ground).cross(p), speeds, dependent)
        for r in range(len(speeds)):
            weight = p.cross(gravity).dot(theta_j[r]) + gravity.dot(seen[r])
            total[r] += torque.dot(theta[r]) + force.dot(moved[r]) + b.mass * weight
    return total


# --- parts
def _varied(
    part: Any, f: ReferenceFrame, in_frame: ReferenceFrame | None, only: list[Any] | None
) -> Vector:
    """Return the variation of the components of a vector along one frame: the components varied
    (5), and the virtual rotation of their axes (6). Equation numbers: [Everett1988].
    """
    relative = _vector([_scalar(c, only) for c in part], f)
    return (
        relative
        if f == in_frame
        else relative + virtual_rotation(f, in_frame, only).cross(_vector(list(part), f))
    )


def _scalar(x: Any, only: list[Any] | None) -> Any:
    """Return delta x = sum dx/dq delta q + dx/dq' (delta q)' + ..., with the time constant."""
    t, total = dynamicsymbols._t, sm.S.Zero
    for q in _ordered(_functions(x, only)):
        order = max((d.derivative_count for d in x.atoms(sm.Derivative) if d.expr == q), default=0)
        total += x.diff(q) * virtual(q)
        total += sum(
            (x.diff(q.diff(t, k)) * virtual(q).diff(t, k) for k in range(1, order + 1)), sm.S.Zero
        )
    return total


def _functions(x: Any, only: list[Any] | None, rates: bool = False) -> set[Any]:
    """Return the coordinates in an expression; with `rates`, those whose first derivative
    occurs.
    """
    x, t = sm.sympify(x), dynamicsymbols._t
    found = (
        {d.expr for d in x.atoms(sm.Derivative) if d.derivative_count == 1}
        if rates
        else x.atoms(AppliedUndef)
    )
    ours = {q for q in found if q.args == (t,) and not q.func.__name__.startswith(MARK)}
    return ours if only is None else ours & set(only)


def _ordered(found: set[Any]) -> list[Any]:
    return sorted(found, key=lambda q: (len(q.func.__name__), q.func.__name__))


def _vector(components: Sequence[Any], f: ReferenceFrame) -> Vector:
    return components[0] * f.x + components[1] * f.y + components[2] * f.z
