"""Three-dimensional algebra over tuples of scalars, for any scalar: a float, a CasADi symbol, a
register of lanes.

A vector is a tuple of three; a matrix is a tuple of three rows; a symmetric matrix is the six
entries (xx, xy, xz, yy, yz, zz). Every function is plain Python when Python calls it and machine
code when compiled code calls it (`compiler.kernel_compiler` reads its source), so that a pass over
a mechanism is written once and used in several ways.

The second part is the tensor algebra of [Merwe1995] chapter 3: the angular acceleration tensor, the
Euler tensor and the torque tensor, which make the Newton-Euler pass cheaper than cross products do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a small function of the kernels' subset of Python, which `compiler.kernel_compiler`
    compiles to machine code.
    """
    return function


sweep = kernel  # a pass over nodes or rows, made of such

# --- scalars


def sin(x):
    return math.sin(x) if isinstance(x, (float, int)) else x.sin()


def cos(x):
    return math.cos(x) if isinstance(x, (float, int)) else x.cos()


def sines(s, c):
    """Replace the angles in s by their sines, and store their cosines in c."""
    for i in range(len(s)):
        s[i], c[i] = sin(s[i]), cos(s[i])


def atan2(y, x):
    if isinstance(y, (float, int)) and isinstance(x, (float, int)):
        return math.atan2(y, x)
    import casadi  # its symbols have no method for this one

    return casadi.atan2(y, x)


def floor(x):
    return math.floor(x) * 1.0 if isinstance(x, (float, int)) else x.floor()


def sqrt(x):
    return math.sqrt(x) if isinstance(x, (float, int)) else x.sqrt()


def entry(table, i):
    """Return the entry of a table of numbers at the whole number i, which lanes may have each their
    own.
    """
    return float(table[int(i)])


def copysign(size, x):
    """Return `size` with the sign of x."""
    if isinstance(x, (float, int)):
        return math.copysign(size, x)
    import casadi

    return casadi.copysign(size, x)


def smaller(a, b):
    """Return the smaller of two scalars."""
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        return min(a, b)
    import casadi

    return casadi.fmin(a, b)


def larger(a, b):
    """Return the larger of two scalars."""
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        return max(a, b)
    import casadi

    return casadi.fmax(a, b)


def select(condition, a, b):
    """Return a where the condition holds, else b; with symbols both are evaluated."""
    if hasattr(condition, "is_constant"):
        import casadi

        if condition.is_constant():
            return a if float(condition) else b
        return casadi.if_else(condition, a, b)
    return a if condition else b


def any_lane(condition):
    """Return whether a condition holds in at least one lane; for a single state, the condition
    itself.
    """
    return bool(condition)


def vanishes(x):
    """Return whether x is structurally zero, at every state, so that terms with it can be skipped.
    Machine code does not test this.
    """
    return x.is_zero() if hasattr(x, "is_zero") else x == 0.0


def filled(row, n):
    """Return the indices of the first n entries of a row that are not structural zeros, the last
    first; in machine code all of them.
    """
    return [i for i in range(n - 1, -1, -1) if not vanishes(row[i])]


# --- vectors
@kernel
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def neg(a):
    return (-a[0], -a[1], -a[2])


@kernel
def scale(k, a):
    return (k * a[0], k * a[1], k * a[2])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


# --- matrices
@kernel
def rotate(R, a):
    """Return R a."""
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


@kernel
def unrotate(R, a):
    """Return R' a."""
    return (
        R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
        R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
        R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2],
    )


@kernel
def transpose(A):
    return ((A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))


@kernel
def product(A, B):
    """Return A B."""
    return (unrotate(B, A[0]), unrotate(B, A[1]), unrotate(B, A[2]))


@kernel
def tilde(a):
    """Return the skew matrix with tilde(a) b = a x b ([Merwe1995] eq. 2.8)."""
    return ((0.0 * a[0], -a[2], a[1]), (a[2], 0.0 * a[0], -a[0]), (-a[1], a[0], 0.0 * a[0]))


