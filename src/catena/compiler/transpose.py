"""Between rows of states, (batch, n), and lanes, [n][W]: a transposition on the way in and another
on the way out.

Columns are taken W at a time: W vectors of W doubles, one from each row, become the W columns by
shuffles of two vectors each. The first exchange is inside pairs of doubles, the others move whole
pairs, at which registers are quick:

    row 0  a b c d             a e c g             a e i m   column 0
    row 1  e f g h     ->      b f d h     ->      b f j n   column 1
    row 2  i j k l             i m k o             c g k o   column 2
    row 3  m n o p             j n l p             d h l p   column 3

A tile's part of a row is read and written at once: a line of the cache that is written piece by
piece costs as much for each. The columns left over are another tile, which takes some of those
before once more, or pairs and a single one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from .text import Text

MAX_UNROLLED_TILES = 2  # more tiles become a loop
# doubles: rows that are a multiple of this apart compete for a few sets of the first-level cache,
# each of which has room for eight lines; such rows are copied in strips
CACHE_SET_STRIDE = 128
STRIP = 64  # columns of a strip, in which four rows are copied at a time
MIN_ZERO_TILES = 2  # tiles of zeros that get a loop of their own

Column = int | str
Step = Callable[[Column], None]
See = Callable[[Text, list[str]], None]


def gather(t: Text, name: str, rows: list[str], n: int, x: str, see: See | None) -> None:
    """Read n columns of the rows that begin at the pointers `rows`, one for each lane, into the
    lanes at x; `see` is a function that is called with all columns.
    """

    def put(j: Column, columns: list[str]) -> None:
        for k, column in enumerate(columns):
            t.store(column, t.at(x, j), k)
        if see:
            see(t, columns)

    def tile(j: Column) -> None:
        found = [t.load(t.at(row, j, "double"), of=t.V) for row in rows]
        put(j, _transposed(t, found))

    def pair(j: Column) -> None:
        pairs = [t.load(t.at(row, j, "double"), of="<2 x double>") for row in rows]
        put(j, _crossed(t, _joined(t, pairs[0::2]), _joined(t, pairs[1::2])))

    def single(j: Column) -> None:
        lanes = "poison"
        for l, row in enumerate(rows):
            lanes = t(f"insertelement {t.V} {lanes}, double {t.load(row, j, 'double')}, i64 {l}")
        put(j, [lanes])

    _columns(t, name, n, tile, pair, single)


def runs(zeros: frozenset[int], n: int, width: int) -> list[tuple[int, int, bool]]:
    """Return n columns as runs of tiles, (first, last, whether all are zeros); zeros form a run
    only where several tiles are zeros.
    """
    empty = [
        all(j in zeros for j in range(k, k + width)) for k in range(0, n - width + 1, width)
    ] + [False] * (n % width > 0)
    found: list[tuple[int, int, bool]] = []
    at = 0
    for truth, group in groupby(empty):
        first = at
        at = at + width * len(list(group))
        truth = truth and at - first >= MIN_ZERO_TILES * width
        if found and found[-1][2] == truth:
            first = found.pop()[0]
        found.append((first, min(at, n), truth))
    return found


def scatter(
    t: Text,
    name: str,
    rows: list[str],
    n: int,
    y: str,
    see: See,
    zeros: frozenset[int] = frozenset(),
) -> None:
    """Write n columns from the lanes at y to the rows that begin at the pointers `rows`; `see` is
    called with all columns. Runs of columns that are zero at every state are not read.

    Rows beyond the end of a batch are all its last row; their lanes hold the same values, so that
    the order does not matter.
    """

    def columns(j: Column, count: int) -> list[str]:
        found = [t.load(t.at(y, j), k) for k in range(count)]
        see(t, found)
        return found

    def tile(j: Column) -> None:
        for row, values in zip(rows, _transposed(t, columns(j, t.width))):
            t.store(values, t.at(row, j, "double"), of=t.V)

    def half(j: Column, first: int) -> None:
        parts = [
            t.load(t.at(t.at(t.at(y, j), k), first, "double"), of=f"<{t.width // 2} x double>")
            for k in range(t.width)
        ]
        values = _half_transposed(t, parts)
        see(t, values)
        for row, each in zip(rows[first:], values):
            t.store(each, t.at(row, j, "double"), of=t.V)

    def pair(j: Column) -> None:
        first, second = columns(j, 2)
        crossed = _crossed(t, first, second)
        for l, row in enumerate(rows):
            two = _shuffled(t, crossed[l % 2], "poison", [l - l % 2, l - l % 2 + 1])
            t.store(two, t.at(row, j, "double"), of="<2 x double>")

    def single(j: Column) -> None:
        (lanes,) = columns(j, 1)
        for l, row in enumerate(rows):
            t.store(t(f"extractelement {t.V} {lanes}, i64 {l}"), row, j, "double")

    parts = runs(zeros, n, t.width)
    if any(empty for *_, empty in parts):
        for k, (first, last, empty) in enumerate(parts):
            if not empty:
                _columns(t, f"{name}.part{k}", last, tile, pair, single, first)
                continue
            with t.loop(f"{name}.zeros{k}", last, step=t.width, start=first) as j:
                for row in rows:
                    t.store("zeroinitializer", t.at(row, j, "double"), of=t.V)
        return
    if t.width == 8 and n and n % CACHE_SET_STRIDE == 0:
        with t.loop(f"{name}.strip", n, step=STRIP) as start:
            end = t(f"add i64 {start}, {STRIP}")
            for first in (0, t.width // 2):
                with t.loop(f"{name}.half{first}", end, step=t.width, start=start) as j:
                    half(j, first)
        return
    _columns(t, name, n, tile, pair, single)


def rows_of_lanes(name: str, width: int) -> list[str]:
    """Return the text of a function `void name(ptr x, ptr to, i64 apart, i64 size)`, which copies
    `size` vectors of lanes at x to rows that are `apart` doubles from each other.
    """
    t = Text(width)
    with t.function(f"internal void @{name}(ptr %x, ptr %to, i64 %apart, i64 %size)"):
        rows = [t.at("%to", t(f"mul i64 %apart, {l}"), "double") for l in range(width)]

        def tile(j: Column) -> None:
            for row, values in zip(
                rows, _transposed(t, [t.load(t.at("%x", j), k) for k in range(width)])
            ):
                t.store(values, t.at(row, j, "double"))

        if width > 1:
            with t.when("tiles", t(f"icmp sge i64 %size, {width}")):
                with t.loop("tile", t(f"sub i64 %size, {width - 1}"), step=width) as j:
                    tile(j)
                # the columns left over, with some of those before once more
                tile(t(f"sub i64 %size, {width}"))
                t.do("ret void")
                t.label("unreached")
        with t.loop("single", "%size") as j:
            for l, row in enumerate(rows):
                t.store(t.load(t.at("%x", j), l, "double"), row, j, "double")
        t.do("ret void")
    return t.lines


def _columns(
    t: Text, name: str, n: int, tile: Step, pair: Step, single: Step, first: int = 0
) -> None:
    """Write all columns from `first` on, a multiple of W, up to n: in tiles as wide as the lanes,
    then the remaining ones. One lane needs no shuffles.
    """
    W = t.width
    whole = n - n % W
    each = tile if W > 1 else single
    if whole - first > MAX_UNROLLED_TILES * W:
        with t.loop(name, whole, step=W, start=first) as counter:
            each(counter)
    else:
        for j in range(first, whole, W):
            each(j)
    if whole > first and n % W > W // 2:
        tile(n - W)
        return
    for j in range(whole, n - 1, 2):
        pair(j)
    if (n - whole) % 2:
        single(n - 1)


def _transposed(t: Text, rows: list[str]) -> list[str]:
    """Return the transpose of a tile: the W columns of W rows."""
    low, high = zip(*(_crossed(t, a, b) for a, b in zip(rows[0::2], rows[1::2])))
    return [column for both in zip(_exchanged(t, low), _exchanged(t, high)) for column in both]


def _half_transposed(t: Text, parts: list[str]) -> list[str]:
    """Return, for four rows of eight columns, the four entries of each column."""
    low, high = zip(*(_crossed(t, a, b, 4) for a, b in zip(parts[0::2], parts[1::2])))
    joined = [[_joined(t, list(half[k : k + 2]), 4) for k in (0, 2)] for half in (low, high)]
    pairs = [[k + i for k in range(first, 16, 4) for i in (0, 1)] for first in (0, 2)]
    return [_shuffled(t, a, b, picks) for picks in pairs for a, b in joined]


def _crossed(t: Text, a: str, b: str, size: int = 0) -> list[str]:
    """Exchange entries of two vectors: return a0 b0 a2 b2 ..., and a1 b1 a3 b3 ..."""
    W = size or t.width
    low = [l if l % 2 == 0 else W + l - 1 for l in range(W)]
    return [_shuffled(t, a, b, low, size), _shuffled(t, a, b, [l + 1 for l in low], size)]


def _exchanged(t: Text, vectors: tuple[str, ...]) -> tuple[str, ...]:
    """Return m vectors of m pairs of doubles, transposed: vector k has the k-th pair of each."""
    if len(vectors) == 1:
        return vectors
    pairs = [[k + i for k in range(first, 2 * t.width, 4) for i in (0, 1)] for first in (0, 2)]
    even, odd = (
        _exchanged(
            t, tuple(_shuffled(t, a, b, picks) for a, b in zip(vectors[0::2], vectors[1::2]))
        )
        for picks in pairs
    )
    return tuple(vector for both in zip(even, odd) for vector in both)


def _joined(t: Text, parts: list[str], size: int = 2) -> str:
    """Return vectors of `size` doubles, concatenated."""
    while len(parts) > 1:
        parts = [
            _shuffled(t, a, b, list(range(2 * size)), size)
            for a, b in zip(parts[0::2], parts[1::2])
        ]
        size *= 2
    return parts[0]


def _shuffled(t: Text, a: str, b: str, picks: list[int], size: int = 0) -> str:
    """Return the entries `picks` of the concatenation of two vectors (of `size` doubles, else of
    lanes).
    """
    kind = f"<{size or t.width} x double>"
    return t(
        f"shufflevector {kind} {a}, {kind} {b}, <{len(picks)} x i32>"
        f" <{', '.join(f'i32 {k}' for k in picks)}>"
    )
