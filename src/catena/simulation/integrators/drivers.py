"""What the drivers of the time loop share. A driver is compiled once and serves every mechanism: it
calls the mechanism's own derivative by its address, with W states in the lanes of a register.
`fixed_step.py` has equal steps, `lane_driver.py` adaptive ones.

All arrays are flat, entry k of lane l at k W + l: a `buffer` is what the derivative reads, t, x, u,
p one after another; K has the derivatives of the stages, one per row. No array views are made
inside a step, because each would cost as much as a short stage. Drivers return a status; `OUTCOMES`
has a sentence for each.
"""

from __future__ import annotations

from ...compiler import call_block, weighted

REACHED, EVENT, TOO_SMALL, NOT_FINITE, TOO_MANY, NOT_SOLVED, INTERRUPTED, STIFF = range(8)
OUTCOMES = {
    REACHED: "the end was reached",
    EVENT: "an event was located",
    TOO_SMALL: "the step went to zero",
    NOT_FINITE: "a value became infinite or not a number",
    TOO_MANY: "the largest number of steps was taken",
    NOT_SOLVED: "the implicit stages did not converge",
    INTERRUPTED: "the run was interrupted",
    STIFF: "the system was found to be stiff",  # `lane_runs.py` goes on by another method
}
SAFETY = 0.9  # next step relative to the one that would just meet the tolerance
SMALLEST_STEP_RATIO, LARGEST_STEP_RATIO = 0.2, 6.0  # next step relative to this one
# exponents of this step's error and of the last one's in the next step, times 1/order: the
# controller PI.4.2 of [Soderlind2006]
ERROR_EXPONENT, LAST_ERROR_EXPONENT = 0.6, -0.2
DENSE_ERROR = 20.0  # error allowed to dense output, relative to that of a step


# --- stages
def stage(address, buffer, x, K, A, i, time, h, W):
    """Compute the derivative k_i of stage i of a Runge-Kutta step, at the state x + h sum_j A_ij
    k_j.
    """
    weighted(x, K, A, i, i, h, buffer, W)
    for l in range(W):
        buffer[l] = time
    call_block(address, buffer, K[i])


def place(buffer, x, time, W):
    """Copy a state and a time into the buffer."""
    for l in range(W):
        buffer[l] = time
    inside = buffer[W : W + len(x)]
    inside[:] = x


def settle_flat(settle, buffer, x, time, rounds, W):
    """Project a state onto its constraints `rounds` times: quaternions to length one, loops closed,
    speeds along them.
    """
    if settle != 0:
        for _ in range(rounds):
            place(buffer, x, time, W)
            call_block(settle, buffer, x)
