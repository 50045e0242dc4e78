"""Elements of an XML file, read attribute by attribute, with their faults."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from ..model import shown

# URDF has no word for infinity; the largest double is read and written as one
UNLIMITED = sys.float_info.max
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)


class XmlNode:
    """An XML element, read attribute by attribute; faults go into one list, and a neutral value
    replaces what is wrong.
    """

    def __init__(self, element: Element, where: str, faults: list[str]):
        self.element = element
        self.where = where
        self.faults = faults

    def fault(self, sentence: str) -> None:
        """Record a fault of this element."""
        self.faults.append(f"{self.where}: {sentence}")

    def children(self, tag: str) -> Iterator[XmlNode]:
        """Return the elements of that tag inside this one; messages about their faults begin with
        this element's name.
        """
        return (XmlNode(e, f"{self.where}: {tag}", self.faults) for e in self.element.findall(tag))

    def child(self, tag: str) -> XmlNode | None:
        """Return the first element of that tag inside this one, or None."""
        return next(self.children(tag), None)

    def text(self, key: str, instead: str = "") -> str:
        """Return an attribute that is required."""
        value = self.element.get(key)
        if not value:
            self.fault(f"{key} is missing")
            return instead
        return value

    def number(self, key: str, default: float | None = None, infinite: bool = False) -> float:
        """Return an attribute that is a number; one without default is required."""
        value = self.element.get(key)
        if value is None:
            if default is None:
                self.fault(f"{key} is missing")
            return default or 0.0
        number = _float(value.strip(), infinite)
        if number is None:
            self.fault(f"{key} is {shown(value)}; a number is wanted{_hint(value)}")
        return number or 0.0

    def vector(
        self, key: str, default: Sequence[float] | None, count: int = 3
    ) -> tuple[float, ...]:
        """Return an attribute that holds several numbers, separated by spaces."""
        value = self.element.get(key)
        if value is None:
            if default is None:
                self.fault(f"{key} is missing")
            return tuple(default or (0.0,) * count)
        words = value.split()
        numbers = [_float(word, False) for word in words] if len(words) == count else []
        if not numbers or None in numbers:
            self.fault(
                f"{key} is {shown(value)}; {count} numbers with spaces between them are"
                f" wanted{_hint(value)}"
            )
            return tuple(default or (0.0,) * count)
        return tuple(x for x in numbers if x is not None)


def _float(word: str, infinite: bool) -> float | None:
    """Return the number that a string expresses, or None; a number too large for a double only
    where infinity is allowed.
    """
    if match := _INFINITE.fullmatch(word):
        return float(match[0]) if infinite else None
    if not _NUMBER.fullmatch(word):
        return None
    number = float(word)
    if infinite and abs(number) >= UNLIMITED:
        return math.copysign(math.inf, number)
    return number if math.isfinite(number) else None


def texts_as_attributes(root: Element) -> None:
    """Give every element the text of each of its childless children as an attribute, unless it has
    an attribute of that name.
    """
    for e in root.iter():
        for child in e:
            if not len(child) and child.text and child.text.strip() and child.tag not in e.attrib:
                e.set(child.tag, child.text.strip())


def _hint(value: str) -> str:
    if "${" in value or "$(" in value:
        return "; this is a xacro file, run xacro first"
    return "; write a point, not a comma" if "," in value else ""
