"""lqr: the linear-quadratic regulator about an equilibrium, continuous or sampled; and place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..analysis import StateSpace
from ..errors import QuestionError
from ..simulation.control import check_sample_time
from .feedback import StateFeedback
from .operating_point import OperatingPoint
from .riccati import continuous_riccati, discrete_riccati, hold_cost, hold_inputs
from .weights import Weight, weight_matrix

Array = np.ndarray
# accelerations at an equilibrium, relative to those that a change of each state by one unit and the
# joint forces make
ACCELERATION_AT_REST = 1e-6


def lqr(
    system: StateSpace,
    Q: Weight,
    R: Weight,
    *,
    N: ArrayLike | None = None,
    sample: float | None = None,
    limits: Any = None,
    wrap: bool = False,
) -> StateFeedback:
    """Return the linear-quadratic regulator of a linearised mechanism.

    It minimises the integral of x' Q x + 2 x' N u + u' R u for x' = A x + B u. With a sample time
    the inputs are held, and the same integral is minimised exactly [VanLoan1978].

    Parameters
    ----------
    system : StateSpace
        The mechanism about an equilibrium, from `catena.linearize`; its inputs are the joints that
        were `actuated`.
    Q : float, array or mapping
        The weight of the state, positive semidefinite: a number, n numbers, a matrix (n, n), or
        {state: number} with the names of `system.states`.
    R : float, array or mapping
        The weight of the inputs, positive definite, likewise.
    N : array (n, inputs), optional
        The weight of products of state and input. By default zero.
    sample : float, optional
        The sample time, s. By default the controller is continuous.
    limits : "effort", float, mapping or None
        The largest force, as for `PID`. The design does not know about limits.
    wrap : bool, default False
        Compare angles of revolute joints modulo one turn.

    Returns
    -------
    StateFeedback
        A controller for `catena.simulate`, with the gain K, the cost P and the closed-loop poles.

    Raises
    ------
    QuestionError
        If the state is not an equilibrium, or an unstable motion cannot be reached.

    Examples
    --------
    >>> import catena
    >>> cart = catena.load("cart_pole")
    >>> system = catena.linearize(cart, [0.0, 0.0], actuated=["x"])
    >>> balance = catena.control.lqr(system, Q=1.0, R=0.1)
    >>> run = catena.simulate(cart, q=[0.0, 0.2], until=8.0, control=balance)
    >>> bool(abs(run.data["q"].values[-1]).max() < 1e-3)
    True
    """
    if not isinstance(system, StateSpace):
        raise QuestionError(
            f"lqr: the system is a {type(system).__name__}; it is what catena.linearize returns"
        )
    system.require_one("lqr")
    check_sample_time("lqr", sample)
    require_equilibrium("lqr", system)
    A, B = system.A, system.B
    q = weight_matrix("lqr, Q", Q, system.states)
    r = weight_matrix("lqr, R", R, system.inputs, positive=True)
    n = np.zeros_like(B) if N is None else np.asarray(N, float).reshape(B.shape)
    try:
        if sample is None:
            K, P = continuous_riccati("lqr", A, B, q, r, n)
        else:
            q, r, n = hold_cost(A, B, q, r, n, sample)
            A, B = hold_inputs(A, B, sample)
            K, P = discrete_riccati("lqr", A, B, q, r, n)
    except QuestionError as why:
        raise _named_failure(system, why) from None
    point = OperatingPoint.of(system, wrap)
    return StateFeedback(K, point, P, np.linalg.eigvals(A - B @ K), limits, sample)


def place(
    system: StateSpace,
    poles: ArrayLike,
    *,
    sample: float | None = None,
    limits: Any = None,
    wrap: bool = False,
) -> StateFeedback:
    """Return the state feedback that gives the closed loop the poles asked for.

    With several inputs the gain is the least sensitive one that SciPy finds ([Tits1996]); with one
    input it is unique (Ackermann's formula).

    Parameters
    ----------
    system : StateSpace
        The mechanism about an equilibrium, from `catena.linearize`.
    poles : array (n,)
        The poles, 1/s; complex ones in conjugate pairs. With a sample time T they are mapped to
        exp(s T).
    sample : float, optional
        The sample time, s. By default the controller is continuous.
    limits, wrap
        As for `lqr`.

    Returns
    -------
    StateFeedback
        A controller for `catena.simulate`.

    Raises
    ------
    QuestionError
        If a motion cannot be reached, or the number of poles is not that of the states.

    Examples
    --------
    >>> import catena
    >>> system = catena.linearize(catena.load("cart_pole"), [0.0, 0.0], actuated=["x"])
    >>> feedback = catena.control.place(system, [-2, -3, -4, -5])
    >>> sorted(feedback.poles.real.round(6).tolist())
    [-5.0, -4.0, -3.0, -2.0]
    """
    from scipy.signal import place_poles

    system.require_one("place")
    check_sample_time("place", sample)
    require_equilibrium("place", system)
    wanted = np.atleast_1d(np.asarray(poles, complex))
    if wanted.shape != (len(system.states),):
        raise QuestionError(
            f"place: {wanted.size} poles are given; the system has {len(system.states)} states:"
            f" {', '.join(system.states)}"
        )
    if hidden := system.unreachable():
        raise QuestionError(f"place: {hidden[0]}, so that its pole cannot be placed")
    A, B = system.A, system.B
    if sample is not None:
        A, B = hold_inputs(A, B, sample)
        wanted = np.exp(sample * wanted)
    if B.shape[1] == 1:
        K = _ackermann(A, B, wanted)
    else:
        try:
            K = place_poles(A, B, wanted).gain_matrix
        except ValueError as why:
            raise QuestionError(f"place: {why}") from None
    found = np.linalg.eigvals(A - B @ K)
    point = OperatingPoint.of(system, wrap)
    return StateFeedback(K, point, np.zeros((0, 0)), found, limits, sample)


def _ackermann(A: Array, B: Array, poles: Array) -> Array:
    """Return the gain K (1, n) of one input: K = e_n' [B, A B, ...]^-1 p(A).

    The states and the input are scaled first, so that the columns of the controllability matrix
    are of similar size.
    """
    from scipy.linalg import matrix_balance

    A, T = matrix_balance(A, permute=False)
    b = np.linalg.solve(T, B)
    size = max(np.abs(A).max(), 1e-300)
    scaled, n = A / size, len(A)
    columns = [b]
    for _ in range(n - 1):
        columns.append(scaled @ columns[-1])
    p = np.eye(n, dtype=complex)
    for s in poles / size:
        p = p @ (scaled - s * np.eye(n))
    last = np.linalg.solve(np.hstack(columns).T, np.eye(n)[:, -1])
    return size * (last @ p.real)[None, :] @ np.linalg.inv(T)


def require_equilibrium(question: str, system: StateSpace) -> None:
    """Raise a QuestionError where the state of a linearised mechanism is not an equilibrium, or it
    has no inputs.
    """
    if not system.inputs:
        raise QuestionError(
            f"{question}: the system has no inputs; name the joints with motors in `actuated` of"
            " linearize"
        )
    moving = np.flatnonzero(system.v)
    if len(moving):
        raise QuestionError(
            f"{question}: the mechanism is linearised about a motion: v[{int(moving[0])}] ="
            f" {system.v[moving[0]]:g}. This design takes a state of rest; tvlqr follows motions"
        )
    n = len(system.coordinates)
    forces = np.abs(system.B[n:]) @ np.abs(np.ones(len(system.inputs)))
    scale = np.abs(system.A[n:]).sum(axis=1) + forces
    for k, name in enumerate(system.speeds):
        if abs(system.rate[n + k]) > ACCELERATION_AT_REST * max(scale[k], 1e-300):
            raise QuestionError(
                f"{question}: the state is not an equilibrium: the acceleration of {name!r} is"
                f" {system.rate[n + k]:.4g}. Give linearize the joint forces that hold it"
                " (catena.analysis.static_torques), or find one by catena.equilibrium"
            )


def _named_failure(system: StateSpace, why: QuestionError) -> QuestionError:
    """Return the error of a failed design with the motions that cannot be reached, by name."""
    hidden = system.unreachable()
    return (
        QuestionError(f"lqr: {'; '.join(hidden)}; give more `actuated` joints") if hidden else why
    )
