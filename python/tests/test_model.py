"""The classes have what the schema and the reports of the repository have."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import re
import tempfile
import unittest
from pathlib import Path

import samples
from generate_model import MODEL, SCHEMA, generate

import memgauge
from memgauge import model

SAMPLE = samples.ROOT / "docs" / "results" / "zen4-kvm-2cpus.json"


def differences(before: object, after: object, place: str = "") -> list[str]:
    """Places where `before` has what `after` lacks."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            line
            for key, value in before.items()
            for line in (
                differences(value, after[key], f"{place}.{key}")
                if key in after
                else [f"{place}.{key} is missing"]
            )
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after))
        return [line for n, (a, b) in pairs for line in differences(a, b, f"{place}[{n}]")]
    return [] if before == after else [f"{place}: {before!r} became {after!r}"]


def sample() -> dict:
    return json.loads(SAMPLE.read_text(encoding="utf-8"))


class Model(unittest.TestCase):
    def test_model_is_generated_from_the_schema(self):
        self.assertEqual(MODEL.read_text(encoding="utf-8"), generate())

    def test_every_property_of_the_schema_is_a_field(self):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        for name, shape in {**schema["$defs"], "Report": schema}.items():
            if "properties" in shape:
                kind = model.Fact if re.fullmatch(r"Fact\d*", name) else getattr(model, name)
                fields = {field.name for field in dataclasses.fields(kind)}
                self.assertEqual(fields, set(shape["properties"]), name)

    def test_every_key_of_every_report_is_kept(self):
        reports = samples.reports()
        self.assertGreaterEqual(len(reports), 3)
        for path in reports:
            with self.subTest(path.name):
                report = memgauge.load(path)
                data = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual(differences(data, report.to_dict()), [])


class Reading(unittest.TestCase):
    def refused(self, data: object) -> str:
        with self.assertRaises(memgauge.ReportError) as caught:
            memgauge.loads(json.dumps(data))
        return caught.exception.message

    def test_other_versions_and_other_json_are_refused(self):
        for data in ({**sample(), "schema_version": 4}, {}, [], "text", None, 3):
            self.assertIn("version", self.refused(data))

    def test_no_json_is_refused(self):
        for text in ("", "{", "[" * 100_000, b"\xff\xfe"):
            with self.assertRaises(memgauge.ReportError):
                memgauge.loads(text)

    def test_a_wrong_type_is_refused_with_its_place(self):
        data = sample()
        data["datasets"][0]["points"][1]["outcome"]["summary"]["median"] = "fast"
        self.assertIn("datasets[0].points[1].outcome.summary.median", self.refused(data))

    def test_a_missing_key_is_refused_with_its_name(self):
        data = sample()
        del data["provenance"]["tool"]["version"]
        self.assertIn("report.provenance.tool has no version", self.refused(data))

    def test_a_coordinate_is_a_number_or_a_name(self):
        for wrong in (None, 1.5, True, [], {}):
            data = sample()
            data["datasets"][0]["points"][0]["coordinates"]["threads"] = wrong
            self.assertIn("coordinates.threads", self.refused(data))

    def test_each_part_can_be_of_any_wrong_type(self):
        # No value leads to another exception than the package's own.
        data = sample()
        data["datasets"] = data["datasets"][:1]
        data["datasets"][0]["points"] = data["datasets"][0]["points"][:1]

        def places(value, path):
            if isinstance(value, dict):
                for key in value:
                    yield from places(value[key], [*path, key])
            yield path

        for path in list(places(data, []))[:-1]:
            for wrong in ({}, [], None, True, "x", -1, 1.5):
                parent = data
                for key in path[:-1]:
                    parent = parent[key]
                right = parent[path[-1]]
                parent[path[-1]] = wrong
                with contextlib.suppress(memgauge.ReportError):
                    memgauge.loads(json.dumps(data)).rows()
                parent[path[-1]] = right

    def test_keys_and_causes_of_newer_versions_are_no_error(self):
        data = sample()
        data["new"] = 1
        data["datasets"][0]["points"][0]["outcome"]["verdict"] = {
            "grade": "doubtful",
            "reasons": [{"cause": "new-cause", "text": "it is new", "advice": "wait"}],
        }
        point = memgauge.loads(json.dumps(data)).datasets[0].points[0]
        self.assertEqual(point.causes, ["new-cause"])


