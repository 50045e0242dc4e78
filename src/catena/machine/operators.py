"""Quantities as differentiable operators of PyTorch and JAX: the value and the exact pullback, both
compiled to lanes.

    y = f(q, v, ...),      (dq, dv, ...) = (df/dq)' dy, (df/dv)' dy, ...

Arrays are (..., n); leading dimensions are a batch. Contiguous float64 arrays on the CPU are read
in place, without a copy. Derivatives are with respect to the entries of the arrays: a quaternion
has four.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..compiler import LARGEST, Handler, LaneKernel, compile_lanes
from ..errors import StateError
from .diagnosis import SUSPICIOUS_RESULT
from .lanes_life import tape
from .quantities import find
from .xla_call import register

if TYPE_CHECKING:
    from .machine import Machine

Array = NDArray[np.float64]


class Operator:
    """One quantity of one machine: its value and its pullback."""

    def __init__(self, machine: Machine, quantity: str, *which: str):
        self.machine, self.quantity, self.which = machine, find(quantity), which
        shapes = [y.size(machine.spec.sizes) for y in self.quantity.outputs_of(machine.spec.sizes)]
        if len(shapes) != 1:
            raise StateError(
                f"{quantity} has {len(shapes)} results; an operator has one: mass_matrix,"
                " forward_dynamics, inverse_dynamics and others"
            )
        if len(which) != self.quantity.frame + self.quantity.axes:
            raise StateError(
                f"{quantity}:"
                f" {'give the frame' + (' and its axes' if self.quantity.axes else '') if self.quantity.frame else 'it is no quantity of a frame'}"  # noqa: E501
            )
        self.shape, self.count = shapes[0], len(self.quantity.inputs)
        self.sizes = tuple(machine.nq if x == "q" else machine.nv for x in self.quantity.inputs)
        self.plain = not which

    def value(self, *given: Array) -> Array:
        """Return the value y (..., *shape)."""
        if self.plain and given[0].ndim == 1:
            return (
                self.machine._single[self.quantity.name](*given)
                if not self.quantity.time
                else self.machine._single[self.quantity.name](*given, 0.0)
            )
        return self.machine._router.ask(self.quantity, given, None, None, self.which)[0]

    def pullback(self, dy: Array, *given: Array) -> tuple[Array, ...]:
        """Return (df/dx)' dy for each input x, in the shape of x."""
        lead = dy.shape[: dy.ndim - len(self.shape)]
        batch = int(np.prod(lead))
        flat = [_rows(x, lead, batch) for x in given] + [_rows(dy.reshape(*lead, -1), lead, batch)]
        out, _ = self._kernel(flat + self._same, batch, threads=self.machine.threads)
        return tuple(_summed(x.reshape(*lead, x.shape[-1]), y.shape) for x, y in zip(out, given))

    def native_value(self, rest: int) -> Handler | None:
        """Return machine code for the value, if lanes evaluate batches of the quantity; else None.
        rest: the address of the function that takes over the calls that this code does not handle.
        """
        router = self.machine._router
        states = tuple(
            self.machine.neutral() if x == "q" else np.zeros(self.machine.nv)
            for x in self.quantity.inputs
        )
        request = router.request(self.quantity, states, None, None, self.which, 0.0)
        if (
            router.life(request) is not router.lanes
            or self.quantity.of_rows
            or "q" not in self.quantity.inputs[:1]
        ):
            return None
        limit = SUSPICIOUS_RESULT if self.quantity.inverts else LARGEST
        return Handler(
            router.lanes.kernel(request._replace(on_rows=self.quantity.on_rows)),
            range(self.count),
            self._same,
            rest,
            self.machine.spec.quaternions,
            limit,
        )

    def native_pullback(self, rest: int) -> Handler | None:
        """Return machine code for the pullback. Its call has dy as the first argument, the
        expression has it as the last.
        """
        return Handler(self._kernel, [*range(1, self.count + 1), 0], self._same, rest)

    @cached_property
    def _same(self) -> list[Array]:
        """The inputs of the expression that are the same for all states: the parameters, and the
        time zero.
        """
        spec = self.machine.spec
        p = (
            [np.array(list(spec.mechanism.parameters.values()), float)]
            if spec.parameter_names
            else []
        )
        return p + ([np.zeros(1)] if spec.timed else [])

    @cached_property
    def _kernel(self) -> LaneKernel:
        f = tape(self.machine.spec, self.quantity, self.which)
        x = f.sx_in()
        y = f(*x)
        dy = ca.SX.sym("dy", y.numel())
        rowwise = ca.reshape(ca.SX(y).T, -1, 1)  # arrays are by rows
        back = [ca.densify(ca.jtimes(rowwise, xi, dy, True)) for xi in x[: self.count]]
        return compile_lanes(
            ca.Function(
                f"{self.quantity.name}_pullback",
                [*x[: self.count], dy, *x[self.count :]],
                ca.cse(back),
            )
        )


