"""Writes the list of contents (SBOM) of a release in the form of CycloneDX 1.6.

    python packaging/sbom.py VERSION FILE    needs the package cyclonedx-python-lib[json-validation]
"""

import os
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from dependencies import LIBRARIES, crates


def component(name: str, version: str | None, terms: str, **rest) -> Component:
    """One part of the program under the licence `terms` (an SPDX expression)."""
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        licenses=[LicenseFactory().make_from_string(terms)],
        **rest,
    )


def contents(version: str) -> Bom:
    """What is in the program. The date is the commit's: the same bytes each time."""
    commit = int(os.environ["SOURCE_DATE_EPOCH"])
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, f"memgauge {version} {commit}"))
    bom.metadata.timestamp = datetime.fromtimestamp(commit, timezone.utc)
    program = Component(
        name="memgauge",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref="memgauge",
        licenses=[LicenseFactory().make_from_string("MIT OR Apache-2.0")],
    )
    bom.metadata.component = program
    parts = []
    for crate in crates():
        purl = PackageURL("cargo", None, crate.name, crate.version)
        parts.append(
            component(
                crate.name,
                crate.version,
                crate.license,
                bom_ref=purl.to_string(),
                purl=purl,
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=crate.sha256)],
            )
        )
    for library in LIBRARIES:
        parts.append(component(library.name, None, library.license, bom_ref=library.name))
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(program, parts)
    return bom


def main() -> int:
    """Writes the file, checked against the published schema."""
    version, file = sys.argv[1:]
    text = JsonV1Dot6(contents(version)).output_as_string(indent=2)
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault:
        print(f"the list of contents breaks its schema: {fault}")
        return 1
    Path(file).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