class Views(unittest.TestCase):
    def test_a_measured_point(self):
        dataset = memgauge.load(SAMPLE).dataset("bandwidth")
        point = dataset.select(operation="read", size_bytes=16384, threads=1)[0]
        summary = point.outcome.summary
        self.assertEqual(point.value, summary.median)
        self.assertEqual(point.interval, (summary.ci_low, summary.ci_high))
        self.assertEqual((point.status, point.unit, point.trust), ("measured", "B/s", "solid"))
        self.assertEqual((point.causes, point.reason), ([], None))

    def test_a_point_without_number(self):
        data = sample()
        data["datasets"][0]["points"][0]["outcome"] = {"status": "skipped", "reason": "no time"}
        point = memgauge.loads(json.dumps(data)).points[0]
        self.assertEqual((point.status, point.reason), ("skipped", "no time"))
        self.assertEqual((point.value, point.interval, point.trust), (None, None, None))
        self.assertEqual(point.causes, [])

    def test_an_interval_without_confidence_is_none(self):
        data = sample()
        data["datasets"][0]["points"][0]["outcome"]["summary"]["confidence"] = 0
        self.assertIsNone(memgauge.loads(json.dumps(data)).points[0].interval)

    def test_dataset_by_name(self):
        report = memgauge.load(SAMPLE)
        self.assertEqual(report.dataset("latency").unit, "ns")
        self.assertTrue(report.dataset("caches").auxiliary)
        for wrong in (("none",), ("latency", "bandwidth")):
            with self.assertRaises(LookupError):
                report.dataset(*wrong)

    def test_several_quantities_need_a_name(self):
        data = sample()
        second = copy.deepcopy(data["datasets"][0])
        second["quantity"]["name"] = "operations"
        data["datasets"].append(second)
        report = memgauge.loads(json.dumps(data))
        with self.assertRaises(LookupError):
            report.dataset("bandwidth")
        self.assertEqual(report.dataset("bandwidth", "operations").quantity.name, "operations")

    def test_an_auxiliary_dataset_comes_second(self):
        data = sample()
        data["datasets"].insert(0, {**data["datasets"][0], "auxiliary": True})
        self.assertFalse(memgauge.loads(json.dumps(data)).dataset("bandwidth").auxiliary)

    def test_role_of_rows(self):
        data = sample()
        data["datasets"] = data["datasets"][:1]
        roles = ((False, False, None), (False, True, "auxiliary"), (True, True, "derived"))
        for derived, auxiliary, role in roles:
            data["datasets"][0].update(derived=derived, auxiliary=auxiliary)
            self.assertEqual(memgauge.loads(json.dumps(data)).rows()[0]["role"], role)

    def test_rows_have_the_names_of_the_csv_columns(self):
        text = (samples.ROOT / "docs" / "csv-columns.md").read_text(encoding="utf-8")
        columns = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
        rows = [row for path in samples.reports() for row in memgauge.load(path).rows()]
        axes_and_figures = {
            name
            for path in samples.reports()
            for dataset in memgauge.load(path).datasets
            for point in dataset.points
            for name in [*point.coordinates, *(point.measured.also if point.measured else {})]
        }
        names = {name for row in rows for name in row}
        self.assertEqual(names - columns - axes_and_figures, set())

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        report = memgauge.load(SAMPLE)
        frame = report.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(len(frame), len(report.points))
        self.assertEqual(frame["value"][0], report.points[0].value)

    def test_polars(self):
        try:
            import polars
        except ImportError:
            self.skipTest("polars is not installed")
        for path in samples.reports():
            report = memgauge.load(path)
            frame = report.to_polars()
            self.assertIsInstance(frame, polars.DataFrame)
            self.assertEqual(frame.height, len(report.points))
        mixed = sample()
        mixed["datasets"][0]["points"][0]["coordinates"]["threads"] = "best"
        column = memgauge.loads(json.dumps(mixed)).to_polars()["threads"]
        self.assertEqual(column[:2].to_list(), ["best", "1"])


class Files(unittest.TestCase):
    def test_version_is_that_of_the_program(self):
        cargo = (samples.ROOT / "Cargo.toml").read_text(encoding="utf-8")
        package = cargo[cargo.index("[workspace.package]") :]
        version = re.search(r'^version = "([^"]+)"', package, re.MULTILINE)
        self.assertEqual(memgauge.__version__, version.group(1))

    def test_a_report_is_read_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.json"
            path.write_bytes(SAMPLE.read_bytes())
            self.assertEqual(memgauge.load(str(path)), memgauge.load(SAMPLE))


if __name__ == "__main__":
    unittest.main()
