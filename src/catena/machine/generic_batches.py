"""Batches in the generic life: rows of states through Numba's kernels, in threads. One function a quantity, in `GENERIC`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler import generic
from ..model.validation import value_of

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray
WORTH_THREADS = 2000  # nodes times states; below this a thread costs more than it saves


def rows(x: Array, lead: tuple[int, ...], batch: int) -> Array:
    """An argument as (batch, n), contiguous, its leading sizes broadcast."""
    if x.shape[:-1] != lead:
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
    flat = np.ascontiguousarray(x.reshape(batch, x.shape[-1]))
    return flat if flat.flags.writeable else flat.copy()  # compiled code takes no array that forbids writing


def _run(machine: Machine, name: str, arguments: Sequence[Any], out: Array, batch: int, seat: Array | None = None) -> Array:
    """Run a compiled function over rows, in threads where there are enough of them.

    seat: the one argument, if any, that is a matrix for all states alike and not a row for each.
    """
    function, threads = generic.compiled(name), min(machine.threads, batch)
    rowwise = [isinstance(x, np.ndarray) and x is not seat and len(x) == batch for x in arguments]
    with machine._turn:
        return _run_alone(machine, function, threads, arguments, rowwise, out, batch)


def _run_alone(
    machine: Machine, function: Callable, threads: int, arguments: Sequence[Any], rowwise: list[bool], out: Array, batch: int
) -> Array:
    """The same, while nobody else uses the machine's scratch memory."""
    threads = 1 if batch * len(machine.layout.nodes) < WORTH_THREADS else threads
    while len(machine._handles) < threads:  # the machine's first handle is for single states
        machine._handles.append(machine._handle.again())
    if threads == 1:
        function(machine._handles[0].address, *arguments, out)
        return out
    edges = np.linspace(0, batch, threads + 1).astype(int)

    def part(k: int) -> None:
        rows = slice(edges[k], edges[k + 1])
        own = [x[rows] if by_row else x for x, by_row in zip(arguments, rowwise)]
        function(machine._handles[k].address, *own, out[rows])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))
    return out


def _seat_matrix(machine: Machine, seat: Any) -> Array:
    """X_NF as (3, 4) numbers."""
    value = lambda x: value_of(x, machine.mechanism.parameters)  # noqa: E731
    return np.array([[*map(value, row), value(p)] for row, p in zip(seat.pose.rotation, seat.pose.position)], float)


def _node_wrenches(machine: Machine, q: Array, keys: tuple, forces: Array | None, lead: tuple, batch: int, by: str) -> Array:
    """External wrenches as (batch, 6 n): about node origins in node axes, a row block for each node or body."""
    if forces is None:
        return np.zeros((0, 1))
    flat = rows(forces, lead, batch)
    bodies = {j.child: k for k, j in enumerate(machine.mechanism.ordered)}
    count = len(machine.layout.nodes) if by == "node" else len(bodies)
    total = np.zeros((batch, count, 6))
    for k, (frame, axes) in enumerate(keys):
        seat = machine.layout.seat(frame)
        row = seat.node if by == "node" else bodies.get(machine.mechanism.frame(frame).body, -1)
        if row < 0:
            continue
        X = _seat_matrix(machine, seat)
        t, f = flat[:, 6 * k : 6 * k + 3], flat[:, 6 * k + 3 : 6 * k + 6]
        if axes == "world":
            poses = np.zeros((batch, 3, 4))
            still = np.eye(3, 4)
            _run(machine, "pose", (q, seat.node, still), poses, batch, still)
            t, f = (np.einsum("bji,bj->bi", poses[:, :, :3], x) for x in (t, f))
        else:
            t, f = t @ X[:, :3].T, f @ X[:, :3].T
        total[:, row, :3] += t + np.cross(X[:, 3], f)
        total[:, row, 3:] += f
    return total.reshape(batch, -1)


