"""Functional mock-up units (https://fmi-standard.org): a plant for any tool that imports FMI 2.0
or 3.0.

    write_fmu(plant, "arm.fmu", version=2, kinds=("me", "cs"))

description2, description3    modelDescription.xml of either version
package                       the archive: description, sources, binary
"""

from .package import write_fmu

__all__ = ["write_fmu"]
