"""The time loop in machine code. Each driver is compiled once and serves every mechanism: it calls the mechanism's own
derivative by its address, W states side by side in the lanes of a register.

A `buffer` is what the derivative reads: rows t, x (nx), u (nu), p, each W wide. `K` holds the stages' derivatives. Drivers
return a status; what it means in words is in `OUTCOMES`.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from ..compiler.call import call_block

REACHED, EVENT, TOO_SMALL, NOT_FINITE, TOO_MANY, NOT_SOLVED = range(6)
OUTCOMES = {
    REACHED: "the end was reached",
    EVENT: "an event was located",
    TOO_SMALL: "the step went to zero",
    NOT_FINITE: "a value became infinite or not a number",
    TOO_MANY: "the largest number of steps was taken",
    NOT_SOLVED: "the implicit stages did not converge",
}
SAFETY, SHRINK, GROW = 0.9, 0.2, 6.0
BETWEEN = 20.0  # the error allowed to dense output, beside that of a step
LOOKS = 8  # places within a step at which guards are looked at

OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@nb.njit(**OPTIONS)
def _weighted(x, K, w, count, h, out, offset):
    """out = x + h sum_i w_i k_i over all entries; out is flat, and written from `offset` on. In long loops, which run in lanes."""
    size = x.size
    flat, stages = x.reshape(size), K.reshape((K.shape[0], size))
    for n in range(size):
        out[offset + n] = flat[n]
    for i in range(count):
        factor = h * w[i]
        if factor != 0.0:
            k = stages[i]
            for n in range(size):
                out[offset + n] += factor * k[n]


@nb.njit(**OPTIONS)
def _stage(address, buffer, x, K, A, i, time, h):
    """k_i at x + h sum_j A_ij k_j."""
    W = x.shape[1]
    _weighted(x, K, A[i], i, h, buffer.reshape(buffer.size), W)
    for l in range(W):
        buffer[0, l] = time
    call_block(address, buffer, K[i])


@nb.njit(**OPTIONS)
def _derivative(address, buffer, x, time, out):
    buffer[0] = time
    buffer[1 : 1 + x.shape[0]] = x
    call_block(address, buffer, out)


@nb.njit(**OPTIONS)
def _settle(settle, buffer, x, time, rounds):
    """Put a state back on its constraints: quaternions to length one, loops closed, speeds along them."""
    if settle != 0:
        for _ in range(rounds):
            buffer[0] = time
            buffer[1 : 1 + x.shape[0]] = x
            call_block(settle, buffer, x)


@nb.njit(**OPTIONS)
def _weights(P, theta, b):
    """b_i(theta) of dense output."""
    for i in range(P.shape[0]):
        total, power = 0.0, theta
        for d in range(P.shape[1]):
            total += P[i, d] * power
            power *= theta
        b[i] = total


@nb.njit(**OPTIONS)
def _interpolate(x, K, h, b, out):
    _weighted(x, K, b, len(b), h, out.reshape(out.size), 0)


@nb.njit(**OPTIONS)
def _squares(K, w, x, new, rtol, atol, zero, e, total):
    """For each lane the sum of squares of sum_i w_i k_i beside what is allowed."""
    nx, W = x.shape
    _weighted(zero, K, w, len(w), 1.0, e.reshape(e.size), 0)
    total[:] = 0.0
    for k in range(nx):
        for l in range(W):
            part = e[k, l] / (atol[k] + rtol * max(abs(x[k, l]), abs(new[k, l])))
            total[l] += part * part


@nb.njit(**OPTIONS)
def _error(K, E, x, new, h, rtol, atol, zero, e, sums):
    """The largest lane's error beside what is allowed, root mean square over the state; infinite where it is not a number."""
    nx, W = x.shape
    worst = 0.0
    for i in range(len(E)):
        _squares(K, E[i], x, new, rtol, atol, zero, e, sums[i])
    for l in range(W):
        first = sums[0, l]
        if len(E) > 1:  # Hairer's combination of an estimate of order 5 and one of order 3
            denominator = first + 0.01 * sums[1, l]
            size = abs(h) * first / np.sqrt(denominator * nx) if denominator != 0.0 else 0.0
        else:
            size = abs(h) * np.sqrt(first / nx)
        if not np.isfinite(size):
            return np.inf
        worst = max(worst, size)
    return worst


@nb.njit(**OPTIONS)
def _dense_error(K, D, x, new, h, rtol, atol, zero, e, sums):
    """The largest lane's error within a step beside what is allowed there, where it does not add up from step to step."""
    nx, W = x.shape
    worst = 0.0
    _squares(K, D, x, new, rtol, atol, zero, e, sums[0])
    for l in range(W):
        if not np.isfinite(sums[0, l]):
            return np.inf
        worst = max(worst, abs(h) * np.sqrt(sums[0, l] / nx) / BETWEEN)
    return worst


