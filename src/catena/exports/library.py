"""A plant as a shared library, whose functions are called from Python.

arm = build(plant, "out")        out/libarm.so and out/arm.h
Library(arm).derivative(0.0, x, u, p)
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CompileError, StateError
from ..formats import files
from . import c_header
from .c_compiler import SUFFIX, shared_library
from .plant import Plant

_WRAPPED = """#include "{name}.h"
#if defined _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
API void catena_sizes(int *n) {{ n[0] = {name}_NX; n[1] = {name}_NU; n[2] = {name}_NY; n[3] = {name}_NP; }}
API void catena_start(double *x, double *p)
{{
    int i;
    for (i = 0; i < {name}_NX; i++) x[i] = {name}_start[i];
    for (i = 0; i < {name}_NP; i++) p[i] = {name}_parameters[i];
}}
API void catena_derivative(double t, const double *x, const double *u, const double *p, double *dx) {{ {name}_derivative(t, x, u, p, dx); }}
API void catena_outputs(double t, const double *x, const double *u, const double *p, double *y) {{ {name}_outputs(t, x, u, p, y); }}
API void catena_project(double t, const double *x, const double *u, const double *p, double *y) {{ {name}_project(t, x, u, p, y); }}
API void catena_step(double t, double *x, const double *u, const double *p, double h) {{ {name}_step(t, x, u, p, h); }}
API int catena_advance(double *t, double *x, const double *u, const double *p, double until, double tolerance, double *h)
{{
    return {name}_advance(t, x, u, p, until, tolerance, h);
}}
"""  # noqa: E501


def build(plant: Plant, folder: str | Path) -> Path:
    """Write NAME.h and NAME.c into a folder, compile them into a shared library, and return its
    path.
    """
    header = c_header.write(plant, folder)
    source = header.with_suffix(".c")
    files.write(source, _WRAPPED.format(name=plant.name))
    library = header.parent / f"lib{plant.name}{SUFFIX}"
    shared_library(source.resolve(), library.resolve())
    return library


class Library:
    """The functions of a compiled plant, with arrays.

    u and p default to zeros and to the values of the parameters. Raises CompileError where the file
    is no such library.
    """

    def __init__(self, path: str | Path):
        try:
            self._c = ctypes.CDLL(str(Path(path).resolve()))
            sizes = (ctypes.c_int * 4)()
            self._c.catena_sizes(sizes)
        except (OSError, AttributeError) as why:
            raise CompileError(f"{str(path)!r} is no library of a plant: {why}") from None
        self.nx, self.nu, self.ny, self.np = sizes
        self.start, self.parameters = np.zeros(self.nx), np.zeros(self.np)
        self._c.catena_start(_at(self.start), _at(self.parameters))

    def derivative(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the rate x' (nx,) of the state."""
        return self._call("catena_derivative", t, x, u, p, self.nx)

    def outputs(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the outputs y (ny,)."""
        return self._call("catena_outputs", t, x, u, p, self.ny)

    def project(
        self, t: float, x: ArrayLike, u: ArrayLike | None = None, p: ArrayLike | None = None
    ) -> np.ndarray:
        """Return x (nx,) projected onto its constraints."""
        return self._call("catena_project", t, x, u, p, self.nx)

    def step(
        self,
        t: float,
        x: ArrayLike,
        h: float,
        u: ArrayLike | None = None,
        p: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return x (nx,) after one step of RK4 of h seconds."""
        state, force, values = self._given(x, u, p)
        self._c.catena_step(
            ctypes.c_double(t), _at(state), _at(force), _at(values), ctypes.c_double(h)
        )
        return state

    def advance(
        self,
        t: float,
        x: ArrayLike,
        until: float,
        tolerance: float = 1e-9,
        u: ArrayLike | None = None,
        p: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return x (nx,) at the time `until` (s), by adaptive steps of the pair 5(4).

        Raises CompileError where no step meets the relative tolerance.
        """
        state, force, values = self._given(x, u, p)
        now = ctypes.c_double(t)
        h = ctypes.c_double(0.0)
        if self._c.catena_advance(
            ctypes.byref(now),
            _at(state),
            _at(force),
            _at(values),
            ctypes.c_double(until),
            ctypes.c_double(tolerance),
            ctypes.byref(h),
        ):
            raise CompileError(
                f"no step is short enough for the tolerance {tolerance:g} at t = {now.value:.6g} s"
            )
        return state

    def _call(
        self, name: str, t: float, x: ArrayLike, u: ArrayLike | None, p: ArrayLike | None, size: int
    ) -> np.ndarray:
        """Return the result (size,) of a function of (t, x, u, p)."""
        found = np.zeros(size)
        getattr(self._c, name)(ctypes.c_double(t), *map(_at, self._given(x, u, p)), _at(found))
        return found

    def _given(
        self, x: ArrayLike, u: ArrayLike | None, p: ArrayLike | None
    ) -> tuple[np.ndarray, ...]:
        """Return x, u, p as arrays; raise StateError where one has the wrong shape."""
        given = [x, np.zeros(self.nu) if u is None else u, self.parameters if p is None else p]
        arrays = tuple(np.array(a, dtype=float) for a in given)
        for letter, a, n in zip("xup", arrays, (self.nx, self.nu, self.np)):
            if a.shape != (n,):
                raise StateError(f"{letter} has shape {a.shape}; it takes ({n},)")
        return arrays


def _at(a: np.ndarray) -> ctypes.c_void_p:
    """Return the address of an array's data."""
    return ctypes.c_void_p(a.ctypes.data)
