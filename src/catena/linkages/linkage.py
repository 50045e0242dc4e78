"""Linkage: the positions of a planar linkage in closed form, in lanes of machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiler import LaneKernel, compile_lanes
from ..errors import StateError, UnknownNameError
from ..machine import Machine
from ..model import Mechanism, evaluate
from .assur_groups import AssurGroup, Decomposition, decompose
from .planar_elements import TURN, PlanarElement, compose, inverse, planar_mechanism, transform

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Positions:
    """Positions of a linkage. Where a state cannot be assembled, all of its values are NaN.

    q, v, a : (..., nq) coordinates (rad or m), speeds and accelerations of all coordinates, in
    the order of `mechanism.coordinate_names`; turns are between -pi and pi. None where not asked.
    points, point_velocities, point_accelerations: (..., frames, 3), m, m/s, m/s2, in the ground's
    axes. margins: (..., dyads) the square of the sine of the transmission angle of each dyad with
    two modes; negative where it cannot be assembled.
    """

    q: Array | None
    v: Array | None
    a: Array | None
    points: Array
    point_velocities: Array | None
    point_accelerations: Array | None
    margins: Array

    @property
    def assembled(self) -> NDArray[np.bool_]:
        """(...,) whether each state can be assembled."""
        return np.asarray((self.margins >= 0.0).all(axis=-1))

    @property
    def transmission_angles(self) -> Array:
        """(..., dyads) transmission angles from 0 to pi/2, rad; NaN where there is none."""
        inside = np.where(self.margins >= 0.0, np.minimum(self.margins, 1.0), np.nan)
        return np.asarray(np.arcsin(np.sqrt(inside)))


class Linkage:
    """A planar linkage with driven joints, solved in closed form dyad by dyad.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        A planar mechanism with loops.
    driven : str or sequence of str
        The names of the driven coordinates, as many as the mechanism has freedoms.
    frames : sequence of str, optional
        Frames whose positions are computed too.

    Raises
    ------
    QuestionError
        Where the mechanism is not planar, or dyads do not solve it.
    UnknownNameError
        Where a coordinate or frame does not exist.

    Examples
    --------
    >>> import catena
    >>> four_bar = catena.linkages.linkage(catena.load("four_bar"), "motor pin", frames=["marker"])
    >>> print(four_bar)
    four-bar linkage: driven by motor pin; 1 dyad(s)
      RRR  coupler and rocker  at joints upper pin, far pin, near pin
    >>> found = four_bar.positions([0.0, 1.0, 2.0], modes=[1])
    >>> found.points.shape, found.assembled.all()
    ((3, 1, 3), np.True_)
    """

    def __init__(
        self,
        mechanism: Mechanism | Machine,
        driven: str | Sequence[str],
        frames: Sequence[str] = (),
    ):
        m = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
        m = m.validate()
        names = (driven,) if isinstance(driven, str) else tuple(driven)
        for name in names:
            if name not in m.coordinate_names:
                raise UnknownNameError(
                    "coordinate", name, m.coordinate_names, f"mechanism {m.name!r}, to be driven"
                )
        self.mechanism, self.driven, self.frames = m, names, tuple(frames)
        self.decomposition: Decomposition = decompose(planar_mechanism(m), names)
        self._kernels: dict[tuple[int, bool], LaneKernel] = {}

    def with_parameters(self, **values: float) -> Linkage:
        """Return the same linkage with other dimensions, without a new compilation.

        Parameters
        ----------
        **values : float
            Values of parameters of the mechanism, SI.

        Returns
        -------
        Linkage
        """
        found = copy(self)
        parameters = {**self.mechanism.parameters, **values}
        found.mechanism = self.mechanism.with_(parameters=parameters)
        return found

    def __str__(self) -> str:
        return str(self.decomposition)

    def __repr__(self) -> str:
        return f"<Linkage {self}>"

    @property
    def groups(self) -> tuple[AssurGroup, ...]:
        """The dyads, in the order of their solution."""
        return self.decomposition.groups

    @property
    def mode_count(self) -> int:
        """The number of signs that choose an assembly mode: one per dyad with two solutions."""
        return len(self.decomposition.margins)

    @property
    def modes(self) -> Array:
        """(2^k, k) all combinations of signs."""
        return np.array(list(product((1.0, -1.0), repeat=self.mode_count))).reshape(
            2**self.mode_count, self.mode_count
        )

    @property
    def turning_columns(self) -> list[int]:
        """The indices of the coordinates that are rotations."""
        turns = {e.coordinate for e in self.decomposition.planar.elements if e.motion == TURN}
        return [k for k, name in enumerate(self.mechanism.coordinate_names) if name in turns]

    def rest_rotation(self, body: str) -> Array:
        """Return the rotation of a body where all coordinates are zero.

        Parameters
        ----------
        body : str
            Its name.

        Returns
        -------
        ndarray (3, 3)
            R_WB.
        """
        planar = self.decomposition.planar
        f = ca.Function("rotation", [planar.p], [planar.rotations[body]])
        return np.array(f(list(self.mechanism.parameters.values())))

    def positions(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        *,
        modes: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        coordinates: bool = True,
        threads: int = 1,
    ) -> Positions:
        """Return the positions of all links where the driven coordinates are given.

        Parameters
        ----------
        q : array (...,) for one driven coordinate, else (..., driven)
            The driven coordinates, rad or m.
        v, a : arrays like q, optional
            Their speeds and accelerations. Velocities are computed where `v` is given,
            accelerations where `a` is given too.
        modes : array (k,) or (..., k), optional
            The sign, +1 or -1, of each dyad with two solutions, by default +1. `self.modes` lists
            all combinations.
        parameters : mapping of str to float or array (...), optional
            Values of parameters of the mechanism, one for all states or one per state.
        coordinates : bool, default True
            Whether coordinates, speeds and accelerations of joints are computed; without them only
            points and margins are, which is faster.
        threads : int, default 1
            How many threads share the batch.

        Returns
        -------
        Positions

        Raises
        ------
        StateError
            Where an array has the wrong shape.
        """
        given = [self._driven_array("q", q)]
        order = 0 if v is None else 1 if a is None else 2
        given += [self._driven_array(n, x) for n, x in (("v", v), ("a", a))[:order]]  # type: ignore[arg-type]
        signs = np.ones(self.mode_count) if modes is None else np.asarray(modes, float)
        if signs.shape[-1:] != (self.mode_count,) or not (np.abs(signs) == 1.0).all():
            raise StateError(
                f"positions: modes has shape {signs.shape}; it is {self.mode_count} signs, +1 or"
                " -1, one per dyad with two solutions"
            )
        p = self._parameter_array(parameters)
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in (*given, signs, p)))
        flat = [_rows(x, lead) for x in (*given, signs, p)]
        kernel = self._kernel(order, coordinates)
        outs, _ = kernel(flat, int(np.prod(lead)), threads=threads)
        return self._unpacked(outs, lead, order, coordinates)

    def _driven_array(self, name: str, x: ArrayLike) -> Array:
        array = np.asarray(x, float)
        if len(self.driven) == 1:
            array = array[..., None]
        if array.shape[-1:] != (len(self.driven),):
            raise StateError(
                f"positions: {name} has shape {array.shape}; its last size is {len(self.driven)},"
                f" one per driven coordinate ({', '.join(self.driven)})"
            )
        return array

    def _parameter_array(self, given: Mapping[str, ArrayLike] | None) -> Array:
        values = self.mechanism.parameters
        if not given:
            return np.array(list(values.values()), float)
        for name in given:
            if name not in values:
                raise UnknownNameError(
                    "parameter", name, values, f"mechanism {self.mechanism.name!r}"
                )
        columns = [np.asarray(given.get(name, value), float) for name, value in values.items()]
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def _unpacked(
        self, outs: Sequence[Array], lead: tuple[int, ...], order: int, coordinates: bool
    ) -> Positions:
        parts = iter(outs)
        count, size = len(self.frames), len(self.mechanism.coordinate_names)
        margins = next(parts).reshape(*lead, self.mode_count)
        points = [next(parts).reshape(*lead, count, 3) for _ in range(order + 1)]
        joints = [next(parts).reshape(*lead, size) for _ in range(order + 1)] if coordinates else []
        return Positions(*_three(joints), points[0], *_three(points)[1:], margins)

    def _kernel(self, order: int, coordinates: bool) -> LaneKernel:
        key = (order, coordinates)
        if key not in self._kernels:
            self._kernels[key] = compile_lanes(self.function(order, coordinates), quick=False)
        return self._kernels[key]

    def function(self, order: int = 0, coordinates: bool = True) -> ca.Function:
        """Return the closed form as a CasADi function.

        Parameters
        ----------
        order : int, default 0
            0 for positions, 1 with velocities, 2 with accelerations.
        coordinates : bool, default True
            Whether coordinates of joints are computed besides points.

        Returns
        -------
        casadi.Function
            Of (q, v, a, signs, parameters), v and a up to `order`; it returns the margins, then
            points and their rates, then coordinates and their rates.
        """
        d = self.decomposition
        v, a = ca.SX.sym("v", d.q.numel()), ca.SX.sym("a", d.q.numel())
        series = [self.points]
        if coordinates:
            series.append(self.coordinates)
        outs = [ca.densify(ca.vertcat(ca.SX.zeros(0), *d.margins))]
        for x in series:
            first = ca.jtimes(x, d.q, v)
            second = ca.jtimes(first, d.q, v) + ca.jtimes(x, d.q, a)
            outs += [ca.densify(y) for y in (x, first, second)[: order + 1]]
        inputs = [d.q, v, a][: order + 1] + [d.signs, d.planar.p]
        return ca.Function("linkage", inputs, outs)

    @cached_property
    def points(self) -> ca.SX:
        """The positions of the frames, (3 * frames), as an expression."""
        d = self.decomposition
        table = dict(zip(self.mechanism.parameters, ca.vertsplit(d.planar.p)))
        found = []
        for name in self.frames:
            f = self.mechanism.frame(name)
            r = ca.vertcat(*(_value(x, table) for x in f.pose.position))
            inside = d.planar.basis @ (d.planar.rotations[f.body] @ r)
            x, y = transform(d.poses[f.body], (inside[0], inside[1]))
            z = d.planar.heights[f.body] + inside[2]
            found.append(d.planar.basis.T @ ca.vertcat(x, y, z))
        return ca.densify(ca.vertcat(ca.SX.zeros(0), *found))

    @cached_property
    def coordinates(self) -> ca.SX:
        """All coordinates of the mechanism, (nq), as an expression."""
        d = self.decomposition
        by_name = {e.coordinate: e for e in d.planar.elements if e.coordinate is not None}
        driven = dict(zip(self.driven, ca.vertsplit(d.q)))
        return ca.densify(
            ca.vertcat(
                *(
                    driven[name] if name in driven else self._coordinate(by_name[name])
                    for name in self.mechanism.coordinate_names
                )
            )
        )

    def _coordinate(self, e: PlanarElement) -> Any:
        """Return the coordinate of an element from the poses of its two links."""
        poses = self.decomposition.poses
        X_F = compose(poses[e.first], e.X_aF)
        c, s, x, y = compose(inverse(X_F), compose(poses[e.second], e.X_bF))
        if e.motion == TURN:
            return ca.atan2(e.direction[0] * s, c)
        return e.direction[0] * x + e.direction[1] * y


def linkage(
    mechanism: Mechanism | Machine, driven: str | Sequence[str], frames: Sequence[str] = ()
) -> Linkage:
    """Return the closed-form solution of a planar linkage, dyad by dyad.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        A planar mechanism with loops.
    driven : str or sequence of str
        The names of the driven coordinates, as many as the mechanism has freedoms.
    frames : sequence of str, optional
        Frames whose positions are computed too.

    Returns
    -------
    Linkage
        Its `positions` takes arrays of driven values, modes and parameters.

    Raises
    ------
    QuestionError
        Where the mechanism is not planar, or dyads do not solve it.
    UnknownNameError
        Where a coordinate or frame does not exist.

    Examples
    --------
    >>> import catena
    >>> crank = catena.linkages.linkage(catena.load("slider_crank"), "shaft")
    >>> (crank.positions(0.0).q.round(6) + 0.0).tolist()
    [0.0, 0.0, 1.3]
    """
    return Linkage(mechanism, driven, frames)


def _three(parts: Sequence[Array]) -> tuple[Any, Any, Any]:
    padded: list[Array | None] = [*parts, None, None, None]
    return padded[0], padded[1], padded[2]


def _rows(x: Array, lead: tuple[int, ...]) -> Array:
    """Return an argument as (batch, n), or as (n,) where it is the same for all states."""
    if x.ndim == 1:
        return np.ascontiguousarray(x)
    whole = np.broadcast_to(x, (*lead, x.shape[-1]))
    return np.ascontiguousarray(whole.reshape(int(np.prod(lead)), x.shape[-1]))


def _value(x: Any, table: Mapping[str, Any]) -> Any:
    return ca.SX(x) if isinstance(x, (int, float)) else ca.SX(evaluate(x, table))
