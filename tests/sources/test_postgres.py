"""put --from postgres, with a real PostgreSQL in a folder of its own."""
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import command


def tools():
    """The folder of initdb; Debian keeps it out of the way."""
    found = shutil.which("initdb") and os.path.dirname(os.path.realpath(shutil.which("initdb")))
    return found or next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)


TOOLS = tools()
QUERY = "SELECT id, body AS text, updated_at FROM tickets"
SINCE = ("--since-field", "updated_at")


class Database:
    """A cluster that listens on a socket in its folder. It refuses to run as root, so root becomes nobody."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="gf-pg-", dir="/tmp")
        self.user = pwd.getpwnam("nobody") if os.getuid() == 0 else None
        os.chmod(self.folder, 0o755)
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", self.data, "-U", "gf", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C")
        self.start()
        self.sql("CREATE TABLE tickets (id int PRIMARY KEY, body text, updated_at timestamptz)", "postgres")

    def run(self, tool, *words, text=None):
        as_user = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        return subprocess.run([os.path.join(TOOLS, tool), *words], input=text, check=True, text=True, cwd=self.folder,
                              capture_output=True, env={**os.environ, "LC_ALL": "C"}, timeout=command.LONG, **as_user)

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off -c log_statement=all"
        log = os.path.join(self.folder, "log")
        as_user = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        subprocess.run([os.path.join(TOOLS, "pg_ctl"), "-D", self.data, "-l", log, "-w", "-o", options, "start"], check=True,
                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=command.LONG, **as_user)

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def sql(self, text, database="postgres"):
        return self.run("psql", "-h", self.folder, "-U", "gf", "-d", database, "-v", "ON_ERROR_STOP=1", "-Atqc", text).stdout

    def log(self):
        with open(os.path.join(self.folder, "log")) as f:
            return f.read()

    def close(self):
        try:
            self.stop("immediate")
        except subprocess.CalledProcessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(command.Case):
    @classmethod
    def setUpClass(cls):
        cls.database = Database()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()

    def setUp(self):
        super().setUp()
        # A program that was killed is still served.
        self.database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grouperfish'")
        self.database.sql("TRUNCATE tickets")
        self.address = f"postgres://gf@/postgres?host={self.database.folder}"

    def add(self, first, last, day=1):
        self.database.sql(f"INSERT INTO tickets SELECT i, 'ticket ' || i, timestamptz '2015-02-0{day} 00:00+00' "
                          f"+ i * interval '1 second' FROM generate_series({first}, {last}) i")

    def read(self, query=QUERY, *words, code=0, **environment):
        return self.put("--from", "postgres", self.address, query, *words, code=code, **environment)

    # ---- rows --------------------------------------------------------------------------------------

    def test_values_keep_their_types(self):
        row = self.read("""SELECT 7::bigint AS id, E'Größe\\n"x"' AS text, true AS yes, false AS no, 1.50::numeric AS price,
            12345678901234567890123::numeric AS large, 'NaN'::numeric AS none, 0.1::float8 AS float, 'Infinity'::float8 AS most,
            NULL::text AS missing, '{"a":
            [1, null]}'::json AS json, '{"b": "x"}'::jsonb AS jsonb, ARRAY['a', 'b c'] AS list, date '2015-02-21' AS day,
            timestamptz '2015-02-21 14:45:30.5+01' AS time, interval '1 day 2 hours' AS lasts, '\\x00ff'::bytea AS bytes,
            'a'::char(3) AS wide, 1 AS one, 2 AS one;  -- and a comment""", "--time", "time")
        self.assertEqual((row["new"], row["refused"]), (1, 0), self.said)
        d = self.documents()["7"]
        self.assertEqual(d, {"id": "7", "text": 'Größe\n"x"', "time": "2015-02-21 13:45:30.5+00", "yes": True, "no": False,
                             "price": 1.5, "large": "12345678901234567890123", "none": "NaN", "float": 0.1, "most": "Infinity",
                             "json": {"a": [1, None]}, "jsonb": {"b": "x"}, "list": '{a,"b c"}', "day": "2015-02-21",
                             "lasts": "P1DT2H", "bytes": "\\x00ff", "wide": "a  ", "one": 1, "one.2": 2})

    def test_all_rows_each_time(self):
        self.add(1, 2500)
        self.assertEqual(self.read()["new"], 2500)
        row = self.read()
        self.assertEqual((row["read"], row["unchanged"]), (2500, 2500))
        self.assertEqual(self.places(), [])
        self.database.sql("TRUNCATE tickets")
        self.assertEqual(self.read()["read"], 0)

    def test_goes_on_with_what_is_newer(self):
        self.add(1, 2500)
        self.database.sql("INSERT INTO tickets VALUES (0, 'without a time', NULL)")
        self.assertEqual(self.read(QUERY, *SINCE)["new"], 2501)
        # The last one is read again: others may have its time.
        self.database.sql("INSERT INTO tickets SELECT 9999, 'same time', updated_at FROM tickets WHERE id = 2500")
        self.add(3000, 3001)
        row = self.read(QUERY, *SINCE)
        self.assertEqual((row["read"], row["new"], row["unchanged"]), (4, 3, 1))
        [place] = self.places()
        self.assertEqual(place["place"], "2015-02-01 00:50:01+00")
        self.assertRegex(place["source"], "^postgres-[0-9a-f]{32}$")
        self.database.sql("UPDATE tickets SET body = 'changed', updated_at = '2015-03-01' WHERE id = 1")
        row = self.read(QUERY + "  -- a comment", *SINCE, "--source", place["source"])
        self.assertEqual((row["read"], row["changed"]), (2, 1))
        self.assertEqual(self.read(QUERY, *SINCE, "--again")["read"], 2504)

    def test_numbers_may_rise_too(self):
        self.add(1, 30)
        self.assertEqual(self.read("SELECT id, body AS text FROM tickets", "--since-field", "id")["read"], 30)
        self.assertEqual(self.places()[0]["place"], "30")
        self.add(31, 40)
        self.assertEqual(self.read("SELECT id, body AS text FROM tickets", "--since-field", "id")["read"], 11)

    # ---- what goes wrong ---------------------------------------------------------------------------

    def test_says_what_is_wrong(self):
        for query, said in (("SELECT id FROM nowhere", 'relation "nowhere" does not exist'),
                            ("SELEC 1", "syntax error"),
                            ("SET timezone = 'UTC'", "the query gives no rows"),
                            ("DELETE FROM tickets RETURNING id, body AS text", "read-only transaction"),
                            ("SELECT 1 AS id; SELECT 2", "cannot insert multiple commands"),
                            ("SELECT 'x' AS \"$place\"", 'must not be called "$place"'),
                            ("SELECT id, 1 / (id - 5) AS text FROM generate_series(1, 9) id", "division by zero")):
            self.assertIn(said, self.read(query, code=6))
        self.assertIn("updated_at", self.read("SELECT id FROM tickets", *SINCE, code=6))
        self.assertIn("statement timeout", self.read("SELECT 1 AS id, pg_sleep(60)::text AS text", code=6,
                                                     PGOPTIONS="-c statement_timeout=100"))
        self.assertIn("does not exist", self.put("--from", "postgres", self.address.replace("/postgres", "/nowhere"), QUERY, code=6))
        self.assertIn("wants an address and a query", self.put("--from", "postgres", self.address, code=2))
        self.assertIn("--items goes with --from url", self.read(QUERY, "--items", "$", code=2))

    def test_passwords_are_not_for_the_command_line(self):
        for address in (f"postgres://gf:hunter2@/postgres?host={self.database.folder}",
                        f"host={self.database.folder} user=gf password=hunter2", "postgres://gf:hunter2@[x/y"):
            said = self.put("--from", "postgres", address, QUERY, code=2)
            self.assertNotIn("hunter2", said)
        self.add(1, 1)
        self.assertEqual(self.read(PGPASSWORD="hunter2")["new"], 1)
        self.assertNotIn("hunter2", self.database.log())

    def test_a_connection_that_breaks(self):
        self.add(1, 2500)
        process = self.start("put", "tickets", "--from", "postgres", self.address,
                             "SELECT id, body || pg_sleep(CASE WHEN id = 2400 THEN 60 ELSE 0 END)::text AS text, updated_at "
                             "FROM tickets ORDER BY id", *SINCE)
        self.wait_until(lambda: "1" in self.database.sql(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'grouperfish' AND wait_event = 'PgSleep'"))
        self.database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grouperfish'")
        _, said = process.communicate(timeout=command.LONG)
        self.assertEqual(process.returncode, 6)
        self.assertIn("terminating connection", said)
        self.assertEqual(self.read(QUERY, *SINCE)["refused"], 0)
        self.assertEqual(len(self.documents()), 2500)

    def kept(self):
        """The place that is there, told by the put itself while it runs; 0 where there is none yet."""
        result = self.run_program("source", "list", "tickets", "--format", "jsonl")
        return int(json.loads(result.out)["place"]) if result.code == 0 and result.out else 0

    def stop_in_the_middle(self, number):
        """End a put that waits for row 2,400, once a place was kept."""
        self.add(1, 2500)
        # "STABLE", so that rows come by the index, each when it is made.
        self.database.sql("CREATE OR REPLACE FUNCTION slow(i int) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN "
                          "RETURN CASE i WHEN 1500 THEN pg_sleep(1.5)::text WHEN 2400 THEN pg_sleep(600)::text ELSE '' END; "
                          "END $$")
        query = "SELECT id, body || slow(id) AS text, updated_at FROM tickets"
        process = self.start("put", "tickets", "--from", "postgres", self.address, query, "--since-field", "id",
                             PGOPTIONS="-c enable_sort=off")
        self.wait_until(lambda: self.kept() >= 1000)
        process.send_signal(number)
        process.communicate(timeout=command.LONG)
        self.database.sql("CREATE OR REPLACE FUNCTION slow(i int) RETURNS text LANGUAGE sql AS $$ SELECT '' $$")
        return query, process.returncode

    def goes_on(self, query):
        kept, held = self.kept(), {int(i) for i in self.documents()}
        self.assertGreaterEqual(kept, 1000)
        self.assertLess(len(held), 2400)
        self.assertLessEqual(set(range(1, kept + 1)), held)
        self.assertEqual(self.read(query, "--since-field", "id", PGOPTIONS="-c enable_sort=off")["read"], 2501 - kept)
        self.assertEqual({int(i) for i in self.documents()}, set(range(1, 2501)))

    def test_goes_on_after_kill(self):
        query, code = self.stop_in_the_middle(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.goes_on(query)

    def test_goes_on_after_a_stop(self):
        query, code = self.stop_in_the_middle(signal.SIGTERM)
        self.assertEqual(code, 143)
        # The database does not work on for nobody.
        self.wait_until(lambda: not self.database.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'grouperfish'"))
        self.goes_on(query)

    def test_many_rows(self):
        query = "SELECT i AS id, repeat('word ' || i || ' ', 20) AS text FROM generate_series(1, 100000) i"
        process = self.start("put", "tickets", "--from", "postgres", self.address, query)
        out, err = process.communicate(timeout=command.LONG)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("\t100000\t", out)


if __name__ == "__main__":
    if TOOLS is None:
        print("skipped: there is no PostgreSQL (package postgresql)")
        sys.exit(77)
    unittest.main(verbosity=2)
