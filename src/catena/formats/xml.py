"""XML from untrusted files: no entities, nothing fetched, limits of depth and size."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException, DTDForbidden, EntitiesForbidden
from defusedxml.ElementTree import DefusedXMLParser

from ..errors import FormatError

MAX_DEPTH = 100  # nested elements; a URDF has about six, a humanoid of MuJoCo about twenty


class _TooDeep(ValueError):
    pass


class _DepthLimited(TreeBuilder):
    """Builds the tree of elements, down to MAX_DEPTH."""

    depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> Element:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooDeep
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        self.depth -= 1
        return super().end(tag)


def parse(data: bytes, path: Path) -> Element:
    """Return the root element of a file's bytes."""
    try:
        parser = DefusedXMLParser(
            target=_DepthLimited(), forbid_dtd=False, forbid_entities=True, forbid_external=True
        )
        parser.feed(data)
        return parser.close()
    except _TooDeep:
        raise FormatError(
            path,
            f"the file has elements more than {MAX_DEPTH} deep inside each other; it is no model",
        ) from None
    except (EntitiesForbidden, DTDForbidden) as why:
        name = getattr(why, "name", "")
        raise FormatError(
            path,
            f"the file defines an XML entity {name!r}; entities are refused, write the text itself",
        ) from None
    except DefusedXmlException:
        raise FormatError(
            path,
            "the file refers to another file by XML's own means; external entities are refused",
        ) from None
    except ParseError as why:
        raise FormatError(path, f"the file is not XML: {why}") from None
    except (ValueError, LookupError) as why:  # an encoding that does not exist or does not fit
        raise FormatError(path, f"the file is not XML that can be read: {why}") from None
