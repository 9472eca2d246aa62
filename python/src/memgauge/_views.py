"""What a report, a dataset and a point can be asked, beyond their fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import pandas
    import polars

    from .model import (
        Cause,
        Coordinate,
        Dataset,
        Measured,
        Outcome,
        Point,
        Quantity,
        VerdictGrade,
    )

Row = dict[str, Union[bool, float, int, str, None]]
"""A point as a row of a table, under the names in docs/csv-columns.md."""


class PointView:
    """Shortcuts to the figures of a point."""

    id: int
    coordinates: dict[str, Coordinate]
    outcome: Outcome
    _quantity: Quantity | None = None

    @property
    def measured(self) -> Measured | None:
        """The figures with all evidence; `None` if the point has no number."""
        from .model import Measured

        return self.outcome if isinstance(self.outcome, Measured) else None

    @property
    def status(self) -> str:
        """`measured`, `skipped`, `unsupported`, `interrupted` or `failed`."""
        return self.outcome.status

    @property
    def value(self) -> float | None:
        """Median of the undisturbed samples, in `unit`; `None` if the point has no number."""
        return self.measured.summary.median if self.measured else None

    @property
    def unit(self) -> str | None:
        """Unit of the value: `B/s`, `ns`; `None` for a point outside of a dataset."""
        return self._quantity.unit if self._quantity else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval of the median, in `unit`; `None` if the spread is unknown."""
        if self.measured is None or self.measured.summary.confidence == 0:
            return None
        return self.measured.summary.ci_low, self.measured.summary.ci_high

    @property
    def trust(self) -> VerdictGrade | None:
        """`solid`, `doubtful` or `rejected`; `None` if the point has no number."""
        return self.measured.verdict.grade if self.measured else None

    @property
    def causes(self) -> list[Cause]:
        """Causes of doubt, worst first; empty for a solid point."""
        return [reason.cause for reason in self.measured.verdict.reasons] if self.measured else []

    @property
    def reason(self) -> str | None:
        """Why the number is less than solid, or why there is none; `None` for a solid point."""
        if self.measured is None:
            return getattr(self.outcome, "reason", None)
        return "; ".join(reason.text for reason in self.measured.verdict.reasons) or None


class DatasetView:
    """Ways to the points of a dataset."""

    experiment: str
    quantity: Quantity
    points: list[Point]
    auxiliary: bool
    derived: bool

    def __post_init__(self) -> None:
        for point in self.points:
            # A point is frozen; its unit is that of the dataset it is put into.
            object.__setattr__(point, "_quantity", self.quantity)

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return self.quantity.unit

    def select(self, **coordinates: Coordinate) -> list[Point]:
        """Points at these coordinates: `select(operation="read", threads=1)`."""
        wanted = coordinates.items()
        return [p for p in self.points if all(p.coordinates.get(k) == v for k, v in wanted)]

    def rows(self) -> list[Row]:
        """A row for each point: its coordinates and figures."""
        return [_row(self, point) for point in self.points]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas, which has to be installed."""
        return _pandas(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The rows as a frame of polars, which has to be installed."""
        return _polars(self.rows())


class ReportView:
    """Ways to the datasets and points of a report."""

    datasets: list[Dataset]

    def dataset(self, experiment: str, quantity: str | None = None) -> Dataset:
        """The dataset of an experiment: `dataset("bandwidth")`.

        An auxiliary dataset is returned only if there is no other. An experiment that measures
        several quantities needs the name of one. Errors: `LookupError` if there is no such
        dataset, or more than one.
        """
        named = [d for d in self.datasets if d.experiment == experiment]
        found = [d for d in named if quantity in (None, d.quantity.name)]
        found = [d for d in found if not d.auxiliary] or found
        if len(found) == 1:
            return found[0]
        have = sorted({f"{d.experiment} ({d.quantity.name})" for d in named or self.datasets})
        which = f"{experiment} ({quantity})" if quantity else experiment
        count = "more than one dataset" if found else "no dataset"
        raise LookupError(f"{count}: {which}; the report has {', '.join(have) or 'none'}")

    @property
    def points(self) -> list[Point]:
        """The points of all datasets."""
        return [point for dataset in self.datasets for point in dataset.points]

    def rows(self) -> list[Row]:
        """A row for each point of each dataset: its coordinates and figures."""
        return [row for dataset in self.datasets for row in dataset.rows()]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas, which has to be installed."""
        return _pandas(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The rows as a frame of polars, which has to be installed."""
        return _polars(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """The report as in its JSON file, with a key for each field."""
        return _plain(self)  # type: ignore[no-any-return]


def _row(dataset: DatasetView, point: Point) -> Row:
    """Figures have their full precision; a figure that a point lacks is `None`."""
    role = "derived" if dataset.derived else "auxiliary" if dataset.auxiliary else None
    row: Row = {
        "experiment": dataset.experiment,
        "quantity": dataset.quantity.name,
        "unit": dataset.quantity.unit,
        "better": "more" if dataset.quantity.higher_is_better else "less",
        "role": role,
        **point.coordinates,
        "status": point.status,
        "value": point.value,
    }
    measured = point.measured
    row["best"] = measured.summary.best if measured else None
    row["ci_low"], row["ci_high"] = point.interval or (None, None)
    row["confidence"] = measured.summary.confidence if measured else None
    row["mad"] = measured.summary.mad if measured else None
    row["samples"] = measured.summary.undisturbed_samples if measured else None
    row["disturbed_samples"] = measured.evidence.disturbed_samples if measured else None
    row["trust"] = point.trust
    row["cause"] = point.causes[0] if point.causes else None
    row["reason"] = point.reason
    row["limit"] = measured.limit.value if measured and measured.limit else None
    for name, figure in (measured.also if measured else {}).items():
        row.setdefault(name, figure)
    return row


def _columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """The columns of all rows, in the order of their first appearance."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _pandas(rows: list[Row]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(_columns(rows))


def _polars(rows: list[Row]) -> polars.DataFrame:
    import polars

    # An axis can have numbers and names: `threads` is 1 or `best`. Then the column is of texts.
    return polars.DataFrame(_columns(rows), strict=False, infer_schema_length=None)


def _plain(value: Any) -> Any:
    """The JSON of a value of the model."""
    if dataclasses.is_dataclass(value):
        plain = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        # `Measured.status` is the same for all, so it is no field.
        status = getattr(value, "status", None)
        return {"status": status, **plain} if isinstance(status, str) else plain
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
