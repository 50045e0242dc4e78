"""The certificate that the formulations agree on a mechanism, and the comparison of their costs."""

from __future__ import annotations

from .certificate import Certificate, check
from .comparison import Comparison, compare

__all__ = ["Certificate", "Comparison", "check", "compare"]
