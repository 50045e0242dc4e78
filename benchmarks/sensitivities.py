"""What does the gradient of a final state cost beside the run itself?

Talos with a floating base falls for a tenth of a second (RK4, steps of 1 ms), every joint moving,
without dry friction; 100 of its inertial parameters (masses and centres of mass) are free. The
adjoint gives the gradient of one coordinate with respect to all of them; differences would take 101
runs. Asked: less than five runs' time. The result is compared with central differences of five of
the parameters.

    python benchmarks/sensitivities.py
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from peers import best, size, urdf

import catena
from catena.sensitivity.adjoint import Steps
from catena.sensitivity.integration import step_times
from catena.sensitivity.linearised import Linearised
from catena.sensitivity.sensitivities import planned
from catena.sensitivity.smooth_segments import run_segments
from catena.studies.variables import vary

ROBOT = size("talos", "ur5")
COUNT = size(100, 8)
UNTIL = size(0.1, 0.005)
STEP = 1e-3


def free_parameters(m: catena.Mechanism) -> list[str]:
    """Masses and centres of mass, body by body."""
    heavy = [b.name for b in m.bodies if float(b.mass) > 0]
    return [f"body.{name}.{key}" for name in heavy for key in ("mass", "com.x", "com.y", "com.z")][
        :COUNT
    ]


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = catena.load(urdf(ROBOT), floating=ROBOT == "talos", mimic=False)
    model = model.with_(
        joints=tuple(replace(j, friction=tuple(0.0 for _ in j.friction)) for j in model.joints)
    )
    names = free_parameters(model)
    varied = vary(model, None, names).mechanism
    options = {"integrator": "rk4", "step": STEP, "limits": "ignore", "friction": "smooth"}
    plan = planned(varied, None, np.sin(1.0 + np.arange(len(model.speed_names))), UNTIL, options)
    s, p = plan.system, plan.p[0]
    tapes = Linearised(s, range(len(names)))
    x, (segment,) = run_segments(plan)
    engine = plan.engine(slice(0, 1))

    def run() -> None:
        engine.x[:, 0] = x
        engine.run(0.0, UNTIL, np.array([UNTIL]))

    lam = np.zeros((tapes.size, 1))
    gradient = np.zeros((len(names) + s.nv, 1))

    def adjoint() -> None:
        steps = Steps(tapes, plan.how, x, segment.held, p, *step_times(plan, tapes, segment, x, p))
        lam[:], gradient[:] = 0.0, 0.0
        lam[s.nq - 1] = 1.0
        steps.pull(lam, gradient)

    run(), adjoint()
    pairs = [(best(run, 0.3, 5), best(adjoint, 0.3, 5)) for _ in range(size(5, 1))]
    ours = min(a for _, a in pairs)
    theirs = min(a for a, _ in pairs)
    print(f"{ROBOT}, {s.nv} speeds, {len(names)} parameters, {round(UNTIL / STEP)} steps of RK4")
    print(
        f"  tape: {s.derivative.n_instructions()} instructions; pulled back:"
        f" {tapes.pullback(tapes.flow).n_instructions()}"
    )
    print(
        f"  one run {theirs * 1e3:.3f} ms; gradient of one coordinate, run included,"
        f" {ours * 1e3:.3f} ms: {ours / theirs:.2f} runs"
    )
    found = gradient[: len(names), 0]
    worst = max(
        abs(_difference(plan, tapes, segment, x, k) - found[k])
        for k in range(0, len(names), max(1, len(names) // 5))
    )
    print(f"  beside central differences: {worst:.1e} of {np.abs(found).max():.1e}")


def _difference(
    plan: object, tapes: Linearised, segment: object, x: np.ndarray, k: int, h: float = 1e-4
) -> float:
    """The derivative of the last coordinate along one parameter, by central differences of fourth
    order.
    """

    def end(change: float) -> float:
        p = plan.p[0].copy()  # type: ignore[attr-defined]
        p[k] += change
        return float(
            Steps(
                tapes, plan.how, x, segment.held, p, *step_times(plan, tapes, segment, x, p)
            ).after[plan.system.nq - 1]
        )  # type: ignore[attr-defined,arg-type]

    return (8 * (end(h) - end(-h)) - (end(2 * h) - end(-2 * h))) / (12 * h)


if __name__ == "__main__":
    main()
