"""Stores and collections: documents in, results out, ids, errors, threads, forks, interruptions."""

import datetime
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import support
import grouperfish
from grouperfish import Closed, Conflict, Invalid, NotFound, Store, _calls

BODIES = ["the cat sat", "a cat purrs", "cats purr", "stocks fell", "stocks rose", "a stock split"]
IDS = [11, 12, 13, 14, 15, 16]


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "feedback.store")

    def open(self, **options):
        store = grouperfish.open(self.path, **options)
        self.addCleanup(store.close)
        return store

    def filled(self, **options):
        store = self.open(**options)
        data = {"ticket": IDS, "body": BODIES, "stars": [1, 2, 3, 4, 5, 6]}
        c = store["feedback"].put(data, id="ticket", text="body")
        return c.rebuild(k=2, language="english")


class ByField(InAFolder):
    """clusters by a field against tables and tests that numpy and scipy make of the same documents."""

    def setUp(self):
        super().setUp()
        try:
            import numpy
            import scipy.stats
        except ImportError:
            self.skipTest("needs numpy and scipy")
        self.numpy, self.stats = numpy, scipy.stats

    def documents(self, seed):
        """Documents of three subjects, whose products and prices depend on the subject."""
        random = self.numpy.random.default_rng(seed)
        subject = random.integers(0, 3, 400)
        product = [str(p) if p < 5 else None for p in random.poisson(1 + subject)]
        price = self.numpy.round(random.lognormal(subject, 1.0), 1)
        words = [["apple", "pear"], ["wheel", "brake"], ["river", "lake"]]
        text = [" ".join(random.choice(words[s], 3)) for s in subject]
        return {"id": list(range(400)), "text": text, "product": product, "price": list(map(float, price))}

    def members(self, c):
        by_id = dict(zip(c.members()["id"], c.members()["cluster"]))
        return self.numpy.array([by_id[i] for i in range(400)])

    def test_values(self):
        data = self.documents(1)
        c = self.open()["posts"].put(data, id="id", text="text").rebuild(k=3)
        cluster, product = self.members(c), self.numpy.array([p or "" for p in data["product"]])
        rows = list(c.clusters(by_field="product", values=3))
        clear = self.stats.norm.isf(0.05 / 2 / ((len(rows[1:]) + 1) * 3))
        counts = self.numpy.unique(product[product != ""], return_counts=True)
        self.assertEqual(sorted(rows[0]["counts"].values()), sorted(counts[1])[-3:])
        for row in rows[1:]:
            own = cluster == row["cluster"]
            self.assertEqual(row["missing"], (own & (product == "")).sum())
            self.assertEqual(row["other"], (own & (product != "")).sum() - sum(row["counts"].values()))
            for value, n in row["counts"].items():
                table = self.numpy.array([[(own & (product == value)).sum(), (own & (product != value) & (product != "")).sum()],
                                          [(~own & (product == value)).sum(), (~own & (product != value) & (product != "")).sum()]])
                self.assertEqual(n, table[0, 0])
                ratio = self.stats.contingency.odds_ratio(table, kind="sample").statistic
                half = table + 0.5
                z = self.numpy.log(half[0, 0] * half[1, 1] / half[0, 1] / half[1, 0]) / self.numpy.sqrt((1 / half).sum())
                self.assertAlmostEqual(row["z_of"][value], z, places=9)
                self.assertEqual(z > 0, ratio > 1)
                self.assertEqual(value in row["more"], z >= row["clear"])
                self.assertEqual(value in row["less"], z <= -row["clear"])
            self.assertAlmostEqual(row["clear"], clear, places=9)
        self.assertTrue(any(row["more"] for row in rows[1:]))

    def test_numbers(self):
        data = self.documents(2)
        c = self.open()["posts"].put(data, id="id", text="text").rebuild(k=3)
        cluster, price = self.members(c), self.numpy.array(data["price"])
        rows = list(c.clusters(by_field="price"))
        for row in rows:
            own = cluster == row["cluster"] if row["cluster"] else cluster > 0
            n = row["numbers"]
            self.assertAlmostEqual(n["mean"], price[own].mean(), places=9)
            quartiles = self.numpy.quantile(price[own], [0, 0.25, 0.5, 0.75, 1])
            self.assertTrue(self.numpy.allclose([n[q] for q in ("least", "lower", "median", "upper", "most")], quartiles))
            if not row["cluster"]:
                continue
            u = self.stats.mannwhitneyu(price[own], price[~own], method="asymptotic", use_continuity=False)
            self.assertAlmostEqual(n["above"], u.statistic / own.sum() / (~own).sum(), places=9)
            self.assertAlmostEqual(2 * self.stats.norm.sf(abs(n["z"])), u.pvalue, places=9)
            self.assertEqual(n["difference"] != "same", abs(n["z"]) >= row["clear"])

    def test_chance(self):
        """A field that says nothing of the clusters shows a difference in at most 5 of 100 answers."""
        c = self.open()["posts"].put(self.documents(3), id="id", text="text").rebuild(k=3)
        random = self.numpy.random.default_rng(4)
        told = 0
        for _ in range(40):
            data = dict(self.documents(3), product=[str(p) for p in random.integers(0, 6, 400)])
            c.put(data, id="id", text="text")
            told += any(row["more"] or row["less"] for row in c.clusters(by_field="product", values=6) if row["cluster"])
        self.assertLessEqual(told, 6)  # more than 6 of 40 at 5 %: 1 in 300, and the seed is fixed


