"""JSON into the classes of the model, checked against their types."""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Any, Callable, Union

from . import model
from ._errors import ReportError

Reader = Callable[[Any, str], Any]


def report_of(data: Any) -> model.Report:
    """The report in parsed JSON. Keys that this version does not know are left out.

    Errors: `ReportError` with the place in the report.
    """
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != model.SCHEMA_VERSION:
        raise ReportError(
            f"not a report of schema version {model.SCHEMA_VERSION}: version {version!r}"
        )
    try:
        report: model.Report = _reader(model.Report)(data, "report")
    except RecursionError:
        raise ReportError("not a report: nested too deeply") from None
    return report


def _wrong(place: str, wanted: str, value: Any) -> ReportError:
    return ReportError(f"not a report: {place}: {str(value)[:40]!r} instead of {wanted}")


@functools.cache
def _reader(shape: Any) -> Reader:
    """A function that reads values of the type `shape`."""
    origin = typing.get_origin(shape)
    if shape is model.Outcome:
        return _outcome
    if dataclasses.is_dataclass(origin or shape):
        return _dataclass_reader(origin or shape, typing.get_args(shape))
    if origin is Union:
        return _union_reader(shape)
    if origin is list:
        return _list_reader(typing.get_args(shape)[0])
    if origin is dict:
        return _dict_reader(typing.get_args(shape)[1])
    # A name of a newer version is kept as it is: programs know the names that they ask for.
    return _plain_reader(str if origin is typing.Literal else shape)


def _plain_reader(kind: type) -> Reader:
    def read(value: Any, place: str) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise _wrong(place, kind.__name__, value)
        return value

    return read


def _list_reader(kind: Any) -> Reader:
    item = _reader(kind)

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(place, "a list", value)
        return [item(one, f"{place}[{number}]") for number, one in enumerate(value)]

    return read


def _dict_reader(kind: Any) -> Reader:
    item = _reader(kind)

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(place, "an object", value)
        return {key: item(one, f"{place}.{key}") for key, one in value.items()}

    return read


def _union_reader(shape: Any) -> Reader:
    kinds = typing.get_args(shape)
    rest = [kind for kind in kinds if kind is not type(None)]
    if len(rest) == 1:
        inner = _reader(rest[0])
        return lambda value, place: None if value is None else inner(value, place)

    # The only other unions are of plain types: the coordinates of a point.
    def read(value: Any, place: str) -> Any:
        if type(value) not in kinds:
            raise _wrong(place, " or ".join(kind.__name__ for kind in rest), value)
        return value

    return read


def _dataclass_reader(kind: Any, arguments: Any) -> Reader:
    fields = dataclasses.fields(kind)
    # The annotations are texts of the model; typing.get_type_hints would also evaluate those of
    # the views, whose names exist for type checkers only.
    types = {field.name: eval(str(field.type), vars(model)) for field in fields}
    if arguments:
        types["value"] = Union[arguments[0], None]
    readers = {field.name: _reader(types[field.name]) for field in fields}
    missing = dataclasses.MISSING
    required = {f.name for f in fields if f.default is missing and f.default_factory is missing}

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong(place, "an object", value)
        for name in required - value.keys():
            raise ReportError(f"not a report: {place} has no {name}")
        known = value.keys() & readers.keys()
        return kind(**{name: readers[name](value[name], f"{place}.{name}") for name in known})

    return read


def _outcome(value: Any, place: str) -> Any:
    measured = isinstance(value, dict) and value.get("status") == "measured"
    return _reader(model.Measured if measured else model.Missing)(value, place)
