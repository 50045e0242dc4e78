"""Drivers of the adjoint of explicit steps. As in `drivers.py`: flat arrays, compiled once for all
mechanisms.

    forward   X_i = x + h sum_j A_ij k_j,   k_i = f(X_i),   x+ = settle(x + h sum_i B_i k_i)
    backward  lam = settle' lam,  b_i = h (B_i lam + sum_j A_ji y_j),  y_i = f_x' b_i,
              lam- = lam + sum_i y_i

settle is the projection onto constraints. y_i comes with f_p' b_i and f_u' b_i, whose sums over all
stages are the gradient.
"""

from __future__ import annotations

from ...compiler import call_block, machine_function, weighted
from .drivers import settle_flat, stage


@machine_function()
def record(address, settle, A, B, C, x, buffer, K, X, T, H):
    """Take explicit steps from T[n] of size H[n] (s) with one state x, and record them: X (steps,
    size) receives the state before each step, K (steps, stages, size) the derivatives of its
    stages.
    """
    s = B.shape[1]
    for n in range(len(T)):
        before, own = X[n], K[n]
        before[:] = x
        for i in range(s):
            stage(address, buffer, x, own, A, i, T[n] + C[i] * H[n], H[n], 1)
        weighted(x, own, B, 0, s, H[n], x, 0)
        settle_flat(settle, buffer, x, T[n] + H[n], 1, 1)
    return 0


@machine_function("W")
def backward(address, settle, A, B, C, buffer, K, X, T, H, point, lam, seed, Y, y, gradient, W):
    """Go through the recorded steps backwards. lam (size, W) becomes the adjoint before the first
    step, and the contribution of these steps is added to gradient (parameters and forces, W).
    buffer: t, x, u, p, seed in W lanes. point (size,), seed (size, W), Y (stages, size, W), y (size
    and gradient, W): scratch memory.
    """
    size = len(point)
    s = B.shape[1]
    rest = len(buffer) - len(seed)
    for m in range(len(T)):
        n = len(T) - 1 - m
        before, own, h = X[n], K[n], H[n]
        if settle != 0:
            weighted(before, own, B, 0, s, h, point, 0)
            _spread(buffer, point, T[n] + h, lam, rest, W)
            call_block(settle, buffer, y)
            for k in range(size * W):
                lam[k] = y[k]
            for k in range(len(gradient)):
                gradient[k] += y[size * W + k]
        for r in range(s):
            i = s - 1 - r
            for k in range(size * W):
                seed[k] = B[0, i] * lam[k]
            for j in range(i + 1, s):
                if A[j, i] != 0.0:
                    late = Y[j]
                    for k in range(size * W):
                        seed[k] += A[j, i] * late[k]
            for k in range(size * W):
                seed[k] *= h
            weighted(before, own, A, i, i, h, point, 0)
            _spread(buffer, point, T[n] + C[i] * h, seed, rest, W)
            call_block(address, buffer, y)
            mine = Y[i]
            for k in range(size * W):
                mine[k] = y[k]
            for k in range(len(gradient)):
                gradient[k] += y[size * W + k]
        for i in range(s):
            mine = Y[i]
            for k in range(size * W):
                lam[k] += mine[k]
    return 0


def _spread(buffer, x, time, seed, rest, W):
    """Copy a state and a time into all lanes of the buffer, and the seeds into its entries from
    `rest` on.
    """
    for l in range(W):
        buffer[l] = time
        for k in range(len(x)):
            buffer[W + k * W + l] = x[k]
    for k in range(len(seed)):
        buffer[rest + k] = seed[k]
