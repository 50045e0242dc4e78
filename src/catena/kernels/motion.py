"""The motion of a node: the only module in which kernels distinguish kinds of motion."""

from __future__ import annotations

from ..model import Motion
from ..spatial import (
    add,
    get,
    get33,
    kernel,
    product,
    put,
    put33,
    quaternion_matrix,
    rotate,
    scale,
    sines,
    spin,
    spin_matrix,
    spin_symmetric,
    sweep,
    transpose,
    unrotate,
    unrotate_matrix,
    unrotate_symmetric,
    unspin,
)

TURN = int(Motion.TURN)
SLIDE = int(Motion.SLIDE)
SCREW = int(Motion.SCREW)
BALL = int(Motion.BALL)


@kernel
def speeds(motion):
    """Return the number of speeds of a node."""
    return 3 if motion == BALL else 1


@sweep
def place(tree, q, x):
    """Place every node at its coordinate: compute cosine and sine of its turn, or the rotation of a
    ball, and the position of its origin relative to the parent.
    """
    for i in range(len(tree.parent)):
        _place(tree, q, i, x)
    sines(x.s, x.c)


@kernel
def _place(tree, q, i, x):
    """Compute the rotation of a ball, and the origin of any node; store the angle of a turn in
    s.
    """
    motion, k = tree.motion[i], tree.qi[i]
    x.s[i] = 0.0 * tree.ratio[i]
    r = get(tree.r, i)
    if motion == BALL:
        put33(x.Q, i, quaternion_matrix(q[k], q[k + 1], q[k + 2], q[k + 3]))
    else:
        z = tree.ratio[i] * q[k] + tree.shift[i]
        if motion == SLIDE:
            r = add(r, scale(z, get33(tree.E, i)[2]))
        else:
            x.s[i] = z
            if motion == SCREW:
                r = add(r, scale(tree.pitch[i] * z, get33(tree.E, i)[2]))
    put(x.r, i, r)


@kernel
def into(tree, i, x, a):
    """Return a vector, given in the parent's axes, in node i's axes."""
    b = rotate(get33(tree.E, i), a)
    if tree.motion[i] == SLIDE:
        return b
    if tree.motion[i] == BALL:
        return unrotate(get33(x.Q, i), b)
    return unspin(x.c[i], x.s[i], b)


@kernel
def out(tree, i, x, a):
    """Return a vector, given in node i's axes, in its parent's axes."""
    if tree.motion[i] == SLIDE:
        b = a
    elif tree.motion[i] == BALL:
        b = rotate(get33(x.Q, i), a)
    else:
        b = spin(x.c[i], x.s[i], a)
    return unrotate(get33(tree.E, i), b)


@kernel
def out_symmetric(tree, i, x, S):
    """Return a symmetric matrix, given in node i's axes, in its parent's axes."""
    if tree.motion[i] == SLIDE:
        T = S
    elif tree.motion[i] == BALL:
        T = unrotate_symmetric(transpose(get33(x.Q, i)), S)
    else:
        T = spin_symmetric(x.c[i], x.s[i], S)
    return unrotate_symmetric(get33(tree.E, i), T)


@kernel
def out_matrix(tree, i, x, A):
    """Return a matrix, given in node i's axes, in its parent's axes."""
    if tree.motion[i] == SLIDE:
        B = A
    elif tree.motion[i] == BALL:
        B = unrotate_matrix(transpose(get33(x.Q, i)), A)
    else:
        B = spin_matrix(x.c[i], x.s[i], A)
    return unrotate_matrix(get33(tree.E, i), B)


@kernel
def out_columns(tree, i, x, R):
    """Return R times the rotation from node i's axes to its parent's. If R has the axes of the
    parent as columns, the result has those of the node.
    """
    P = product(R, transpose(get33(tree.E, i)))
    if tree.motion[i] == SLIDE:
        return P
    if tree.motion[i] == BALL:
        return product(P, get33(x.Q, i))
    c, s = x.c[i], x.s[i]
    return (unspin(c, s, P[0]), unspin(c, s, P[1]), unspin(c, s, P[2]))


@kernel
def component(tree, i, k, t, f):
    """Return S' (t, f): the component of a torque and a force along the k-th degree of freedom of
    node i.
    """
    motion = tree.motion[i]
    if motion == SLIDE:
        return tree.ratio[i] * f[2]
    if motion == SCREW:
        return tree.ratio[i] * (t[2] + tree.pitch[i] * f[2])
    if motion == BALL:
        return t[k]
    return tree.ratio[i] * t[2]


@kernel
def direction(tree, i, k):
    """Return the motion subspace S of the k-th degree of freedom of node i: its angular and its
    linear part, in the node's axes.
    """
    motion = tree.motion[i]
    ratio = tree.ratio[i]
    zero = 0.0 * ratio
    one = 0.0 * ratio + 1.0
    if motion == SLIDE:
        return (zero, zero, zero), (zero, zero, ratio)
    if motion == SCREW:
        return (zero, zero, ratio), (zero, zero, ratio * tree.pitch[i])
    if motion == BALL:
        return (one if k == 0 else zero, one if k == 1 else zero, one if k == 2 else zero), (
            zero,
            zero,
            zero,
        )
    return (zero, zero, ratio), (zero, zero, zero)
