"""The router in front of the lives: arguments are checked once, one life answers, the answer is
checked.

    single state of plain doubles ---> SingleCalls ----(what it cannot take)----+ anything else
    -------------------------------------------------------------> Router ---> the first life that
    can

A life is a member of `Router.single_state` and `Router.batch`, which say in which order they are
asked.
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

# nodes: a tape grows with the mechanism, and its compilation with it; generic code comes near it in
# speed
LANES_UP_TO = 64
# bytes of the stack that a single call may take; a thread has 512 kB on some systems
STACK = 400_000
LIVES = ("auto", "generic", "lanes")


class Router:
    """Everything that can be asked of one machine goes through `ask`."""

    def __init__(self, spec: Spec):
        self.spec, self.generic, self.lanes = spec, GenericLife(spec), LanesLife(spec)
        # the lives, in the order in which they are asked
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
        """The results of a quantity, one array (..., *shape) each. check: refuse states that break
        the constraint rows, where the quantity means nothing there.
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
        """The life that answers a request: the first that can."""
        for life in self.batch if request.lead else self.single_state:
            if life.can(request):
                return life
        raise StateError(f"no life of the kernels answers {request.quantity.name}")

    def shapes(self, quantity: Quantity) -> tuple[tuple[int, ...], ...]:
        """The shape of each result of a quantity, for one state."""
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
        """The question as a record, its arguments checked."""
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
    """One call per quantity for a single state: compiled, or found, at the first single state, from
    arrays to a new array.

    A small mechanism's is its own tape, a large one's the generic kernel. The calls take the
    quantity's states, then the time where it depends on it; what they cannot take they pass on to
    the router. A batch does not wait for them.
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
        """The first call of a quantity: a single state makes its built-in, which takes over; a
        batch goes on.
        """
        if getattr(given[0], "ndim", 0) != 1:
            return rest(*given)
        self[quantity.name] = made = self._made(quantity, rest)
        return made(*given)

    def _made(self, quantity: Quantity, rest: Callable[..., Any]) -> Callable[..., Any]:
        spec = self.router.spec
        known = (
            quantity.single is not None
            and quantity.name not in spec.traces
            and spec.generic
            and spec.life != "lanes"
        )
        if known and (spec.life == "generic" or len(spec.layout.nodes) > LANES_UP_TO):
            bind = partial(_generic_call, self.router, quantity)
            if quantity.on_rows and spec.rows:  # the router looks at the state first
                return rest
            return (
                bind(rest)
                if spec.springs is None
                else spec.springs.one(quantity.springs, bind, rest)
            )
        return _tape_call(spec, quantity, rest, partial(_replace, weakref.ref(self), quantity.name))


def _replace(calls: weakref.ref[SingleCalls], name: str, made: Callable[..., Any]) -> None:
    """Another call takes the place of one, where there still is somebody to call it."""
    if (found := calls()) is not None:
        found[name] = made


class RoutedCalls(dict[str, Callable[..., Any]]):
    """Calls for a single state that compile nothing: each goes through the router."""

    def __init__(self, router: Router):
        self.router = router

    def __missing__(self, name: str) -> Callable[..., Any]:
        self[name] = made = partial(_ask_state, self.router, find(name))
        return made


def _tape_call(
    spec: Spec,
    quantity: Quantity,
    rest: Callable[..., Any],
    improved: Callable[[Any], None] = lambda _: None,
) -> Callable[..., Any]:
    """The call of a mechanism's own tape. improved: is handed the call that takes its place after
    some time.
    """
    p = list(spec.mechanism.parameters.values())
    clock = "used" if spec.timed else "ignored" if quantity.time else ""
    # its tape has a time all the same, which is always zero
    if clock == "used" and not quantity.time:
        p, clock = [*p, 0.0], ""
    made = tape(spec, quantity, on_rows=quantity.on_rows)
    return compile_single(made, _single(spec, quantity, len(p), clock)).builtin(p, rest, improved)


def _generic_call(
    router: Router, quantity: Quantity, rest: Callable[..., Any]
) -> Callable[..., Any]:
    """The call of a generic kernel. Its inputs beyond the quantity's own are zero."""
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
    if 8 * (sum(sizes) + outputs + scratch) > STACK:
        return rest
    single = _single(spec, quantity, same, "ignored" if quantity.time else "", outputs)
    return generic_binding.bind_single(name, structure, single).builtin([0.0] * same, rest)


def _single(
    spec: Spec, quantity: Quantity, same: int, clock: str, outputs: int | None = None
) -> Single:
    """How a state of a quantity is handed over."""
    given = tuple(spec.sizes.nq if name == "q" else spec.sizes.nv for name in quantity.inputs)
    shape = quantity.outputs[0].size(spec.sizes)
    limit = diagnosis.HUGE if quantity.inverts else single_state.LARGEST
    return Single(
        given, same, clock, outputs or int(np.prod(shape)), shape, spec.quaternions, limit
    )


def _ask_state(router: Router, quantity: Quantity, *given: Any) -> Array:
    """The one result of a quantity, of its states and then the time."""
    count = len(quantity.inputs)
    t = given[count] if quantity.time else 0.0
    return router.ask(quantity, given[:count], t=t)[0]