@kernel
def tilde_times(r, A):
    """Return tilde(r) A."""
    return (
        (
            r[1] * A[2][0] - r[2] * A[1][0],
            r[1] * A[2][1] - r[2] * A[1][1],
            r[1] * A[2][2] - r[2] * A[1][2],
        ),
        (
            r[2] * A[0][0] - r[0] * A[2][0],
            r[2] * A[0][1] - r[0] * A[2][1],
            r[2] * A[0][2] - r[0] * A[2][2],
        ),
        (
            r[0] * A[1][0] - r[1] * A[0][0],
            r[0] * A[1][1] - r[1] * A[0][1],
            r[0] * A[1][2] - r[1] * A[0][2],
        ),
    )


# --- symmetric
@kernel
def full(S):
    """Return the six entries of a symmetric matrix as a matrix."""
    return ((S[0], S[1], S[2]), (S[1], S[3], S[4]), (S[2], S[4], S[5]))


@kernel
def apply(S, a):
    """Return S a for a symmetric S."""
    return (
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@kernel
def sadd(S, T):
    return (S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5])


@kernel
def trace(S):
    return S[0] + S[3] + S[5]


@kernel
def outer(a):
    """Return a a'."""
    return (a[0] * a[0], a[0] * a[1], a[0] * a[2], a[1] * a[1], a[1] * a[2], a[2] * a[2])


@kernel
def outer_pair(a, b):
    """Return a b' + b a'."""
    xy = a[0] * b[1] + a[1] * b[0]
    xz = a[0] * b[2] + a[2] * b[0]
    yz = a[1] * b[2] + a[2] * b[1]
    return (2.0 * (a[0] * b[0]), xy, xz, 2.0 * (a[1] * b[1]), yz, 2.0 * (a[2] * b[2]))


@kernel
def unrotate_symmetric(E, S):
    """Return E' S E: a symmetric matrix given in the rotated frame, in the frame from which E
    rotates.
    """
    P = (
        rotate(full(S), (E[0][0], E[1][0], E[2][0])),
        rotate(full(S), (E[0][1], E[1][1], E[2][1])),
        rotate(full(S), (E[0][2], E[1][2], E[2][2])),
    )
    x = (E[0][0], E[1][0], E[2][0])
    y = (E[0][1], E[1][1], E[2][1])
    z = (E[0][2], E[1][2], E[2][2])
    return (dot(x, P[0]), dot(x, P[1]), dot(x, P[2]), dot(y, P[1]), dot(y, P[2]), dot(z, P[2]))


@kernel
def unrotate_matrix(E, A):
    """Return E' A E."""
    return product(transpose(E), product(A, E))


@kernel
def inverse_symmetric(S):
    """Return the inverse of a symmetric matrix by cofactors, and its determinant."""
    xx = S[3] * S[5] - S[4] * S[4]
    xy = S[2] * S[4] - S[1] * S[5]
    xz = S[1] * S[4] - S[2] * S[3]
    det = S[0] * xx + S[1] * xy + S[2] * xz
    k = 1.0 / det
    return (
        k * xx,
        k * xy,
        k * xz,
        k * (S[0] * S[5] - S[2] * S[2]),
        k * (S[1] * S[2] - S[0] * S[4]),
        k * (S[0] * S[3] - S[1] * S[1]),
    ), det


# --- turns about z
@kernel
def spin(c, s, a):
    """Return Rot(z) a: the vector a, given in the rotated frame, in the original frame. c, s:
    cosine and sine of the angle.
    """
    return (c * a[0] - s * a[1], s * a[0] + c * a[1], a[2])


@kernel
def unspin(c, s, a):
    """Return Rot(z)' a: the vector a, given in the original frame, in the rotated frame."""
    return (c * a[0] + s * a[1], c * a[1] - s * a[0], a[2])


@kernel
def spin_symmetric(c, s, S):
    """Return Rot(z) S Rot(z)'. With p = s (xx - yy) + 2 c xy the plane block costs four
    products.
    """
    p = s * (S[0] - S[3]) + (c + c) * S[1]
    x, y, z = spin(c, s, (S[2], S[4], S[5]))
    return (S[0] - s * p, c * p - S[1], x, S[3] + s * p, y, z)


