"""Kinematics of every node: poses, velocities, accelerations, Jacobians, energies, momentum."""

from __future__ import annotations

from ..spatial import (
    add,
    angular_acceleration_tensor,
    apply,
    cross,
    dot,
    get,
    get6,
    get33,
    inertia_tensor,
    kernel,
    neg,
    put,
    put33,
    rotate,
    scale,
    sub,
    sweep,
    transpose,
    unrotate,
)
from .motion import BALL, SCREW, SLIDE, into, out_columns, place, speeds


@sweep
def poses(tree, q, x):
    """Compute R and p of every node in the ground, root to leaves."""
    place(tree, q, x)
    for i in range(len(tree.parent)):
        _locate(tree, i, x)


@kernel
def _locate(tree, i, x):
    """Compute R and p of a node in the ground from those of its parent and its position relative to
    it.
    """
    one = 1.0 + 0.0 * tree.ratio[i]
    zero = 0.0 * one
    p = tree.parent[i]
    if p < 0:
        put33(
            x.R,
            i,
            out_columns(tree, i, x, ((one, zero, zero), (zero, one, zero), (zero, zero, one))),
        )
        put(x.p, i, get(x.r, i))
    else:
        R = get33(x.R, p)
        put33(x.R, i, out_columns(tree, i, x, R))
        put(x.p, i, add(get(x.p, p), rotate(R, get(x.r, i))))


@sweep
def velocities(tree, q, v, x):
    """Compute w and u of every node, in its own axes, root to leaves; places the nodes on the
    way.
    """
    place(tree, q, x)
    for i in range(len(tree.parent)):
        _velocity(tree, i, v, x)


@kernel
def _velocity(tree, i, v, x):
    """Compute w and u of a node from those of its parent; its position relative to the parent is
    known.
    """
    p, k = tree.parent[i], tree.vi[i]
    zero = 0.0 * tree.ratio[i]
    w = (zero, zero, zero)
    u = (zero, zero, zero)
    if p >= 0:
        wp = get(x.w, p)
        w = into(tree, i, x, wp)
        u = into(tree, i, x, add(get(x.u, p), cross(wp, get(x.r, i))))
    motion = tree.motion[i]
    if motion == BALL:
        w = add(w, (v[k], v[k + 1], v[k + 2]))
    else:
        z = tree.ratio[i] * v[k]
        if motion == SLIDE:
            u = (u[0], u[1], u[2] + z)
        else:
            w = (w[0], w[1], w[2] + z)
            if motion == SCREW:
                u = (u[0], u[1], u[2] + tree.pitch[i] * z)
    put(x.w, i, w)
    put(x.u, i, u)


@sweep
def states(tree, v, x):
    """Compute poses and velocities of nodes whose positions relative to their parents are known
    already.
    """
    for i in range(len(tree.parent)):
        _locate(tree, i, x)
        _velocity(tree, i, v, x)


@sweep
def accelerations(tree, q, v, a, base, x):
    """Compute w, dw, du and the tensor T of every node, root to leaves. `base` is the acceleration
    of the ground.

    du is the acceleration of the origin itself (not the spatial one), so that T r is all that a
    parent adds to it ([Merwe1995] eq. 3.17); with base = -gravity, forces include weight.
    """
    place(tree, q, x)
    for i in range(len(tree.parent)):
        accelerate(tree, i, v, a, base, x)


@kernel
def accelerate(tree, i, v, a, base, x):
    """Compute w, dw, du and T of a node from those of its parent, and return du and T; its position
    relative to the parent is known.
    """
    p, k = tree.parent[i], tree.vi[i]
    zero = 0.0 * tree.ratio[i]
    w = (zero, zero, zero)
    dw = (zero, zero, zero)
    if p >= 0:
        w = into(tree, i, x, get(x.w, p))
        dw = into(tree, i, x, get(x.dw, p))
        base = add(get(x.du, p), rotate(get33(x.T, p), get(x.r, i)))
    du = into(tree, i, x, base)
    motion = tree.motion[i]
    if motion == BALL:
        s = (v[k], v[k + 1], v[k + 2])
        dw = add(add(dw, cross(w, s)), (a[k], a[k + 1], a[k + 2]))
        w = add(w, s)
    else:
        z = tree.ratio[i] * v[k]
        dz = tree.ratio[i] * a[k]
        if motion == SLIDE:
            du = (du[0] + 2.0 * (w[1] * z), du[1] - 2.0 * (w[0] * z), du[2] + dz)
        else:
            if motion == SCREW:
                h = tree.pitch[i]
                du = (
                    du[0] + 2.0 * (w[1] * (h * z)),
                    du[1] - 2.0 * (w[0] * (h * z)),
                    du[2] + h * dz,
                )
            dw = (dw[0] + w[1] * z, dw[1] - w[0] * z, dw[2] + dz)
            w = (w[0], w[1], w[2] + z)
    put(x.w, i, w)
    put(x.dw, i, dw)
    put(x.du, i, du)
    T = angular_acceleration_tensor(w, dw)
    put33(x.T, i, T)
    return T, du


