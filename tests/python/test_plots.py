"""Charts: what they show, by both libraries; names that would be code; places on the map; trends."""

import datetime
import importlib
import io
import os
import pickle
import subprocess
import sys
import unittest
import warnings

import support
import grouperfish
from grouperfish import Grouperfish, Invalid, NotFound

KINDS = ("sizes", "terms", "trends", "map", "tree", "k")
WORDS = ("bees hive honey queen swarm", "guitar chord lesson strings fret", "lock pick key tension pin",
         "bread flour oven yeast dough")
HARD = "<b>x</b> & <script>alert(1)</script> $5 or $6"


def collection(n=200, times=True):
    store = grouperfish.Store(None)
    rows = []
    for i in range(n):
        words = WORDS[i % len(WORDS)].split()
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=(i * (1 + i % 4)) % 100)
        rows.append({"id": i, "text": f"{words[i % 5]} {words[(i + 1) % 5]} {words[(i * 2) % 5]}",
                     "time": day.isoformat() if times and i % 10 else None})
    return store["c"].put(rows, id="id", time="time").rebuild(k=4)


def texts_of(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


class ByBoth(unittest.TestCase):
    """Every chart by each library."""

    @classmethod
    def setUpClass(cls):
        cls.c = collection()

    def drawn(self, backend, of, kind, **more):
        figure = getattr(of, "plot_" + kind)(backend=backend, **more)
        if backend == "matplotlib":
            out = io.BytesIO()
            figure.savefig(out, format="png", dpi=50)
            self.assertTrue(out.getvalue().startswith(b"\x89PNG"))
            self.assertTrue(figure._repr_png_().startswith(b"\x89PNG"))
        else:
            self.assertIn('"data"', figure.to_json())
        return figure

    def each(self, of, kinds=KINDS, **more):
        for backend in ("matplotlib", "plotly"):
            if support.module(backend) is None:
                continue
            for kind in kinds:
                with self.subTest(backend=backend, kind=kind), warnings.catch_warnings():
                    warnings.simplefilter("error")
                    self.drawn(backend, of, kind, **more)

    def test_there_is_a_library(self):
        if support.module("matplotlib") is None or support.module("plotly") is None:
            self.skipTest("matplotlib or plotly is not installed")

    def test_of_a_collection_and_a_build(self):
        self.each(self.c)
        self.each(self.c.build())

    def test_of_an_estimator(self):
        support.skip_without("numpy", self)
        texts = support.posts(300)
        g = Grouperfish(k=5).fit(texts)
        self.each(g, ("sizes", "terms", "map", "tree", "k"))
        self.each(g, ("trends",), times=[1700000000 + i * 86400 for i in range(len(texts))])

    def test_of_one_cluster(self):
        c = grouperfish.Store(None)["c"]
        c.put([{"id": "a", "text": "one cat", "time": 5}, {"id": "b", "text": "one cat more", "time": 6}],
              time="time").rebuild(k=1)
        self.each(c, ("sizes", "terms", "trends", "map", "tree"))

    def test_of_rows_of_numbers(self):
        numpy = support.skip_without("numpy", self)
        g = Grouperfish(k=3).fit(numpy.eye(9)[[0, 0, 0, 1, 1, 1, 2, 2, 2]] + 0.01)
        self.each(g, ("sizes", "map", "tree"))
        for kind, words in (("terms", "no terms"), ("k", "nothing to choose"), ("trends", "times")):
            if support.module("matplotlib"):
                with self.assertRaisesRegex(Invalid, words):
                    getattr(g, "plot_" + kind)(backend="matplotlib")

    def test_names_are_text(self):
        c = collection()
        c.label(c.clusters()["cluster"][0], HARD)
        self.each(c)
        if support.module("matplotlib"):
            shown = texts_of(self.drawn("matplotlib", c, "sizes"))
            self.assertIn(HARD.replace("$", r"\$")[:10], "".join(shown))
        if support.module("plotly"):
            for kind in KINDS:
                told = self.drawn("plotly", c, kind).to_json().replace("\\u003c", "<")
                self.assertNotIn("<script>", told, kind)
                self.assertNotIn("$5", told, kind)


class ByMatplotlib(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if support.module("matplotlib") is None:
            raise unittest.SkipTest("matplotlib is not installed")
        cls.c = collection()

    def test_bars_are_the_clusters(self):
        (ax,) = self.c.plot_sizes(backend="matplotlib").axes
        self.assertEqual([bar.get_width() for bar in ax.patches], self.c.clusters()["size"])
        self.assertEqual([t.get_text() for t in ax.get_yticklabels()], self.c.clusters()["label"])
        (ax,) = self.c.plot_sizes(2, backend="matplotlib").axes
        self.assertEqual(len(ax.patches), 2)
        self.assertIn("2 more clusters of 100 documents, 50 %", ax.get_xlabel())

    def test_lines_are_the_trends(self):
        (ax,) = self.c.plot_trends("week", backend="matplotlib").axes
        rows = self.c.clusters(by="week")
        expected = sorted([p["documents"] for p in row["periods"]] for row in rows)
        self.assertEqual(sorted(list(line.get_ydata()) for line in ax.lines), expected)
        self.assertIn("20 documents without a time", ax.get_xlabel())
        (ax,) = self.c.plot_trends("month", share=True, clusters=[1, 2], backend="matplotlib").axes
        sums = [sum(column) for column in zip(*(line.get_ydata() for line in ax.lines))]
        for total in sums:
            self.assertAlmostEqual(total, 100)

    def test_axes_of_the_caller(self):
        from matplotlib.figure import Figure

        figure = Figure()
        for ax, kind in zip(figure.subplots(5), ("sizes", "trends", "map", "tree", "k")):
            self.assertIs(getattr(self.c, "plot_" + kind)(ax=ax), figure)
            self.assertNotEqual(ax.get_title(loc="left"), "")
        with self.assertRaisesRegex(Invalid, "matplotlib's"):
            self.c.plot_sizes(ax=ax, backend="plotly")

    def test_chinese_names(self):
        from grouperfish._plots import by_matplotlib

        if by_matplotlib._family_with(["群"]) is None:
            self.skipTest("no Chinese font is installed (fonts-wqy-microhei)")
        c = collection()
        c.label(c.clusters()["cluster"][0], "群里的蜜蜂")
        for kind in ("sizes", "map", "trends"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a letter that its font lacks is a warning
                getattr(c, "plot_" + kind)(backend="matplotlib")._repr_png_()

    def test_letters_that_no_font_has(self):
        c = collection()
        c.label(c.clusters()["cluster"][0], "bees \U0010fff0")
        with self.assertWarnsRegex(UserWarning, "no installed font"):
            c.plot_sizes(backend="matplotlib")

    def test_heights_of_names(self):
        from grouperfish._plots.by_matplotlib import _apart

        placed = _apart([9.0, 8.9, 8.8, 0.1, 0.0, 0.0], 1.0)
        self.assertTrue(all(a - b >= 0.999 for a, b in zip(placed, placed[1:])), placed)
        self.assertGreaterEqual(min(placed), 0)


class Places(unittest.TestCase):
    def setUp(self):
        self.numpy = support.skip_without("numpy", self)
        self.positions = importlib.import_module("grouperfish._plots.positions")

    def test_cosines_are_those_of_the_centres(self):
        centers = collection().centers()
        dense = centers.to_numpy()[[2, 0, 3]]
        found = self.positions.cosines(centers, [2, 0, 3])
        self.assertLess(abs(found - dense @ dense.T).max(), 1e-5)

    def laid_out(self, k):
        draw = self.numpy.random.default_rng(k)
        group = self.numpy.arange(k) % 5
        rows = self.numpy.eye(5, 40)[group] + 0.1 * draw.random((k, 40))
        rows /= self.numpy.linalg.norm(rows, axis=1)[:, None]
        sizes = draw.integers(1, 1000, k).tolist()
        names = [["a name of some", "two lines"] if i % 3 else ["short"] for i in range(k)]
        return group, self.positions.lay_out(rows @ rows.T, sizes, names, len), sizes

    def test_those_that_are_alike_lie_near(self):
        for k in (20, 60):
            group, layout, _ = self.laid_out(k)
            at = self.numpy.stack([layout.x, layout.y], axis=1)
            far = ((at[:, None] - at[None]) ** 2).sum(axis=2)
            self.numpy.fill_diagonal(far, self.numpy.inf)
            near = self.numpy.mean(group[far.argmin(axis=1)] == group)
            self.assertGreater(near, 0.9, k)

    def test_circles_and_names_are_apart(self):
        for k in (1, 2, 3, 8, 9, 30, 100):
            _, layout, sizes = self.laid_out(k)
            for i in range(k):
                for j in range(i):
                    between = ((layout.x[i] - layout.x[j]) ** 2 + (layout.y[i] - layout.y[j]) ** 2) ** 0.5
                    self.assertGreater(between, (layout.radius[i] + layout.radius[j]) * 0.999)
                self.assertTrue(0 <= layout.x[i] - layout.radius[i] <= layout.x[i] + layout.radius[i] <= layout.width)
            self.assertEqual(layout, self.laid_out(k)[1])

    def test_equal_centres_and_none_in_common(self):
        one = self.positions.lay_out(self.numpy.ones((12, 12)), [5] * 12, [["x"]] * 12, len)
        other = self.positions.lay_out(self.numpy.eye(12), [0] * 12, [["x"]] * 12, len)
        for layout in (one, other):
            self.assertEqual(len(set(zip(layout.x, layout.y))), 12)
            self.assertTrue(all(self.numpy.isfinite(layout.x + layout.y)))


class Trends(unittest.TestCase):
    """What is counted for an estimator is what the engine counts for a collection."""

    def test_as_the_engine_counts(self):
        numpy = support.skip_without("numpy", self)
        from grouperfish._plots import periods

        draw = numpy.random.default_rng(3)
        for span in (3, 200, 4000):
            times = [None if i % 17 == 0 else 1000000000 if i == 8 else int(1400000000 + draw.integers(0, span * 86400)) for i in range(300)]
            rows = [{"id": i, "text": WORDS[i % 4] if i % 9 else "", "time": t} for i, t in enumerate(times)]
            c = grouperfish.Store(None)["c"].put(rows, id="id", time="time").rebuild(k=4)
            ids = sorted(c.clusters()["cluster"])
            labels = [ids.index(cluster) if cluster else -1 for cluster in c.members()["cluster"]]
            order = [times[int(id)] for id in c.members()["id"]]
            for by in ("auto", *periods.UNITS):
                for asked in (None, 5) if by != "day" else (3,):
                    told = periods.count(labels, order, by, asked)
                    for row in c.clusters(by=by, periods=asked):
                        mine = told[ids.index(row["cluster"])]
                        for key in ("unit", "periods", "trend", "undated", "before"):
                            self.assertEqual(mine[key], row[key], (span, by, asked, key))
                        for key in ("z", "change"):
                            self.assertAlmostEqual(mine[key], row[key], 6, (span, by, asked, key))

    def test_shares_are_of_all_documents(self):
        support.skip_without("numpy", self)
        from grouperfish._plots import charts

        rows = [{"id": i, "text": WORDS[i % 4], "time": 1400000000 + i * 86400} for i in range(200)]
        c = grouperfish.Store(None)["c"].put(rows, id="id", time="time").rebuild(k=4)
        subject = charts.Subject(c)

        def shares():
            chart = charts.trends_of(subject, charts.read_periods(subject, "month", None, None), 8, None, True)
            return {line.full_name: line.values for line in chart.lines + chart.others}

        before = shares()
        hidden = c.clusters()[0]
        c.hide(hidden["cluster"])
        del before[hidden["label"]]
        self.assertEqual(shares(), before)

    def test_times_of_all_kinds(self):
        numpy = support.skip_without("numpy", self)
        from grouperfish._plots import periods

        expected = [{"period": "2024-03-05T06", "documents": 2}]
        zone = datetime.timezone(datetime.timedelta(hours=2))
        kinds = [
            [1709618400, 1709618400.0],
            [1709618400000, 1709618400.0],
            numpy.array([1709618400000, 1709618400]),
            numpy.array([1709618400000, "2024-03-05T06:00:00Z"], dtype=object),
            ["2024-03-05T06:00:00Z", "2024-03-05T08:30:00+02:00"],
            [datetime.datetime(2024, 3, 5, 6), datetime.datetime(2024, 3, 5, 8, tzinfo=zone)],
            numpy.array(["2024-03-05T06", "2024-03-05T06:59"], dtype="datetime64[ns]"),
        ]
        pandas = support.module("pandas")
        if pandas is not None:
            kinds.append(pandas.Series([datetime.datetime(2024, 3, 5, 6)] * 2))
            kinds.append(pandas.Series([1709618400000, 1709618400], dtype="Int64"))
            with_none = pandas.Series([1709618400000, None], dtype="Int64")
            self.assertEqual(periods.count([0, 0], with_none, "hour", None)[0]["undated"], 1)
            kinds.append(pandas.to_datetime(pandas.Series(["2024-03-05T06:00:00Z"] * 2), utc=True).dt.tz_convert("Europe/Berlin"))
        for times in kinds:
            self.assertEqual(periods.count([0, 0], times, "hour", None)[0]["periods"], expected, times)
        missing = periods.count([0, 0, -1], ["2024-03-05", None, "2024-03-05"], "day", None)[0]
        self.assertEqual((missing["undated"], missing["periods"][0]["documents"]), (1, 1))


class Choice(unittest.TestCase):
    """Which library draws, and what is said where none can."""

    def run_python(self, code):
        environment = dict(os.environ, PYTHONPATH=os.path.join(support.SOURCE, "python"))
        begin = "import sys, grouperfish\ng = grouperfish.Grouperfish(k=1).fit(['a cat', 'the cat'])\n"
        done = subprocess.run([sys.executable, "-c", begin + code], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_neither_is_imported_before_a_chart(self):
        self.assertEqual(self.run_python("print('matplotlib' in sys.modules, 'plotly' in sys.modules)"), "False False")

    def test_none_is_installed(self):
        code = (
            "for name in ('matplotlib', 'plotly'): sys.modules[name] = None\n"
            "for more in ({}, {'backend': 'plotly'}):\n"
            "    try: g.plot_sizes(**more)\n"
            "    except ImportError as said: print(said)"
        )
        self.assertEqual(self.run_python(code).splitlines(), [
            "charts need matplotlib or plotly, and neither is installed: pip install matplotlib",
            "this chart needs plotly, which is not installed: pip install plotly",
        ])

    def test_what_is_imported_is_taken(self):
        for name in ("matplotlib", "plotly"):
            if support.module(name):
                self.assertEqual(self.run_python(f"import {name}; print(type(g.plot_sizes()).__module__.split('.')[0])"),
                                 {"matplotlib": "grouperfish", "plotly": "plotly"}[name])

    def test_no_window_and_no_state_of_pyplot(self):
        support.skip_without("matplotlib", self)
        self.assertEqual(self.run_python("import matplotlib; g.plot_map(); print('matplotlib.pyplot' in sys.modules)"), "False")

    def test_bad_arguments(self):
        support.skip_without("matplotlib", self)
        c = collection(times=False)
        for words, error, call in (
            ("backend is", Invalid, lambda: c.plot_map(backend="gnuplot")),
            ("top is", Invalid, lambda: c.plot_sizes(0)),
            ("top is", Invalid, lambda: c.plot_map(top=2.5)),
            ("no document has a time", Invalid, lambda: c.plot_trends()),
            ("by: ", Invalid, lambda: c.plot_trends("fortnight")),
            ("times are of an estimator", Invalid, lambda: c.plot_trends(times=[1])),
            ("no cluster 'nope'", NotFound, lambda: c.plot_terms(clusters=["nope"])),
            ("no cluster 99", NotFound, lambda: c.plot_terms(clusters=[99])),
            ("no collection", NotFound, lambda: c.store["other"].plot_map()),
            ("not fitted", ValueError, lambda: Grouperfish().plot_map()),
            ("keeps no build 5", NotFound, lambda: c.build(5)),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()
        g = Grouperfish(k=1).fit(["a cat", "the cat"])
        for words, times in (("2 texts", [1]), ("row 0: 'yesterday'", ["yesterday", "x"]), ("no text has", [None, None])):
            with self.subTest(words=words), self.assertRaisesRegex(Invalid, words):
                g.plot_trends(times=times)


class OfBuilds(unittest.TestCase):
    def test_charts_of_an_older_build(self):
        support.skip_without("matplotlib", self)
        c = collection()
        first = c.build()["build"]
        c.rebuild(k=2, force=True, start="fresh")
        self.assertEqual(len(c.plot_sizes(backend="matplotlib").axes[0].patches), 2)
        self.assertEqual(len(c.build(first).plot_sizes(backend="matplotlib").axes[0].patches), 4)
        self.assertEqual(len(c.build(first).plot_map(backend="matplotlib").axes[0].patches), 4)
        again = pickle.loads(pickle.dumps(c.build()))
        self.assertEqual(again, c.build())
        with self.assertRaisesRegex(grouperfish.Invalid, r"this build was pickled: ask its collection, c.build\("):
            again.plot_sizes(backend="matplotlib")
        for periods in (0, -1, 1.5, True):
            with self.assertRaisesRegex(grouperfish.Invalid, "periods is a whole number from 1 on"):
                c.plot_trends(periods=periods, backend="matplotlib")


if __name__ == "__main__":
    support.main()
