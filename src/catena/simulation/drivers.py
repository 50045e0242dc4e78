"""The time loop in machine code. Each driver is compiled once and serves every mechanism: it calls the mechanism's own
derivative by its address, W states side by side in the lanes of a register.

All arrays are flat, entry k of lane l at k W + l: a `buffer` is what the derivative reads, t, x, u, p one after another; K has
the stages' derivatives, one per row. No views are made inside a step: each would cost as much as a short stage. Drivers return
a status; `OUTCOMES` has a sentence for each.
"""

from __future__ import annotations

import numpy as np

from ..compiler.machine_function import call_block, machine_function, weighted

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
NOW, BEFORE = 0.6, -0.2  # the parts of this step's error and of the last one's in the next step: PI.4.2 of [Soderlind2006]
BETWEEN = 20.0  # the error allowed to dense output, beside that of a step


# ---------------------------------------------------------------------------------------------------- stages
def stage(address, buffer, x, K, A, i, time, h, W):
    """k_i at x + h sum_j A_ij k_j."""
    weighted(x, K, A, i, i, h, buffer, W)
    for l in range(W):
        buffer[l] = time
    call_block(address, buffer, K[i])


def place(buffer, x, time, W):
    """Let the buffer hold this time and state."""
    for l in range(W):
        buffer[l] = time
    inside = buffer[W : W + len(x)]
    inside[:] = x


def write(out, row, x, W):
    """The states of W runs, each to its own place: out (W, rows, size)."""
    for l in range(W):
        own, at = out[l, row], l
        for n in range(len(own)):
            own[n] = x[at]
            at += W


def settle_flat(settle, buffer, x, time, rounds, W):
    """Put a state back on its constraints: quaternions to length one, loops closed, speeds along them."""
    if settle != 0:
        for _ in range(rounds):
            place(buffer, x, time, W)
            call_block(settle, buffer, x)


def _dense(P, theta, b, x, K, h, out):
    """The state at theta of a step, by dense output: weights b_i(theta), then x + h sum_i b_i k_i."""
    for i in range(P.shape[0]):
        total, power = 0.0, theta
        for d in range(P.shape[1]):
            total += P[i, d] * power
            power *= theta
        b[0, i] = total
    weighted(x, K, b, 0, P.shape[0], h, out, 0)


# ---------------------------------------------------------------------------------------------------- errors
def _allowed(x, new, rtol, atol, beside):
    """One over the error that each number may have."""
    for n in range(len(x)):
        a, b = abs(x[n]), abs(new[n])
        beside[n] = 1.0 / (atol[n] + rtol * (a if a > b else b))


def _squares(K, w, row, zero, beside, e, sums, to, W):
    """For each lane the sum of squares of sum_i w[row, i] k_i beside what is allowed, into sums[to]."""
    weighted(zero, K, w, row, w.shape[1], 1.0, e, 0)
    if W == 1:
        total = 0.0
        for n in range(len(e)):
            part = e[n] * beside[n]
            total += part * part
        sums[to, 0] = total
        return
    for l in range(W):
        sums[to, l] = 0.0
    for n in range(0, len(e), W):
        for l in range(W):
            part = e[n + l] * beside[n + l]
            sums[to, l] += part * part


def _error(K, E, h, zero, beside, e, sums, W):
    """The largest lane's error beside what is allowed, root mean square over the state; infinite where it is not a number."""
    nx, worst = len(e) // W, 0.0
    for i in range(len(E)):
        _squares(K, E, i, zero, beside, e, sums, i, W)
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


def _dense_error(K, D, h, zero, beside, e, sums, W):
    """The largest lane's error within a step beside what is allowed there, where it does not add up from step to step."""
    nx, worst = len(e) // W, 0.0
    _squares(K, D, 0, zero, beside, e, sums, 0, W)
    for l in range(W):
        if not np.isfinite(sums[0, l]):
            return np.inf
        worst = max(worst, abs(h) * np.sqrt(sums[0, l] / nx) / BETWEEN)
    return worst


