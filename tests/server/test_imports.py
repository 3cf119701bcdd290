"""Imports that hold a store answer others; two imports at once lose nothing."""
import json
import threading
import time
import unittest

from served import Served
from sharing import LONG, Store, waits_until


def line(i):
    at = f"13/Jul/2009:00:{i // 60 % 60:02}:{i % 60:02} +0000"
    return f'10.0.0.{i % 9} - - [{at}] "GET /{i} HTTP/1.1" 200 {i}\n'


def tweet(i):
    return json.dumps({"created_at": "Fri Apr 29 09:05:55 +0000 2016", "id_str": str(i), "lang": "en", "text": f"some bees, number {i}",
                       "user": {"id": 1, "name": "B", "screen_name": f"bee{i % 7}"}}) + "\n"


class Imports(Store):
    def begin(self, given, *words):
        """An import that holds the store until its standard input ends."""
        p = self.start(*words, "-", "--format", "json")
        p.stdin.write(given)
        p.stdin.flush()
        waits_until(self.has_socket)
        return p

    def found(self):
        """Tweets; none where there are no tables for them yet."""
        code, out, _ = self.run_command("tweets", "search", "bees", "--limit", "1000", "--format", "jsonl")
        return out.count("\n") if code == 0 else 0

    def test_tweets_are_found_while_they_come(self):
        live = self.begin("".join(map(tweet, range(300))), "tweets", "import")
        waits_until(lambda: self.found() == 300)
        more = self.good("tweets", "import", "-", "--format", "json", given="".join(map(tweet, range(200, 500))))
        self.assertEqual(json.loads(more)["new"], 200)
        self.assertIsNone(live.poll())
        self.assertEqual(self.end(live, tweet(500))[0], 0)
        self.assertEqual(self.found(), 501)
        self.assertTrue(self.good("verify"))

    def test_lines_of_one_log_are_added_by_one(self):
        first = self.begin("".join(map(line, range(100, 20000))), "log", "import", "web")
        waits_until(lambda: self.run_command("log", "find", "web", "--ip", "10.0.0.1")[0] == 0)
        code, _, err = self.run_command("log", "import", "web", "-", given=line(1))
        self.assertEqual(code, 4)
        self.assertIn('lines are being added to log "web" already', err)
        other = json.loads(self.good("log", "import", "other", "-", "--format", "json", given=line(1)))
        self.assertEqual(other["lines"], 1)
        self.assertEqual(json.loads(self.end(first, line(20000))[1])["lines"], 19901)
        last = json.loads(self.good("log", "import", "web", "-", "--format", "json", given=line(1)))
        self.assertEqual(last["lines"], 1)
        rows = self.good("table", "scan", "web", "--family", "http", "--format", "jsonl").splitlines()
        self.assertEqual(len(rows), 19902)

    def test_lines_of_a_log_that_grows_are_found(self):
        growing = self.begin("".join(map(line, range(40))), "log", "import", "web")
        seen, given = 0, 40
        end = time.monotonic() + LONG
        while seen < 43 and time.monotonic() < end:
            growing.stdin.write(line(given))
            growing.stdin.flush()
            given += 1
            time.sleep(0.1)
            code, out, _ = self.run_command("table", "scan", "web", "--format", "jsonl")
            seen = out.count("\n") if code == 0 else 0
        self.assertGreaterEqual(seen, 43)
        self.assertEqual(json.loads(self.end(growing)[1])["lines"], given)

    def test_imports_of_one_log_at_a_server(self):
        """Whichever is refused may come again; none of what was taken is lost."""
        with Served(folder=self.folder) as server:
            self.store = server.store
            taken, failed = [], []

            def add(part):
                lines = "".join(line(i) for i in range(part * 3000, (part + 1) * 3000))
                end = time.monotonic() + LONG
                while time.monotonic() < end:
                    answer = server.ask("POST", "/v1/logs/web", lines)
                    if answer.status == 200:
                        taken.append(answer.json()[0]["lines"])
                        return
                    if answer.status not in (409, 503):
                        break
                    time.sleep(0.01)
                failed.append(answer.body)

            parts = [threading.Thread(target=add, args=(part,)) for part in range(6)]
            for p in parts:
                p.start()
            for p in parts:
                p.join()
            self.assertEqual((taken, failed), ([3000] * 6, []))
            rows = server.ask("GET", "/v1/tables/web/rows", Accept="application/x-ndjson").lines()
            self.assertEqual(sorted(row["key"][1] for row in rows), list(range(18000)))
            self.assertEqual({row["cells"]["http"]["url"] for row in rows}, {f"/{i}" for i in range(18000)})


if __name__ == "__main__":
    unittest.main()
