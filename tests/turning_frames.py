"""Random frames that turn in time, and numbers for expressions of them: shared by the tests of the
algebra.
"""

from __future__ import annotations

import math
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
    """Numbers for scalar expressions: every derivative, function and symbol in them has a random
    value of its own.
    """
    known: dict[sm.Basic, float] = {}

    def value(e):
        if e not in known:
            known[e] = found(e)
        return known[e]

    def found(e):
        if isinstance(e, (sm.Derivative, AppliedUndef, sm.Symbol)):
            return np.random.default_rng([seed, *str(e).encode()]).uniform(0.2, 1.5)
        if e.is_Number or e.is_NumberSymbol:
            return float(e)
        operation = {
            sm.Add: lambda *x: math.fsum(x),
            sm.Mul: lambda *x: math.prod(x),
            sm.Pow: pow,
        }.get(e.func)
        return (operation or getattr(math, e.func.__name__))(*(value(x) for x in e.args))

    return np.array([value(sm.sympify(e)) for e in expressions], float)


def turning(seed, names="N A B C"):
    """Frames in a chain, each turned in the one before about x, y or z by an angle that mixes
    coordinates and time.
    """
    rng = np.random.default_rng(seed)
    found = frames(names)
    axes = rng.permutation(3)
    for i, (before, frame) in enumerate(pairwise(found)):
        k = [sm.Rational(int(x), 4) for x in rng.integers(1, 6, 4)]
        angle = k[0] * Q[0] + k[1] * Q[1] ** 2 + k[2] * Q[1] * Q[2] + k[3] * t
        frame.orient_axis(before, (before.x, before.y, before.z)[axes[i]], angle)
    return found
