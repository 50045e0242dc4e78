"""modelDescription.xml and buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterator

from .variables import KINDS, TOLERANCE, Unit, attributes, exponents, heading


def description(unit: Unit) -> str:
    """Return the text of modelDescription.xml."""
    return "\n".join(_lines(unit)) + "\n"


def build_description(unit: Unit) -> str:
    """Return the text of buildDescription.xml, which says how the sources are compiled."""
    inside = '<SourceFileSet language="C99"><SourceFile name="fmi3.c"/></SourceFileSet>'
    build = f"  <BuildConfiguration{attributes(modelIdentifier=unit.plant.name)}>{inside}</BuildConfiguration>"  # noqa: E501
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription'
        f' fmiVersion="3.0">\n{build}\n</fmiBuildDescription>\n'
    )


def _lines(unit: Unit) -> Iterator[str]:
    """Yield the lines of modelDescription.xml."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        "<fmiModelDescription"
        f' fmiVersion="3.0"{attributes(instantiationToken=unit.token, **heading(unit))}>'
    )
    for kind in unit.kinds:
        own = (
            {"canHandleVariableCommunicationStepSize": "true"}
            if kind == "cs"
            else {"needsCompletedIntegratorStep": str(unit.plant.project is not None).lower()}
        )
        said = attributes(
            modelIdentifier=unit.plant.name,
            **own,
            canGetAndSetFMUState="true",
            canSerializeFMUState="true",
            providesDirectionalDerivatives="true",
        )
        yield f"  <{KINDS[kind][0]}{said}/>"
    yield "  <UnitDefinitions>"
    yield from (f'    <Unit name="{u}"><BaseUnit {exponents(u)}/></Unit>' for u in unit.units)
    yield '  </UnitDefinitions>\n  <LogCategories><Category name="logStatusError"/></LogCategories>'
    yield (
        f"  <DefaultExperiment{attributes(startTime=0.0, stopTime=float(unit.plant.until), tolerance=TOLERANCE)}/>\n"  # noqa: E501
        "  <ModelVariables>"
    )
    for x in unit.variables:
        said = attributes(
            name=x.name,
            valueReference=x.reference,
            description=x.meaning,
            causality=x.causality,
            variability=x.variability,
            initial=x.initial,
            unit=x.unit,
            start=x.start,
            derivative=x.derivative_of or None,
        )
        yield f"    <Float64{said}/>"
    yield "  </ModelVariables>\n  <ModelStructure>"
    for name, some in (
        ("Output", unit.outputs),
        ("ContinuousStateDerivative", unit.derivatives),
        ("InitialUnknown", unit.unknown_at_start),
    ):
        for x in some:
            on = " ".join(str(k) for k in sorted(unit.dependencies(x, name == "InitialUnknown")))
            yield f"    <{name}{attributes(valueReference=x.reference, dependencies=on)}/>"
    for x in unit.indicators:
        yield f"    <EventIndicator{attributes(valueReference=x.reference)}/>"
    yield "  </ModelStructure>\n</fmiModelDescription>"
