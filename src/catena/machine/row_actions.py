"""Row actions: on which bodies the forces of constraints and speed rows act, and where, so that it
is known which joints carry them.

    pairs        (row, parent, child): two bodies that a row pushes against each other
    records      constraints that state where they act (`model.loads.Action`)
    undetermined joints that carry forces whose place or size no record states, with the reason

A record is used only if its forces do the work of its row: J' w = A along every speed, checked at
random states. A row that relates the coordinates of several joints without stating where it acts (a
coupling, an expression of coordinates or speeds) acts on the bodies of these joints at unknown
places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..compiler import Tracer
from ..kernels import usual_length
from ..model import GROUND, MOTIONS, Joint, Mechanism, Vector, travel, value_of
from ..model.loads import Action, Freedom, Holonomic, Line
from .quantities import Output, Quantity

if TYPE_CHECKING:
    from .machine import Machine

Array = np.ndarray
# Tolerance on J' w - A, relative to the largest sum of the absolute values of its terms: a smaller
# difference of work is rounding.
WORK_TOLERANCE = 1e-9
WORK_CHECK_STATES = 3  # the number of random states at which that is checked
UNKNOWN_PLACE = "it ties coordinates, and where on the bodies its forces act is not known"
WRONG_WORK = "the forces at the place that its record gives do not do the work of its row"


EVERY_ROW = Quantity(
    "every_row",
    ("q",),
    (
        Output(
            "A",
            "every row of every loop along the speeds, then the speed rows",
            ("every_row", "nv"),
        ),
        Output(
            "wrench",
            "what one unit of a row does to its child, about the ground's origin in its axes",
            ("every_row", 6),
        ),
        Output(
            "R",
            "rotation of the children of all joints, loops included, into the ground's axes",
            ("all_joints", 9),
        ),
        Output("p", "their origins, m", ("all_joints", 3)),
    ),
    "What rows do to joints.",
    Tracer.every_row,
    time=True,
)


@dataclass(frozen=True)
class Acting:
    """The action of one row at states of shape (...). index: of the row among all rows. The
    wrenches (..., 6) are those of `Action`, about the ground's origin.
    """

    index: int
    wrench: Array
    sideways: Array | None
    steady: Array | None
    unknown: tuple[Array, ...]


class RowActions:
    """The row actions of one machine, at its mechanism's own parameters."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.mechanism = machine.mechanism
        m = self.mechanism
        loops = [(j.name, j.parent, j.child) for j in m.loops for _ in j.closure]
        self.first = len(loops)
        self.records: dict[int, Holonomic] = {}
        self.reasons: list[tuple[str, set[str], str]] = []  # (row, bodies, why)
        ties = [self._tie(k, row) for k, row in enumerate(m.constraints)]
        speeds = [self._speed_row(k) for k in range(len(m.nonholonomic))]
        self.pairs = [*loops, *(x for row in (*ties, *speeds) for x in row)]

    # --- which bodies
    def _tie(self, k: int, row: Holonomic) -> list[tuple[str, str, str]]:
        """Return (row, parent, child) for each row of constraint k, and record the reason why its
        forces are not fully known, if there is one.
        """
        index = self.first + sum(len(x.labels) for x in self.mechanism.constraints[:k])
        said = self._checked_action(index, row)
        if isinstance(said, Action):
            self.records[index] = row
            bodies = {said.on, said.against}
            self.reasons += [(row.name, bodies, f"{x} is not known") for x in said.missing]
            return [(row.name, said.against, said.on)]
        coupled = self._coupled_joints(k)
        pushed = self.machine.spec.pushed.get(row.name, (GROUND, GROUND))
        alone = len(coupled) == 1 and set(pushed) == {GROUND}
        if said is not None or (coupled and not alone):
            ends = {x for j in coupled for x in (j.parent, j.child)}
            ends |= set(pushed) if set(pushed) != {GROUND} else set()
            self.reasons.append((row.name, ends, said or UNKNOWN_PLACE))
        return [(row.name, *pushed)] * len(row.labels)

    def _speed_row(self, k: int) -> list[tuple[str, str, str]]:
        """Return (row, parent, child) for each row of speed constraint k, and record if it couples
        several joints.
        """
        row = self.mechanism.nonholonomic[k]
        if row.text is None:
            body = self.mechanism.frame(row.frame).body
            return [(row.name, GROUND, body)] * len(row.labels)
        s = self._tracer
        m = self.mechanism
        before = sum(len(x.labels) for x in m.constraints)
        before += sum(len(x.labels) for x in m.nonholonomic[:k])
        text = s.applied.rows()[0][before]
        slopes = ca.jacobian(text, s.v)
        coupled = self._joints(slopes, [n for j in self.mechanism.moving for n in j.speed_names])
        if len(coupled) > 1:
            ends = {x for j in coupled for x in (j.parent, j.child)}
            self.reasons.append((row.name, ends, UNKNOWN_PLACE))
        return [(row.name, GROUND, GROUND)] * len(row.labels)

    @cached_property
    def _tracer(self) -> Tracer:
        return Tracer(self.machine.layout, self.machine.snap)

    def _coupled_joints(self, k: int) -> list[Joint]:
        """Return the joints whose coordinates occur in a constraint, other than through the poses
        of frames.
        """
        s = self._tracer
        slopes = ca.jacobian(s.applied.placed.own[k], s.q)
        return self._joints(slopes, list(self.mechanism.coordinate_names))

    def _joints(self, slopes: ca.SX, names: list[str]) -> list[Joint]:
        """Return the joints whose columns of `slopes` are not structurally zero. names: of the
        columns.
        """
        used = {names[c] for c in set(slopes.sparsity().get_triplet()[1])}
        return [j for j in self.mechanism.moving if used & {*j.coordinate_names, *j.speed_names}]

    # --- whether a record is right
    def _checked_action(self, index: int, row: Holonomic) -> Action | str | None:
        """Return the action that a record states, if its forces do the work of its row at random
        states; otherwise a sentence that says that they do not. None where the record states
        nothing.
        """
        machine = self.machine
        rng = np.random.default_rng(7)
        q = machine.move(
            np.array([machine.layout.sample(rng) for _ in range(WORK_CHECK_STATES)]).reshape(
                WORK_CHECK_STATES, -1
            ),
            np.zeros((WORK_CHECK_STATES, machine.nv)),
        )
        A, _, R, p = machine._router.ask(EVERY_ROW, (q,), t=0.3)
        said = row.action(Numbers(machine, A, R, p, index))
        if not isinstance(said, Action):
            return said
        found = acting(index, said, q.shape[:-1])
        J = {body: self._jacobian(q, body) for body in (said.on, said.against)}
        apart = J[said.on] - J[said.against]  # about the ground's origin: wrenches may be added
        size = np.abs(J[said.on]) + np.abs(J[said.against])
        idle = (found.sideways, found.steady, *found.unknown)
        for w, wanted in ((found.wrench, A[:, index]), *((x, 0.0 * A[:, index]) for x in idle)):
            if w is None:
                continue
            terms = np.einsum("skn,sk->sn", size, np.abs(w)).max() + np.abs(wanted).max()
            if (
                not np.abs(np.einsum("skn,sk->sn", apart, w) - wanted).max()
                <= WORK_TOLERANCE * terms
            ):
                return WRONG_WORK
        return said

    def _jacobian(self, q: Array, body: str) -> Array:
        """Return the Jacobian (states, 6, nv) of a body, for the point of it at the ground's
        origin.
        """
        if body == GROUND:
            return np.zeros((len(q), 6, self.machine.nv))
        J = np.array(self.machine.jacobian(q, body))
        p = self.machine.pose(q, body)[:, :3, 3]
        # w . (t, f) with t about the ground's origin: the velocity of the body's point there
        J[:, 3:] -= np.swapaxes(np.cross(np.swapaxes(J[:, :3], 1, 2), p[:, None, :]), 1, 2)
        return J

    # --- at states
    def at(self, A: Array, R: Array, p: Array) -> list[Acting]:
        """Return the actions of those rows that state them. A (..., m, nv), R (..., joints, 9), p
        (..., joints, 3): the outputs of the kernel EVERY_ROW.
        """
        found = []
        for index, row in self.records.items():
            said = row.action(Numbers(self.machine, A, R, p, index))
            assert isinstance(said, Action)
            found.append(acting(index, said, A.shape[:-2]))
        return found

    # --- which joints
    @cached_property
    def blind(self) -> list[bool]:
        """Whether each joint carries forces of which no component is known; joints that close loops
        come last.
        """
        known = {self.pairs[index][0] for index in self.records}
        sets = [bodies for name, bodies, _ in self.reasons if name not in known]
        return [any(self._carries(j, x) for x in sets) for j in all_joints(self.mechanism)]

    @cached_property
    def undetermined(self) -> dict[str, tuple[str, ...]]:
        """{joint: reasons}, each a phrase with the name of its constraint or row."""
        found: dict[str, list[str]] = {}
        for j in all_joints(self.mechanism):
            for name, bodies, why in self.reasons:
                if self._carries(j, bodies):
                    found.setdefault(j.name, []).append(f"{name!r}: {why}")
        return {name: tuple(dict.fromkeys(why)) for name, why in found.items()}

    def _carries(self, j: Joint, bodies: set[str]) -> bool:
        """Return whether some of these bodies lie beyond a joint of the tree, and some do not."""
        if j in self.mechanism.loops:
            return False
        inside = bodies & self.beyond[j.name]
        return bool(inside) and inside != bodies

    @cached_property
    def beyond(self) -> dict[str, set[str]]:
        """The bodies that each joint of the tree carries, {joint: names}."""
        found: dict[str, set[str]] = {}
        carried: dict[str, set[str]] = {}
        for j in reversed(self.mechanism.ordered):
            found[j.name] = {j.child} | carried.get(j.child, set())
            carried.setdefault(j.parent, set()).update(found[j.name])
        return found

    @cached_property
    def shares(self) -> Array:
        """The factor (joints, rows) of the wrench of a row in the wrench of each joint. For a joint
        of the tree it is -1 if only the row's child lies beyond the joint, 1 if only its parent
        does, and 0 if both or neither do; a joint that closes a loop carries its own rows.
        """
        loops = {j.name for j in self.mechanism.loops}

        def share(j: Joint, name: str, parent: str, child: str) -> float:
            if j.name in loops:
                return float(j.name == name)
            beyond = self.beyond[j.name]
            return float(parent in beyond) - float(child in beyond)

        return np.array(
            [[share(j, *row) for row in self.pairs] for j in all_joints(self.mechanism)]
        )

    @cached_property
    def length(self) -> float:
        """A typical length of the mechanism, m: torques are small relative to forces times this
        length.
        """
        return usual_length(self.machine.layout)