@sweep
def jacobian(tree, node, point, x, J):
    """Fill J (6, nv), angular rows first, ground's axes, for a point (in the ground's frame) that
    moves with `node`.

    Needs `poses` in x; J is zeros on entry.
    """
    i = node
    while i >= 0:
        R = get33(x.R, i)
        k = tree.vi[i]
        motion = tree.motion[i]
        lever = sub(point, get(x.p, i))
        for j in range(speeds(motion)):
            column = j if motion == BALL else 2
            axis = (R[0][column], R[1][column], R[2][column])
            ratio = tree.ratio[i]
            if motion == SLIDE:
                linear = axis
            else:
                linear = cross(axis, lever)
                if motion == SCREW:
                    linear = add(linear, scale(tree.pitch[i], axis))
                for d in range(3):
                    J[d, k + j] += ratio * axis[d]
            for d in range(3):
                J[3 + d, k + j] += ratio * linear[d]
        i = tree.parent[i]


@kernel
def frame_pose(node, R_NF, p_NF, x):
    """Return rotation and origin of a frame on a node, in the ground. Needs `poses` in x."""
    if node < 0:
        return R_NF, p_NF
    R = get33(x.R, node)
    columns = (
        rotate(R, (R_NF[0][0], R_NF[1][0], R_NF[2][0])),
        rotate(R, (R_NF[0][1], R_NF[1][1], R_NF[2][1])),
        rotate(R, (R_NF[0][2], R_NF[1][2], R_NF[2][2])),
    )
    return transpose(columns), add(get(x.p, node), rotate(R, p_NF))


@kernel
def frame_velocity(node, R_NF, p_NF, x):
    """Return angular velocity and velocity of a frame on a node, in the frame's own axes. Needs
    `velocities` in x.
    """
    w, u = get(x.w, node), get(x.u, node)
    return unrotate(R_NF, w), unrotate(R_NF, add(u, cross(w, p_NF)))


@kernel
def frame_acceleration(node, R_NF, p_NF, x):
    """Return angular acceleration and acceleration of a frame's origin, in its own axes. Needs
    `accelerations` in x.
    """
    return unrotate(R_NF, get(x.dw, node)), unrotate(
        R_NF, add(get(x.du, node), rotate(get33(x.T, node), p_NF))
    )


@sweep
def energy(tree, q, v, x):
    """Return kinetic and potential energy, J. The potential energy of a mass at the ground's origin
    is zero; bodies fixed to the ground are excluded.
    """
    velocities(tree, q, v, x)
    poses(tree, q, x)
    kinetic = 0.0 * tree.gravity[0]
    potential = 0.0 * tree.gravity[0]
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for k in range(len(tree.armature)):
        kinetic += 0.5 * (tree.armature[k] * (v[k] * v[k]))
    for i in range(len(tree.parent)):
        w = get(x.w, i)
        u = get(x.u, i)
        h = get(tree.h, i)
        m = tree.mass[i]
        spinning = dot(w, apply(inertia_tensor(get6(tree.J, i)), w))
        kinetic += 0.5 * (m * dot(u, u) + spinning) + dot(u, cross(w, h))
        potential -= dot(g, add(scale(m, get(x.p, i)), rotate(get33(x.R, i), h)))
    return kinetic, potential


@sweep
def momentum(tree, q, v, x):
    """Return mass, centre of mass, its velocity, and the angular momentum about it, in the ground's
    axes.
    """
    velocities(tree, q, v, x)
    poses(tree, q, x)
    zero = 0.0 * tree.ratio[0]
    mass, moment = zero, (zero, zero, zero)
    # linear momentum; angular about the ground's origin
    P = (zero, zero, zero)
    L = (zero, zero, zero)
    for i in range(len(tree.parent)):
        R = get33(x.R, i)
        p = get(x.p, i)
        w = get(x.w, i)
        u = get(x.u, i)
        m, h = tree.mass[i], get(tree.h, i)
        own = rotate(R, add(scale(m, u), cross(w, h)))
        turning = rotate(R, add(apply(inertia_tensor(get6(tree.J, i)), w), cross(h, u)))
        mass += m
        moment = add(moment, add(scale(m, p), rotate(R, h)))
        P = add(P, own)
        L = add(L, add(turning, cross(p, own)))
    com = scale(1.0 / mass, moment)
    return mass, com, scale(1.0 / mass, P), add(L, neg(cross(com, P)))
