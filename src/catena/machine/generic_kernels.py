"""The generic kernels, which serve all mechanisms: one function per quantity, from states (batch,
n) to an array (batch, ...).

A kernel takes the `KernelRuns` of a request, which run compiled kernels, and a `Request` whose
states are rows (batch, n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Layout
from ..model import value_of
from .possible_states import possible
from .request import GenericKernel, KernelRuns, Request

Array = NDArray[np.float64]


def rows(x: Array, lead: tuple[int, ...], batch: int) -> Array:
    """Return an argument as a contiguous array (batch, n), its leading dimensions broadcast."""
    if x.ndim == 2 and x.shape[0] == batch and x.flags.c_contiguous and x.flags.writeable:
        return x
    if x.shape[:-1] != lead:
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
    flat = np.ascontiguousarray(x.reshape(batch, x.shape[-1]))
    # compiled code takes no array that forbids writing
    return flat if flat.flags.writeable else flat.copy()


# --- quantities of a state
def plain(name: str) -> GenericKernel:
    """Return the function that evaluates the generic kernel of that name, for quantities of the
    states alone. Several outputs are stored next to each other.
    """
    return lambda runs, request: runs.run(name, request.states)


def dynamics(name: str) -> GenericKernel:
    """Return the function that evaluates the generic kernel of that name, for quantities of the
    states and of the external wrenches on nodes.
    """
    return lambda runs, request: runs.run(name, (*request.states, _wrenches(runs, request, "node")))


def still(runs: KernelRuns, request: Request) -> Array:
    """Evaluate inverse dynamics with zeros in place of the speeds and accelerations that are not
    inputs of the quantity.
    """
    zeros = np.zeros(runs.spec.sizes.nv)
    missing = [zeros] * (3 - len(request.states))
    return dynamics("inverse_dynamics")(runs, request._replace(states=(*request.states, *missing)))


def forward(layout: Layout) -> str:
    """Return the name of the generic kernel of forward dynamics: a constrained one where there are
    loops, one by the mass matrix where joints mimic others.
    """
    return ("constrained_dynamics" if layout.mechanism.loops else "forward_dynamics") + (
        "_dense" if layout.coupled else ""
    )


def accelerations(runs: KernelRuns, request: Request) -> Array:
    """Evaluate the forward dynamics, under the rows of loops where there are any."""
    nv = runs.spec.sizes.nv
    return _possible(runs, request, dynamics(forward(runs.spec.layout))(runs, request), slice(nv))


def multipliers(runs: KernelRuns, request: Request) -> Array:
    """Evaluate the multipliers of the rows of loops."""
    nv, m = runs.spec.sizes.nv, runs.spec.sizes.rows
    found = dynamics(forward(runs.spec.layout))(runs, request)
    return _possible(runs, request, found, slice(nv, nv + m))


def _possible(runs: KernelRuns, request: Request, found: Array, wanted: slice) -> Array:
    """Return the columns `wanted` of accelerations, multipliers, residuals and rates. If the
    request is only defined where the constraint rows hold, states that violate them give NaN.
    """
    out = found[:, wanted].copy()
    if request.on_rows:
        nv, m = runs.spec.sizes.nv, runs.spec.sizes.rows
        error, rate = found[:, nv + m : nv + 2 * m], found[:, nv + 2 * m :]
        broken = ~possible(runs.spec, error, rate, request.states[1])
        out[broken] = np.nan
        runs.finite = runs.finite and not broken.any()
    return out


def reactions(runs: KernelRuns, request: Request) -> Array:
    """Evaluate the wrenches in the joints of the tree."""
    return runs.run("joint_wrenches", (*request.states, _wrenches(runs, request, "body")))


# --- quantities of a frame
def framed(name: str) -> GenericKernel:
    """Return the function that evaluates the generic kernel of that name, for quantities of a
    frame, in the axes of the request.
    """

    def run(runs: KernelRuns, request: Request) -> Array:
        frame, axes = (*request.which, "")[:2]
        seat = runs.spec.layout.seat(frame)
        X = _seat_matrix(runs, seat)
        if seat.node < 0 and name != "pose":  # a frame of the ground
            return np.zeros((request.batch, *request.quantity.outputs[0].size(runs.spec.sizes)))
        out = runs.run(name, request.states, seat.node, X)
        if name == "pose" or (name == "jacobian") == (axes == "world"):
            return out
        R = framed("pose")(runs, request._replace(states=request.states[:1]))[:, :, :3]
        # the Jacobian comes in the ground's axes, the others in the frame's
        R = np.swapaxes(R, 1, 2) if name == "jacobian" else R
        halves = np.split(out.reshape(request.batch, 6, -1), 2, axis=1)
        return np.concatenate([R @ half for half in halves], axis=1).reshape(out.shape)

    return run


def jacobian_rate(runs: KernelRuns, request: Request) -> Array:
    """Evaluate Jdot v: the acceleration with a = 0; in body axes less w x u, because these axes
    turn.
    """
    zeros = np.zeros(runs.spec.sizes.nv)
    rate = framed("frame_acceleration")(runs, request._replace(states=(*request.states, zeros)))
    if request.which[1] == "body":
        velocity = framed("frame_velocity")(runs, request)
        rate[:, 3:] -= np.cross(velocity[:, :3], velocity[:, 3:])
    return rate


# --- wrenches
def _seat_matrix(runs: KernelRuns, seat: Any) -> Array:
    """Return X_NF (3, 4), the pose of a frame on its node."""
    value = lambda x: value_of(x, runs.spec.mechanism.parameters)  # noqa: E731
    return np.array(
        [[*map(value, row), value(p)] for row, p in zip(seat.pose.rotation, seat.pose.position)],
        float,
    )


def _wrenches(runs: KernelRuns, request: Request, by: str) -> Array:
    """Return the external wrenches (batch, 6 n), about node origins in node axes, six columns for
    each node or body; (6 n,) zeros where there are none.
    """
    batch, spec = request.batch, runs.spec
    if request.forces is None:
        return np.zeros(
            6 * (len(spec.layout.nodes) if by == "node" else len(spec.mechanism.ordered))
        )
    flat = rows(request.forces, request.lead, batch)
    bodies = {j.child: k for k, j in enumerate(spec.mechanism.ordered)}
    total = np.zeros((batch, len(spec.layout.nodes) if by == "node" else len(bodies), 6))
    for k, (frame, axes) in enumerate(request.keys):
        seat = spec.layout.seat(frame)
        row = seat.node if by == "node" else bodies.get(spec.mechanism.frame(frame).body, -1)
        if row < 0:
            continue
        X = _seat_matrix(runs, seat)
        t = flat[:, 6 * k : 6 * k + 3]
        f = flat[:, 6 * k + 3 : 6 * k + 6]
        if axes == "world":
            poses = runs.run("pose", request.states[:1], seat.node)
            t, f = (np.einsum("bji,bj->bi", poses[:, :, :3], x) for x in (t, f))
        else:
            t, f = t @ X[:, :3].T, f @ X[:, :3].T
        total[:, row, :3] += t + np.cross(X[:, 3], f)
        total[:, row, 3:] += f
    return total.reshape(batch, -1)
