"""The router: it checks the arguments of a quantity, chooses the backend that evaluates it, and
checks the result.

    single state of plain doubles --> SingleCalls --(calls it does not handle)--+
    anything else ---------------------------------------------------------> Router --> backend

A backend is one way to compile kernels: lanes, compiled for one mechanism, or generic kernels,
compiled once for all mechanisms. `Router.batch` and `Router.single_state` hold the backends in the
order in which they are tried; the first that can evaluate a request does. Lanes come first, for
single states too, except where the backend "generic" was chosen, where nothing moves, and where a
mechanism has more than LANES_UP_TO nodes.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..compiler import Single, compile_single, generic, generic_binding, single_state
from ..errors import StateError
from . import arguments, diagnosis
from .generic_life import GenericLife
from .lanes_life import LanesLife, tape
from .quantities import Quantity, find
from .request import Array, Life, Request
from .spec import Spec
from .state_check import require_possible

# The largest number of nodes for which "auto" uses lanes. The time to compile a tape grows with the
# mechanism, and for large mechanisms generic kernels are nearly as fast.
LANES_UP_TO = 64
# The most bytes of stack that a single call may use: on some systems a thread has only 512 kB.
SINGLE_CALL_STACK_BYTES = 400_000
LIVES = ("auto", "generic", "lanes")


class Router:
    """Evaluates every quantity of one machine, through `ask`."""

    def __init__(self, spec: Spec):
        self.spec, self.generic, self.lanes = spec, GenericLife(spec), LanesLife(spec)
        # the lives, in the order in which they are tried
        self.batch: tuple[Life, ...] = (self.lanes, self.generic)
        if (
            spec.life == "generic"
            or not spec.sizes.nv
            or (spec.life == "auto" and len(spec.layout.nodes) > LANES_UP_TO)
        ):
            self.batch = (self.generic, self.lanes)
        self.single_state: tuple[Life, ...] = self.batch
        self._shapes: dict[Quantity, tuple[tuple[int, ...], ...]] = {}

    def ask(
        self,
        quantity: Quantity,
        given: tuple[Any, ...],
        wrenches: Any = None,
        parameters: Any = None,
        which: tuple[str, ...] = (),
        t: Any = 0.0,
        check: bool = True,
    ) -> tuple[Array, ...]:
        """Return the outputs of a quantity, one array (..., *shape) each. check: whether to raise
        an error where a state violates the constraint rows, for quantities that are defined only
        where these hold (`Quantity.on_rows`).
        """
        request = self.request(quantity, given, wrenches, parameters, which, t)
        shapes = self.shapes(quantity)
        if request.batch == 0 or (quantity.of_rows and not self.spec.rows):
            return tuple(np.zeros((*request.lead, *shape)) for shape in shapes)
        if check and quantity.on_rows and self.spec.rows:
            request = request._replace(on_rows=True)
        answer = self.life(request).call(request)
        if request.on_rows and not answer.finite:
            require_possible(self, request)
        if not answer.finite or diagnosis.suspicious(request, answer.results[0]):
            diagnosis.explain(self.spec, self.ask, request, answer.results[0])
        return tuple(x.reshape((*request.lead, *shape)) for x, shape in zip(answer.results, shapes))

    def life(self, request: Request) -> Life:
        """Return the first backend that can evaluate a request."""
        for life in self.batch if request.lead else self.single_state:
            if life.can(request):
                return life
        raise StateError(f"no backend can evaluate {request.quantity.name}")

    def shapes(self, quantity: Quantity) -> tuple[tuple[int, ...], ...]:
        """Return the shape of each output of a quantity, for one state."""
        if quantity not in self._shapes:
            self._shapes[quantity] = tuple(
                y.size(self.spec.sizes) for y in quantity.outputs_of(self.spec.sizes)
            )
        return self._shapes[quantity]

    def request(
        self,
        quantity: Quantity,
        given: tuple[Any, ...],
        wrenches: Any,
        parameters: Any,
        which: tuple[str, ...],
        t: Any,
    ) -> Request:
        """Check the arguments of a call, and return them as one record."""
        spec = self.spec
        arguments.check_frame(spec, quantity, which)
        if quantity.moving and not spec.sizes.nv:
            raise StateError(
                f"{quantity.name}: nothing of mechanism {spec.mechanism.name!r} moves, all its"
                " joints are fixed"
            )
        if len(given) != len(quantity.inputs):
            raise StateError(
                f"{quantity.name} takes {', '.join(quantity.inputs)}; found {len(given)} arrays"
            )
        states = tuple(
            arguments.array(spec, quantity.name, name, x) for name, x in zip(quantity.inputs, given)
        )
        keys, forces = arguments.wrenches(spec, quantity.name, wrenches)
        if keys and not quantity.wrenches:
            raise StateError(
                f"{quantity.name} does not depend on external wrenches; leave them out"
            )
        p = arguments.parameters(spec, parameters)
        time = arguments.numbers(quantity.name, "t", t)[..., None] if spec.timed else None
        lead = arguments.batch(
            quantity.name,
            {**dict(zip(quantity.inputs, states)), "wrenches": forces, "parameters": p, "t": time},
        )
        return Request(quantity, states, which, keys, forces, p, time, lead, math.prod(lead))


class SingleCalls(dict[str, Callable[..., Any]]):
    """Compiled calls for a single state, {name of the quantity: call}, each from arrays to a new
    array.

    A call is compiled when the quantity is first evaluated at a single state; until then batches go
    to the router. For a mechanism with at most LANES_UP_TO nodes it is the compiled expression of
    the quantity, for a larger one the generic kernel. It takes the states of the quantity, then the
    time where the quantity depends on it. Arguments that it does not take, such as batches, are
    passed on to the router.
    """

    def __init__(self, router: Router):
        self.router = router

    def __missing__(self, name: str) -> Callable[..., Any]:
        quantity = find(name)
        rest = partial(_ask_state, self.router, quantity)
        if single_state.available() and self.router.spec.sizes.nv:
            return partial(self._first, quantity, rest)
        self[name] = rest
        return rest

    def _first(self, quantity: Quantity, rest: Callable[..., Any], *given: Any) -> Any:
        """Evaluate the first call of a quantity: a single state causes the compilation of the
        function that is called from then on; a batch goes to the router (`rest`).
        """
        if getattr(given[0], "ndim", 0) != 1:
            return rest(*given)
        self[quantity.name] = call = self._compile(quantity, rest)
        return call(*given)

    def _compile(self, quantity: Quantity, rest: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that evaluates a quantity for single states: its generic kernel, or
        its compiled expression.
        """
        spec = self.router.spec
        has_generic_kernel = (
            quantity.single is not None
            and quantity.name not in spec.traces
            and spec.generic
            and spec.life != "lanes"
        )
        if has_generic_kernel and (spec.life == "generic" or len(spec.layout.nodes) > LANES_UP_TO):
            bind = partial(_generic_call, self.router, quantity)
            if quantity.on_rows and spec.rows:  # the router checks the state first
                return rest
            return (
                bind(rest)
                if spec.springs is None
                else spec.springs.one(quantity.springs, bind, rest)
            )
        return _tape_call(spec, quantity, rest, partial(_replace, weakref.ref(self), quantity.name))


