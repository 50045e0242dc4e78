"""How much do the operators of PyTorch and JAX add to a call of a kernel for one state? Skipped for those that are not installed."""

from __future__ import annotations

import importlib.util

from peers import best, robot, states

machine, _, _ = robot("ur5")
x = [y[0] for y in states(machine, 1)]
own = best(lambda: machine.forward_dynamics(*x), 0.2)
print(f"forward dynamics of the UR5, one state: {own * 1e6:.2f} us")
if importlib.util.find_spec("torch"):
    import torch

    f, given = machine.torch("forward_dynamics"), [torch.from_numpy(y.copy()) for y in x]
    print(f"torch, without gradients: {(best(lambda: f(*given), 0.2) - own) * 1e6:.2f} us more")
    with_gradient = [y.clone().requires_grad_() for y in given]
    print(f"torch, recording for gradients: {(best(lambda: f(*with_gradient), 0.2) - own) * 1e6:.2f} us more")
if importlib.util.find_spec("jax"):
    import jax

    with jax.enable_x64(True):
        g, arrays = machine.jax("forward_dynamics"), [jax.numpy.asarray(y) for y in x]
        print(f"jax, called directly: {(best(lambda: g(*arrays), 0.2) - own) * 1e6:.2f} us more")
        compiled = jax.jit(g)
        print(f"jax, within jit: {(best(lambda: compiled(*arrays).block_until_ready(), 0.2) - own) * 1e6:.2f} us more")
