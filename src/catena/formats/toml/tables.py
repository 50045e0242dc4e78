"""Tables: a TOML table, read key by key. Every fault goes into one list, and a neutral value
replaces what is wrong.

So one reading finds every fault of a file. The caller checks `FaultLedger.faults` afterwards, and
uses the values only if it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import QuantityError, unknown
from ...model import MAX_LENGTH, Scalar, shown
from ..units import describe, in_unit, quantity

REQUIRED: Any = object()
_WORD = re.compile(r"([^\W\d]\w*)")


@dataclass
class FaultLedger:
    """The state of reading a file: its parameters, its named expressions, and the faults found so
    far.
    """

    parameters: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # SI units of those written with one
    slides: dict[str, bool] = field(default_factory=dict)  # speeds of joints: slides, or turns
    expressions: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    check_dimensions: bool = True  # whether contradictory uses of numbers without unit are faults

    def expanded(self, text: str) -> str:
        """Return an expression string with named expressions replaced by their definitions, in
        parentheses.
        """
        if not self.expressions or len(text) > MAX_LENGTH:
            return text
        pieces = [
            f"({self.expressions[word]})" if word in self.expressions else word
            for word in _WORD.split(text)
        ]
        if (total := sum(map(len, pieces))) > MAX_LENGTH:
            raise QuantityError(
                f"{shown(text)} has {total} letters when its named expressions are written out;"
                f" {MAX_LENGTH} are allowed"
            )
        return "".join(pieces)


class Table:
    """One table of a file. `where` is its name in faults, such as "body 'upper'"; that of the file
    itself is "".
    """

    def __init__(self, data: Mapping[str, Any], where: str, ledger: FaultLedger):
        self.data, self.where, self.ledger = data, where, ledger

    @property
    def faults(self) -> int:
        """The number of faults of the file so far."""
        return len(self.ledger.faults)

    def fault(self, sentence: str) -> None:
        """Record a fault of this table."""
        self.ledger.faults.append(f"{self.where}: {sentence}" if self.where else sentence)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def only(self, keys: Sequence[str]) -> None:
        """Record a fault for every key that is not one of these."""
        for key in self.data:
            if key not in keys:
                self.fault(unknown("key", key, keys))

    def _get(self, key: str, default: Any) -> Any:
        if key not in self.data and default is REQUIRED:
            self.fault(f"{key} is missing")
        return self.data.get(key, default)

    # --- single values
    def text(self, key: str, default: Any = REQUIRED, instead: str = "") -> Any:
        """Return a string; `instead` where it is missing or not a string."""
        value = self._get(key, default)
        if value is REQUIRED:
            return instead
        if value is not default and not (isinstance(value, str) and value):
            self.fault(f"{key} is {describe(value)}; a text is wanted")
            return instead
        return value

    def flag(self, key: str, default: Any) -> Any:
        """Return true or false."""
        value = self._get(key, default)
        if key in self.data and not isinstance(value, bool):
            self.fault(f"{key} is {describe(value)}; true or false is wanted")
            return default
        return value

    def number(
        self,
        key: str,
        dimension: str,
        default: Scalar = REQUIRED,
        instead: float = 0.0,
        **rules: bool,
    ) -> Scalar:
        """Return a quantity (see `units.quantity` for the rules); `instead` where it is missing or
        invalid.
        """
        value = self._get(key, default)
        if key not in self.data:
            return instead if value is REQUIRED else value
        return self.scalar(value, key, dimension, instead, **rules)

    def in_unit(self, key: str, unit: str | None) -> float:
        """Return a value in an SI unit; in any unit where `unit` is None."""
        try:
            return in_unit(self.data[key], unit, key)
        except QuantityError as why:
            self.fault(str(why))
            return 0.0

    def scalar(
        self, value: object, what: str, dimension: str, instead: float = 0.0, **rules: bool
    ) -> Scalar:
        """Return one value of this table."""
        try:
            value = self.ledger.expanded(value) if isinstance(value, str) else value
            return quantity(value, dimension, self.ledger.parameters, what=what, **rules)
        except QuantityError as why:
            self.fault(str(why))
            return instead

    def expression(self, value: object, what: str, instead: str | float = 0.0) -> str | float:
        """Return a number (SI), or an expression string of t, q_NAME, v_NAME and parameters, with
        its named expressions replaced by their definitions.
        """
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return float(value)
            except OverflowError:
                self.fault(f"{what} is {describe(value)}, which is too large")
                return instead
        if not (isinstance(value, str) and value):
            self.fault(
                f"{what} holds {describe(value)}; a number (SI) or an expression of t, q_NAME,"
                " v_NAME and parameters is wanted"
            )
            return instead
        try:
            return self.ledger.expanded(value)
        except QuantityError as why:
            self.fault(f"{what}: {why}")
            return instead

    # --- several values
    def items(self, key: str, default: Any = REQUIRED) -> Any:
        """Return a list as it is, or the default; an empty list where the key is missing or not a
        list.
        """
        value = self._get(key, default)
        if key in self.data and not isinstance(value, list):
            self.fault(f"{key} is {describe(value)}; a list is wanted")
            return []
        return [] if value is REQUIRED else value

    def vector(
        self,
        key: str,
        dimension: str,
        default: Any = REQUIRED,
        names: Sequence[str] = "xyz",
        instead: float = 0.0,
        **rules: bool,
    ) -> Any:
        """Return as many quantities as there are names; `instead` where they are missing or
        invalid.
        """
        values = self._get(key, default)
        if key not in self.data:
            return (instead,) * len(names) if values is REQUIRED else values
        return self.components(values, key, dimension, names, instead, **rules)

    def components(
        self,
        values: object,
        what: str,
        dimension: str,
        names: Sequence[str],
        instead: float = 0.0,
        **rules: bool,
    ) -> tuple[Scalar, ...]:
        """Return a list of quantities with names; a single one may be given without a list."""
        if len(names) == 1 and not isinstance(values, list):
            values = [values]
        if not isinstance(values, list) or len(values) != len(names):
            wanted = (
                f"{'one value is' if len(names) == 1 else f'{len(names)} values are'} wanted,"
                f" [{', '.join(names)}]"
            )
            self.fault(f"{what} {_count(values)}; {wanted}")
            return (instead,) * len(names)
        return tuple(
            self.scalar(value, f"{what}.{name}", dimension, instead, **rules)
            for value, name in zip(values, names)
        )

    # --- tables inside
    def table(self, key: str) -> Table | None:
        """Return the table of that key, or None."""
        value = self._get(key, None)
        if value is not None and not isinstance(value, dict):
            self.fault(f"{key} is {describe(value)}; a table is wanted")
            return None
        return (
            None
            if value is None
            else Table(value, f"{self.where}: {key}" if self.where else key, self.ledger)
        )

    def tables(self, key: str) -> Iterator[Table]:
        """Yield the tables of a list such as [[body]], each named by its `name`."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            wanted = f"write [[{key}]]" if not self.where else "a list of tables is wanted"
            self.fault(
                f"{key} is"
                f" {describe(value) if not isinstance(value, list) else 'not a list of tables'};"
                f" {wanted}"
            )
            return
        prefix = f"{self.where}: " if self.where else ""
        for number, row in enumerate(value, start=1):
            name = row.get("name")
            called = (
                f"{key} {name!r}"
                if isinstance(name, str) and name
                else f"{key.rstrip('s')} number {number}"
            )
            yield Table(row, prefix + called, self.ledger)


def _count(values: object) -> str:
    if not isinstance(values, list):
        return f"is {describe(values)}"
    return f"has {len(values)} value{'s' * (len(values) != 1)}"