class Results(InAFolder):
    def test_documents_and_clusters(self):
        c = self.filled()
        self.assertEqual(c.last_put["new"], 6)
        self.assertEqual(len(c), 6)
        self.assertIn(11, c)
        self.assertNotIn(99, c)
        members = c.members()
        self.assertEqual(members["id"], IDS)
        self.assertEqual(len(set(members["cluster"][:3])), 1)
        self.assertEqual(sorted(c.clusters()["size"]), [3, 3])
        self.assertEqual(c.doc(11)["fields"], {"stars": 1})
        self.assertEqual(c.doc(11)["id"], 11)
        self.assertEqual(set(c.search("cat")["id"]), {11, 12, 13})
        self.assertEqual(len(c.similar(14)), 2)
        groups = c.duplicates(min=0.05, limit=1)
        self.assertEqual((groups["group"][0], groups["score"][0]), (1, 1))
        self.assertLess(groups["score"][1], 1)
        self.assertEqual(set(c.duplicates(min=1)["score"]), {1})
        self.assertEqual(c.assign(["cats", "zebra"])["cluster"][1], None)
        self.assertEqual(c.build()["documents"], 6)
        self.assertIn(c.cluster(1)["documents"][0]["id"], IDS)
        self.assertEqual(len(c.export()), 6)
        self.assertIn("</html>", c.report())
        self.assertEqual(c.label(1, "Katzen").clusters()["label"].count("Katzen"), 1)
        self.assertEqual(c.label(1).clusters()["label"].count("Katzen"), 0)
        self.assertIn("<table>", c._repr_html_())

    def test_state_of_clusters_with_places(self):
        c = self.filled()
        cats = c.members()["cluster"][0]
        c.note(cats, status="planned", owner="ann", link="https://desk.example/7", note="soon")
        places = c.assign([BODIES[0], BODIES[5], "zebra"])
        self.assertEqual(places.columns[-5:], ["size", "status", "owner", "link", "note"])
        self.assertEqual(list(places["size"]), [3, 3, None])
        self.assertEqual(places["status"], ["planned", None, None])
        self.assertEqual(places["owner"], ["ann", None, None])
        self.assertEqual(places["link"], ["https://desk.example/7", None, None])
        self.assertEqual(places["note"], ["soon", None, None])
        self.assertEqual(len(c.assign([])["status"]), 0)
        answer = c.run("put", data=b'{"id": "21", "text": "a cat"}\n', results="places", **{"from": "jsonl"})
        told = answer[0]
        self.assertEqual((told["result"], told["cluster"], told["size"]), ("stored", cats, 3))
        self.assertEqual((told["status"], told["owner"], told["note"]), ("planned", "ann", "soon"))
        told = c.run("put", data=b'{"id": "22", "text": "a cat"}\n', **{"from": "jsonl"})[0]
        self.assertEqual((told["new"], told["id"], told["cluster"]), (1, "22", cats))
        self.assertEqual((told["size"], told["status"], told["link"]), (3, "planned", "https://desk.example/7"))

    def test_near_duplicates_count_once(self):
        c = self.filled()
        texts = ["a weekly digest of headlines"] * 20
        c.put(texts, id=[100 + i for i in range(20)])
        self.assertEqual(c.config(near_duplicates="once", near_min=0.9, k=2).rebuild().build()["distinct"], 6)  # two of the six are the same by their stems
        self.assertEqual(len({m["cluster"] for m in c.members() if m["id"] >= 100}), 1)
        self.assertEqual(sum(c.clusters()["size"]), 26)
        with self.assertRaisesRegex(Invalid, "near_duplicates: \"never\" is not one of: all, once"):
            c.config(near_duplicates="never")

    def test_put_tells_what_is_near(self):
        c = self.open()["near"]
        with self.assertWarnsRegex(UserWarning, "near: .*has not been rebuilt"):
            c.put(BODIES, id=IDS, near=0.8)
        self.assertEqual(c.last_put["near_duplicates"], 0)
        c.rebuild(k=2, language="english")
        c.put(["the cat purrs", "stock falls", "stocks fell"], id=[21, 22, 23], near=0.9)
        self.assertEqual((c.last_put["new"], c.last_put["near_duplicates"]), (3, 2))
        near = c.nearest_earlier([21, 22, 23, 99], 0.9)
        self.assertEqual(near["near"], [12, None, 14, None])
        self.assertEqual([s and round(s, 6) for s in near["score"]], [1, None, 1, None])
        self.assertEqual(c.nearest_earlier([23, 14, 14], 1)["near"], [None, 23, 23])
        self.assertEqual(c.nearest_earlier(list(range(11, 24)), 0.9)["near"][2], 12)
        self.assertEqual(len(c.nearest_earlier([])), 0)
        c.put(["a cat"], id=[31])
        self.assertNotIn("near_duplicates", c.last_put)
        with self.assertRaises(Invalid):
            c.nearest_earlier([11], 2)
        path = os.path.join(os.path.dirname(self.path), "more.jsonl")
        with open(path, "w") as file:
            file.write('{"id": "41", "text": "cats purr"}\n{"id": "42", "text": "zebra"}\n')
        c.put(path, near=0.9)
        self.assertEqual((c.last_put["new"], c.last_put["near_duplicates"]), (2, 1))
        rows = c.run("put", data=b'{"id": "43", "text": "a cat purrs"}', results="each", near=0.9, **{"from": "jsonl"})
        self.assertEqual(rows[0]["near"], "12")

    def test_groups_and_what_is_within(self):
        c = self.filled()
        group = c.cluster("g1", docs=2)
        self.assertEqual((group["group"], group["size"], len(group["clusters"])), ("g1", 6, 2))
        self.assertEqual(len(group["documents"]), 2)
        inner = c.within("g1", k=3)
        self.assertEqual((inner.config_name, len(inner.clusters())), ("default-g1", 3))
        self.assertEqual(inner.build()["documents"], 6)
        one = c.within(c.clusters()["cluster"][0], k=1, config="one")
        self.assertEqual(sum(one.clusters()["size"]), 3)
        with self.assertRaisesRegex(NotFound, "no group g9"):
            c.within("g9")

    def test_edits(self):
        c = self.filled()
        first, second = c.clusters()["cluster"]
        before = c.members()["cluster"]
        self.assertIs(c.merge([first, second], by="ann", reason="one and the same"), c)
        self.assertEqual(set(c.members()["cluster"]), {first})
        self.assertEqual(c.edits()[0]["by"], "ann")
        self.assertEqual(c.undo().members()["cluster"], before)
        self.assertEqual(len(c.edits()), 0)
        there = c.members()[0]
        other = second if there["cluster"] == first else first
        c.move(there["id"], other).keep(there["id"])
        self.assertEqual(c.members()[0]["cluster"], other)
        c.rename(first, "Pets").note(first, status="planned", owner="ann").lock(first)
        row = next(r for r in c.clusters() if r["cluster"] == first)
        self.assertEqual((row["label"], row["status"], row["owner"]), ("Pets", "planned", "ann"))
        c.hide(second)
        self.assertEqual(len(c.clusters(hidden=True)), 2)
        self.assertEqual(c.clusters()["cluster"], [first])
        self.assertEqual(len(c.show(second).unlock(first).clusters()), 2)
        c.rebuild(k=2, language="english", force=True)
        self.assertIn("Pets", c.clusters()["label"])
        self.assertEqual(c.members()[0]["cluster"], other)
        self.assertEqual(len(c.split(second, 2).clusters()), 3)
        with self.assertRaises(grouperfish.NotFound):
            c.merge([first, 99])
        with self.assertRaises(grouperfish.NotFound):
            c.undo(999)

    def test_edits_that_are_lost_or_wait_are_told(self):
        c = self.filled()
        there, other = c.members()[0], c.members()[1]
        first, second = c.clusters()["cluster"]
        c.move(there["id"], second if there["cluster"] == first else first).keep(other["id"])
        c.delete([there["id"]])
        with self.assertWarnsRegex(UserWarning, r"edit 1 \(move, .*the document is gone"):
            c.rebuild()
        with self.assertWarnsRegex(UserWarning, r"edit 1 \(move, .*the document is gone"):
            c.diff()
        with self.assertWarnsRegex(UserWarning, "edit 2 was made on an earlier build"):
            c.undo()

    def test_topics(self):
        c = self.filled()
        ids = [one["id"] for one in c.members()]
        self.assertIs(c.add_topic("Pets", words="cats", by="ann"), c)
        self.assertEqual(c.topics()[0]["owed"], True)
        c.add_topic("mine", like=ids[:1]).rebuild()
        topics = {row["topic"]: row for row in c.topics()}
        self.assertEqual(set(topics), {"Pets", "mine"})
        self.assertFalse(topics["mine"]["owed"])
        self.assertIn("mine", c.clusters()["label"])
        kept = topics["mine"]["cluster"]
        self.assertEqual(c.members()[0]["cluster"], kept)
        c.rebuild(force=True, start="fresh")
        self.assertEqual(c.members()[0]["cluster"], kept)
        c.delete_topic("MINE").rebuild()
        self.assertEqual(c.topics()["topic"], ["Pets"])
        with self.assertRaises(grouperfish.NotFound):
            c.delete_topic("mine")
        with self.assertRaises(grouperfish.NotFound):
            c.add_topic("other", like=["nobody"])

    def test_watches(self):
        c = self.filled()
        words = ["cats", "purr", "dogs", "bark", "mice", "squeak", "cows", "moo"]
        c.put({"id": list(range(1000, 1200)),
               "text": [" ".join(words[(i * step) % 8] for step in (1, 3, 5)) for i in range(200)]})
        c.rebuild(k=3)
        with tempfile.TemporaryDirectory() as folder:
            box = os.path.join(folder, "box")
            rule = c.watch_add("new >= 5", mail=box)
            self.assertEqual((rule["watch"], rule["way"], rule["target"]), (1, "mail", box))
            self.assertEqual(c.watches()["when"], ["new >= 5"])
            self.assertEqual(c.watch_run()["candidates"], 0)
            c.put({"id": list(range(100, 112)), "text": ["sturgeon and halibut"] * 12})
            run = c.watch_run()
            self.assertEqual((run["candidates"], run["told"], run["delivered"]), (1, 1, 1))
            alert, = c.alerts()
            self.assertEqual((alert["kind"], alert["size"], alert["state"]), ("new", 12, "delivered"))
            self.assertEqual(len(c.alerts(after=alert["alert"])), 0)
            with open(box) as f:
                self.assertIn("Subject: Grouperfish alert 1 of", f.read())
        self.assertEqual(len(c.watch_delete(1).watches()), 0)
        with self.assertRaises(NotFound):
            c.watch_delete(1)
        with self.assertRaisesRegex(grouperfish.Invalid, "column 1"):
            c.watch_add("nwe >= 5", mail="box")
        with self.assertRaisesRegex(grouperfish.Invalid, "one of post, exec and mail"):
            c.watch_add("new >= 5")

    def test_what_changed(self):
        c = self.filled()
        c.put({"id": [21, 22, 23], "text": ["dogs bark", "a dog barks", "dogs"]})
        diff = c.rebuild(k=3).diff()
        self.assertIn("new", diff["change"])

    def test_settings_of_one_build(self):
        c = self.filled()
        c.config(k=2)
        self.assertEqual(len(c.rebuild(k=3).clusters()), 3)
        self.assertEqual(len(c.rebuild(force=True).clusters()), 2)
        with self.assertRaisesRegex(grouperfish.Invalid, "kk"):
            c.rebuild(kk=3)

    def test_trends(self):
        c = self.open()["feedback"]
        days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=9 * i) for i in range(6)]
        c.put({"id": IDS, "text": BODIES, "day": days}, time="day").rebuild(k=2)
        table = c.clusters(by="week")
        self.assertEqual(set(table["unit"]), {"week"})
        self.assertEqual(c.doc(11)["time"], "2024-01-01")

    def test_deleted(self):
        c = self.filled()
        self.assertEqual(len(c.delete([11, 12])), 4)
        self.assertEqual(len(c.delete(where=["stars>=5"])), 2)
        with self.assertRaises(Invalid):
            c.delete()
        del c.store["feedback"]
        self.assertEqual(list(c.store), [])

    def test_every_operation_by_its_name(self):
        c = self.filled()
        names = [operation["name"] for operation in grouperfish.operations()]
        self.assertIn("clusters", names)
        self.assertEqual(len(c.run("clusters")), 2)
        answer = c.store.run("put", data=b'{"id":1}\n{"id":2,"text":"a"}', data_name="x.jsonl", collection="other")
        self.assertEqual(answer.outcome, "some refused")
        self.assertEqual(answer.notices[0]["reason"], "no_text")
        with self.assertRaisesRegex(Invalid, 'no argument "colour"'):
            c.run("clusters", colour="red")
        with self.assertRaisesRegex(Invalid, "no operation"):
            c.store.run("cluster everything")

    def test_embeddings(self):
        numpy = support.skip_without("numpy", self)
        c = self.open()["vectors"]
        rows = numpy.eye(4)[[0, 0, 1, 1]] + 0.01
        c.put(BODIES[:4], id=list("abcd")).rebuild(matrix=rows, ids=list("abcd"), k=2)
        self.assertEqual(c.members()["cluster"][0], c.members()["cluster"][1])
        self.assertEqual(c.assign(rows)["cluster"], c.members()["cluster"])
        self.assertEqual(set(c.assign(rows)["size"]), {2})
        c.note(1, owner="ann")
        self.assertEqual(set(c.assign(rows)["owner"]), {"ann", None})
        with self.assertRaises(Conflict):
            c.assign(["a text"])
        c.put(["late"], id=["e"], vectors=rows[2:3])
        place = c.doc("e")["memberships"][0]
        self.assertEqual(place["cluster"], c.members()["cluster"][2])

    def test_the_command_reads_what_was_put(self):
        program = os.environ.get("GROUPERFISH_PROGRAM")
        if not program or not os.path.exists(program):
            self.skipTest("GROUPERFISH_PROGRAM names no program")
        self.filled().store.close()
        told = subprocess.run(
            [program, "clusters", "feedback", "--store", self.path, "--format", "jsonl"],
            check=True, capture_output=True, text=True)
        self.assertEqual(len(told.stdout.splitlines()), 2)


