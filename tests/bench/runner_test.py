#!/usr/bin/python3
"""What script/bench makes of figures: verdicts, tables, and the page of the results that are published.

    tests/bench/runner_test.py
"""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "bench" / "runner"
RESULTS = ROOT / "bench" / "results"
sys.dont_write_bytecode = True
sys.path.append(str(RUNNER))

import page  # pylint: disable=wrong-import-position
import ratios  # pylint: disable=wrong-import-position
import report  # pylint: disable=wrong-import-position
import rounds as running  # pylint: disable=wrong-import-position
import scenarios  # pylint: disable=wrong-import-position


def goal(values, **more):
    return ratios.Ratio("a goal", values, 1.0, **more)


def rounds(*rates):
    return [{"per_second": rate} for rate in rates]


def results(pattern):
    """Of runs, the oldest first."""
    for file in sorted(RESULTS.glob(pattern)):
        yield json.loads(file.read_text(encoding="utf-8"))


class VerdictTest(unittest.TestCase):
    def test_needs_the_whole_interval_on_one_side(self):
        self.assertEqual(goal([1.0, 1.1, 1.2, 1.3, 1.4]).verdict, "")
        self.assertEqual(goal([0.9, 1.1, 1.2, 1.3, 1.4]).verdict, "too noisy to tell")
        self.assertEqual(goal([0.5, 0.6, 0.7, 0.8, 0.9]).verdict, "MISSED")

    def test_of_an_upper_bound(self):
        self.assertEqual(goal([0.6, 0.7, 0.8, 0.9, 1.0], at_least=False).verdict, "")
        self.assertEqual(goal([1.1, 1.2, 1.3, 1.4, 1.5], at_least=False).verdict, "MISSED")

    def test_leaves_out_the_lowest_and_the_highest_of_eight_rounds_and_more(self):
        seven = [1.0, 1.1, 1.1, 1.2, 1.2, 1.3, 1.3]
        self.assertEqual(goal([0.1, *seven]).verdict, "")
        self.assertEqual(goal([0.1, *seven[1:]]).verdict, "too noisy to tell")
        self.assertEqual(goal([0.1, 0.2, *seven[1:]]).verdict, "too noisy to tell")

    def test_adds_the_noise_to_fewer_than_five_rounds(self):
        self.assertEqual(goal([1.3, 1.4, 1.5, 1.6], noise=0.1).verdict, "")
        self.assertEqual(goal([1.1, 1.4, 1.5, 1.6], noise=0.1).verdict, "too noisy to tell")
        self.assertEqual(goal([1.1, 1.4, 1.5, 1.6, 1.7], noise=0.1).verdict, "")
        self.assertEqual(goal([0.6, 0.7, 0.8, 0.95], noise=0.2).verdict, "too noisy to tell")

    def test_adds_the_noise_where_rounds_were_minutes_apart(self):
        five = [1.1, 1.2, 1.3, 1.4, 1.5]
        self.assertEqual(goal(five, noise=0.2).verdict, "")
        self.assertEqual(goal(five, noise=0.2, are_paired=False).verdict, "too noisy to tell")


class GoalsTest(unittest.TestCase):
    def test_a_ratio_is_taken_in_each_round_with_the_best_of_it(self):
        runs = {"rowlock": rounds(100, 300), "userver": rounds(200, 100), "shedlock_jdbc": rounds(50, 150)}
        self.assertEqual(ratios.of_rounds(runs, "rowlock", scenarios.DURABLE_PEERS, "per_second"), [0.5, 2.0])

    def test_tell_nothing_of_times_in_few_rounds_without_the_noise(self):
        runs = {"rowlock": rounds(300, 300, 300), "userver": rounds(100, 100, 100)}
        found, = ratios.all_of({"refused": {name: [{**each, "wal_bytes": 0, "transactions": 0} for each in figures]
                                            for name, figures in runs.items()}})[:1]
        self.assertEqual(found.verdict, "too noisy to tell")

    def test_counts_need_no_noise(self):
        figures = [{"per_second": 1, "wal_bytes": 0, "transactions": 0}]
        found = ratios.all_of({"refused": {"rowlock": figures, "userver": figures}})
        self.assertEqual([each.verdict for each in found], ["too noisy to tell", "", ""])

    def test_the_noise_is_of_a_protocol_without_batching(self):
        measured = {"noise": {"rowlock_ungrouped": rounds(90, 100)}, "noise_after": {"rowlock_ungrouped": rounds(110)}}
        self.assertAlmostEqual(ratios.noise_of(measured), 0.1)

    def test_batching_is_judged_where_it_is_worst(self):
        measured = {"busy_2": {"rowlock": rounds(200), "rowlock_ungrouped": rounds(100)},
                    "busy_4": {"rowlock": rounds(80), "rowlock_ungrouped": rounds(100)},
                    "a_pool": {"rowlock": rounds(10), "rowlock_ungrouped": rounds(100)}}
        self.assertIn(("batching, of none, at worst (busy_4)", [0.8]),
                      [(each.name, each.values) for each in ratios.all_of(measured)])


