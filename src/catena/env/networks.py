"""Networks of layers with tanh: what a policy trained here is, and its ONNX file."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Network:
    """Layers x -> x W + b, with tanh between them. weights: W, b of each layer in order, which
    training changes in place.
    """

    weights: tuple[Array, ...]

    @staticmethod
    def random(rng: np.random.Generator, sizes: tuple[int, ...], last: float) -> Network:
        """Return a network of orthogonal random matrices; `last` scales those of its last layer."""
        found: list[Array] = []
        for k, (n, m) in enumerate(itertools.pairwise(sizes)):
            Q, R = np.linalg.qr(rng.standard_normal((max(n, m), min(n, m))))
            Q = Q * np.sign(np.diagonal(R))
            W = (Q if n >= m else Q.T) * (last if k == len(sizes) - 2 else np.sqrt(2.0))
            found += [np.ascontiguousarray(W), np.zeros(m)]
        return Network(tuple(found))

    def __call__(self, x: Array) -> Array:
        """Return the outputs (n, outputs) for inputs (n, inputs)."""
        return self.remember(x)[0]

    def remember(self, x: Array) -> tuple[Array, list[Array]]:
        """Return the outputs, and the inputs of all layers."""
        memory = []
        count = len(self.weights) // 2
        for k in range(count):
            memory.append(x)
            x = x @ self.weights[2 * k] + self.weights[2 * k + 1]
            if k < count - 1:
                x = np.tanh(x)
        return x, memory

    def backward(self, memory: list[Array], by_output: Array) -> list[Array]:
        """Return the derivatives of a loss by the weights, from those by the outputs."""
        found: list[Array] = []
        d = by_output
        for k in reversed(range(len(memory))):
            found = [memory[k].T @ d, d.sum(axis=0), *found]
            if k:
                d = (d @ self.weights[2 * k].T) * (1.0 - memory[k] ** 2)
        return found

    def save(self, file: str | Path) -> Path:
        """Write the network as an ONNX file, in double precision. Needs the package onnx."""
        from onnx import TensorProto, helper, numpy_helper, save_model

        nodes: list[Any] = []
        tensors: list[Any] = []
        x = "observations"
        count = len(self.weights) // 2
        for k in range(count):
            for word, w in zip(("W", "b"), self.weights[2 * k : 2 * k + 2], strict=False):
                tensors.append(numpy_helper.from_array(np.asarray(w, float), f"{word}{k}"))
            out = "actions" if k == count - 1 else f"sum{k}"
            nodes.append(helper.make_node("Gemm", [x, f"W{k}", f"b{k}"], [out]))
            if k < count - 1:
                nodes.append(helper.make_node("Tanh", [out], [f"layer{k}"]))
                x = f"layer{k}"
        inputs, outputs = self.weights[0].shape[0], self.weights[-1].shape[0]
        shape = helper.make_tensor_value_info
        graph = helper.make_graph(
            nodes,
            "policy",
            [shape("observations", TensorProto.DOUBLE, ["n", inputs])],
            [shape("actions", TensorProto.DOUBLE, ["n", outputs])],
            tensors,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        save_model(model, str(file))
        return Path(file)
