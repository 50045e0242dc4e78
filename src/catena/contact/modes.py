"""The modes of contacts with Coulomb friction: which of them open, stick or slip, by enumeration of
all combinations, or by search.

k contacts, each with a normal and two tangents. Forces f (or impulses) and accelerations a (or
speeds) at them obey

    a = G f + b,      0 <= N, 0 <= a_n, N a_n = 0,      |f_t| <= mu N

and a slipping contact slips against its friction: f_t = -mu N d, with d the direction of its slip
speed if it has one, or of a_t if it begins to slip. G = J W J' is the Delassus matrix, b the
acceleration without contact forces. Every combination of modes is solved and checked, so that a
solution is known to be unique, or one of several; there may be none (Painleve). If many contacts
may begin to slip, or if there are more than MAX_ENUMERATED_CONTACTS, modes are read from
approximate forces (`splitting.py`) and then solved: the result satisfies every inequality too, but
whether there are other solutions is not known. Forces that the rows do not determine (a table on
four legs) have the least norm; if these are not admissible, others are searched for
(`force_shares.py`).

Rows are measured relative to sqrt(G_ii), so that neither units nor inertias decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import RANK
from .force_shares import Cones, deepest
from .friction import Friction
from .light_motions import NO_INERTIA_RATIO, SUM_ROUNDING, ContactRows
from .splitting import split

Array = NDArray[np.float64]
OPEN: str = "open"
STICK: str = "stick"
SLIP: str = "slip"
# modes in which the normal force is only the base of `Friction`
LIFTED = {STICK: "lifting, stick", SLIP: "lifting, slip"}
# Singular values below this, relative to the largest, are zero. Rows are first considered dependent
# at RANK, as elsewhere; this stricter value is used if they would then contradict each other,
# because what looks dependent may be a small inertia.
EXACT_RANK_RATIO = 1e-13
# A light motion takes part in a combination that causes no motion of contacts if its share is more.
UNDETERMINED_SHARE = 1e-6
# A scaled force or acceleration below this, relative to the largest of b, is zero.
NEGLIGIBLE_RATIO = 1e-12
# Solutions whose scaled accelerations differ by more, relative to the largest of b, are distinct.
DISTINCT_RATE_RATIO = 1e-7
# A tangent whose entry of G is less, relative to the normal's, causes no motion and takes no force:
# it is across a plane of motion.
FIXED_TANGENT_RATIO = 1e-18
# A contact as far inside its cone, relative to the size of its force, needs no better forces.
DEEP_ENOUGH_MARGIN = 1e-3
# Newton steps in the search for directions of slip.
MAX_DIRECTION_STEPS = 40
# Contacts that may begin to slip, at most, for which all solutions are found; for more only the
# first one.
MAX_PROVED_SLIPS = 3
# A root within this distance of the unit circle is an angle; Newton's method removes the rest.
UNIT_CIRCLE_TOLERANCE = 1e-3
# Contacts at one instant, at most, whose modes are enumerated; for more they are searched for.
MAX_ENUMERATED_CONTACTS = 9
# Thresholds, relative to the largest of b, at which modes are read from approximate forces, in
# turn.
MODE_READING_RATIOS = (1e-3, 1e-5, 1e-7)


class Solution(NamedTuple):
    """A solution for k contacts: modes (k,); force and rate (3 k,), the forces f and accelerations
    a; direction (k, 2) of the contacts that slip; loose (3 k, n), a basis of the forces that cause
    no motion; light: the accelerations along the motions of little inertia (`light_motions.py`).
    """

    modes: tuple[str, ...]
    force: Array
    rate: Array
    direction: Array
    loose: Array
    light: Array = np.zeros(0)


def solutions(
    G: Array,
    b: Array,
    friction: Friction,
    proved: int = MAX_PROVED_SLIPS,
    rows: ContactRows | None = None,
) -> list[Solution]:
    """Return all solutions that differ in their accelerations, those with most sticking contacts
    first.

    If more than `proved` contacts may begin to slip, or there are more than
    MAX_ENUMERATED_CONTACTS, only the first solution that is found is returned. rows: the exact rows
    where some motions have little inertia; G and b, in which these have that of the whole
    mechanism, are then used for sizes and starts.
    """
    found: list[Solution] = []
    k = len(friction.static)
    size = row_sizes(G)
    scale = float(
        np.abs(np.append(b, G[:, ::3] @ friction.base) / np.tile(size, 2)).max(initial=0.0)
    )
    free = int(np.isnan(friction.direction[:, 0]).sum())  # contacts at rest
    limit = _Limit(G, b, rows or ContactRows.plain(G, b), friction, size, scale)
    if free > proved or k > MAX_ENUMERATED_CONTACTS:
        found = list(islice(_search(limit), 1))
    if found or k > MAX_ENUMERATED_CONTACTS:
        return found
    for modes in product(*(_allowed(friction, i) for i in range(k))):
        for one in _solve_modes(limit, modes):
            if all(
                np.abs((one.rate - other.rate) / size).max() > DISTINCT_RATE_RATIO * scale
                for other in found
            ):
                found.append(one)
        if found and free > proved:
            return found
    return found


def slip_directions(u: Array, still: Array) -> Array:
    """Return the unit directions (k, 2) of slips with speeds u (3 k,); NaN for a contact at rest,
    that is, no faster than `still` (k,), m/s.
    """
    t = u.reshape(-1, 3)[:, 1:]
    speed = np.linalg.norm(t, axis=1)
    return np.where(
        (speed > still)[:, None], t / np.where(speed > 0.0, speed, 1.0)[:, None], np.nan
    )


def row_sizes(G: Array) -> Array:
    """Return (3 k,): sqrt(G_ii), relative to which rows are measured; for tangents along which
    nothing moves, that of their normal.
    """
    own = np.diagonal(G)
    normal = np.repeat(np.diagonal(G)[::3], 3)
    size = np.sqrt(np.where(own > FIXED_TANGENT_RATIO * normal, own, normal))
    return np.where(size > 0.0, size, 1.0)


def _allowed(friction: Friction, i: int) -> tuple[str, ...]:
    """Return the modes that contact i may have, closed ones first."""
    if friction.is_joint(i):
        return (LIFTED[STICK], LIFTED[SLIP])
    smooth = friction.kinetic[i] == 0.0 and friction.static[i] == 0.0
    closed = (SLIP,) if smooth or np.isfinite(friction.direction[i, 0]) else (STICK, SLIP)
    return (
        (*closed, *(LIFTED[mode] for mode in closed)) if friction.base[i] > 0.0 else (*closed, OPEN)
    )


def forces_to_stay_closed(G: Array, b: Array, friction: Friction) -> Array:
    """Return the forces (3 k,) that would keep all contacts closed; they may pull, and lie outside
    their cones.
    """
    one = with_directions(
        ContactRows.plain(G, b),
        friction,
        [_allowed(friction, i)[0] for i in range(len(friction.static))],
        np.nan_to_num(friction.direction),
        row_sizes(G),
        np.inf,
    )
    return one.force if one is not None else np.zeros(len(b))


# --- one combination of modes
class _Limit:
    """A contact problem, with the forces that violate their cones least if all contacts stay closed
    and those at rest stick.
    """

    def __init__(
        self,
        G: Array,
        b: Array,
        rows: ContactRows,
        friction: Friction,
        size: Array,
        scale: float,
    ):
        self.start = G, b
        self.problem = rows, friction, size, scale

    @cached_property
    def directions(self) -> Array | None:
        """The directions (k, 2) against the friction of these forces. Contacts that reach their
        limit together begin to slip along these. None if the forces are unique, or if all can be
        within their cones.
        """
        rows, friction, size, scale = self.problem
        modes = [_allowed(friction, i)[0] for i in range(len(friction.static))]
        d = np.nan_to_num(friction.direction)
        one = with_directions(rows, friction, modes, d, size, scale)
        if one is None or not one.loose.shape[1]:
            return None
        cones = cones_of(modes, friction, one.force, size, scale)
        f, margin = deepest(one.force, one.loose, cones, DEEP_ENOUGH_MARGIN)
        return None if margin > NEGLIGIBLE_RATIO else _along(-f)


def _solve_modes(
    limit: _Limit, modes: Sequence[str], starts: Iterable[Array] = ()
) -> Iterator[Solution]:
    """Yield the solutions of one combination of modes: none or one, or several if directions of
    slip are unknown. starts: initial directions (k, 2), by default found here.
    """
    rows, friction, size, scale = limit.problem
    turning = [
        i
        for i, mode in enumerate(modes)
        if mode.endswith(SLIP) and np.isnan(friction.direction[i, 0]) and friction.kinetic[i] > 0.0
    ]
    if not starts:
        starts = (
            _all_directions(limit, modes, turning) if len(turning) == 1 else _starts(limit, turning)
        )
    for start in starts:
        d = np.where(np.isnan(friction.direction), 0.0, friction.direction)
        for i in turning:
            d[i] = start[i]
        one = with_directions(rows, friction, modes, d, size, scale)
        if one is not None and turning:
            one = _align_slips(rows, friction, one, turning, size, scale)
        if one is None:
            continue
        if not _separates(one, turning, size, scale, rows.rounding(one.force, one.light)):
            continue
        if one.loose.shape[1] and not _pushes(one, friction, size, scale):
            shared = _share_by_normals(one)
            one = (
                shared
                if shared is not None and _pushes(shared, friction, size, scale)
                else _admissible(one, friction, size, scale)
            )
        if _pushes(one, friction, size, scale) and _drags(one, turning, size, scale):
            yield one


def _search(limit: _Limit) -> Iterator[Solution]:
    """Yield solutions: with all contacts closed; then with modes read from approximate forces by
    splitting, as these improve. Each satisfies all inequalities.
    """
    _, friction, size, scale = limit.problem
    G, b = limit.start
    closed = tuple(_allowed(friction, i)[0] for i in range(len(friction.static)))
    yield from _solve_modes(limit, closed)
    seen = {closed}
    for f in split(G, b, friction):
        a = G @ f + b
        for small in MODE_READING_RATIOS:
            for bare in (False, True):
                modes, d = _read_modes(f, a, friction, size, small * scale, bare)
                if (key := tuple(modes)) not in seen:
                    seen.add(key)
                    yield from _solve_modes(limit, modes, [d])


def _read_modes(
    f: Array, a: Array, friction: Friction, size: Array, small: float, bare: bool
) -> tuple[list[str], Array]:
    """Return modes and directions of slip read from approximate forces f and accelerations a.
    `small` is the threshold for forces and accelerations. If `bare`, a contact without force is
    open, even if it stays closed.
    """
    modes = []
    d = np.zeros((len(friction.static), 2))
    for i in range(len(d)):
        n = 3 * i
        allowed = _allowed(friction, i)
        t = a[n + 1 : n + 3]
        f_t = f[n + 1 : n + 3]
        slips = bool(np.linalg.norm(t / size[n + 1 : n + 3]) > small) or STICK not in allowed
        along = t if slips and t.any() else -f_t
        d[i] = along / np.hypot(*along) if along.any() else (1.0, 0.0)
        light = (f[n] - friction.base[i]) * size[n] <= small
        mode = SLIP if slips else STICK
        off = friction.is_joint(i) or (light and (bare or a[n] > small * size[n]))
        modes.append(mode if not off else LIFTED[mode] if friction.base[i] > 0.0 else OPEN)
    return modes, d


def _align_slips(
    problem: ContactRows,
    friction: Friction,
    one: Solution,
    turning: Sequence[int],
    size: Array,
    scale: float,
) -> Solution | None:
    """Return the solution near `one` in which contacts that begin to slip do so along their
    acceleration: a_t = s d, s >= 0, f_t = -mu N d. None if the iteration does not converge.

    Newton's method for the directions and s, together with the forces of all closed contacts; it
    also works where s is almost zero, as for a contact that has stuck until now.
    """
    angle = {i: float(np.arctan2(one.direction[i, 1], one.direction[i, 0])) for i in turning}
    speed = {i: float(one.rate[3 * i + 1 : 3 * i + 3] @ one.direction[i]) for i in turning}
    for _ in range(MAX_DIRECTION_STEPS):
        d = one.direction.copy()
        for i, x in angle.items():
            d[i] = np.cos(x), np.sin(x)
        one = with_directions(problem, friction, one.modes, d, size, np.inf) or one
        left = np.concatenate([one.rate[3 * i + 1 : 3 * i + 3] - speed[i] * d[i] for i in turning])
        rows = np.concatenate([[3 * i + 1, 3 * i + 2] for i in turning])
        noise = problem.rounding(one.force, one.light)[rows]
        if ((np.abs(left) - noise) / size[rows]).max() <= NEGLIGIBLE_RATIO * scale:
            return one
        columns = []
        for i in turning:
            across = np.array([-d[i, 1], d[i, 0]])
            n = 3 * i
            df = np.zeros(len(one.force))
            df[n + 1 : n + 3] = -friction.kinetic[i] * one.force[n] * across
            turned = _with_closed_rows(problem, friction, one, df)
            turned[n + 1 : n + 3] -= speed[i] * across
            faster = np.zeros(len(one.force))
            faster[n + 1 : n + 3] = -d[i]
            columns += [turned[rows], faster[rows]]
        step = np.linalg.lstsq(
            np.array(columns).T / size[rows][:, None], -left / size[rows], rcond=1e-13
        )[0]
        most = max(1.0, float(np.abs(step[::2]).max()))  # at most one radian per step
        for k, i in enumerate(turning):
            angle[i] += step[2 * k] / most
            speed[i] += step[2 * k + 1] / most
    return None


def _with_closed_rows(problem: ContactRows, friction: Friction, one: Solution, df: Array) -> Array:
    """Return the accelerations (3 k,) caused by the forces df (3 k,), together with the reactions
    that keep the rows of all closed contacts at rest.
    """
    columns, rows = _closed_columns(problem, friction, one.modes, one.direction)
    acting = problem.at(np.zeros(len(df))).under(df)
    if not rows and not len(problem.D):
        return acting.b
    F = np.array(columns).T.reshape(len(df), len(rows))
    right = -np.append(acting.b[rows], acting.g)
    x = np.asarray(np.linalg.lstsq(problem.matrix(rows, F), right, rcond=RANK)[0], float)
    return acting.rate(F @ x[: len(rows)], x[len(rows) :])


def _all_directions(limit: _Limit, modes: Sequence[str], turning: Sequence[int]) -> Iterator[Array]:
    """Yield every direction in which one contact can begin to slip, the modes of the others being
    given: the roots of a quartic.

    By Cramer's rule N is a constant over an affine function of d, and the other forces are affine
    over the same. So (a_t x d) / N is a trigonometric polynomial of degree two in the angle of d:
    five samples give its coefficients, and there are at most four roots.
    """
    rows, friction, size, _ = limit.problem
    (i,), k = turning, len(modes)
    angle = 2.0 * np.pi * (np.arange(5) + 0.3) / 5
    values = []
    for x in angle:
        d = np.where(np.isnan(friction.direction), 0.0, friction.direction)
        d[i] = np.cos(x), np.sin(x)
        one = with_directions(rows, friction, modes, d, size, np.inf)
        N = one.force[3 * i] if one is not None else 0.0
        if one is None or N == 0.0:
            yield from _starts(limit, turning)
            return
        a = one.rate[3 * i + 1 : 3 * i + 3]
        values.append((a[0] * d[i, 1] - a[1] * d[i, 0]) / N)
    c = np.exp(-1j * np.outer(np.arange(-2, 3), angle)) @ np.array(values) / 5
    for z in np.roots(c[::-1]):
        if abs(abs(z) - 1.0) < UNIT_CIRCLE_TOLERANCE:
            found = np.zeros((k, 2))
            found[i] = z.real / abs(z), z.imag / abs(z)
            yield found


def _starts(limit: _Limit, turning: Sequence[int]) -> Iterator[Array]:
    """Yield initial directions of slip: against the friction that almost holds all contacts, first
    for the forces that violate their cones least; along b; and the opposites.
    """
    (G, b), friction = limit.start, limit.problem[1]
    if not turning:
        yield np.zeros((len(friction.static), 2))
        return
    if limit.directions is not None:
        yield limit.directions
    stuck = -np.linalg.lstsq(G, -b, rcond=RANK)[0]
    for d in (_along(np.asarray(stuck, float)), _along(b)):
        for signs in (
            product((1.0, -1.0), repeat=len(turning))
            if len(turning) <= 2
            else ([1.0] * len(turning), [-1.0] * len(turning))
        ):
            turned = d.copy()
            for i, sign in zip(turning, signs):
                turned[i] *= sign
            yield turned


def _along(x: Array) -> Array:
    """Return the unit directions (k, 2) of the tangential parts of x (3 k,); (1, 0) for a zero
    part.
    """
    t = x.reshape(-1, 3)[:, 1:]
    length = np.linalg.norm(t, axis=1, keepdims=True)
    return np.where(length > 0.0, t / np.where(length > 0.0, length, 1.0), [1.0, 0.0])


def with_directions(
    problem: ContactRows,
    friction: Friction,
    modes: Sequence[str],
    d: Array,
    size: Array,
    scale: float,
) -> Solution | None:
    """Return the solution of the equations for these modes and directions of slip d; None if the
    rows contradict each other, relative to `scale`, or do not determine the motion. Inequalities
    are not checked.
    """
    fixed = np.zeros(3 * len(modes))
    for i, mode in enumerate(modes):
        n = 3 * i
        fixed[n] = friction.base[i]
        if mode.endswith(SLIP):
            fixed[n + 1 : n + 3] = -friction.kinetic[i] * friction.base[i] * d[i]
    columns, rows = _closed_columns(problem, friction, modes, d)
    acting = problem.under(fixed)
    F = np.array(columns).T.reshape(len(fixed), len(rows))
    if not rows:
        return _all_open(acting, Solution(tuple(modes), fixed, acting.b, d, F))
    scaled = 1.0 / np.append(size[rows], problem.light_sizes(rows, size))
    U, s, V = np.linalg.svd(scaled[:, None] * problem.matrix(rows, F) * scaled)
    r = -scaled * np.append(acting.b[rows], acting.g)
    found = []
    for cut in (RANK, EXACT_RANK_RATIO):
        rank = int((s > cut * s[0]).sum()) if s[0] > 0.0 else 0
        x = scaled * (V[:rank].T @ ((U[:, :rank].T @ r) / s[:rank]))
        loose = scaled[:, None] * V[rank:].T
        if np.abs(V[rank:, len(rows) :]).max(initial=0.0) > UNDETERMINED_SHARE:
            continue
        f, y = F @ x[: len(rows)], x[len(rows) :]
        a = acting.rate(f, y)
        found.append(Solution(tuple(modes), f + fixed, a, d, F @ loose[: len(rows)], y))
        left = (np.abs(a) - acting.rounding(f, y))[rows] * scaled[: len(rows)]
        out = np.abs(acting.E.T @ f - acting.D @ y + acting.g)
        worst = float(np.append(left, out - SUM_ROUNDING * _pushes_along(acting, f, y)).max())
        if worst <= 1e2 * NEGLIGIBLE_RATIO * min(scale, float(np.abs(r).max())):
            return found[-1]
    # the rows contradict each other, which is allowed while directions are iterated
    return found[0] if np.isinf(scale) and found else None


def _all_open(acting: ContactRows, one: Solution) -> Solution | None:
    """Return the solution in which no contact is closed, with the accelerations along light
    motions; None where those have no inertia at all.
    """
    if np.linalg.eigvalsh(acting.D).min(initial=1.0) <= 0.5 * NO_INERTIA_RATIO:
        return None
    y = np.asarray(np.linalg.solve(acting.D, acting.g), float)
    return one._replace(rate=acting.b + acting.E @ y, light=y)


def _pushes_along(acting: ContactRows, f: Array, y: Array) -> Array:
    """Return (n,): the sum of the magnitudes of the forces along the light motions."""
    return np.abs(acting.E.T) @ np.abs(f) + np.abs(acting.D) @ np.abs(y) + np.abs(acting.g)


def _closed_columns(
    problem: ContactRows, friction: Friction, modes: Sequence[str], d: Array
) -> tuple[list[Array], list[int]]:
    """Return the directions (3 k,) of the unknown forces, and the indices of the rows whose
    acceleration is zero.
    """
    k, columns, rows = len(modes), [], []
    mobility = problem.mobility
    for i, mode in enumerate(modes):
        n = 3 * i
        if mode == SLIP:
            columns.append(_column(k, n, -friction.kinetic[i] * d[i]))
            rows.append(n)
        elif mode.endswith(STICK):
            own = [
                j
                for j in range(n if mode == STICK else n + 1, n + 3)
                if mobility[j] > FIXED_TANGENT_RATIO * mobility[n]
            ]
            columns += [_unit(k, j) for j in own]
            rows += own
    return columns, rows


def _unit(k: int, n: int) -> Array:
    """Return the n-th unit vector of the space of all contact forces, (3 k,)."""
    found = np.zeros(3 * k)
    found[n] = 1.0
    return found


def _column(k: int, n: int, t: Array) -> Array:
    """Return the direction (3 k,) of a normal force in row n with the friction t (2,) per unit of
    it.
    """
    found = _unit(k, n)
    found[n + 1 : n + 3] = t
    return found


# --- inequalities
def _pushes(one: Solution, friction: Friction, size: Array, scale: float) -> bool:
    """Return whether normal forces are not negative and friction stays within its cones, up to
    rounding relative to `scale`.
    """
    for i, mode in enumerate(one.modes):
        N = one.force[3 * i]
        t = one.force[3 * i + 1 : 3 * i + 3]
        small = NEGLIGIBLE_RATIO * scale / size[3 * i]
        if friction.base[i] - small > N:
            return False
        if mode.endswith(STICK) and np.linalg.norm(t) > friction.static[i] * N + small * (
            1.0 + friction.static[i]
        ):
            return False
    return True


def _separates(
    one: Solution, turning: Sequence[int], size: Array, scale: float, noise: Array
) -> bool:
    """Whether nothing penetrates, and contacts that begin to slip do so along their direction.
    Forces are not checked. noise (3 k,): the rounding error of accelerations.
    """
    for i, mode in enumerate(one.modes):
        small = NEGLIGIBLE_RATIO * scale * size[3 * i] + noise[3 * i]
        if mode in (OPEN, *LIFTED.values()) and one.rate[3 * i] < -small:
            return False
        if mode in (STICK, SLIP) and abs(one.rate[3 * i]) > 1e2 * small:
            return False
        if i in turning:
            a = one.rate[3 * i + 1 : 3 * i + 3]
            d = one.direction[i]
            own = slice(3 * i + 1, 3 * i + 3)
            small = NEGLIGIBLE_RATIO * scale * max(size[own]) + max(noise[own])
            if a @ d < -small or abs(a[0] * d[1] - a[1] * d[0]) > 1e2 * small:
                return False
    return True


def _drags(one: Solution, turning: Sequence[int], size: Array, scale: float) -> bool:
    """Return whether every contact that begins to slip has a normal force; a contact without one
    opens instead.
    """
    return all(one.force[3 * i] * size[3 * i] > NEGLIGIBLE_RATIO * scale for i in turning)


def _share_by_normals(one: Solution) -> Solution | None:
    """Return the solution with friction as nearly proportional to normal forces as possible, which
    is admissible up to the common limit of all contacts; None if that has no positive normal
    forces. Undetermined normal forces are those of least norm, or the most even ones if these would
    pull.
    """
    f, Z = one.force, one.loose
    closed = np.array([mode in (STICK, SLIP) for mode in one.modes])
    if (f[::3][closed] < 0.0).any():
        f = f + Z @ _most_even(f[::3][closed], Z[::3][closed])
    N = np.repeat(f[::3], 3)
    if (N < 0.0).any() or not N.any():
        return None
    _, size, V = np.linalg.svd(Z[::3])
    # combinations that do not change normal forces
    Z = Z @ V[int((size > 1e-9 * np.abs(Z).max()).sum()) :].T
    by = (
        1.0 / np.sqrt(np.maximum(N, 1e-9 * N.max()))[:, None]
    )  # minimise sum f^2/N: f = N (c + w x r)
    return one._replace(
        force=f
        - Z @ np.linalg.lstsq(by * Z, by[:, 0] * f * (np.arange(len(N)) % 3 > 0), rcond=None)[0]
    )


def _most_even(N: Array, Z: Array) -> Array:
    """Return the y (n,) that maximises the smallest entry of N + Z y: a linear programme."""
    from scipy.optimize import linprog

    n = Z.shape[1]
    size = max(float(np.abs(N).max()), 1e-300)
    answer = linprog(
        [*([0.0] * n), -1.0],
        np.column_stack([-Z, np.ones(len(N))]),
        N / size,
        bounds=[(None, None)] * n + [(None, 1.0)],
    )
    return np.asarray(size * answer.x[:n]) if answer.status == 0 else np.zeros(n)


def cones_of(
    modes: Sequence[str], friction: Friction, force: Array, size: Array, scale: float
) -> Cones:
    """Return the constraints on the forces of these modes. force (3 k,): some forces that cause the
    motion, which give the size of each contact's forces.
    """
    closed = np.array([mode in (STICK, SLIP) for mode in modes])
    sticks = np.array([mode.endswith(STICK) for mode in modes])
    bounded = closed & (~sticks | (friction.base > 0.0))
    return Cones(
        np.where(sticks, friction.static, np.inf),
        np.where(bounded, friction.base, -np.inf),
        np.maximum(np.linalg.norm(force.reshape(-1, 3), axis=1), scale / size[::3]),
        np.zeros(len(closed)),
    )


def _admissible(one: Solution, friction: Friction, size: Array, scale: float) -> Solution:
    """Return the solution with admissible forces, chosen among those that rigid-body mechanics does
    not determine; if there are none, with those that violate their cones least.
    """
    cones = cones_of(one.modes, friction, one.force, size, scale)
    return one._replace(force=deepest(one.force, one.loose, cones, DEEP_ENOUGH_MARGIN).f)