class Ids(InAFolder):
    def test_numbers_stay_numbers(self):
        self.filled().store.close()
        with self.open() as store:
            c = store["feedback"]
            self.assertEqual(c.members()["id"], IDS)
            self.assertEqual(c.doc(12)["id"], 12)
            c.put(["one more"], id=["x17"])
            self.assertEqual(c.rebuild().members()["id"][0], "11")

    def test_strings_of_digits_stay_strings(self):
        c = self.open()["c"].put(["a cat", "a dog"], id=["007", "8"])
        self.assertEqual(c.rebuild(k=1).members()["id"], ["007", "8"])
        self.assertEqual(c.put(["a cow"], id=[9]).rebuild().members()["id"], ["007", "8", "9"])

    def test_zeros_before_a_number_are_of_another_id(self):
        c = self.open()["c"].put(["a cat", "a dog"], id=[7, 8])
        c.put(["a cow"], id=[9]).run("put", data=b'{"id":"007","text":"a bird"}\n', **{"from": "jsonl"})
        self.assertEqual(sorted(c.rebuild(k=1).members()["id"]), ["007", "7", "8", "9"])

    def test_deleted_by_ids_that_no_line_has(self):
        c = self.open()["c"].put(["a", "b", "c"], id=["x", "y", "x\ny"])
        c.delete(["x\ny"])
        self.assertEqual(len(c), 2)
        self.assertEqual(c.doc("x")["text"], "a")

    def test_names_of_files_as_ids(self):
        with self.assertRaisesRegex(grouperfish.Invalid, "row 1 cannot be written as UTF-8"):
            self.open()["c"].put(["a", "b"], id=["a.txt", "caf\udce9.txt"])

    def test_an_interrupted_close_is_completed_by_the_next(self):
        store = self.open()
        store._users.append("another thread")
        waited = store._lock.wait

        def interrupted():
            raise KeyboardInterrupt

        store._lock.wait = interrupted
        with self.assertRaises(KeyboardInterrupt):
            store.close()
        store._lock.wait = waited
        store._users.clear()
        store.close()
        self.open().close()

    def test_ids_that_do_not_do(self):
        c = self.open()["c"]
        for ids, words in (
            ([1, "a"], "mixes ids: row 0 has int .1., row 1 str .'a'."),
            ([1, 1], "id 1 stands in row 0 and in row 1"),
            ([1.5, 2.5], "row 0: an id is a string or a whole number, not float"),
            ([True, False], "not bool"),
            ([1, None], "row 1: column 'id': the id is null"),
            ([1], "1 ids for 2 rows"),
            (["", "a"], "row 0: column 'id': the id is empty"),
            (None, "documents need ids"),
        ):
            with self.subTest(ids=ids), self.assertRaisesRegex(Invalid, words):
                c.put(["x", "y"], id=ids)
        self.assertEqual(len(c), 0)


