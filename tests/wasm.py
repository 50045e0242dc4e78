"""WebAssembly run by wasmtime, for tests: the functions of a module as functions of arrays."""

from __future__ import annotations

import ctypes
import math

import numpy as np


class Instance:
    """A module with its memory; `call(name, inputs, count)` gives `count` outputs."""

    def __init__(self, binary: bytes):
        import wasmtime

        engine = wasmtime.Engine()
        self.store, module = wasmtime.Store(engine), wasmtime.Module(engine, binary)
        double = wasmtime.ValType.f64()
        imported = [
            wasmtime.Func(
                self.store,
                wasmtime.FuncType([double] * len(i.type.params), [double]),
                getattr(math, i.name),
            )
            for i in module.imports
        ]
        self.exports = wasmtime.Instance(self.store, module, imported).exports(self.store)
        memory = self.exports["memory"]
        start = ctypes.addressof(memory.data_ptr(self.store).contents)
        self.memory = np.frombuffer(
            (ctypes.c_char * memory.data_len(self.store)).from_address(start), dtype=float
        )

    def call(self, name: str, inputs: np.ndarray, count: int) -> np.ndarray:
        self.memory[: len(inputs)] = inputs
        self.exports[name](self.store, 0, 8 * len(inputs))
        return self.memory[len(inputs) : len(inputs) + count].copy()
