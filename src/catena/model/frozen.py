"""An immutable dictionary, for fields of frozen records."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """An immutable dictionary, which therefore has a hash; `|` returns another one.

    >>> FrozenDict(m=1.0) | {"m": 2.0}
    {'m': 2.0}
    """

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "a mechanism does not change; make another: mechanism.with_(parameters={...})"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refused

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)
