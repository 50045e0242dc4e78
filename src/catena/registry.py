"""Registries: the members of one family (integrators, plots, questions, ...) by name, in the order
in which they were added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Protocol, TypeVar

from .errors import CatenaError, UnknownNameError, unknown


class Named(Protocol):
    """A member of a registry: a frozen record, or a class, with a name."""

    @property
    def name(self) -> str:
        """The name of the member, unique in its family."""


Member = TypeVar("Member", bound=Named)


class Registry(dict[str, Member]):
    """{name: member}. what: the word for a member in messages. error: the class that is raised for
    an unknown name (by default UnknownNameError) and for a name that is taken.
    """

    def __init__(
        self, what: str, members: Iterable[Member] = (), error: type[CatenaError] = CatenaError
    ):
        super().__init__()
        self.what, self.error = what, error
        for member in members:
            self.register(member)

    def register(self, member: Member) -> Member:
        """Add a member and return it; raise an error where its name is taken."""
        if member.name in self:
            raise self.error(
                f"{self.what} {member.name!r} is in the registry already; choose another name"
            )
        self[member.name] = member
        return member

    def find(self, name: str) -> Member:
        """Return the member of that name; raise an error with the most similar name where there is
        none.
        """
        if isinstance(name, str) and name in self:
            return self[name]
        if self.error is CatenaError:
            raise UnknownNameError(self.what, name, self, "catena")
        raise self.error(unknown(self.what, name, self))


def loaded(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return a member's function: the object itself, or the function at "package.module:name",
    which is imported now.
    """
    if callable(function):
        return function
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)