@nb.njit(**OPTIONS)
def adaptive(
    address, settle, guard, A, B, C, E, P, D, order, degree, x, buffer, K, new, t, end, h, largest, rtol, atol, times, row, out,
    g, g_new, most,
):  # fmt: skip
    """Advance x from t to `end`, filling rows of `out` at `times` from `row` on.

    Returns status, t, h, row, accepted, rejected, evaluations, event. g holds the guards' values at t; a guard that goes
    from above zero to zero or below is an event: x and t are left at its instant.
    """
    s, stages = len(B), K.shape[0]
    b, scratch, zero, e, sums = np.zeros(P.shape[0]), np.zeros_like(x), np.zeros_like(x), np.zeros_like(x), np.zeros((2, x.shape[1]))
    accepted, rejected, evaluations = 0, 0, 1
    _derivative(address, buffer, x, t, K[0])
    if guard != 0:
        buffer[0] = t
        buffer[1 : 1 + x.shape[0]] = x
        call_block(guard, buffer, g)
    exponent = -1.0 / order
    refused = False
    while t < end:
        if accepted + rejected >= most:
            return TOO_MANY, t, h, row, accepted, rejected, evaluations, -1
        h = min(h, largest)
        if h < 16.0 * np.spacing(max(abs(t), abs(end))) and end - t > h:
            return TOO_SMALL, t, h, row, accepted, rejected, evaluations, -1
        clipped = t + h * 1.0000001 >= end
        step = end - t if clipped else h
        for i in range(1, s):
            _stage(address, buffer, x, K, A, i, t + C[i] * step, step)
        _stage(address, buffer, x, K, A, s, t + step, step)  # the derivative at the step's end; its state stands in buffer
        evaluations += s
        new[:] = buffer[1 : 1 + x.shape[0]]
        size = _error(K, E, x, new, step, rtol, atol, zero, e, sums)
        if not size < 1.0:
            if not np.isfinite(size):
                if h < 1e-12 * max(1.0, abs(t)):
                    return NOT_FINITE, t, h, row, accepted, rejected, evaluations, -1
                h = 0.1 * step
            else:
                h = step * max(SHRINK, SAFETY * size**exponent)
            rejected += 1
            refused = True
            continue
        t_new = end if clipped else t + step
        factor = GROW if size == 0.0 else min(GROW, SAFETY * size**exponent)
        if (row < len(times) and times[row] < t_new) or guard != 0:  # dense output is needed: is it good enough?
            for i in range(s + 1, stages):
                _stage(address, buffer, x, K, A, i, t + C[i] * step, step)
            evaluations += stages - s - 1
            size = _dense_error(K, D, x, new, step, rtol, atol, zero, e, sums)
            fits = GROW if size == 0.0 else SAFETY * size ** (-1.0 / degree)
            if fits < 0.7:
                h = step * max(SHRINK, fits)
                rejected += 1
                refused = True
                continue
            factor = min(factor, fits)
        accepted += 1
        later = step * min(1.0, factor) if refused else step * factor
        refused = False
        event, theta = -1, 1.0
        if guard != 0:
            event, theta = _locate(guard, buffer, x, new, K, P, b, scratch, t, step, g, g_new)
            if event >= 0:
                t_new = t + theta * step
        while row < len(times) and times[row] <= t_new:
            if times[row] == t_new and event < 0:
                break  # the settled end of the step is better than the dense output
            _weights(P, (times[row] - t) / step, b)
            _interpolate(x, K, step, b, scratch)
            _settle(settle, buffer, scratch, times[row], 1)
            out[row] = scratch
            row += 1
        if event >= 0:
            _weights(P, theta, b)
            _interpolate(x, K, step, b, scratch)
            x[:] = scratch
            _settle(settle, buffer, x, t_new, 2)
            return EVENT, t_new, min(later, step), row, accepted, rejected, evaluations, event
        x[:] = new
        t = t_new
        h = max(later, h) if clipped else later
        if settle != 0:
            _settle(settle, buffer, x, t, 1)
            _derivative(address, buffer, x, t, K[0])
            evaluations += 1
        else:
            K[0] = K[s]
        while row < len(times) and times[row] <= t:
            out[row] = x
            row += 1
        g[:] = g_new
    return REACHED, t, h, row, accepted, rejected, evaluations, -1


@nb.njit(**OPTIONS)
def _guards(guard, buffer, x, time, g):
    buffer[0] = time
    buffer[1 : 1 + x.shape[0]] = x
    call_block(guard, buffer, g)


@nb.njit(**OPTIONS)
def _locate(guard, buffer, x, new, K, P, b, scratch, t, step, g, g_new):
    """The first guard that falls to zero within a step, and where: looked for at some places, then halved on the dense output.

    Only the first lane is looked at. Guards at the step's end are left in g_new.
    """
    values, before = np.empty_like(g), g.copy()
    low, high, found = 0.0, 1.0, False
    for part in range(1, LOOKS + 1):
        high = part / LOOKS
        if part == LOOKS:
            _guards(guard, buffer, new, t + step, values)
            g_new[:] = values
        else:
            _weights(P, high, b)
            _interpolate(x, K, step, b, scratch)
            _guards(guard, buffer, scratch, t + high * step, values)
        for j in range(len(g)):
            found = found or (before[j, 0] > 0.0 and values[j, 0] <= 0.0)
        if found:
            break
        before[:] = values
        low = high
    if not found:
        return -1, 1.0
    event = -1
    for _ in range(60):
        middle = 0.5 * (low + high)
        if high - low < 1e-15 or middle <= low or middle >= high:
            break
        _weights(P, middle, b)
        _interpolate(x, K, step, b, scratch)
        _guards(guard, buffer, scratch, t + middle * step, values)
        fell = False
        for j in range(len(g)):
            fell = fell or (before[j, 0] > 0.0 and values[j, 0] <= 0.0)
        if fell:
            high = middle
        else:
            low = middle
    _weights(P, high, b)
    _interpolate(x, K, step, b, scratch)
    _guards(guard, buffer, scratch, t + high * step, values)
    for j in range(len(g)):
        if before[j, 0] > 0.0 and values[j, 0] <= 0.0 and event < 0:
            event = j
    return event, high