class RunTest(unittest.TestCase):
    def measure(self, figures, arguments=(), servers=("postgres",), protocol="rowlock"):
        scenario = scenarios.Scenario("a_scenario", "", [], list(arguments), servers)
        return running.measure([sys.executable, "-c", f"print({json.dumps(figures)!r})"], scenario, {}, protocol)

    def test_fails_where_pairs_were_refused(self):
        with self.assertRaisesRegex(running.Failed, "a_scenario, rowlock: 2 pairs were refused"):
            self.measure({"refused": 2})
        self.assertEqual(self.measure({"refused": 2}, ["--act", "refused"]), {"refused": 2})

    def test_fails_where_two_held_the_key(self):
        with self.assertRaisesRegex(running.Failed, "two held the key at once"):
            self.measure({"violations": 1}, ["--act", "turns"])

    def test_fails_where_the_slow_disk_is_not_slow(self):
        for protocol, least in (("rowlock", 3000), ("rowlock_durable_release", 6000), ("userver", 6000)):
            with self.assertRaisesRegex(running.Failed, "the disk is not slow"):
                self.measure({"p50": least - 1}, servers=("slow_postgres",), protocol=protocol)
            self.assertEqual(self.measure({"p50": least}, servers=("slow_postgres",), protocol=protocol),
                             {"p50": least})

    def test_each_round_begins_with_another_protocol_and_has_a_number(self):
        asked = []

        def program(protocol, number):
            asked.append((protocol, number))
            return [sys.executable, "-c", "print('{}')"]

        with contextlib.redirect_stderr(io.StringIO()):
            running.run(program, [scenarios.Scenario("a_scenario", "", ["a", "b"], rounds=2)],
                        {"postgres": lambda: contextlib.nullcontext({})})
        self.assertEqual(asked, [("a", 0), ("b", 0), ("b", 1), ("a", 1)])


    def test_a_protocol_has_arguments_of_its_own(self):
        program = [sys.executable, "-c", "import json, sys; print(json.dumps({'given': sys.argv[-4:]}))"]
        scenario = scenarios.with_4_among_64("a_scenario", "")
        given = {each: running.measure(program, scenario, {}, each)["given"] for each in ("rowlock", "userver")}
        self.assertEqual(given, {"rowlock": ["--threads", "64", "--connections", "4"],
                                 "userver": ["--warm-up-ms", "300", "--threads", "64"]})
        self.assertIn("with `--connections 4` for rowlock", report.command_of("a_scenario", vars(scenario)))


class MinutesTest(unittest.TestCase):
    def test_a_row_has_what_was_measured(self):
        minute = {"p50": 1500, "p99": 20_000, "p999": 300_000, "table_bytes": 64_000, "dead_rows": 1200,
                  "checkpoints": 1, "vacuums": 2}
        idle = {key: value for key, value in minute.items() if not key.startswith("p")}
        self.assertEqual(report.minute_table([minute, idle]).splitlines()[2:],
                         ["| 1 | 1.50 | 20.00 | 300.00 | 64 | 1,200 | 1 | 2 |", "| 2 |  |  |  | 64 | 1,200 | 1 | 2 |"])


class PublishedTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.makedirs("docs/performance")
        for each in page.PAGES:
            shutil.copy(ROOT / each, each)

    def written(self):
        *_, run = (each for each in results("2*Z-*.json") if not each["kind"])
        with contextlib.redirect_stdout(io.StringIO()):
            page.write(report.summary_of(run), {name: each["rounds"] for name, each in run["scenarios"].items()})
        return self.texts()

    def texts(self):
        return [(self.folder / each).read_text(encoding="utf-8") for each in page.PAGES]

    def test_the_pages_have_the_tables_of_the_newest_results(self):
        before = self.texts()
        self.assertEqual(self.written(), before)

    def test_the_tables_beside_the_results_are_theirs(self):
        for run in results("2*Z-*.json"):
            self.assertEqual(report.tables_of(run),
                             (RESULTS / f"{report.name_of(run)}.md").read_text(encoding="utf-8"))

    def test_a_page_without_a_block_is_not_written(self):
        *_, last = page.PAGES
        text = (ROOT / last).read_text(encoding="utf-8").replace("<!-- measured: rates -->", "")
        (self.folder / last).write_text(text, encoding="utf-8")
        before = self.texts()
        with self.assertRaisesRegex(RuntimeError, "have blocks for .*, and must have .*rates"):
            self.written()
        self.assertEqual(self.texts(), before)


class ArgumentsTest(unittest.TestCase):
    def answer(self, *arguments):
        done = subprocess.run([sys.executable, "-B", RUNNER, *arguments], cwd=ROOT, capture_output=True, text=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_those_that_exclude_each_other_are_rejected(self):
        self.assertIn("not allowed with argument --quick", self.answer("--quick", "--large"))
        self.assertIn("leave out --only", self.answer("--hour", "--only", "hour"))
        self.assertIn("no scenario begins with nothing", self.answer("--smoke", "--only", "nothing"))

    def test_the_names_of_scenarios_are_listed_in_short_lines(self):
        lines = self.answer("--only", "nothing", "--quick").splitlines()
        self.assertIn(f"  {scenarios.quick()[0].name}, ", "\n".join(lines))
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_results_of_something_else_are_rejected(self):
        self.assertIn("was not written by script/bench", self.answer("--report", "CMakePresets.json"))
        self.assertIn("is no JSON", self.answer("--report", "bench/README.md"))
        self.assertIn("there is no file", self.answer("--report", "nothing.json"))


class ScenariosTest(unittest.TestCase):
    def test_have_names_of_their_own(self):
        for some in (scenarios.full(), scenarios.large(), scenarios.waiting(), scenarios.quick()):
            names = [each.name for each in some]
            self.assertEqual(len(names), len(set(names)))

    def test_a_moment_is_spent_on_each_but_the_largest_table(self):
        every = {each.name for each in [*scenarios.full(), *scenarios.large(), *scenarios.waiting(),
                                        *scenarios.hour(1)]}
        self.assertEqual(every - {each.name for each in scenarios.smoke()}, {f"rows_{scenarios.MOST_ROWS}"})


if __name__ == "__main__":
    unittest.main()
