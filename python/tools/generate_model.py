"""Writes src/memgauge/model.py from docs/report.schema.json.

`memgauge generate schema` prints that schema from the types of the program. So the classes have
the fields of the reports by construction. A test compares the written file with the schema.

    python3 python/tools/generate_model.py
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "report.schema.json"
MODEL = ROOT / "python" / "src" / "memgauge" / "model.py"

HEAD = '''"""The classes of a report, one for each type of its JSON schema.

Generated: python3 python/tools/generate_model.py

Amounts of memory are in bytes and lengths of time in ns, unless a name says otherwise. `None`
means unknown or not applicable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, Optional, TypeVar, Union

from ._views import DatasetView, PointView, ReportView

T = TypeVar("T")

SCHEMA_VERSION = {version}


@dataclass(frozen=True)
class Fact(Generic[T]):
    """A fact about the machine, with its source or the reason why it is unknown."""

    source: str
    """Source of the value, or the reason why there is none."""
    value: Optional[T] = None
    """The value; `None` if unknown."""


@dataclass(frozen=True)
class Missing:
    """A point without a number."""

    status: Literal["skipped", "unsupported", "interrupted", "failed"]
    """The way in which the number is missing."""
    reason: str
    """Reason, in words."""


'''

# Classes with methods of their own, from _views.py.
VIEWS = {"Report": "ReportView", "Dataset": "DatasetView", "Point": "PointView"}


def doc(text: str, indent: str) -> list[str]:
    """Lines of a docstring, at most 100 columns wide."""
    text = " ".join(text.split()).replace("`null`", "`None`")
    one_line = f'{indent}"""{text}"""'
    if len(one_line) <= 100:
        return [one_line]
    summary, dot, rest = text.partition(". ")
    if len(indent) + 3 + len(summary) + 1 <= 100:
        lines = [f'{indent}"""{summary}{dot.strip()}']
    else:
        first, *more = textwrap.wrap(text, 97 - len(indent))
        return [f'{indent}"""{first}', *(indent + line for line in more), f'{indent}"""']
    if rest:
        lines += ["", *(indent + line for line in textwrap.wrap(rest, 100 - len(indent)))]
    return [*lines, f'{indent}"""']


class Generator:
    """Makes the classes of one schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.types: dict[str, Any] = schema["$defs"]
        self.schema = schema
        self.written: list[str] = []
        self.done: set[str] = set()

    def is_fact(self, name: str) -> bool:
        return name.startswith("Fact") and set(self.types[name]["properties"]) == {
            "source",
            "value",
        }

    def annotation(self, shape: dict[str, Any]) -> str:
        """The Python type of a piece of the schema."""
        if "$ref" in shape:
            name: str = shape["$ref"].rpartition("/")[2]
            if self.is_fact(name):
                value = self.annotation(self.types[name]["properties"]["value"])
                return f"Fact[{value[9:-1] if value.startswith('Optional[') else value}]"
            self.define(name)
            return name
        if "anyOf" in shape:
            kinds = [self.annotation(s) for s in shape["anyOf"]]
            if "None" in kinds:
                rest = [k for k in kinds if k != "None"]
                inner = rest[0] if len(rest) == 1 else f"Union[{', '.join(rest)}]"
                return f"Optional[{inner}]"
            return f"Union[{', '.join(kinds)}]"
        kind = shape["type"]
        if isinstance(kind, list):
            (inner,) = (k for k in kind if k != "null")
            return f"Optional[{self.annotation({**shape, 'type': inner})}]"
        if kind == "array":
            return f"list[{self.annotation(shape['items'])}]"
        if kind == "object":
            return f"dict[str, {self.annotation(shape['additionalProperties'])}]"
        return {
            "string": "str",
            "integer": "int",
            "number": "float",
            "boolean": "bool",
            "null": "None",
        }[kind]

    def default(self, shape: dict[str, Any], annotation: str) -> str:
        """The default of a field that a report may leave out, as Python."""
        if "default" not in shape:
            # The schema lets a field be left out without a default only if it is empty then.
            if annotation.startswith("Optional["):
                return "None"
            if annotation == "bool":
                return "False"
            if annotation.startswith("list["):
                return "field(default_factory=list)"
            if annotation.startswith("dict["):
                return "field(default_factory=dict)"
            raise ValueError(f"no default for {shape}")
        value = shape["default"]
        if annotation.startswith("Fact["):
            return f"Fact({json.dumps(value['source'])})"
        if isinstance(value, dict):
            if not value and annotation.startswith("dict["):
                return "field(default_factory=dict)"
            properties = self.types[annotation]["properties"]
            if {k: p.get("default") for k, p in properties.items()} != value:
                raise ValueError(f"{annotation}: its own defaults are others")
            return f"field(default_factory={annotation})"
        if isinstance(value, list):
            factory = f"lambda: {value}" if value else "list"
            return f"field(default_factory={factory})"
        return json.dumps(value) if isinstance(value, str) else repr(value)

    def define(self, name: str) -> None:
        """Writes the type `name` after the types that it uses."""
        if name in self.done:
            return
        self.done.add(name)
        shape = self.types[name]
        if name == "Outcome":
            self.annotation({"$ref": "#/$defs/Measured"})
            self.add("Outcome = Union[Measured, Missing]", shape)
        elif "properties" in shape:
            self.dataclass(name, shape)
        elif "oneOf" in shape:
            values = "".join(f'    "{option["const"]}",\n' for option in shape["oneOf"])
            self.add(f"{name} = Literal[\n{values}]", shape)
        else:
            self.add(f"{name} = {self.annotation(shape)}", shape)

    def add(self, code: str, shape: dict[str, Any]) -> None:
        self.written.append("\n".join([code, *doc(shape["description"], "")]))

    def dataclass(self, name: str, shape: dict[str, Any]) -> None:
        required: list[str] = []
        optional: list[str] = []
        for key, property_shape in shape["properties"].items():
            annotation = "int" if "const" in property_shape else self.annotation(property_shape)
            lines = doc(property_shape["description"], "    ")
            if key in shape.get("required", []):
                required += [f"    {key}: {annotation}", *lines]
            else:
                default = self.default(property_shape, annotation)
                optional += [f"    {key}: {annotation} = {default}", *lines]
        base = f"({VIEWS[name]})" if name in VIEWS else ""
        head = ["@dataclass(frozen=True)", f"class {name}{base}:"]
        status = ['    status: ClassVar[Literal["measured"]] = "measured"'] * (name == "Measured")
        text = [*head, *doc(shape["description"], "    "), "", *status, *required, *optional]
        self.written.append("\n".join(text))

    def text(self) -> str:
        """The whole module."""
        self.dataclass("Report", self.schema)
        left = {n for n in self.types if not self.is_fact(n)} - self.done
        if left:
            raise ValueError(f"the report does not use {sorted(left)}")
        version = self.schema["properties"]["schema_version"]["const"]
        return HEAD.replace("{version}", str(version)) + "\n\n".join(
            f"{text}\n" for text in self.written
        )


def generate() -> str:
    """The text of model.py."""
    return Generator(json.loads(SCHEMA.read_text(encoding="utf-8"))).text()


if __name__ == "__main__":
    MODEL.write_text(generate(), encoding="utf-8")