def _rows(x: Array, lead: tuple[int, ...], batch: int) -> Array:
    return np.ascontiguousarray(
        np.broadcast_to(x, (*lead, x.shape[-1])).reshape(batch, x.shape[-1])
    )


def _summed(x: Array, shape: tuple[int, ...]) -> Array:
    """Sum an array over the dimensions that were broadcast from `shape`."""
    if x.shape == shape:
        return x
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(
        axis=tuple(k for k, n in enumerate(shape) if n == 1 and x.shape[k] != 1), keepdims=True
    )


def torch_operator(machine: Machine, quantity: str, *which: str) -> Callable[..., Any]:
    """Return the quantity as a function of float64 tensors on the CPU, with gradients and vmap."""
    try:
        import torch
    except ImportError:
        raise StateError("machine.torch needs PyTorch: pip install catena[torch]") from None
    op = Operator(machine, quantity, *which)
    double = torch.float64
    wrap = torch.from_numpy
    enabled = torch.is_grad_enabled

    class Pullback(torch.autograd.Function):
        """The pullback as an operator of its own. It supports vmap, and has no further
        derivatives.
        """

        @staticmethod
        def forward(dy: Any, *xs: Any) -> Any:
            return tuple(
                wrap(x)
                for x in op.pullback(
                    dy.detach().contiguous().numpy(), *[x.detach().numpy() for x in xs]
                )
            )

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *given: Any) -> Any:
            raise StateError(
                f"{quantity}: second derivatives of an operator are not there; differences of its"
                " gradients are"
            )

        @staticmethod
        def vmap(info: Any, dims: Any, *given: Any) -> Any:
            """Evaluate a batch. Each entry has its own gradients, also for an input that is the
            same for all.
            """
            moved = [
                x.expand(info.batch_size, *x.shape) if d is None else x.movedim(d, 0)
                for x, d in zip(given, dims)
            ]
            deepest = moved[0].ndim - 1 - len(op.shape)
            spread = [_front(x, deepest + 1) for x in moved[1:]]
            found = Pullback.apply(moved[0], *spread)
            return tuple(g.reshape(x.shape) for g, x in zip(found, moved[1:])), (0,) * len(found)

    class Recorded(torch.autograd.Function):
        """The operator and its pullback without support of vmap, which takes a third of the time of
        the form that supports it.
        """

        @staticmethod
        def forward(ctx: Any, *xs: Any) -> Any:
            ctx.save_for_backward(*xs)
            return wrap(op.value(*[x.numpy(force=True) for x in xs]))

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return Pullback.apply(dy, *ctx.saved_tensors)

    class Kernel(torch.autograd.Function):
        """The operator and its pullback, with vmap."""

        @staticmethod
        def forward(*xs: Any) -> Any:
            return wrap(op.value(*[x.detach().numpy() for x in xs]))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return Pullback.apply(dy, *ctx.saved_tensors)

        @staticmethod
        def vmap(info: Any, dims: Any, *xs: Any) -> Any:
            """Evaluate a batch, whose dimension is moved to the front."""
            deepest = max(x.ndim - (d is not None) for x, d in zip(xs, dims))
            moved = [x if d is None else _front(x.movedim(d, 0), deepest) for x, d in zip(xs, dims)]
            return Kernel.apply(*moved), 0

    transformed = torch._C._functorch.peek_interpreter_stack
    recorded = Recorded.apply

    def operator(*xs: Any) -> Any:
        if len(xs) != op.count:
            raise StateError(
                f"{quantity} takes {', '.join(op.quantity.inputs)}; found {len(xs)} tensors"
            )
        for x, name in zip(xs, op.quantity.inputs):
            if getattr(x, "dtype", None) is not double:
                raise StateError(
                    f"{quantity}: {name} is {getattr(x, 'dtype', type(x).__name__)}; kernels take"
                    f" torch.float64 tensors: {name}.double()"
                )
        if transformed() is not None:
            return Kernel.apply(*xs)
        for x in xs:
            if x.requires_grad and enabled():
                return recorded(*xs)
        return wrap(op.value(*[x.numpy(force=True) for x in xs]))

    operator.__doc__ = op.quantity.doc
    return operator


