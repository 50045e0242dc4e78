"""Gravity as a symbol: the letter g in place of 9.81."""

from __future__ import annotations

import math

from ...model import Mechanism

LETTERS = ("g", "g0", "g_0")


def with_letter(m: Mechanism) -> Mechanism:
    """Return the mechanism with the size of its gravity as one more parameter, the last; the
    mechanism itself where gravity already depends on a parameter, or is zero.

    The letter is g, unless the mechanism uses that name for something else.
    """
    if not all(isinstance(x, float) for x in m.gravity):
        return m
    size = math.hypot(*m.gravity)
    taken = {*m.parameters, *m.coordinate_names, *m.speed_names}
    letter = next((x for x in LETTERS if x not in taken), None)
    if not size or letter is None:
        return m
    from sympy import Symbol

    g = Symbol(letter)
    return m.with_(
        gravity=tuple(x / size * g if x else 0.0 for x in m.gravity),
        parameters={**m.parameters, letter: size},
    )
