"""Constrained dynamics by other routes than the machine's, to check it against: dense, plain, in
the sources' own letters.

    chain      a serial chain's H, bias, Jacobian and its rate by recursion  [Merwe1995] 5.2.5-5.2.8
    tip  a chain whose tip touches something: Omega, Lambda^-1, class I and II
            [Merwe1995] chapter 5
    reference   several chains that carry one body                             [Merwe1995] chapter 6
    minimal     independent coordinates by the null space of the rows

None of them calls the kernels of `catena.kernels`, except `minimal`, which takes M, the bias and
the rows from them.
"""

from __future__ import annotations

from .chain import Chain, chain
from .minimal import minimal_coordinates
from .reference import Supporting, reference_member
from .tip import tip_contact

__all__ = ["Chain", "Supporting", "chain", "minimal_coordinates", "reference_member", "tip_contact"]
