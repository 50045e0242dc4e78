"""Are all four-bars through nine points found? Alt's problem has 1442 of them, each with its two
cognates, for generic (complex) points.

Monodromy as in `catena.synthesis.five_points`, with the pivots as unknowns: known solutions are
followed along loops of the points, on which they change places. One solution of each triple of
cognates is kept: the three have the same three pivots. Prints the count after every loop.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np
from peers import size

SECONDS = size(1500.0, 2.0)
PUBLISHED = 1442
CHUNK = 256
N = 8  # displacements from the first point


def factors(u, p, k):
    x, xh = u[:, 2 * k, None], u[:, 2 * k + 1, None]
    a, ah = u[:, 4 + 2 * k, None], u[:, 5 + 2 * k, None]
    T, d, dh = u[:, 8:], p[:, :N], p[:, N:]
    return x, xh, T, x * T + d - a, xh / T + dh - ah, x - a, xh - ah


def residual(u, p):
    return np.concatenate(
        [A * B - C * D for *_, A, B, C, D in (factors(u, p, k) for k in (0, 1))], 1
    )


def jacobian(u, p):
    J = np.zeros((len(u), 16, 16), complex)
    i = np.arange(N)
    for k in (0, 1):
        x, xh, T, A, B, C, D = factors(u, p, k)
        rows = slice(N * k, N * k + N)
        J[:, rows, 2 * k] = T * B - D
        J[:, rows, 2 * k + 1] = A / T - C
        J[:, rows, 4 + 2 * k] = D - B
        J[:, rows, 5 + 2 * k] = C - A
        J[:, N * k + i, 8 + i] = x * B - A * xh / T**2
    return J


def slope(u, p, rate):
    F = [B * rate[:N] + A * rate[N:] for *_, A, B, _, _ in (factors(u, p, k) for k in (0, 1))]
    return -np.linalg.solve(jacobian(u, p), np.concatenate(F, 1)[..., None])[..., 0]


def advance(u, start, rate, s, h):
    def at(z):
        return start + z[:, None] * rate

    w = h[:, None]
    k1 = slope(u, at(s), rate)
    k2 = slope(u + 0.5 * w * k1, at(s + 0.5 * h), rate)
    k3 = slope(u + 0.5 * w * k2, at(s + 0.5 * h), rate)
    v = u + w / 6 * (k1 + 2 * k2 + 2 * k3 + slope(u + w * k3, at(s + h), rate))
    for _ in range(2):
        d = np.linalg.solve(jacobian(v, at(s + h)), residual(v, at(s + h))[..., None])[..., 0]
        v = v - d
    change = np.abs(d).max(1) / (1 + np.abs(v).max(1))
    return v, np.isfinite(v).all(1) & (change < 1e-9)


def track(u, start, end):
    u = u.copy()
    s, h, alive = np.zeros(len(u)), np.full(len(u), 0.02), np.ones(len(u), bool)
    while (busy := np.flatnonzero(alive & (s < 1))).size:
        step = np.minimum(h[busy], 1 - s[busy])
        with np.errstate(all="ignore"):
            try:
                new, good = advance(u[busy], start, end - start, s[busy], step)
            except np.linalg.LinAlgError:
                new, good = u[busy], np.zeros(len(busy), bool)
        moved = busy[good]
        u[moved], s[moved] = new[good], s[moved] + step[good]
        h[busy] = np.where(good, np.minimum(1.6 * h[busy], 0.1), 0.4 * h[busy])
        alive[busy] &= h[busy] > 1e-6
    return u[alive]


def keys(u):
    """What three cognates have in common: the symmetric functions of their three pivots."""
    a, b = u[:, 4], u[:, 6]
    c = a + (b - a) * u[:, 0] / (u[:, 0] - u[:, 2])
    return np.stack([a + b + c, a * b + b * c + c * a, a * b * c], 1)


def main() -> None:
    rng = np.random.default_rng(1)

    def draw(*shape):
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

    u, p0 = draw(1, 16), draw(16)
    for j in range(N):
        z = draw(2)
        x, xh, a, ah, T = u[0, [0, 2]], u[0, [1, 3]], u[0, [4, 6]], u[0, [5, 7]], u[0, 8 + j]
        for _ in range(200):
            A, B = x * T + z[0] - a, xh / T + z[1] - ah
            step = np.linalg.solve(np.stack([B, A], 1), A * B - (x - a) * (xh - ah))
            z = z - step
            if np.abs(step).max() < 1e-15 * np.abs(z).max():
                break
        p0[[j, N + j]] = z
    begin, loop, quiet = time.process_time(), 0, 0
    while time.process_time() - begin < SECONDS and quiet < 4:
        corners = [p0, draw(16), draw(16), p0]
        found = []
        for k in range(0, len(u), CHUNK):
            v = u[k : k + CHUNK]
            for a, b in pairwise(corners):
                v = track(v, a, b)
            found.append(v)
        before = len(u)
        known = keys(u)
        for one in np.concatenate(found):
            key = keys(one[None])[0]
            if (np.abs(known - key).max(1) > 1e-5 * (1 + np.abs(key).max())).all():
                u, known = np.concatenate([u, one[None]]), np.concatenate([known, key[None]])
        loop, quiet = loop + 1, 0 if len(u) > before else quiet + 1
        print(f"loop {loop}: {len(u)} of {PUBLISHED}, {time.process_time() - begin:.0f} s")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
