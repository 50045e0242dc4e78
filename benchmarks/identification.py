"""How often are base parameters of a UR5 recovered within three standard deviations, with 1 % noise of its forces?"""

from __future__ import annotations

import numpy as np
from peers import robot, size

from catena.studies import MeasuredMotion, excitation, fit

machine, _, _ = robot("ur5")
way = excitation(machine, "inertial,friction", trials=size(30, 1), ranges=dict.fromkeys(machine.coordinate_names, (-2.0, 2.0)))
t = np.arange(0.0, 10.0, size(0.02, 0.2))
q, v, a = way(t)
tau = machine.inverse_dynamics(q, v, a) + 2.0 * v + 1.5 * np.tanh(v / 1e-3)
noise = 0.01 * np.sqrt((tau**2).mean(axis=0))
true = {"damping": 2.0, "friction": 1.5}
rng, inside, whole, trials = np.random.default_rng(0), [], 0, size(100, 2)
for _ in range(trials):
    found = fit(machine, MeasuredMotion(t, q, v, a, tau + noise * rng.standard_normal(tau.shape)), "inertial,friction")
    away = [abs(e.value - true.get(e.name.split()[0], e.before)) / e.sigma for e in found.estimates]
    inside += [x < 3 for x in away]
    whole += max(away) < 3
print(f"condition number {way.condition:.1f}; {len(away)} estimates; within three deviations {np.mean(inside):.4f} of them; all of them at once in {whole} of {trials} trials")
