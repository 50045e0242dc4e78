"""How much do the operators of PyTorch and JAX add to a call of a kernel for one state? Skipped for
those that are not installed.

Beside each what the library itself takes for a call that computes nothing: an autograd.Function
that saves its inputs, a compiled sum.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
from peers import best, robot, states

machine, _, _ = robot("ur5")
x = [y[0] for y in states(machine, 1)]
own = best(lambda: machine.forward_dynamics(*x), 0.2)
print(f"forward dynamics of the UR5, one state: {own * 1e6:.2f} us")


def more(what: str, f: Callable[[], object], empty: Callable[[], object]) -> None:
    print(
        f"{what}: {(best(f, 0.2) - own) * 1e6:.2f} us more; the library alone"
        f" {best(empty, 0.2) * 1e6:.2f} us"
    )


if importlib.util.find_spec("torch"):
    import torch

    class Empty(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, *xs: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(*xs)
            return torch.from_numpy(x[0])

    f = machine.torch("forward_dynamics")
    given = [torch.from_numpy(y.copy()) for y in x]
    with_gradient = [y.clone().requires_grad_() for y in given]
    more(
        "torch, without gradients",
        lambda: f(*given),
        lambda: [torch.from_numpy(x[0]), *(y.numpy() for y in given)],
    )
    more(
        "torch, recording for gradients",
        lambda: f(*with_gradient),
        lambda: Empty.apply(*with_gradient),
    )
if importlib.util.find_spec("jax"):
    import jax

    with jax.enable_x64(True):
        g = machine.jax("forward_dynamics")
        arrays = [jax.numpy.asarray(y) for y in x]
        compiled = jax.jit(g)
        empty = jax.jit(lambda q, v, a: q + v + a)
        more(
            "jax, called directly",
            lambda: g(*arrays).block_until_ready(),
            lambda: empty(*arrays).block_until_ready(),
        )
        more(
            "jax, within jit",
            lambda: compiled(*arrays).block_until_ready(),
            lambda: empty(*arrays).block_until_ready(),
        )
        result = jax.ShapeDtypeStruct(x[0].shape, np.float64)
        callback = jax.jit(lambda *xs: jax.pure_callback(lambda *ys: x[0], result, *xs))
        print(
            "a callback of JAX's own that computes nothing:"
            f" {best(lambda: callback(*arrays).block_until_ready(), 0.2) * 1e6:.2f} us"
        )
