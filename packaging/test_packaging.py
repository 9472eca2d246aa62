"""What a release carries is that of the sources."""

import re
import unittest

import licenses
import platforms
from dependencies import ROOT, crates, targets


class Licenses(unittest.TestCase):
    def test_the_page_is_current(self):
        self.assertEqual(licenses.PAGE.read_text(encoding="utf-8"), licenses.page())

    def test_every_crate_has_a_text_or_is_named_without_one(self):
        page = licenses.page()
        for crate in crates():
            named = len(re.findall(rf"^{re.escape(crate.name)} {re.escape(crate.version)}\b", page, re.M))
            # Once in the list, once above its text or among those without one.
            self.assertGreaterEqual(named, 2, crate)

    def test_no_licence_asks_for_more_than_its_text(self):
        for crate in crates():
            self.assertNotRegex(crate.license, r"^(A?GPL|LGPL|MPL|EUPL)", crate)

    def test_what_only_writes_code_is_not_listed(self):
        names = {crate.name for crate in crates()}
        self.assertIn("serde_json", names)
        self.assertIn("dejavu", names)
        for outside in ("syn", "serde_derive", "tempfile", "jsonschema"):
            self.assertNotIn(outside, names)


class Targets(unittest.TestCase):
    def test_each_is_named_once(self):
        names = [name for name, _ in targets()]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("x86_64-unknown-linux-musl", names)


class Platforms(unittest.TestCase):
    def test_the_page_is_that_of_the_table(self):
        seen = platforms.merged(platforms.rows(platforms.SEEN), [])
        self.assertTrue(seen)
        self.assertEqual(platforms.PAGE.read_text(encoding="utf-8"), platforms.page(seen))
        for row in seen:
            self.assertIn(row["how"], platforms.HOW)
            script = row["by"].split()[0]
            self.assertTrue((ROOT / script).exists(), script)

    def test_a_newer_line_takes_the_place_of_an_older_one(self):
        line = {"system": "S", "architecture": "A", "how": "run", "by": ".ci/run", "date": "2026-01-01"}
        newer = {**line, "date": "2026-02-01"}
        other = {**line, "how": "emulated"}
        self.assertEqual(platforms.merged([line], [newer, other]), [newer, other])


if __name__ == "__main__":
    unittest.main()
