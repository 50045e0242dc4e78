"""Random frames that turn in time, and numbers for expressions of them: shared by the tests of the algebra."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy as sm
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import dynamicsymbols

from catena.equations.algebra import frames

t = dynamicsymbols._t
Q = dynamicsymbols("q1:4")
SEEDS = (0, 1)


def values(*expressions, seed=0):
    """Numbers for scalar expressions: every derivative, function and symbol in them has a random value of its own."""
    found = sm.Matrix(expressions)
    atoms = sorted(found.atoms(sm.Derivative) | found.atoms(AppliedUndef) | found.free_symbols, key=str)
    names = {a: sm.Dummy(f"x{k}") for k, a in enumerate(atoms)}
    numbers = [np.random.default_rng([seed, *str(a).encode()]).uniform(0.2, 1.5) for a in atoms]
    plain = found.xreplace({a: n for a, n in names.items() if isinstance(a, sm.Derivative)}).xreplace(names)
    return np.array(sm.lambdify(list(names.values()), plain)(*numbers), float).ravel()


def turning(seed, names="N A B C"):
    """Frames in a chain, each turned in the one before about x, y or z by an angle that mixes coordinates and time."""
    rng, found = np.random.default_rng(seed), frames(names)
    axes = rng.permutation(3)
    for i, (before, frame) in enumerate(pairwise(found)):
        k = [sm.Rational(int(x), 4) for x in rng.integers(1, 6, 4)]
        angle = k[0] * Q[0] + k[1] * Q[1] ** 2 + k[2] * Q[1] * Q[2] + k[3] * t
        frame.orient_axis(before, (before.x, before.y, before.z)[axes[i]], angle)
    return found