_known: WeakKeyDictionary[Machine, RowActions] = WeakKeyDictionary()


def row_actions(machine: Machine) -> RowActions:
    """Return the row actions of a machine, from a cache after the first call."""
    if machine not in _known:
        _known[machine] = RowActions(machine)
    return _known[machine]


def all_joints(m: Mechanism) -> tuple[Joint, ...]:
    """Return the joints of the tree, then those that close loops."""
    return (*m.ordered, *m.loops)


def acting(index: int, said: Action, lead: tuple[int, ...]) -> Acting:
    """Return an action as arrays over states of shape `lead`. said: the action that the record
    states.
    """

    def array(w: Any) -> Array:
        return np.stack([np.broadcast_to(x, lead) for x in (*w[0], *w[1])], axis=-1)

    return Acting(
        index,
        array(said.wrench),
        None if said.sideways is None else array(said.sideways),
        None if said.steady is None else array(said.steady),
        tuple(array(w) for w in said.unknown),
    )


class Numbers:
    """The poses and the constraint row that `Holonomic.action` reads (see `Sites`), as arrays with
    one scalar per state.
    """

    def __init__(self, machine: Machine, A: Array, R: Array, p: Array, index: int):
        self.mechanism = machine.mechanism
        self.value = partial(value_of, parameters=self.mechanism.parameters)
        self.speeds = list(machine.speed_names)
        self.row = A[..., index, :]
        bodies = [j.child for j in all_joints(self.mechanism)]
        turned = R.reshape(*R.shape[:-1], 3, 3)
        self.poses = {
            name: (turned[..., k, :, :], p[..., k, :])
            for k, name in enumerate(bodies[: len(self.mechanism.ordered)])
        }
        self.poses[GROUND] = (np.eye(3), np.zeros(3))

    def body(self, frame: str) -> str:
        """Return the body of a frame."""
        return self.mechanism.frame(frame).body

    def origin(self, frame: str) -> Vector:
        """Return the origin of a frame, in the ground's axes, m."""
        f = self.mechanism.frame(frame)
        return self._placed(f.body, f.pose)[0]

    def line(self, body: str, carrier: str, sort: str) -> Line:
        """Return the axis of the first joint on the path from a body to its carrier; all joints on
        that path share one axis.
        """
        return self._axis(travel(self.mechanism, body, carrier, sort).terms[0][1])

    def freedom(self, coordinate: str) -> Freedom | None:
        """Return the degree of freedom of a joint whose only coordinate this is; None where there
        is no such joint.
        """
        found = [j for j in self.mechanism.moving if j.coordinate_names == (coordinate,)]
        sorts = {motion: sort for sort, motion in MOTIONS.items()}
        if not found or coordinate not in self.speeds:
            return None
        j = found[0]
        if len(j.freedoms) != 1 or j.freedoms[0].motion not in sorts:
            return None
        return Freedom(j.child, sorts[j.freedoms[0].motion], self._axis(j))

    def slope(self, coordinate: str) -> Array:
        """Return the entry of the constraint row along the speed of a coordinate."""
        return self.row[..., self.speeds.index(coordinate)]

    def _axis(self, j: Joint) -> Line:
        point, R = self._placed(j.child, j.offset)
        axis = R @ np.array(j.freedoms[0].axis, float)
        return Line(point, _triple(axis))

    def _placed(self, body: str, pose: Any) -> tuple[Vector, Array]:
        R, p = self.poses[body]
        at = np.array([self.value(x) for x in pose.position], float)
        turn = np.array([[self.value(x) for x in row] for row in pose.rotation], float)
        return _triple(p + R @ at), R @ turn


def _triple(x: Array) -> Vector:
    return x[..., 0], x[..., 1], x[..., 2]
