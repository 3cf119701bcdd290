"""The requests of docs/compare.md: what is ticked was tried on the page itself, and the headings count right."""
import os
import re
import unittest

SOURCE = os.environ["GROUPERFISH_SOURCE"]
LEAST = 15  # requests that are met, so that a table which is not read as one is noticed


class Requests(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(SOURCE, "docs", "compare.md"), encoding="utf-8") as f:
            text = f.read()
        self.tried = re.findall(r"^\$ (.*)", "\n".join(re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)), re.M)
        self.groups = re.findall(r"^### ([^\n:]*): (\d+) of (\d+)\n(.*?)(?=^##|\Z)", text, re.M | re.S)

    def rows(self, body):
        """Of each request: the tick, who asks and where, what for, what is here."""
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in body.splitlines()
                if line.startswith("|") and "](https://" in line]

    def test_groups_count_their_rows(self):
        self.assertGreater(len(self.groups), 5)
        for name, met, all_, body in self.groups:
            rows = self.rows(body)
            self.assertEqual((int(met), int(all_)), (sum(row[0] == "✓" for row in rows), len(rows)), name)
            for row in rows:
                self.assertEqual(len(row), 4, row)
                self.assertTrue(row[0] in ("", "✓") and row[3], row)

    def test_requests_are_named_once(self):
        addresses = [re.search(r"\((https:[^)]*)\)", row[1]).group(1) for *_, body in self.groups for row in self.rows(body)]
        self.assertEqual(len(addresses), len(set(addresses)))
        self.assertEqual(len(addresses), 43)

    def test_commands_of_ticked_lines_were_tried(self):
        met = 0
        for name, _, _, body in self.groups:
            rows, commands = [row for row in self.rows(body) if row[0]], []
            for row in rows:
                found = re.findall(r"`(grouperfish [^`]*)`", row[3])
                self.assertTrue(found or "the same" in row[3] or "](" in row[3], row)
                commands += found
            self.assertTrue(commands or not rows, name)
            for command in commands:
                self.assertIn(command, self.tried)
            met += len(rows)
        self.assertGreaterEqual(met, LEAST)


if __name__ == "__main__":
    unittest.main()
