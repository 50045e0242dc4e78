"""Type synthesis: all kinematic chains with one degree of freedom and a given number of links and
pin joints.

A chain is a graph: links are vertices, joints are edges. A planar chain of n links with one freedom
has (3 n - 4)/2 joints (Gruebler), every link has at least two, and no part of it is rigid: any k
links that are joined among themselves have at most (3 k - 4)/2 joints. The number of chains that
are not isomorphic is 1, 2, 16, 230 for 4, 6, 8, 10 links. [Mruthyunjaya2003]

For every sequence of joints per link the graphs are built link by link, without those that have a
rigid part; isomorphic copies are found by networkx.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from ..errors import QuestionError


def kinematic_chains(links: int) -> list[Any]:
    """Return all kinematic chains with one degree of freedom, without isomorphic copies.

    Parameters
    ----------
    links : int
        The number of links, even, from 4 on.

    Returns
    -------
    list of networkx.Graph
        Vertices are links, edges are pin joints.

    Raises
    ------
    QuestionError
        Where the number is odd or below 4, or networkx is not installed.

    Examples
    --------
    >>> [len(kinematic_chains(n)) for n in (4, 6)]
    [1, 2]
    """
    if links < 4 or links % 2:
        raise QuestionError(
            f"kinematic chains with {links} links: chains of one freedom with pin joints have 4, 6,"
            " 8, ... links"
        )
    try:
        import networkx as nx
    except ImportError:
        raise QuestionError(
            "kinematic_chains compares graphs with networkx, which is not installed:"
            " pip install catena[synthesis]"
        ) from None
    joints = (3 * links - 4) // 2
    found: dict[Any, list[Any]] = {}
    for degrees in _degree_sequences(links, joints):
        for edges in _graphs(degrees):
            graph = nx.Graph(edges)
            if not nx.is_connected(graph) or not _free(edges, links):
                continue
            key = _invariant(graph)
            same = found.setdefault(key, [])
            if not any(nx.is_isomorphic(graph, other) for other in same):
                same.append(graph)
    return [graph for same in found.values() for graph in same]


def _invariant(graph: Any) -> Any:
    """Return a value that isomorphic graphs have in common: the degrees of the neighbours of every
    link and of their neighbours, sorted.
    """
    near = {v: tuple(sorted(graph.degree(u) for u in graph[v])) for v in graph}
    return tuple(sorted((near[v], tuple(sorted(near[u] for u in graph[v]))) for v in graph))


def _degree_sequences(links: int, joints: int) -> Iterator[tuple[int, ...]]:
    """Yield non-increasing sequences of joints per link, each from 2 to links/2, with the given
    sum.
    """

    def extend(sequence: tuple[int, ...], left: int) -> Iterator[tuple[int, ...]]:
        rest = links - len(sequence)
        if not rest:
            if not left:
                yield sequence
            return
        high = min(sequence[-1] if sequence else links // 2, left - 2 * (rest - 1))
        for d in range(high, 1, -1):
            if d * rest >= left:
                yield from extend((*sequence, d), left - d)

    yield from extend((), 2 * joints)


def _graphs(degrees: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the graphs with these degrees, vertex by vertex. Among vertices that are still alike
    (the same degree left, the same neighbours) the first ones are taken, which leaves out most
    isomorphic copies.
    """
    n = len(degrees)

    def extend(
        v: int, left: list[int], edges: tuple[tuple[int, int], ...]
    ) -> Iterator[tuple[tuple[int, int], ...]]:
        if v == n:
            yield edges
            return
        if left[v] > n - 1 - v:
            return
        near: dict[int, list[int]] = {u: [] for u in range(v + 1, n)}
        for a, b in edges:
            if b in near:
                near[b].append(a)
        classes: dict[tuple[Any, ...], list[int]] = {}
        for u in range(v + 1, n):
            if left[u]:
                classes.setdefault((degrees[u], tuple(near[u])), []).append(u)
        for chosen in _choices(list(classes.values()), left[v]):
            after = left.copy()
            after[v] = 0
            for u in chosen:
                after[u] -= 1
            new = (*edges, *((v, u) for u in chosen))
            if _free(new, n, last=v):
                yield from extend(v + 1, after, new)

    yield from extend(0, list(degrees), ())


def _choices(classes: list[list[int]], count: int) -> Iterator[tuple[int, ...]]:
    """Yield choices of `count` vertices, the first ones of each class of alike vertices."""
    if not count:
        yield ()
        return
    if not classes:
        return
    for k in range(min(count, len(classes[0])), -1, -1):
        for rest in _choices(classes[1:], count - k):
            yield (*classes[0][:k], *rest)


def _free(edges: tuple[tuple[int, int], ...], n: int, last: int | None = None) -> bool:
    """Return whether no part of the chain is rigid: k links, k < n, with 2 e >= 3 k - 3 joints
    among them form a structure. With `last`, only parts that contain this link and its neighbours
    are tested.
    """
    masks = [0] * n
    for a, b in edges:
        masks[a] |= 1 << b
        masks[b] |= 1 << a
    around = [v for v in range(n) if masks[v]]
    for k in range(3, n):
        allowed = (3 * k - 4) // 2
        if k * (k - 1) // 2 <= allowed:
            continue
        for part in combinations(around, k):
            if last is not None and last not in part:
                continue
            inside = sum(1 << v for v in part)
            if sum((masks[v] & inside).bit_count() for v in part) > 2 * allowed:
                return False
    return True