def _front(x: Any, deepest: int) -> Any:
    """Insert dimensions of size one after the batch dimension, so that inputs with different
    numbers of dimensions are broadcast in the same way.
    """
    return x.reshape(x.shape[0], *[1] * (deepest + 1 - x.ndim), *x.shape[1:])


def jax_operator(machine: Machine, quantity: str, *which: str) -> Callable[..., Any]:
    """Return the quantity as a function of float64 JAX arrays, with gradients, jit and vmap."""
    try:
        import jax
    except ImportError:
        raise StateError("machine.jax needs JAX: pip install catena[jax]") from None
    import jax.numpy as jnp

    double = np.dtype(np.float64)
    op = Operator(machine, quantity, *which)
    value = register(jax, quantity, lambda *xs: (op.value(*xs),), op.native_value)
    pullback = register(jax, f"{quantity}_pullback", op.pullback, op.native_pullback)

    def call(*xs: Any) -> Any:
        out = jax.ShapeDtypeStruct((*xs[0].shape[:-1], *op.shape), jnp.float64)
        return jax.ffi.ffi_call(value, out, vmap_method="broadcast_all")(*xs)

    def back(xs: Any, dy: Any) -> Any:
        outs = tuple(jax.ShapeDtypeStruct(x.shape, jnp.float64) for x in xs)
        return tuple(jax.ffi.ffi_call(pullback, outs, vmap_method="broadcast_all")(dy, *xs))

    kernel = jax.custom_vjp(call)
    kernel.defvjp(lambda *xs: (call(*xs), xs), back)

    @jax.jit
    def compiled(*xs: Any) -> Any:
        lead = jnp.broadcast_shapes(*(x.shape[:-1] for x in xs))
        return kernel(*(jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in xs))

    def operator(*xs: Any) -> Any:
        if len(xs) != op.count:
            raise StateError(
                f"{quantity} takes {', '.join(op.quantity.inputs)}; found {len(xs)} arrays"
            )
        for x, name, size in zip(xs, op.quantity.inputs, op.sizes):
            if getattr(x, "dtype", None) != double:
                raise StateError(
                    f"{quantity}: {name} is {getattr(x, 'dtype', type(x).__name__)}; kernels take"
                    ' float64 arrays: jax.config.update("jax_enable_x64", True) makes JAX keep'
                    " them"
                )
            if x.shape[-1:] != (size,):
                raise StateError(f"{quantity}: {name} has shape {x.shape}; it is (..., {size})")
        return compiled(*xs)

    operator.__doc__ = op.quantity.doc
    return operator