def _dynamics(name: str) -> Callable:
    def run(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
        kernel = f"{name}_dense" if name == "forward_dynamics" and m.layout.coupled else name
        loads = _node_wrenches(m, x[0], keys, forces, lead, batch, "node")
        return _run(m, kernel, (*x, loads), np.empty((batch, m.nv)), batch)

    return run


def _forward(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    """Accelerations, under the rows of loops where there are any."""
    if not m.rows:
        return _open(m, x, keys, forces, lead, batch)
    return _constrained(m, x, keys, forces, lead, batch)[:, : m.nv].copy()


def _constrained(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    loads = _node_wrenches(m, x[0], keys, forces, lead, batch, "node")
    out = np.empty((batch, m.nv + len(m.rows)))
    return _run(m, "constrained_dynamics_rows", (*x, loads, m.layout.coupled), out, batch)


def _multipliers(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    return _constrained(m, x, keys, forces, lead, batch)[:, m.nv :].copy()


def _constraint_rows(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    """Residuals, rates, gamma and A side by side; the Machine takes them apart."""
    k = len(m.rows)
    return _run(m, "constraint_rows", x, np.empty((batch, 3 * k + k * m.nv)), batch)


def _bias(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    zeros = np.zeros((batch, m.nv))
    return GENERIC["inverse_dynamics"](m, [*x, *[zeros] * (3 - len(x))], keys, forces, lead, batch)


def _plain(name: str, *shape: Any) -> Callable:
    def run(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
        size = [getattr(m, s) if isinstance(s, str) else s for s in shape]
        return _run(m, name, x, np.empty((batch, *size)), batch)

    return run


def _framed(name: str) -> Callable:
    def run(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int, frame: str, axes: str = "") -> Array:
        seat = m.layout.seat(frame)
        X = _seat_matrix(m, seat)
        shape = {"pose": (3, 4), "jacobian": (6, m.nv)}.get(name, (6,))
        out = np.zeros((batch, *shape))
        if seat.node >= 0 or name == "pose":
            _run(m, name, (*x, seat.node, X), out, batch, X)
        if name == "pose" or (name == "jacobian") == (axes == "world"):
            return out
        R = GENERIC["pose"](m, x[:1], (), None, lead, batch, frame)[:, :, :3]
        R = np.swapaxes(R, 1, 2) if name == "jacobian" else R  # the Jacobian comes in the ground's axes, the others in the frame's
        return np.concatenate([R @ half for half in np.split(out.reshape(batch, 6, -1), 2, axis=1)], axis=1).reshape(out.shape)

    return run


def _jacobian_rate(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int, frame: str, axes: str) -> Array:
    rate = GENERIC["frame_acceleration"](m, [*x, np.zeros((batch, m.nv))], keys, forces, lead, batch, frame, axes)
    if axes == "body":
        velocity = GENERIC["frame_velocity"](m, x, keys, forces, lead, batch, frame, axes)
        rate[:, 3:] -= np.cross(velocity[:, :3], velocity[:, 3:])
    return rate


def _reactions(m: Machine, x: list[Array], keys: tuple, forces: Any, lead: tuple, batch: int) -> Array:
    loads = _node_wrenches(m, x[0], keys, forces, lead, batch, "body")
    return _run(m, "reactions", (*x, loads), np.empty((batch, len(m.mechanism.ordered), 6)), batch)


_open = _dynamics("forward_dynamics")

GENERIC: dict[str, Callable] = {
    "inverse_dynamics": _dynamics("inverse_dynamics"),
    "forward_dynamics": _forward,
    "multipliers": _multipliers,
    "constraint_rows": _constraint_rows,
    "bias": _bias,
    "gravity": _bias,
    "mass_matrix": _plain("mass_matrix", "nv", "nv"),
    "coriolis_matrix": _plain("coriolis_matrix", "nv", "nv"),
    "energy": _plain("energy", 2),
    "momentum": _plain("momentum", 10),
    "pose": _framed("pose"),
    "jacobian": _framed("jacobian"),
    "frame_velocity": _framed("frame_velocity"),
    "frame_acceleration": _framed("frame_acceleration"),
    "jacobian_rate": _jacobian_rate,
    "reactions": _reactions,
}
