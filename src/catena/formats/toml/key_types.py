"""The types of values of a file's keys. Each has a description in words and a unit for users, and a
JSON Schema for editors.

    Text  Name  Word  Flag  Whole        single values without unit
    Quantity  Expression                 single values with unit
    Vector  PerSpeed  Several            lists
    Inside  Map  ByName                  tables: of a known form, by free names, by the names of
                                         coordinates
    Either                               one of several types
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ...model import FUNCTIONS
from ..units import DIMENSIONS

Json = dict[str, Any]
# how a text that is a number with a unit begins
NUMERIC = r"^[\s(+\-]*(\d|\.\d|pi\b|(" + "|".join(FUNCTIONS) + r")\s*\()"


@dataclass(frozen=True)
class Type:
    """The type of the value of a key; any value, unless a subclass restricts it."""

    def words(self) -> str:
        """Return the description for users, without the unit."""
        return "any value"

    def several(self) -> str:
        """Return the description of several values, for users."""
        return f"{self.words()}s"

    def unit(self) -> str:
        """Return the SI unit of a bare number, "" where there is none."""
        return ""

    def schema(self) -> Json:
        """Return the JSON Schema, draft 2020-12."""
        return {}


@dataclass(frozen=True)
class Text(Type):
    """A string that is not empty."""

    what: str = "text"

    def words(self) -> str:
        return self.what

    def schema(self) -> Json:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class Name(Text):
    """The name of an item of the model. of: the kind of item that it names."""

    of: str = "body"

    def words(self) -> str:
        return f"name of a {self.of}"

    def several(self) -> str:
        return f"names ({self.of})"


@dataclass(frozen=True)
class Word(Type):
    """One of a few words, or of the members of a registry, which may grow."""

    choices: Iterable[str] | Callable[[], Iterable[str]]

    def several(self) -> str:
        return f"words {self.words()}"

    def all(self) -> list[str]:
        """Return the allowed words."""
        return list(self.choices() if callable(self.choices) else self.choices)

    def words(self) -> str:
        return (
            " or ".join(f"`{word}`" for word in self.all())
            if len(self.all()) < 3
            else ", ".join(f"`{word}`" for word in self.all())
        )

    def schema(self) -> Json:
        return {"enum": self.all()}


@dataclass(frozen=True)
class Flag(Type):
    """True or false."""

    def words(self) -> str:
        return "true or false"

    def schema(self) -> Json:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Whole(Type):
    """A whole number."""

    least: int | None = None

    def words(self) -> str:
        return "whole number" if self.least is None else f"whole number from {self.least} on"

    def schema(self) -> Json:
        return {"type": "integer"} | ({} if self.least is None else {"minimum": self.least})


@dataclass(frozen=True)
class Quantity(Type):
    """A number (SI), or a string with a unit. symbolic: whether it may be an expression of the
    file's parameters.
    """

    dimension: str = "number"
    symbolic: bool = True
    # a second dimension: of a joint that turns, where the first is of one that slides
    also: str = ""

    def words(self) -> str:
        named = {"any": "quantity"}.get(self.dimension, self.dimension)
        return f"{named} or {self.also}" if self.also else named

    def several(self) -> str:
        return {"any": "quantities", "inertia": "inertias"}.get(self.dimension, f"{self.words()}s")

    def unit(self) -> str:
        units = [
            DIMENSIONS[d].unit.replace("*", " ")
            for d in (self.dimension, self.also)
            if d in DIMENSIONS
        ]
        return " or ".join(filter(None, units))

    def schema(self) -> Json:
        return {"type": ["number", "string"], "minLength": 1} | (
            {} if self.symbolic else {"pattern": NUMERIC}
        )


@dataclass(frozen=True)
class Expression(Type):
    """A number (SI), or a string with an expression of t, q_NAME, v_NAME and parameters. of: the
    names that it may use. measured: its unit.
    """

    of: str = "t, q_NAME, v_NAME, parameters"
    measured: str = ""
    only_text: bool = False

    def words(self) -> str:
        return f"expression of {self.of}"

    def several(self) -> str:
        return f"expressions of {self.of}"

    def unit(self) -> str:
        return self.measured

    def schema(self) -> Json:
        return {"type": "string" if self.only_text else ["number", "string"], "minLength": 1}


@dataclass(frozen=True)
class Vector(Type):
    """A list with one quantity for each of the given names. dimension: one for all, or one for
    each.
    """

    dimension: str | tuple[str, ...] = "length"
    names: tuple[str, ...] = ("x", "y", "z")
    symbolic: bool = True

    def _each(self) -> list[Quantity]:
        each = (
            self.dimension
            if isinstance(self.dimension, tuple)
            else (self.dimension,) * len(self.names)
        )
        return [Quantity(d, self.symbolic) for d in each]

    def words(self) -> str:
        return f"[{', '.join(self.names)}]"

    def several(self) -> str:
        return f"lists {self.words()}"

    def unit(self) -> str:
        return ", ".join(dict.fromkeys(x.unit() for x in self._each() if x.unit()))

    def schema(self) -> Json:
        n = len(self.names)
        one = Quantity("any", self.symbolic).schema()
        listed = {"type": "array", "items": one, "minItems": n, "maxItems": n}
        return {"anyOf": [one, listed]} if n == 1 else listed


@dataclass(frozen=True)
class Several(Type):
    """A list of values of one type."""

    item: Type
    least: int = 0
    most: int | None = None

    def words(self) -> str:
        count = f"{self.least} " if self.least and self.least == self.most else ""
        return f"list of {count}{self.item.several()}"

    def several(self) -> str:
        return (
            f"pairs of {self.item.several()}"
            if self.least == self.most == 2
            else f"lists of {self.item.several()}"
        )

    def unit(self) -> str:
        return self.item.unit()

    def schema(self) -> Json:
        bounds = ({"minItems": self.least} if self.least else {}) | (
            {} if self.most is None else {"maxItems": self.most}
        )
        return {"type": "array", "items": self.item.schema()} | bounds


@dataclass(frozen=True)
class Inside(Type):
    """A table of a known form. table: its name among the tables of files. many: whether it is a
    list of such tables.
    """

    table: str
    many: bool = False

    def words(self) -> str:
        anchor = self.table.replace(".", "").replace(" ", "-").replace("_", "-")
        return f"{'list of tables' if self.many else 'table'}: [{self.table}](#keys-of-{anchor})"

    def schema(self) -> Json:
        own = {"$ref": f"#/$defs/{self.table.replace(' ', '%20')}"}
        return {"type": "array", "items": own} if self.many else own


@dataclass(frozen=True)
class Map(Type):
    """A table whose keys are names of the file or the mechanism. of: the kind of items that they
    name.
    """

    of: str
    value: Type

    def words(self) -> str:
        return f"table of {self.of} = {self.value.words()}"

    def unit(self) -> str:
        return self.value.unit()

    def schema(self) -> Json:
        return {"type": "object", "additionalProperties": self.value.schema()}


@dataclass(frozen=True)
class ByName(Type):
    """Values by the names of joints and coordinates: one each, a list for a joint with several
    degrees of freedom, or a table of its labels.
    """

    dimension: str = "length"
    also: str = "angle"
    lists: bool = False  # a list of values for each coordinate, such as one per time

    def words(self) -> str:
        return f"table of coordinate = {'list of values' if self.lists else 'value'}"

    def unit(self) -> str:
        return Quantity(self.dimension, also=self.also).unit()

    def schema(self) -> Json:
        one = Quantity("any", symbolic=False).schema()
        several = [{"type": "array", "items": one}]
        return {
            "type": "object",
            "additionalProperties": {
                "anyOf": (
                    several
                    if self.lists
                    else [one, *several, {"type": "object", "additionalProperties": one}]
                )
            },
        }


@dataclass(frozen=True)
class Either(Type):
    """One of several types."""

    types: tuple[Type, ...]

    def words(self) -> str:
        return "; or ".join(x.words() for x in self.types)

    def several(self) -> str:
        return " or ".join(x.several() for x in self.types)

    def unit(self) -> str:
        return ", ".join(dict.fromkeys(x.unit() for x in self.types if x.unit()))

    def schema(self) -> Json:
        return {"anyOf": [x.schema() for x in self.types]}


@dataclass(frozen=True)
class PerSpeed(Either):
    """One quantity for all speeds of a joint, or a list with one per speed, in units of
    translations and of rotations.
    """

    types: tuple[Type, ...] = ()
    measures: tuple[str, str] = ("length", "angle")
    symbolic: bool = True

    def __post_init__(self) -> None:
        one = Quantity(self.measures[0], self.symbolic, self.measures[1])
        object.__setattr__(self, "types", (one, Several(one)))

    def words(self) -> str:
        return f"{self.types[0].words()}, or one per speed"