@kernel
def spin_matrix(c, s, A):
    """Return Rot(z) A Rot(z)'. The skew part of the plane block is invariant."""
    p = s * (A[0][0] - A[1][1]) + c * (A[0][1] + A[1][0])
    x, y, z = spin(c, s, (A[0][2], A[1][2], A[2][2]))
    u, v, z = spin(c, s, (A[2][0], A[2][1], A[2][2]))
    return ((A[0][0] - s * p, c * p - A[1][0], x), (c * p - A[0][1], A[1][1] + s * p, y), (u, v, z))


@kernel
def quaternion_matrix(w, x, y, z):
    """Return the rotation R of a unit quaternion (w, x, y, z): R b is the vector b of the rotated
    frame, in the fixed one.
    """
    x2, y2, z2 = x + x, y + y, z + z
    xx = x * x2
    yy = y * y2
    zz = z * z2
    xy = x * y2
    xz = x * z2
    yz = y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


# --- tensors of [Merwe1995] chapter 3
@kernel
def angular_acceleration_tensor(w, dw):
    """Return tilde(dw) + tilde(w) tilde(w), which maps a point of a body to its acceleration (eq.
    3.10, 3.17).
    """
    xx = w[0] * w[0]
    yy = w[1] * w[1]
    zz = w[2] * w[2]
    xy = w[0] * w[1]
    xz = w[0] * w[2]
    yz = w[1] * w[2]
    return (
        (-(yy + zz), xy - dw[2], xz + dw[1]),
        (xy + dw[2], -(xx + zz), yz - dw[0]),
        (xz - dw[1], yz + dw[0], -(xx + yy)),
    )


@kernel
def euler_tensor(I):
    """Return J = 1/2 tr(I) 1 - I (eq. 3.29)."""
    half = 0.5 * trace(I)
    return (half - I[0], -I[1], -I[2], half - I[3], -I[4], half - I[5])


@kernel
def inertia_tensor(J):
    """Return I = tr(J) 1 - J (eq. 3.30)."""
    t = trace(J)
    return (t - J[0], -J[1], -J[2], t - J[3], -J[4], t - J[5])


@kernel
def torque(A, J):
    """Return the vector of the torque tensor A J - (A J)' (eq. 3.75): the rate of angular momentum
    about the frame's origin.

    It equals I dw + w x I w, with A the angular acceleration tensor and J the Euler tensor about
    the same point.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A
    return (
        J[1] * zx - J[2] * yx + J[3] * zy - J[5] * yz + J[4] * (zz - yy),
        J[4] * xy - J[1] * zy + J[5] * xz - J[0] * zx + J[2] * (xx - zz),
        J[2] * yz - J[4] * xz + J[0] * yx - J[3] * xy + J[1] * (yy - xx),
    )


# --- rows of arrays
@kernel
def get(A, i):
    return (A[i, 0], A[i, 1], A[i, 2])


@kernel
def put(A, i, a):
    A[i, 0] = a[0]
    A[i, 1] = a[1]
    A[i, 2] = a[2]


@kernel
def accumulate(A, i, a):
    A[i, 0] += a[0]
    A[i, 1] += a[1]
    A[i, 2] += a[2]


@kernel
def get6(A, i):
    return (A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5])


@kernel
def put6(A, i, a):
    for k in range(6):
        A[i, k] = a[k]


@kernel
def get33(A, i):
    return (
        (A[i, 0, 0], A[i, 0, 1], A[i, 0, 2]),
        (A[i, 1, 0], A[i, 1, 1], A[i, 1, 2]),
        (A[i, 2, 0], A[i, 2, 1], A[i, 2, 2]),
    )


@kernel
def put33(A, i, M):
    for j in range(3):
        A[i, j, 0] = M[j][0]
        A[i, j, 1] = M[j][1]
        A[i, j, 2] = M[j][2]
