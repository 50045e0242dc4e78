"""Every error that catena raises, as one tree. Each message says what was requested, what was
found, what is allowed, and what to do.

    CatenaError
    ├── MechanismError      an invalid mechanism: every fault at once, in `.faults`
    │   └── FormatError     a file that cannot be read as one, in `.path`
    ├── QuantityError       a value that is not the expected quantity: its text, unit or dimension
    │   └── ExpressionError a string that is not a valid expression
    ├── UnknownNameError    a name that does not exist, with those that do (`.asked`, `.known`)
    ├── StateError          an array of the wrong shape, a value that is not a number, a quaternion
    │                       whose length is not one
    ├── SingularError       an inertia or a constraint that vanishes, with the joint in `.where`
    ├── FormulationError    a formulation that cannot treat this mechanism
    ├── ClosureError        a loop that cannot be closed, with the residual in `.gaps`
    ├── QuestionError       a question that has no answer, or no unique one
    ├── SimulationError     a run that could not continue, with what was computed in `.result`
    ├── StudyError          an invalid study: every fault at once, in `.faults`
    └── CompileError        code that cannot be generated or compiled

    MechanismWarning        a mechanism that is allowed but suspicious (a warning, not an error)
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path

MAX_SHOWN_FAULTS = 50  # faults that the message prints; `.faults` has all of them
# names among which the most similar one is searched, since each is compared
MAX_COMPARED_NAMES = 1000


class CatenaError(Exception):
    """The root of all errors that catena raises on purpose.

    Parameters
    ----------
    *args : object
        The message, as in every exception.
    """


class MechanismWarning(UserWarning):
    """A mechanism that is allowed but suspicious: an inertia that no body can have, a joint that
    moves no mass.
    """


class MechanismError(CatenaError, ValueError):
    """An invalid mechanism. `faults` has one sentence for each fault."""

    def __init__(self, heading: str, faults: Iterable[str] = ()):
        self.faults = tuple(faults)
        super().__init__(_listed(heading, self.faults))


class FormatError(MechanismError):
    """A file that cannot be read. `path` is the file."""

    def __init__(self, path: str | Path, heading: str, faults: Iterable[str] = ()):
        self.path = str(path)
        super().__init__(f"{path}: {heading}", faults)


class StudyError(CatenaError, ValueError):
    """A study that cannot be run. `faults` has one sentence for each fault."""

    def __init__(self, heading: str, faults: Iterable[str] = ()):
        self.faults = tuple(faults)
        super().__init__(_listed(heading, self.faults))


class QuantityError(CatenaError, ValueError):
    """A value that is not the expected quantity: not a number, an unknown unit, another
    dimension.
    """


class ExpressionError(QuantityError):
    """A string that is not a valid expression, or one that has no value."""


class UnknownNameError(CatenaError, KeyError):
    """A name that does not exist. `asked` is the name, `known` are the names that exist."""

    def __init__(self, what: str, asked: str, known: Iterable[str], where: str = ""):
        self.asked, self.known = asked, tuple(known)
        self.message = unknown(what, asked, self.known, where)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class StateError(CatenaError, ValueError):
    """An array that is not a state of this mechanism: its shape, its finiteness or the length of a
    quaternion is wrong.
    """


class SingularError(CatenaError, ArithmeticError):
    """A matrix that must be inverted is singular. `where` names the joint or coordinate."""

    def __init__(self, message: str, where: str = ""):
        self.where = where
        super().__init__(message)


class FormulationError(CatenaError, ValueError):
    """A formulation that does not exist or cannot treat this mechanism."""


class ClosureError(CatenaError, ArithmeticError):
    """A loop that cannot be closed. `gaps` maps each open loop to its largest residual.

    For a batch of starts, `failed` maps each row that stays open to a sentence, and `q` and `v`
    have the other rows.
    """

    def __init__(
        self,
        message: str,
        gaps: dict[str, float] | None = None,
        rows: dict[int, str] | None = None,
        q: object = None,
        v: object = None,
    ):
        self.gaps, self.failed, self.q, self.v = dict(gaps or {}), dict(rows or {}), q, v
        super().__init__(message)


class QuestionError(CatenaError, ValueError):
    """A question that has no answer for this mechanism, or no unique one."""


class SimulationError(CatenaError, RuntimeError):
    """A run that could not continue. `result` holds what was computed until then, where there is
    any.
    """

    def __init__(self, message: str, result: object = None):
        self.result = result
        super().__init__(message)


class CompileError(CatenaError, RuntimeError):
    """A function that cannot be compiled to machine code or exported to another language."""


def _listed(heading: str, faults: tuple[str, ...]) -> str:
    """Return a heading with the faults below it, one per line."""
    lines = [heading, *(f"  - {fault}" for fault in faults[:MAX_SHOWN_FAULTS])]
    if len(faults) > MAX_SHOWN_FAULTS:
        lines.append(f"  ... and {len(faults) - MAX_SHOWN_FAULTS} more")
    return "\n".join(lines)


def unknown(what: str, asked: object, known: Iterable[str], where: str = "") -> str:
    """Return a sentence for a name that does not exist, with the most similar one that does.

    >>> print(unknown("joint", "elbw", ["shoulder", "elbow"], "mechanism 'arm'"))
    no joint 'elbw' in mechanism 'arm'; joints are: shoulder, elbow. Did you mean 'elbow'?
    """
    names = known if isinstance(known, Collection) else tuple(known)
    place = f" in {where}" if where else ""
    plural = (
        what
        if what.endswith("s")
        else (
            what + "es"
            if what.endswith(("sh", "ch", "x"))
            else (
                what[:-1] + "ies"
                if what.endswith("y") and what[-2:-1] not in "aeiou"
                else what + "s"
            )
        )
    )
    shown = ", ".join(map(str, islice(names, 12))) + (
        f", ... ({len(names)} in all)" if len(names) > 12 else ""
    )
    few = len(names) <= MAX_COMPARED_NAMES and len(str(asked)) <= 100
    begun = (
        [name for name in map(str, names) if len(str(asked)) > 1 and name.startswith(str(asked))]
        if few
        else []
    )
    near = begun or (difflib.get_close_matches(str(asked), map(str, names), n=1) if few else [])
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"no {what} {asked!r}{place}; {plural} are: {shown or 'none'}.{hint}"