class Frames(InAFolder):
    def setUp(self):
        super().setUp()
        self.pandas = support.skip_without("pandas", self)

    def frame(self, **columns):
        return self.pandas.DataFrame({"ticket": IDS, "body": BODIES, **columns})

    def test_types_of_columns(self):
        pandas = self.pandas
        df = self.frame(
            when=[pandas.Timestamp("2024-01-01"), pandas.NaT]
            + [pandas.Timestamp("2024-02-03 04:05:06.789")] * 4,
            zone=pandas.to_datetime(["2024-01-01T01:00:00+01:00"] * 6, utc=True),
            n=[1, 2, 3, 4, 5, 6],
            x=[1.5, float("nan"), 3, 4, 5, 6],
            yes=[True, False] * 3,
            word=["a", None, "c", "d", "e", "f"],
            kind=pandas.Categorical(["p", "q"] * 3),
            whole=pandas.array([1, None, 3, 4, 5, 6], dtype="Int64"),
            parts=[["u", "v"], [], None, ["w"], ["x"], ["y"]],
        )
        c = self.open()["c"].put(df, id="ticket", text="body", time="when")
        self.assertEqual(c.doc(11)["time"], "2024-01-01T00:00:00Z")
        self.assertEqual(c.doc(13)["time"], "2024-02-03T04:05:06.789Z")
        self.assertNotIn("time", c.doc(12))
        self.assertEqual(
            c.doc(11)["fields"],
            {"zone": "2024-01-01T00:00:00Z", "n": 1, "x": 1.5, "yes": True, "word": "a",
             "kind": "p", "whole": 1, "parts": ["u", "v"]})
        self.assertEqual(
            c.doc(12)["fields"],
            {"zone": "2024-01-01T00:00:00Z", "n": 2, "yes": False, "kind": "q", "parts": []})
        self.assertEqual(
            self.open_again(c).put(df[["ticket", "body", "n"]], id="ticket", text="body",
                                   fields=["n"]).last_put["changed"], 6)

    def open_again(self, c):
        c.store.close()
        return self.open()["c"]

    def test_index_as_ids(self):
        df = self.frame().set_index("ticket")
        self.assertEqual(self.open()["c"].put(df, text="body").rebuild(k=1).members()["id"], IDS)

    def test_bad_frames_store_nothing(self):
        c = self.open()["c"]
        pandas = self.pandas
        for df, words in (
            (self.frame().assign(body=[*BODIES[:5], None]), "row 5: column 'body': is null"),
            (self.frame().assign(body=[*BODIES[:5], float("nan")]), "row 5: .* is null"),
            (self.frame().assign(body=range(6)), "a text is a string, not int"),
            (self.frame().assign(ticket=[1, 1, 2, 3, 4, 5]), "id 1 stands in row 0"),
            (self.frame().assign(ticket=[1, "a", 2, 3, 4, 5]), "mixes ids"),
            (pandas.concat([self.frame(), self.frame()], axis=1), "two columns are called"),
            (self.frame()[["ticket"]], "there is no column 'body'"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(Invalid, words):
                c.put(df, id="ticket", text="body")
        self.assertEqual(len(c), 0)
        self.assertEqual(len(c.put(self.frame()[:0], id="ticket", text="body")), 0)

    def test_bad_rows_are_left_out_where_that_is_said(self):
        df = self.frame().assign(body=["a cat", None, 7, "b", "c", "d"])
        c = self.open()["c"]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            c.put(df, id="ticket", text="body", errors="skip")
        self.assertIn("2 of 6 rows were left out; row 1: column 'body': is null", str(told[0].message))
        self.assertEqual(len(c), 4)
        self.assertEqual(c.last_put["refused"], 2)

    def test_results_as_frames(self):
        c = self.open()["c"].put(self.frame(), id="ticket", text="body").rebuild(k=2)
        members = c.members().to_pandas()
        self.assertEqual(list(members["id"]), IDS)
        joined = self.frame().merge(members, left_on="ticket", right_on="id")
        self.assertEqual(len(joined), 6)
        self.assertEqual(list(c.clusters().to_pandas()["size"]), [3, 3])


class Arrow(InAFolder):
    def test_tables_in_and_out(self):
        pyarrow = support.skip_without("pyarrow", self)
        table = pyarrow.table({"id": IDS, "text": pyarrow.array(BODIES).dictionary_encode()})
        c = self.open()["c"].put(table).rebuild(k=2)
        out = c.members().to_arrow()
        self.assertEqual(out.column("id").to_pylist(), IDS)
        self.assertEqual(out.schema.field("cluster").type, pyarrow.uint32())
        c.put(table.to_batches()[0])
        self.assertEqual(c.last_put["unchanged"], 6)
        with self.assertRaisesRegex(Invalid, "row 1: column \"text\" is null"):
            c.put(pyarrow.table({"id": [1, 2], "text": ["a", None]}))
        with self.assertRaisesRegex(Invalid, "columns found: id, body"):
            c.put(pyarrow.table({"id": [1], "body": ["a"]}))
        self.assertEqual(c.clusters().to_arrow().num_rows, 2)

    def test_polars(self):
        polars = support.skip_without("polars", self)
        c = self.open()["c"].put(polars.DataFrame({"id": IDS, "text": BODIES})).rebuild(k=2)
        self.assertEqual(c.members().to_polars()["id"].to_list(), IDS)

    def test_a_consumer_without_any_library(self):
        """Columns that Python made go through the interface and back into the library."""
        table = grouperfish.Table({"id": IDS, "text": BODIES, "tags": [["a"], [], ["b", "c"]] * 2,
                                   "n": [1, None, 2.5, 3, 4, 5]})
        c = self.open()["c"].put(table)
        self.assertEqual(c.last_put["new"], 6)
        self.assertEqual(c.doc(13)["fields"], {"tags": ["b", "c"], "n": 2.5})
        self.assertEqual(c.doc(12)["fields"], {"tags": []})
        members = c.rebuild(k=2).members()
        renamed = grouperfish.Table({"id": members["id"], "text": members["label"]})
        self.assertEqual(c.store["labels"].put(renamed).last_put["new"], 6)


class Shapes(InAFolder):
    """Columns and rows that are almost right."""

    def test_ids_beside_a_column_called_id(self):
        c = self.open()["c"].put({"id": ["x", "y"], "text": ["a cat", "a dog"]}, id=[1, 2])
        self.assertEqual(c.doc(2)["fields"], {"id": "y"})
        self.assertEqual(c.put({"id": ["a cat", "a dog"]}, text="id", id=[1, 2]).last_put["changed"], 2)

    def test_fields_that_do_not_do(self):
        c = self.open()["c"]
        data = {"id": [1], "text": ["a"], "a": [1]}
        for fields, words in ((["a", "a"], "fields names 'a' twice"), ("a", "a list of names of columns"),
                              (["b"], "no column 'b'; columns found: id, text, a"), ([1], "a list of names")):
            with self.subTest(fields=fields), self.assertRaisesRegex(Invalid, words):
                c.put(data, fields=fields)
        self.assertEqual(len(c), 0)
        self.assertEqual(c.put(data, fields=[]).doc(1).get("fields"), None)

    def test_one_column_for_two_roles(self):
        c = self.open()["c"].put({"name": ["a cat", "a dog"]}, id="name", text="name", lang="name")
        self.assertEqual(c.doc("a cat")["text"], "a cat")

    def test_widths_that_no_row_has(self):
        numpy = support.skip_without("numpy", self)
        sparse = support.skip_without("scipy.sparse", self)
        c = self.filled()
        for width in (2**32, 2**32 + 4):
            one = (numpy.ones(1), (numpy.zeros(1, "int64"), numpy.array([width - 1])))
            with self.assertRaisesRegex(Invalid, "fewer than 4,294,967,296 each"):
                c.rebuild(matrix=sparse.coo_matrix(one, shape=(1, width)), ids=[11])
        vectors = numpy.ones((1, 2))
        with self.assertRaisesRegex(Invalid, "a column of that name"):
            c.put({"id": [1], "text": ["a"], "vector": [1]}, vectors=vectors)

    def test_no_rows_at_all(self):
        c = self.open()["c"]
        for data in ([], {"id": [], "text": []}, grouperfish.Table({"id": [], "text": []})):
            c.put(data, id=None if not isinstance(data, list) else [])
            self.assertEqual(c.last_put["rows"], 0)
        with self.assertRaisesRegex(Invalid, "columns found: none"):
            c.put({})


class Life(InAFolder):
    def test_a_store_is_closed_under_a_call_of_another(self):
        path = os.path.join(os.path.dirname(self.path), "other.store")
        other = grouperfish.open(path)
        c = self.filled()
        c.rebuild(k=2, force=True, progress=lambda *_: other.close())
        self.assertTrue(other.closed)
        grouperfish.open(path, wait=0).close()  # nobody holds it

    def test_interrupted_while_its_thread_starts(self):
        """The call that runs has ended when the interruption arrives; one that does not run never does."""
        real, ran = threading.Thread.start, []

        def begun(thread):
            real(thread)
            while not ran:
                time.sleep(0.001)
            raise KeyboardInterrupt

        def before(thread):
            late.append(thread)
            raise KeyboardInterrupt

        def function(_error):
            ran.append("began")
            while not call.cancel.requested:
                time.sleep(0.001)
            ran.append("ended")
            return 0

        late = []
        self.addCleanup(setattr, threading.Thread, "start", real)
        for start, expected in ((begun, ["began", "ended"]), (before, [])):
            threading.Thread.start, call = start, _calls.Call(False)
            with self.assertRaises(KeyboardInterrupt):
                call.run(function)
            self.assertEqual(ran, expected)
            ran.clear()
        real(late[0])
        late[0].join()
        self.assertEqual(ran, [])

    def test_closed(self):
        c = self.filled()
        c.store.close()
        c.store.close()
        self.assertTrue(c.store.closed)
        for call in (c.clusters, c.members, c.rebuild, lambda: c.put(["a"], id=[1]), lambda: len(c)):
            with self.assertRaisesRegex(Closed, "is closed"):
                call()

    def test_absent(self):
        with self.assertRaisesRegex(NotFound, "there is no store"):
            grouperfish.open(self.path, create=False)
        store = self.open()
        with self.assertRaisesRegex(NotFound, 'no collection "nope"'):
            store["nope"].clusters()
        with self.assertRaisesRegex(NotFound, "has no build yet"):
            store["c"].put(["a cat"], id=["a"]).build()

    def run_python(self, code, **options):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        return subprocess.Popen([sys.executable, "-c", code, self.path], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def test_two_processes(self):
        self.filled()
        other = self.run_python(
            "import sys, grouperfish\n"
            "try: grouperfish.open(sys.argv[1], wait=0)\n"
            "except grouperfish.Locked as e: print(e)\n")
        told, wrong = other.communicate(timeout=60)
        self.assertIn(f"is held by process {os.getpid()} (grouperfish in Python)", told, wrong)

    def test_readers_side_by_side(self):
        self.filled().store.close()
        with self.open(read_only=True) as one, grouperfish.open(self.path, read_only=True) as two:
            self.assertEqual(one["feedback"].members()["id"], two["feedback"].members()["id"])
            with self.assertRaises(Invalid):
                one["feedback"].put(["a"], id=[1])

    def test_a_fork_in_between(self):
        c = self.filled()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            told = "nothing"
            try:
                c.clusters()
            except Closed as closed:
                told = str(closed)
            finally:
                os.write(writing, told.encode())
                c.store.close()
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.assertIn("forked", pipe.read())
        os.waitpid(child, 0)
        self.assertEqual(len(c.clusters()), 2)

    def test_a_child_that_lives_on_holds_no_store(self):
        c = self.filled()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # until the parent has gone on
            os._exit(0)
        try:
            c.store.close()
            with grouperfish.open(self.path, wait=0) as again:
                self.assertEqual(len(again["feedback"]), 6)
        finally:
            os.close(writing)
            os.waitpid(child, 0)

    def test_threads(self):
        c = self.filled()
        wrong = []

        def work(i):
            try:
                for k in range(5):
                    c.put([f"a cat {i} {k}"], id=[1000 + 10 * i + k])
                    c.members()
                    c.search("cat")
            except Exception as raised:
                wrong.append(raised)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(c), 26)

    def test_killed_in_the_middle_of_a_put(self):
        """What a put has counted as stored is there; the store opens and goes on."""
        victim = self.run_python(
            "import sys, grouperfish\n"
            "c = grouperfish.open(sys.argv[1])['c']\n"
            "n = 0\n"
            "while True:\n"
            "    c.put(['text number %d' % i for i in range(n, n + 500)], id=range(n, n + 500))\n"
            "    n += 500\n"
            "    print(n, flush=True)\n")
        stored = 0
        while stored < 1500:
            stored = int(victim.stdout.readline())
        victim.kill()
        rest = victim.communicate()[0].split()
        stored = int(rest[-1]) if rest else stored
        with self.open() as store:
            c = store["c"]
            self.assertGreaterEqual(len(c), stored)
            self.assertEqual(c.doc(stored - 1)["text"], f"text number {stored - 1}")
            self.assertEqual(c.id_type, int)

    def test_interrupted(self):
        """Ctrl-C ends a long call soon; what is served stays; the process goes on."""
        code = (
            "import sys, time, threading, os, signal, grouperfish\n"
            "sys.path.insert(0, %r)\n"
            "import support\n"
            "c = grouperfish.open(sys.argv[1])['c']\n"
            "c.put(support.posts(30000), id=range(30000))\n"
            "begun = threading.Event()\n"
            "def tell(phase, done, total):\n"
            "    if phase == 'clustering' and not begun.is_set():\n"
            "        begun.set(); os.kill(os.getpid(), signal.SIGINT)\n"
            "try:\n"
            "    c.rebuild(k=2000, progress=tell)\n"
            "    print('it was not interrupted')\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', len(c), len(c.builds()))\n" % os.path.dirname(__file__))
        other = self.run_python(code)
        told, wrong = other.communicate(timeout=600)
        self.assertEqual(told, "interrupted 30000 0\n", wrong)

    HANDLER = (
        "import os, signal, sys, threading, time, grouperfish\n"
        "sys.path.insert(0, %r)\n"
        "import support\n"
        "store = grouperfish.open(sys.argv[1])\n"
        "c = store['c'].put(support.posts(3000), id=range(3000))\n"
        "begun = threading.Event()\n"
        "def tell(phase, done, total):\n"
        "    if phase == 'clustering' and not begun.is_set():\n"
        "        begun.set(); os.kill(os.getpid(), signal.SIGTERM)\n" % os.path.dirname(__file__))

    def test_closed_by_a_signal_s_handler(self):
        """A handler that closes the store under a call does not wait for that call, which goes on."""
        other = self.run_python(self.HANDLER + (
            "def end(number, frame):\n"
            "    store.close(); print('handled', flush=True)\n"
            "signal.signal(signal.SIGTERM, end)\n"
            "c.rebuild(k=50, progress=tell)\n"
            "print(store.closed)\n"
            "try: c.clusters()\n"
            "except grouperfish.Closed: print('closed')\n"
            "with grouperfish.open(sys.argv[1], wait=0) as again: print(len(again['c'].clusters()))\n"))
        told, wrong = other.communicate(timeout=120)
        self.assertEqual(told, "handled\nTrue\nclosed\n50\n", wrong)

    def test_closed_and_left_by_a_signal_s_handler(self):
        other = self.run_python(self.HANDLER + (
            "def end(number, frame):\n"
            "    store.close(); sys.exit(3)\n"
            "signal.signal(signal.SIGTERM, end)\n"
            "c.rebuild(k=50, progress=tell)\n"))
        told, wrong = other.communicate(timeout=120)
        self.assertEqual(other.returncode, 3, wrong)
        with self.open(wait=0) as store:
            self.assertEqual(len(store["c"]), 3000)

    def test_closed_by_what_tells_of_progress(self):
        c = self.open()["c"].put(support.posts(300), id=range(300))
        c.rebuild(k=3, progress=lambda *_: c.store.close())
        self.assertTrue(c.store.closed)
        with grouperfish.open(self.path, wait=0) as again:
            self.assertEqual(len(again["c"].clusters()), 3)

    def test_what_a_callback_raises_comes_out(self):
        c = self.open()["c"]

        def tell(phase, done, total):
            raise ZeroDivisionError("in the callback")

        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            c.put(support.posts(100), id=range(100)).rebuild(k=3, progress=tell)

        def pieces():
            yield b'{"id":1,"text":"a"}\n'
            raise LookupError("no more pieces")

        with self.assertRaisesRegex(LookupError, "no more pieces"):
            c.store.run("put", collection="d", data=pieces(), data_name="x.jsonl")

    def test_it_is_not_pickled(self):
        import pickle

        with self.assertRaisesRegex(TypeError, "open it by its path"):
            pickle.dumps(self.open())

    def test_a_store_in_memory(self):
        with Store(None) as store:
            c = store["c"].put(BODIES, id=IDS).rebuild(k=2)
            self.assertEqual(len(c.members()), 6)


class Tables(unittest.TestCase):
    def test_rows_columns_and_slices(self):
        t = grouperfish.Table.from_rows([{"a": 1}, {"a": 2, "b": "x"}])
        self.assertEqual((t.shape, t.columns), ((2, 2), ["a", "b"]))
        self.assertEqual(t[0], {"a": 1, "b": None})
        self.assertEqual(t[-1]["b"], "x")
        self.assertEqual(t[1:]["a"], [2])
        self.assertEqual(list(t), [{"a": 1, "b": None}, {"a": 2, "b": "x"}])
        self.assertEqual(t.to_dict(), {"a": [1, 2], "b": [None, "x"]})
        with self.assertRaises(IndexError):
            t[2]
        with self.assertRaises(ValueError):
            grouperfish.Table({"a": [1], "b": []})

    def test_html_is_escaped(self):
        t = grouperfish.Table({"<b>": ["<script>"]}, "a & b")
        shown = t._repr_html_()
        self.assertNotIn("<script>", shown)
        self.assertNotIn("<b>", shown)
        self.assertIn("a &amp; b", shown)


class RowsOut(unittest.TestCase):
    """The rows that were clustered, for scipy and numpy."""

    TEXTS = {7: "a cat purrs", 11: "cats purr", 2: "stocks fell", 5: "", 30: "stocks rose"}

    def setUp(self):
        self.numpy = support.skip_without("numpy", self)
        support.skip_without("scipy.sparse", self)
        rows = [{"id": id, "text": text} for id, text in self.TEXTS.items()]
        self.c = grouperfish.Store(None)["c"].put(rows, id="id").rebuild(k=2)

    def test_of_texts(self):
        rows, ids = self.c.rows()
        centers = self.c.centers()
        self.assertEqual(rows.shape, (5, len(centers.terms)))
        self.assertEqual(sorted(ids), sorted(self.TEXTS))
        lengths = dict(zip(ids, self.numpy.asarray(rows.multiply(rows).sum(axis=1)).ravel().round(5)))
        self.assertEqual(lengths, {id: 1.0 if text else 0.0 for id, text in self.TEXTS.items()})
        best = (rows @ centers.to_scipy().T).toarray().max(axis=1)
        scores = dict(zip(self.c.members()["id"], self.c.members()["score"]))
        for id, score in zip(ids, best):
            self.assertAlmostEqual(score, scores[id], 5)

    def test_of_vectors(self):
        given = self.numpy.eye(5, 3) + 0.1
        v = self.c.with_config("v").config(k=2).rebuild(matrix=given, ids=list(self.TEXTS))
        rows, ids = v.rows()
        at = {id: i for i, id in enumerate(self.TEXTS)}
        unit = given / self.numpy.linalg.norm(given, axis=1)[:, None]
        self.assertLess(abs(rows - unit[[at[id] for id in ids]]).max(), 0.005)  # kept in 8 bits


if __name__ == "__main__":
    support.main()