def _replace(calls: weakref.ref[SingleCalls], name: str, call: Callable[..., Any]) -> None:
    """Replace the call of a quantity, unless the table of calls has been deleted."""
    if (found := calls()) is not None:
        found[name] = call


class RoutedCalls(dict[str, Callable[..., Any]]):
    """Functions for a single state that compile nothing: each call goes through the router."""

    def __init__(self, router: Router):
        self.router = router

    def __missing__(self, name: str) -> Callable[..., Any]:
        self[name] = call = partial(_ask_state, self.router, find(name))
        return call


def _tape_call(
    spec: Spec,
    quantity: Quantity,
    rest: Callable[..., Any],
    improved: Callable[[Any], None] = lambda _: None,
) -> Callable[..., Any]:
    """Return the function that evaluates the compiled expression of a quantity. improved: a
    function that later receives the optimised function, which replaces this one.
    """
    p = list(spec.mechanism.parameters.values())
    clock = "used" if spec.timed else "ignored" if quantity.time else ""
    # the tape of every quantity of a timed mechanism takes the time; here it is always zero
    if clock == "used" and not quantity.time:
        p, clock = [*p, 0.0], ""
    function = tape(spec, quantity, on_rows=quantity.on_rows)
    single = _single(spec, quantity, len(p), clock)
    return compile_single(function, single).builtin(p, rest, improved)


def _generic_call(
    router: Router, quantity: Quantity, rest: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the function that evaluates the generic kernel of a quantity; inputs that the kernel
    has in addition to the quantity's own are zero. Return `rest` where its memory does not fit into
    SINGLE_CALL_STACK_BYTES.
    """
    assert quantity.single is not None
    spec = router.spec
    structure = router.generic.structure
    name = quantity.single(router.spec.layout)
    sizes = [int(np.prod(structure.shape(generic.INPUTS[x]))) for x in generic.KERNELS[name].inputs]
    same = sum(sizes[len(quantity.inputs) :])
    outputs = int(np.prod(structure.shape(generic.KERNELS[name].out)))
    scratch = sum(
        int(np.prod(structure.shape(shape)))
        for _, shape in generic.scratch(generic.KERNELS[name].kernel)
    )
    if 8 * (sum(sizes) + outputs + scratch) > SINGLE_CALL_STACK_BYTES:
        return rest
    single = _single(spec, quantity, same, "ignored" if quantity.time else "", outputs)
    return generic_binding.bind_single(name, structure, single).builtin([0.0] * same, rest)


def _single(
    spec: Spec, quantity: Quantity, same: int, clock: str, outputs: int | None = None
) -> Single:
    """Return the record that says how a single state of a quantity is passed to compiled code."""
    given = tuple(spec.sizes.nq if name == "q" else spec.sizes.nv for name in quantity.inputs)
    shape = quantity.outputs[0].size(spec.sizes)
    limit = diagnosis.SUSPICIOUS_RESULT if quantity.inverts else single_state.LARGEST
    return Single(
        given, same, clock, outputs or int(np.prod(shape)), shape, spec.quaternions, limit
    )


def _ask_state(router: Router, quantity: Quantity, *given: Any) -> Array:
    """Return the only output of a quantity, evaluated by the router. given: its states, and the
    time where it depends on it.
    """
    count = len(quantity.inputs)
    t = given[count] if quantity.time else 0.0
    found = router.ask(quantity, given[:count], t=t)[0]
    taken = count + bool(quantity.time)
    return found if len(given) == taken else written(quantity.name, found, given[taken])


def written(name: str, found: Array, out: Any) -> Array:
    """Copy a result into an array that the caller gave, and return that."""
    if not isinstance(out, np.ndarray) or out.shape != found.shape or out.dtype != np.float64:
        what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"{name}: out is {what}; it is an array of float64 of shape {found.shape}")
    if not out.flags.writeable:
        raise StateError(f"{name}: out is read-only; give an array that can be written")
    out[...] = found
    return out