# ---------------------------------------------------------------------------------------------------- adaptive steps
@machine_function("W", "s")
def adaptive(
    address, settle, A, s, C, E, P, D, order, degree, x, buffer, K, new, t, end, h, largest, rtol, atol, times, row, out, first, most, W,
):  # fmt: skip
    """Advance x from t to `end`, filling rows of `out` (W, rows, size) at `times` from `row` on; s stages per step.

    first: the row of `out` that the first of the times has. All lanes have the same steps; runs with guards, and those whose steps
    are their own, are for `lane_driver.py`.

    Returns status, t, h, row, accepted, rejected, evaluations.
    """
    size, stages = len(x), K.shape[0]
    b, sums = np.zeros((1, P.shape[0])), np.zeros((2, W))
    scratch, zero, e, beside = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    accepted, rejected, evaluations = 0, 0, 1
    place(buffer, x, t, W)
    call_block(address, buffer, K[0])
    exponent, last, refused = -1.0 / order, 1.0, False
    while t < end:
        if accepted + rejected >= most:
            return TOO_MANY, t, h, row, accepted, rejected, evaluations
        h = min(h, largest)
        if h < 16.0 * np.spacing(max(abs(t), abs(end))) and end - t > h:
            return TOO_SMALL, t, h, row, accepted, rejected, evaluations
        clipped = t + h * 1.0000001 >= end
        step = end - t if clipped else h
        for i in range(1, s):
            stage(address, buffer, x, K, A, i, t + C[i] * step, step, W)
        stage(address, buffer, x, K, A, s, t + step, step, W)  # the derivative at the step's end; its state stands in buffer
        evaluations += s
        for n in range(size):
            new[n] = buffer[W + n]
        _allowed(x, new, rtol, atol, beside)
        error = _error(K, E, step, zero, beside, e, sums, W)
        if not error < 1.0:
            if not np.isfinite(error):
                if h < 1e-12 * max(1.0, abs(t)):
                    return NOT_FINITE, t, h, row, accepted, rejected, evaluations
                h = 0.1 * step
            else:
                h = step * max(SHRINK, SAFETY * error**exponent)
            rejected += 1
            refused = True
            continue
        t_new = end if clipped else t + step
        error = max(error, 1e-6)
        factor = min(GROW, SAFETY * error ** (NOW * exponent) * last ** (BEFORE * exponent))
        if row < len(times) and times[row] < t_new:  # dense output is needed: is it good enough?
            for i in range(s + 1, stages):
                stage(address, buffer, x, K, A, i, t + C[i] * step, step, W)
            evaluations += stages - s - 1
            between = _dense_error(K, D, step, zero, beside, e, sums, W)
            fits = GROW if between == 0.0 else SAFETY * between ** (-1.0 / degree)
            if fits < 0.7:
                h = step * max(SHRINK, fits)
                rejected += 1
                refused = True
                continue
            factor = min(factor, fits)
        accepted += 1
        last = error
        later = step * min(1.0, factor) if refused else step * factor
        refused = False
        while row < len(times) and times[row] < t_new:  # at t_new the settled end of the step is better than the dense output
            _dense(P, (times[row] - t) / step, b, x, K, step, scratch)
            settle_flat(settle, buffer, scratch, times[row], 1, W)
            write(out, first + row, scratch, W)
            row += 1
        for n in range(size):
            x[n] = new[n]
        t = t_new
        h = max(later, h) if clipped else later
        if settle != 0:
            settle_flat(settle, buffer, x, t, 1, W)
            place(buffer, x, t, W)
            call_block(address, buffer, K[0])
            evaluations += 1
        else:
            for n in range(size):
                K[0, n] = K[s, n]
        while row < len(times) and times[row] <= t:
            write(out, first + row, x, W)
            row += 1
    return REACHED, t, h, row, accepted, rejected, evaluations
