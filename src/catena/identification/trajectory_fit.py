"""Fits of any parameter to a measured trajectory, by multiple shooting with exact gradients.

    least sum ((y_i - h(x_i)) / sigma)^2     with x_i the run from the last node, and nodes that
                                             join: x(t_k; s_k-1, theta) = s_k

The log is cut into segments, each of which begins at a node s_k: a first guess from the log, which
keeps an unstable or long motion near the data. In every Gauss-Newton step the variations of the
start and of the parameters are propagated along all segments, together with the gaps between the
segments (condensing, [Bock1984]); they are those of `sensitivities`, in lanes. sigma is the noise
of each measured column, estimated from its residuals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import CatenaError, StudyError
from ..machine import Machine, coordinates, machine_of
from ..model import Mechanism
from ..results import Result
from ..sensitivity import (
    Linearised,
    Segment,
    Variations,
    find_variations,
    integrate_segment,
    planned,
)
from ..simulation import simulate
from .base_parameters import reduced
from .fit_record import Fit, FittedValue
from .measured_trajectory import MeasuredTrajectory, measured_trajectory

Array = NDArray[np.float64]
MAX_GAUSS_NEWTON_STEPS = 60  # Gauss-Newton steps of each round
NOISE_ROUNDS = 3  # fits, each with the noise of the columns estimated from the one before
STEP_TOLERANCE = 1e-9  # relative to the values: a smaller step is the last
MAX_HALVINGS = 12  # how often a step is halved before the search ends
# relative to the largest singular value of columns of length one: below it, a combination of
# parameters is not determined by the data and stays as it was
SINGULAR_VALUE_RATIO = 1e-9
# a step is accepted if it reduces the gaps between segments to this part
GAP_REDUCTION = 0.7
# gaps below this (relative to the state, or 1) may grow while the misfit shrinks: the next step
# closes them
SMALL_GAP = 1e-3
GAP_TOLERANCE = 1e-6  # the widest gap at the end, relative to the state at the start, or 1


@dataclass
class _Iterate:
    """An iterate of the search: nodes (segments, size) and parameters (np,)."""

    nodes: Array
    p: Array


def fit_trajectory(
    mechanism: Mechanism | Machine,
    data: object,
    unknown: str | Iterable[str],
    *,
    q: Any = None,
    v: Any = None,
    segments: int | None = None,
    control: Any = None,
    tolerance: float = 1e-9,
) -> Fit:
    """Fit parameters and the start to a measured motion.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without contacts.
    data : str, Path, pandas table, mapping or Result
        A log with `time`, some of `q NAME` and `v NAME`, and `tau NAME` of known joint forces, each
        constant from its row to the next.
    unknown : str or iterable of str
        Parameters, or numbers such as "body.rod.mass", "joint.pin.damping", "control.kp", as for
        `catena.study`. The start is always unknown; it is reported where "q0" or "v0" is named too.
    q, v : mapping, array_like or None, default None
        A first guess of the start, for what is not measured.
    segments : int or None, default None
        The number of segments; by default one for every ten rows, at most 50.
    control : controller or None, default None
        The controller, as for `catena.simulate`.
    tolerance : float, default 1e-9
        The relative tolerance of the integrator.

    Returns
    -------
    Fit
        Estimates with standard deviations; what the data do not determine stays as it was and is
        named.

    Raises
    ------
    StudyError
        If the log cannot be read, the search does not converge, or the data determine none of the
        unknowns.
    """
    machine = machine_of(mechanism)
    names = [x.strip() for x in unknown.split(",")] if isinstance(unknown, str) else list(unknown)
    shown = [n for n in names if n in ("q0", "v0")]
    asked = find_variations(machine.mechanism, control, [n for n in names if n not in shown], 0)
    if others := [name for name, kind, _ in asked.columns if kind != "p"]:
        raise StudyError(
            f"fit: {', '.join(map(repr, others))} are no parameters; the whole start is unknown"
            " anyhow, and is identified with 'q0', 'v0'"
        )
    log = measured_trajectory(machine, data)
    problem = _Problem(asked, log, q, v, control, segments, tolerance, tuple(shown))
    return problem.solve(machine.mechanism)


class _Problem:
    """The least-squares problem of one log."""

    def __init__(
        self,
        asked: Variations,
        log: MeasuredTrajectory,
        q: Any,
        v: Any,
        control: Any,
        segments: int | None,
        tolerance: float,
        shown: tuple[str, ...],
    ):
        self.asked = asked
        self.log = log
        self.control = asked.varied.control
        self.shown = shown
        q, v = self._first(log, q, v)
        options = {
            "control": self.control,
            "tolerance": tolerance,
            "start": float(log.t[0]),
            "contact": "ignore",
            "limits": "ignore",
            "friction": "smooth",
        }
        model = asked.varied.mechanism
        if model.contacts:
            raise StudyError(
                f"fit: {model.name!r} has contacts, through which trajectories are not fitted; cut"
                " the log where nothing touches, and leave them out"
            )
        self.plan = planned(model, q, v, float(log.t[-1]), options)
        s = self.plan.system
        self.tapes = Linearised(s, asked.places)
        self.nx, self.n, self.count = s.size, 2 * s.nv, len(asked.places)
        many = segments or max(1, min(50, len(log.t) // 10))
        self.cuts = np.unique(np.linspace(0, len(log.t) - 1, many + 1).astype(int))
        self.where = np.array([k if letter == "q" else s.nq + k for letter, k in log.columns])
        t, x, u, P = self.tapes.inputs
        tracer = s.tracer()
        self._along = ca.Function(
            "N", [tracer.q], [ca.densify(ca.jacobian(tracer.coordinate_rate(), tracer.v))]
        )
        settle = self.tapes.settle
        put = settle(t, x, u, P) if settle is not None else x
        self._put = ca.Function("put", [t, x, u, P], [ca.densify(put)])
        self._slopes = ca.Function(
            "slopes", [t, x, u, P], [ca.densify(ca.jacobian(put, y)) for y in (x, P)]
        )

    def _first(self, log: MeasuredTrajectory, q: Any, v: Any) -> tuple[Any, Any]:
        """Return the first guess of the start: measured where possible, otherwise as given."""

        def at(given: Any, letter: str) -> dict[str, Any]:
            return {
                **(given or {}),
                **{n: float(x[0]) for n, x in log.first[letter].items()},
            }

        if (q is not None and not isinstance(q, dict)) or (
            v is not None and not isinstance(v, dict)
        ):
            return q, v
        return at(q, "q"), at(v, "v")

    # --- runs
    def _held(self, row: int) -> Array:
        """Return the inputs (nu,) between a row and the next: known joint forces, and modes."""
        s = self.plan.system
        own = np.append(np.zeros(s.nv), s.holding.start())
        own[: s.nv] = self.log.tau[row]
        return own

    def _project(self, t: float, x: Array, p: Array) -> Array:
        """Return x projected onto loops, with unit quaternions."""
        for _ in range(2):
            x = np.array(self._put(t, x, self._held(0), p)).ravel()
        return x

    def guess(self) -> _Iterate:
        """Return the nodes from the log; states that the log does not contain follow from a run
        from the node before.
        """
        p = self.plan.p[0].copy()
        x = self.plan.x0[0].copy()
        nodes, none = [], np.zeros((self.nx, 1))
        for a, b in zip(self.cuts[:-1], self.cuts[1:]):
            for k, place in self.log.guess.items():
                x[self._place(k)] = place[a]
            x = self._project(self.log.t[a], x, p)
            nodes.append(x)
            for row in range(a, b):
                x, _ = self._step(row, x, none, p, np.zeros((len(p), 1)))
        return _Iterate(np.array(nodes), p)

    def _place(self, key: tuple[str, int]) -> int:
        """Return the index in the state of (letter, index in q or v)."""
        return key[1] if key[0] == "q" else self.plan.system.nq + key[1]

    def _step(self, row: int, x: Array, dx: Array, p: Array, dp: Array) -> tuple[Array, Array]:
        """Integrate state and variations from a row to the next."""
        segment = Segment(float(self.log.t[row]), float(self.log.t[row + 1]), self._held(row), 0)
        return integrate_segment(
            self.plan,
            self.tapes,
            segment,
            x,
            dx,
            p,
            dp,
            np.zeros((self.plan.system.nv, dx.shape[1])),
        )

    def run(self, z: _Iterate, along: bool = True) -> tuple[Array, Array, Array, Array]:
        """Return the columns of all segments, their derivatives, the gaps, and the variations of
        the nodes.

        The columns are (rows, columns); their derivatives (rows, columns, unknowns + 1), the last
        along the gaps between segments. Without `along` the derivatives are not computed.
        """
        s = self.plan.system
        m = self.n + self.count + 1
        rows = len(self.log.t)
        nodes = len(z.nodes)
        H = np.zeros((rows, len(self.where)))
        D = np.zeros((rows, len(self.where), m))
        gaps = np.zeros((nodes - 1, self.nx))
        moves = np.zeros((nodes, self.nx, m))
        dp = np.zeros((len(z.p), m))
        dp[self.asked.places, np.arange(self.n, self.n + self.count)] = 1.0
        x = z.nodes[0]
        dx = np.zeros((self.nx, m))
        dx[: s.nq, : s.nv], dx[s.nq : s.nq + s.nv, s.nv : self.n] = (
            np.array(self._along(x[: s.nq])),
            np.eye(s.nv),
        )
        y_x, y_p = (np.array(y) for y in self._slopes(self.log.t[0], x, self._held(0), z.p))
        dx = y_x @ dx + y_p @ dp
        for k in range(nodes):
            if k:
                gaps[k - 1] = x - z.nodes[k]
                dx[:, -1] += gaps[k - 1]
                x = z.nodes[k]
            dx[s.size - 1 :] = 0.0  # the work is not part of the fitted state
            moves[k] = dx
            own = dx if along else dx[:, :1]
            for row in range(self.cuts[k], self.cuts[k + 1]):
                H[row], D[row] = x[self.where], dx[self.where]
                x, own = self._step(row, x, own, z.p, dp if along else dp[:, :1])
                dx = own if along else dx
        H[-1], D[-1] = x[self.where], dx[self.where]
        gaps[:, s.size - 1 :] = 0.0
        return H, D, gaps, moves

    # --- least squares
    def solve(self, before: Mechanism) -> Fit:
        """Return the fit; before: the mechanism before it."""
        sigma = self.log.scale.copy()
        z = self.guess()
        for _ in range(NOISE_ROUNDS):
            z = self._gauss_newton(z, sigma)
            left = self.log.y - self.run(z, along=False)[0]
            rounding = 1e-9 * self.log.scale
            sigma = np.maximum(
                np.sqrt(
                    (left**2).sum(axis=0)
                    / max(1.0, len(left) - (self.n + self.count) / left.shape[1])
                ),
                rounding,
            )
        return self._record(z, sigma, before)

    def _gauss_newton(self, z: _Iterate, sigma: Array) -> _Iterate:
        """Return the iterate at which Gauss-Newton converges; raise StudyError where it does
        not.
        """
        for _ in range(MAX_GAUSS_NEWTON_STEPS):
            H, D, gaps, moves = self.run(z)
            r = ((self.log.y - H) / sigma).ravel()
            J = (D / sigma[:, None]).reshape(len(r), -1)
            step = _least_squares(J[:, :-1], r - J[:, -1])
            dx = moves @ np.append(step, 1.0)
            values = z.p[self.asked.places]
            small = np.abs(step[self.n :]) <= STEP_TOLERANCE * np.maximum(
                np.abs(values), np.abs(values + step[self.n :])
            )
            if (
                small.all()
                and (
                    np.abs(dx) <= STEP_TOLERANCE * np.maximum(np.abs(z.nodes).max(axis=0), 1e-300)
                ).all()
            ):
                return z
            z, moved = self._line_search(z, dx, step[self.n :], self._misfit(H, gaps, sigma), sigma)
            if not moved:
                return z
        raise StudyError(
            f"the fit of {', '.join(n for n, _, _ in self.asked.columns)} has not converged after"
            f" {MAX_GAUSS_NEWTON_STEPS} steps; start from better values, take more segments, or"
            " leave some of them out"
        )

    def _line_search(
        self, z: _Iterate, dx: Array, step: Array, before: tuple[float, float], sigma: Array
    ) -> tuple[_Iterate, bool]:
        """Return the next iterate, and whether there is one.

        The step is halved until the misfit or the gaps between segments shrink.
        """
        names = self.asked.varied.mechanism.parameters
        for k in range(MAX_HALVINGS):
            p = z.p.copy()
            p[self.asked.places] += step / 2**k
            nodes = [
                self._project(self.log.t[a], x + d / 2**k, p)
                for a, x, d in zip(self.cuts, z.nodes, dx)
            ]
            other = _Iterate(np.array(nodes), p)
            try:
                self.plan.machine.at(dict(zip(names, map(float, p))))
                H, _, gaps, _ = self.run(other, along=False)
            except (CatenaError, ValueError):
                continue
            misfit, gap = self._misfit(H, gaps, sigma)
            if gap <= GAP_REDUCTION * before[1] or (
                misfit < before[0] and gap <= max(before[1], SMALL_GAP)
            ):
                return other, True
        return z, False

    def _misfit(self, H: Array, gaps: Array, sigma: Array) -> tuple[float, float]:
        """Return the norm of the weighted residuals, and the widest gap between segments.

        The gap is relative to the state at the start, or to 1 where that is smaller.
        """
        r = (self.log.y - H) / sigma
        return float(np.linalg.norm(r)), float(
            np.abs(gaps / np.maximum(np.abs(self.plan.x0[0]), 1.0)).max(initial=0.0)
        )

    # --- what was found
    def _record(self, z: _Iterate, sigma: Array, before: Mechanism) -> Fit:
        """Return the outcome of the fit; raise StudyError where gaps between segments remain."""
        s = self.plan.system
        model = self.asked.varied.mechanism
        H, D, gaps, _ = self.run(z)
        left = self.log.y - H
        if (wide := self._misfit(H, gaps, sigma)[1]) > GAP_TOLERANCE:
            raise StudyError(
                f"the fit of {', '.join(n for n, _, _ in self.asked.columns)} finds no motion near"
                f" the log: its segments miss each other by {wide:.2g}; start from better values,"
                " take more segments, or leave some of them out"
            )
        J = (D / sigma[:, None]).reshape(left.size, -1)[:, :-1]
        names = [name for name, _, _ in self.asked.columns]
        start = [f"q.{n}" for n in before.speed_names] + [f"v.{n}" for n in before.speed_names]
        values = z.p[self.asked.places]
        old = self.plan.p[0][self.asked.places]
        first = J[:, : self.n]
        last = J[:, self.n :]
        found = reduced(_orthogonal_part(last, first), range(self.count)) if self.count else None
        estimates, covariance = (
            _estimates(found, last, first, names, self.units(names), values, old)
            if found is not None and found.rank
            else ([], np.zeros((0, 0)))
        )
        if self.count and not estimates:
            raise StudyError(
                f"the data determine none of {', '.join(names)}: the measured columns do not"
                " depend on them"
            )
        own = [f"{letter}." for letter in "qv" if f"{letter}0" in self.shown]
        estimates += self._starts(
            [k for k, n in enumerate(start) if n[:2] in own], first, last, start, z
        )
        if len(estimates) > len(covariance):
            wider = np.diag([e.sigma**2 for e in estimates])
            wider[: len(covariance), : len(covariance)] = covariance
            covariance = wider
        known = {n for e in estimates for n in [e.name]}
        silent = tuple(names[k] for k in found.zero) if found is not None else ()
        joined = tuple(
            n
            for k, n in enumerate(names)
            if found is not None and k not in found.kept and k not in found.zero and n not in known
        )
        p = dict(zip(model.parameters, map(float, z.p)))
        fitted = model.with_(parameters=p)
        notes = (
            *self.log.notes,
            (
                f"{len(self.cuts) - 1} segments, whose ends miss each other by at most"
                f" {np.abs(gaps).max(initial=0.0):.2g}"
            ),
            *(f"{n} is identified only together with others" for n in joined),
        )
        power = np.linalg.norm(self.log.y - self.log.y.mean(axis=0)) or 1.0
        return Fit(
            tuple(estimates),
            covariance,
            silent,
            (),
            np.sqrt((left**2).mean(axis=0)),
            float(np.linalg.norm(left) / power),
            _condition(last[:, list(found.kept)] if found is not None else last, first),
            left.size,
            notes,
            fitted,
            measured=self.log.names,
            result=self._result(fitted, z, s.nq),
        )

    def units(self, names: list[str]) -> list[str]:
        """Return the units of the unknowns, "" where they are not known."""
        return [
            next((x.unit or "" for x in self.asked.varied.variables if x.name == n), "")
            for n in names
        ]

    def _starts(
        self, which: list[int], first: Array, last: Array, names: list[str], z: _Iterate
    ) -> list[FittedValue]:
        """Return estimates of the start, for coordinates that have a speed of their own."""
        s = self.plan.system
        spread = np.linalg.pinv(np.hstack([first, last]), rcond=SINGULAR_VALUE_RATIO)
        sigma = np.sqrt((spread**2).sum(axis=1))
        place = {f"q.{c.speed}": c.qi for c in coordinates(self.plan.machine)} | {
            f"v.{n}": s.nq + k for k, n in enumerate(self.plan.machine.speed_names)
        }
        return [
            FittedValue(
                names[k],
                float(z.nodes[0][place[names[k]]]),
                float(sigma[k]),
                "",
                float(self.plan.x0[0][place[names[k]]]),
            )
            for k in which
            if names[k] in place
        ]

    def _result(self, fitted: Mechanism, z: _Iterate, nq: int) -> Result | None:
        """Return the run with the estimates; None if known forces are given at uneven times."""
        t = self.log.t
        forces = self.log.tau[:-1]
        if forces.any() and np.ptp(np.diff(t)) > 1e-9 * (t[-1] - t[0]):
            return None
        x, nv = z.nodes[0], self.plan.system.nv
        given: dict[str, Any] = {"forces": forces} if forces.any() else {"control": self.control}
        return simulate(
            fitted,
            q=x[:nq],
            v=x[nq : nq + nv],
            start=float(t[0]),
            until=float(t[-1]),
            output=t,
            limits="ignore",
            friction="smooth",
            contact="ignore",
            **given,
        )


def _least_squares(J: Array, r: Array) -> Array:
    """Return the shortest z that minimises |J z - r|; combinations that are not determined are
    zero.
    """
    length = np.linalg.norm(J, axis=0)
    length[length == 0.0] = 1.0
    return np.linalg.lstsq(J / length, r, rcond=SINGULAR_VALUE_RATIO)[0] / length


def _orthogonal_part(A: Array, B: Array) -> Array:
    """Return the component of the columns of A that is orthogonal to the columns of B."""
    length = np.linalg.norm(B, axis=0)
    U, s, _ = np.linalg.svd(B / np.where(length > 0.0, length, 1.0), full_matrices=False)
    U = U[:, s > SINGULAR_VALUE_RATIO * s[0]] if s.size and s[0] > 0 else U[:, :0]
    left = A - U @ (U.T @ A)
    left -= U @ (U.T @ left)
    left[:, np.linalg.norm(left, axis=0) <= SINGULAR_VALUE_RATIO * np.linalg.norm(A, axis=0)] = 0.0
    return left


def _estimates(
    found: Any,
    last: Array,
    first: Array,
    names: list[str],
    units: list[str],
    values: Array,
    old: Array,
) -> tuple[list[FittedValue], Array]:
    """Return the estimates of the parameters with their covariance; first, last: the derivatives
    by the start and by the parameters.
    """
    A = _orthogonal_part(last, first)[:, list(found.kept)]
    length = np.linalg.norm(A, axis=0)
    spread = np.linalg.pinv(A / length) / length[:, None]
    covariance = spread @ spread.T
    return [
        FittedValue(text, float(x), float(sigma), units[k], float(b))
        for text, x, sigma, k, b in zip(
            found.texts(names),
            found.K @ values,
            np.sqrt(np.diag(covariance)),
            found.kept,
            found.K @ old,
        )
    ], covariance


def _condition(last: Array, first: Array) -> float:
    """Return the condition number of the columns of the parameters, after projection orthogonal to
    those of the start.
    """
    A = _orthogonal_part(last, first)
    length = np.linalg.norm(A, axis=0)
    s = np.linalg.svd(A[:, length > 0.0] / length[length > 0.0], compute_uv=False)
    return float(s[0] / s[-1]) if s.size and s[-1] > 0.0 else np.inf
