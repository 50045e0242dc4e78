"""Draft: a mechanism as it was read, with the faults found so far, and the changes that `load`
makes before it validates it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import FormatError, MechanismError, MechanismWarning, QuantityError, unknown
from ..model import (
    GROUND,
    Joint,
    Mechanism,
    contradictions,
    cut_cycles,
    parameter_units,
    validation,
    vector,
)
from .files import located
from .followers import led
from .mapping import Mapped
from .units import in_unit, si_unit

ROOT_JOINT = "root_joint"
FREE_SPEEDS = 6  # of a free joint, which no motor drives
MISSING = "(missing)"  # stands in for a name that the file does not give


@dataclass
class Draft:
    """A mechanism that is not validated yet. `noted`: whether warnings are added to the mechanism's
    notes.
    """

    path: Path
    mechanism: Mechanism
    faults: list[str] = field(default_factory=list)
    noted: bool = False
    mapping: Sequence[Mapped] = ()  # what became of each element of the file
    cut_at: tuple[str, ...] = ()  # joints that a file with cycles wants cut
    # joints that follow others as parts of one joint of the file, whatever `uncouple` says
    parts: frozenset[str] = frozenset()
    # what the file says of a run, as the data of a [scenario] table
    scenario: Mapping[str, Any] = field(default_factory=dict)
    check_dimensions: bool = True  # whether contradictory uses of numbers without unit are faults

    def change(self, **changes: Any) -> None:
        """Change fields of the mechanism."""
        self.mechanism = replace(self.mechanism, **changes)

    def note(self, sentence: str) -> None:
        """Add a remark to the mechanism's notes."""
        self.change(notes=(*self.mechanism.notes, sentence))

    # --- what load is asked
    def float_root(self) -> None:
        """Put the root body, which is fixed to the ground or has no joint, on a free joint."""
        m = self.mechanism
        carried = {j.child for j in m.joints}
        loose = [b.name for b in m.bodies if b.name not in carried]
        based = [j for j in m.joints if j.parent == GROUND]
        if len(loose) + len(based) != 1 or any(j.kind != "fixed" for j in based):
            found = ", ".join(
                [
                    *(f"{j.name!r} ({j.kind})" for j in based),
                    *(f"body {name!r} on none" for name in loose),
                ]
            )
            self.faults.append(
                "floating=True asks for one root body, fixed to the ground; its joints to the"
                f" ground: {found}"
            )
            return
        if any(j.name == ROOT_JOINT and j not in based for j in m.joints):
            self.faults.append(
                f"floating=True adds a joint {ROOT_JOINT!r}, but the file has one of that name"
            )
            return
        root = based[0] if based else Joint(ROOT_JOINT, "fixed", GROUND, loose[0])
        free = Joint(
            ROOT_JOINT, "free", GROUND, root.child, placement=root.placement, offset=root.offset
        )
        others = tuple(free if j is root else j for j in m.joints)
        self.change(joints=others if based else (free, *others))

    def uncouple(self) -> None:
        """Give joints that mimic others their own motion."""
        coupled = [j.name for j in self.mechanism.joints if j.mimic and j.name not in self.parts]
        if coupled:
            self.change(
                joints=tuple(
                    replace(j, mimic=None) if j.name in coupled else j
                    for j in self.mechanism.joints
                )
            )
            self.note(
                "mimic=False: joints that mimic others in the file move on their own:"
                f" {', '.join(coupled)}"
            )

    def add_armature(self, armature: float) -> None:
        """Give every joint without a rotor inertia this one, kg m2 or kg; free joints and those
        that follow others excepted.
        """
        if not (isinstance(armature, Real) and 0.0 <= float(armature) < math.inf):
            self.faults.append(
                f"armature is {armature!r}; it is a finite number, zero or more, kg m2 (kg for"
                " joints that slide)"
            )
            return
        given = [
            j.name
            for j in self.mechanism.joints
            if 0 < j.nv < FREE_SPEEDS and not j.mimic and not j.deflection and not any(j.armature)
        ]
        self.change(
            joints=tuple(
                replace(j, armature=(float(armature),) * j.nv) if j.name in given else j
                for j in self.mechanism.joints
            )
        )
        self.note(
            f"armature={armature:g}: a rotor inertia that the file does not have, in"
            f" {len(given)} joints"
        )

    def lead_followers(self) -> None:
        """Rewrite the scenario of the file (initial state, actuators) in terms of the joints that
        lead others, because joints that follow have no coordinates of their own.
        """
        self.scenario, notes = led(self.scenario, self.mechanism)
        for sentence in notes:
            self.note(sentence)

    def keep_actuators(self) -> None:
        """Give the mechanism the actuators of the file, whose signals a run may name."""
        laws = self.scenario.get("control", ())
        if isinstance(laws, list) and not self.mechanism.actuators:
            self.change(actuators=tuple(law for law in laws if law.get("name")))

    def assign(self, values: Mapping[str, float | str]) -> None:
        """Give parameters other values: numbers, or strings with a unit."""
        own = dict(self.mechanism.parameters)
        units = dict(self.mechanism.units)
        known = parameter_units(self.mechanism)
        for name, value in values.items():
            if name not in own:
                self.faults.append(
                    unknown("parameter", name, own, f"mechanism {self.mechanism.name!r}")
                )
                continue
            try:
                own[name] = in_unit(value, known.get(name), f"parameter {name!r}")
            except QuantityError as why:
                self.faults.append(str(why))
                continue
            if (unit := si_unit(value)) is not None:
                units.setdefault(name, unit)
        self.change(parameters=own, units=units)

    def gravitate(self, gravity: Sequence[float]) -> None:
        """Set the gravity given by the caller, m/s2."""
        try:
            self.change(gravity=vector(gravity))
        except (TypeError, ValueError):
            self.faults.append(f"gravity={gravity!r}: three finite numbers are wanted, m/s2")

    def locate_meshes(self) -> None:
        """Resolve the file names of meshes that collide, which are relative to the model's own
        folder.
        """
        m = self.mechanism
        at = lambda s: replace(s, file=located(s.file, self.path)) if s.collides and s.file else s  # noqa: E731
        if any(s.file for b in m.bodies for s in b.collision) or any(s.file for s in m.ground):
            bodies = tuple(
                replace(b, shapes=tuple(map(at, b.shapes))) if b.collision else b for b in m.bodies
            )
            self.change(bodies=bodies, ground=tuple(map(at, m.ground)))

    # --- the end
    def finish(self) -> Mechanism:
        """Return the validated mechanism; raise FormatError with all faults where it has any, and
        issue one warning with all doubts.
        """
        self.locate_meshes()
        try:
            self.mechanism = (
                self.mechanism if self.faults else cut_cycles(self.mechanism, self.cut_at)
            )
        except MechanismError as why:
            raise FormatError(self.path, str(why)) from None
        said = self.faults  # what follows from a missing name alone is said already
        faults = [
            *said,
            *(f for f in validation.faults(self.mechanism) if not (said and repr(MISSING) in f)),
        ]
        if self.check_dimensions and not faults:
            faults = list(contradictions(self.mechanism))
        if faults:
            count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
            raise FormatError(self.path, f"mechanism {self.mechanism.name!r} has {count}:", faults)
        doubts = validation.doubts(self.mechanism)
        if doubts:
            lines = [
                f"{self.path}: mechanism {self.mechanism.name!r} is taken as found, but",
                *(f"  - {d}" for d in doubts),
            ]
            warnings.warn("\n".join(lines), MechanismWarning, stacklevel=3)
        if self.noted:
            self.change(
                notes=(*self.mechanism.notes, *(d for d in doubts if d not in self.mechanism.notes))
            )
        return self.mechanism
