"""Losses in the joints, where simulations look for them: `compiler/joint_losses.py`."""

from ...compiler import damping, losses

__all__ = ["damping", "losses"]
