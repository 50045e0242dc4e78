"""The router in front of the lives: arguments are checked once, one life answers, the answer is checked.

    single state of plain doubles ---> SingleCalls ----(what it cannot take)----+
    anything else -------------------------------------------------------------> Router ---> the first life that can

A life is a member of `Router.single_state` and `Router.batch`, which say in which order they are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..compiler import fastcall, one_state
from ..errors import StateError
from . import arguments, diagnosis
from .generic_life import GenericLife
from .lanes_life import LanesLife
from .quantities import Quantity, find
from .request import Array, Life, Request
from .spec import Spec

LANES_UP_TO = 100  # nodes; a tape grows with the mechanism, and its compilation with it
LIVES = ("auto", "generic", "lanes")


class Router:
    """Everything that can be asked of one machine goes through `ask`."""

    def __init__(self, spec: Spec):
        self.spec, self.generic, self.lanes = spec, GenericLife(spec), LanesLife(spec)
        self.single_state: tuple[Life, ...] = (self.generic, self.lanes)  # the lives, in the order in which they are asked
        self.batch: tuple[Life, ...] = (self.lanes, self.generic)
        if spec.life == "lanes" and spec.sizes.nv:
            self.single_state = self.batch
        if spec.life == "generic" or not spec.sizes.nv or (spec.life == "auto" and len(spec.layout.nodes) > LANES_UP_TO):
            self.batch = self.single_state
        self._shapes: dict[Quantity, tuple[tuple[int, ...], ...]] = {}

    def ask(self, quantity: Quantity, given: tuple[Any, ...], wrenches: Any = None, parameters: Any = None,
            which: tuple[str, ...] = (), t: Any = 0.0) -> tuple[Array, ...]:  # fmt: skip
        """The results of a quantity, one array (..., *shape) each."""
        request = self.request(quantity, given, wrenches, parameters, which, t)
        shapes = self.shapes(quantity)
        if request.batch == 0 or (quantity.of_rows and not self.spec.rows):
            return tuple(np.zeros((*request.lead, *shape)) for shape in shapes)
        answer = self.life(request).call(request)
        if not answer.finite or diagnosis.suspicious(request, answer.results[0]):
            diagnosis.explain(self, request, answer.results[0])
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
            self._shapes[quantity] = tuple(y.size(self.spec.sizes) for y in quantity.outputs_of(self.spec.sizes))
        return self._shapes[quantity]

    def request(
        self, quantity: Quantity, given: tuple[Any, ...], wrenches: Any, parameters: Any, which: tuple[str, ...], t: Any
    ) -> Request:
        """The question as a record, its arguments checked."""
        spec = self.spec
        arguments.check_frame(spec, quantity, which)
        if quantity.moving and not spec.sizes.nv:
            raise StateError(f"{quantity.name}: nothing of mechanism {spec.mechanism.name!r} moves, all its joints are fixed")
        if len(given) != len(quantity.inputs):
            raise StateError(f"{quantity.name} takes {', '.join(quantity.inputs)}; found {len(given)} arrays")
        states = tuple(arguments.array(spec, quantity.name, name, x) for name, x in zip(quantity.inputs, given))
        keys, forces = arguments.wrenches(spec, quantity.name, wrenches)
        if keys and not quantity.wrenches:
            raise StateError(f"{quantity.name} does not depend on external wrenches; leave them out")
        p = arguments.parameters(spec, parameters)
        time = arguments.numbers(quantity.name, "t", t)[..., None] if spec.timed else None
        lead = arguments.batch(quantity.name, {**dict(zip(quantity.inputs, states)), "wrenches": forces, "parameters": p, "t": time})
        return Request(quantity, states, which, keys, forces, p, time, lead, int(np.prod(lead)))


class SingleCalls(dict[str, Callable[..., Any]]):
    """One call per quantity for a single state: compiled, or found, at the first single state, from arrays to a new array.

    The calls take the quantity's states, then the time where it depends on it; what they cannot take they pass on to the
    router. A batch does not wait for them.
    """

    def __init__(self, router: Router):
        self.router = router

    def __missing__(self, name: str) -> Callable[..., Any]:
        quantity = find(name)
        rest = partial(_ask_state, self.router, quantity)
        spec = self.router.spec
        known = quantity.one_state is not None and name not in spec.traces and spec.generic and spec.life != "lanes"
        if known and fastcall.available():
            return partial(self._first, quantity, rest)
        self[name] = rest
        return rest

    def _first(self, quantity: Quantity, rest: Callable[..., Any], *given: Any) -> Any:
        """The first call of a quantity: a single state makes its built-in, which takes over; a batch goes on."""
        if getattr(given[0], "ndim", 0) != 1:
            return rest(*given)
        self[quantity.name] = made = self._made(quantity, rest)
        return made(*given)

    def _made(self, quantity: Quantity, rest: Callable[..., Any]) -> Callable[..., Any]:
        spec, handle = self.router.spec, self.router.generic.single
        assert quantity.one_state is not None
        bind = partial(one_state.bound, quantity.one_state(spec.layout), handle)
        return bind(rest) if spec.springs is None else spec.springs.one(quantity.springs, bind, rest)


def _ask_state(router: Router, quantity: Quantity, *given: Any) -> Array:
    """The one result of a quantity, of its states and then the time."""
    count = len(quantity.inputs)
    t = given[count] if quantity.time else 0.0
    return router.ask(quantity, given[:count], t=t)[0]
