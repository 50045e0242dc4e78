"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from collections.abc import Iterator

from .variables import KINDS, TOLERANCE, Unit, attributes, exponents, heading


def description(unit: Unit) -> str:
    """Return the text of modelDescription.xml."""
    return "\n".join(_lines(unit)) + "\n"


def _lines(unit: Unit) -> Iterator[str]:
    """Yield the lines of modelDescription.xml."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        "<fmiModelDescription"
        f' fmiVersion="2.0"{attributes(guid=unit.token, **heading(unit), numberOfEventIndicators=len(unit.indicators))}>'  # noqa: E501
    )
    for kind in unit.kinds:
        own = (
            {"canHandleVariableCommunicationStepSize": "true"}
            if kind == "cs"
            else {"completedIntegratorStepNotNeeded": str(unit.plant.project is None).lower()}
        )
        said = attributes(
            modelIdentifier=unit.plant.name,
            **own,
            canGetAndSetFMUstate="true",
            canSerializeFMUstate="true",
            providesDirectionalDerivative="true",
        )
        yield (
            f"  <{KINDS[kind][0]}{said}><SourceFiles><File"
            f' name="fmi2.c"/></SourceFiles></{KINDS[kind][0]}>'
        )
    yield "  <UnitDefinitions>"
    yield from (f'    <Unit name="{u}"><BaseUnit {exponents(u)}/></Unit>' for u in unit.units)
    yield '  </UnitDefinitions>\n  <LogCategories><Category name="logStatusError"/></LogCategories>'
    yield (
        f"  <DefaultExperiment{attributes(startTime=0.0, stopTime=float(unit.plant.until), tolerance=TOLERANCE)}/>\n"  # noqa: E501
        "  <ModelVariables>"
    )
    for x in unit.variables:
        outside = attributes(
            name=x.name,
            valueReference=x.reference,
            description=x.meaning,
            causality=x.causality,
            variability=x.variability,
            initial=x.initial,
        )
        # indices count from one
        inside = attributes(
            unit=x.unit, start=x.start, derivative=x.derivative_of + 1 if x.derivative_of else None
        )
        yield f"    <ScalarVariable{outside}><Real{inside}/></ScalarVariable>"
    yield "  </ModelVariables>\n  <ModelStructure>"
    for name, some in (
        ("Outputs", unit.outputs),
        ("Derivatives", unit.derivatives),
        ("InitialUnknowns", unit.unknown_at_start),
    ):
        yield f"    <{name}>"
        for x in some:
            on = " ".join(
                str(k + 1) for k in sorted(unit.dependencies(x, name == "InitialUnknowns"))
            )
            yield f"      <Unknown{attributes(index=x.reference + 1, dependencies=on)}/>"
        yield f"    </{name}>"
    yield "  </ModelStructure>\n</fmiModelDescription>"
