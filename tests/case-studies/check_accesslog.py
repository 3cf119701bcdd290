"""Check 5: reports against sums over the lines, and lines of one second in the order of arrival."""
import collections
import datetime
import gzip
import json
import random
import re

import case

UTC = datetime.timezone.utc
EVERY = {"5m": lambda t: t.replace(minute=t.minute // 5 * 5, second=0),
         "hour": lambda t: t.replace(minute=0, second=0),
         "day": lambda t: t.replace(hour=0, minute=0, second=0),
         "week": lambda t: t.replace(hour=0, minute=0, second=0) - datetime.timedelta(t.weekday()),
         "month": lambda t: t.replace(day=1, hour=0, minute=0, second=0)}
LINE = re.compile(r'(\S+) \S+ (\S+) \[([^]]+)\] "((?:[^"\\]|\\.)*)" (\d+) (\S+)'
                  r'(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?$')


def report(*arguments):
    out = case.run("grouperfish", "log", "report", "web", *arguments, "--format", "jsonl")
    return list(map(json.loads, out.splitlines()))


def find(*arguments):
    out = case.run("grouperfish", "log", "find", "web", *arguments, "--format", "jsonl")
    return list(map(json.loads, out.splitlines()))


def add(lines, code=0):
    case.run("grouperfish", "log", "import", "web", "-", stdin="".join(line + "\n" for line in lines), code=code)


def line(seconds, ip="1.1.1.1", url="/", status=200, size=1):
    when = datetime.datetime.fromtimestamp(seconds, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return '%s - - [%s] "GET %s HTTP/1.1" %d %d' % (ip, when, url, status, size)


def buckets():
    """The exact buckets of 1247443199 and 1247443200."""
    case.run("grouperfish", "init")
    add([line(1247443199), line(1247443200)])
    wanted = {"5m": [1247442900, 1247443200], "hour": [1247439600, 1247443200], "day": [1247356800, 1247443200],
              "week": [1246838400, 1247443200], "month": [1246406400]}
    for every, starts in wanted.items():
        case.equal([row["bucket"] for row in report("--every", every)], starts, every)


def one_second():
    """1,000 lines of one second, in two runs of the program, in the order in which they came."""
    add([line(1247443300, "2.2.2.2", "/%d" % i) for i in range(600)])
    add([line(1247443300, "2.2.2.2", "/%d" % i) for i in range(600, 1000)])
    case.equal([row["url"] for row in find("--ip", "2.2.2.2")], ["/%d" % i for i in range(1000)], "arrival")
    case.equal([row["url"] for row in find("--ip", "2.2.2.2", "--newest", "--limit", "2")], ["/999", "/998"], "newest")
    rows = case.run("grouperfish", "table", "scan", "web", "--from", "1247443300", "--to", "1247443301")
    case.equal(len(rows.splitlines()), 1000, "rows")
    case.equal(find("--ip", "2.2.2"), [], "a shorter address")
    case.run("grouperfish", "log", "find", "web", code=2)
    case.run("grouperfish", "log", "find", "web", "--ip", "x", "--login", "y", code=2)
    case.run("grouperfish", "log", "report", "nothing", code=1)


def damaged():
    """Damaged lines are told with their numbers, and the others are there."""
    text = [line(1300000000, "3.3.3.3"), "nonsense", "", line(1300000001, "3.3.3.3")[:-3], line(1300000002, "3.3.3.3")]
    text[4] = text[4].replace(" - - ", " - frank ") + ' "-" "agent" "id=7"'
    with open("damaged.log", "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n")
    out = case.subprocess.run([case.PROGRAM, "log", "import", "web", "damaged.log", "--format", "json",
                               "--rejects", "bad.log"],
                              capture_output=True, text=True, env=case.ENV)
    case.equal((out.returncode, json.loads(out.stdout)), (3, {"log": "web", "read": 4, "lines": 2, "known": 0, "refused": 2}),
               "counts")
    with open("bad.log", encoding="utf-8") as f:
        case.equal(f.read().splitlines(), [text[1], text[3]], "what --rejects kept")
    case.equal("damaged.log:2:" in out.stderr and "damaged.log:4:" in out.stderr, True, "numbers: " + out.stderr)
    case.equal([row["time"] for row in find("--ip", "3.3.3.3")], ["2011-03-13T07:06:40Z", "2011-03-13T07:06:42Z"],
               "the good ones")
    case.equal([find(*by)[0]["ip"] for by in (("--login", "frank"), ("--cookie", "id=7"))], ["3.3.3.3"] * 2,
               "login and cookie")
    case.equal(find("--ip", "3.3.3.3", "--from", "2011-03-13T07:06:41Z", "--to", "2011-03-13T07:06:42Z"), [], "between")


def sums():
    """The 10,000 lines of a server: each report, by each of the four, is the sum over the lines."""
    path = case.data("access-logs", "apache-combined-2015.log.gz")
    with gzip.open(path, "rt", encoding="utf-8") as f:
        parsed = [LINE.match(text.rstrip("\n")) for text in f]
    lines = [m.groups() for m in parsed if m]
    case.run("grouperfish", "table", "drop", "web")
    case.run("grouperfish", "table", "drop", "web-by")
    case.run("grouperfish", "log", "import", "web", path, code=3 if len(lines) < len(parsed) else 0)
    times = [datetime.datetime.strptime(l[2], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC) for l in lines]
    values = {None: lambda l: None, "status": lambda l: l[4], "referer": lambda l: l[6],
              "ip": lambda l: l[0], "agent": lambda l: l[7], "login": lambda l: l[1],
              "url": lambda l: l[3].split(" ")[1], "domain": lambda l: "-"}
    totals = set()
    for every, start in EVERY.items():
        for by, value in values.items():
            wanted = collections.defaultdict(lambda: [0, 0])
            for l, t in zip(lines, times):
                count = wanted[int(start(t).timestamp()), value(l)]
                count[0] += 1
                count[1] += 0 if l[5] == "-" else int(l[5])
            arguments = ["--every", every] + (["--by", by] if by else [])
            rows = report(*arguments)
            got = {(row["bucket"], row.get("value")): [row["requests"], row["bytes"]] for row in rows}
            case.equal(got == dict(wanted), True, "%s by %s" % (every, by))
            order = [(row["bucket"], -row["requests"], row.get("value", "").encode()) for row in rows]
            case.equal(order, sorted(order), "order of %s by %s" % (every, by))
            case.equal(report(*arguments) == rows, True, "%s by %s again" % (every, by))
            totals.add((sum(row["requests"] for row in rows), sum(row["bytes"] for row in rows)))
    case.equal(len(totals), 1, "sums of 5 minutes, hours, days, weeks and months")
    ips = collections.Counter(l[0] for l in lines)
    for ip, n in ips.most_common(3) + ips.most_common()[-3:]:
        case.equal(len(find("--ip", ip)), n, "lines of " + ip)
    case.run("grouperfish", "verify")
    print("%d lines, %d damaged; requests and bytes: %s" % (len(lines), len(parsed) - len(lines), totals))


def killed():
    """Imports that are killed: every line that is there is found by its address, numbers are used once, and the
    same command goes on to all lines, each once."""
    with open("long.log", "w", encoding="utf-8") as f:
        f.writelines(line(1247443200 + i // 7, "10.0.%d.%d" % (i % 3, i % 5), "/%d" % i) + "\n" for i in range(100000))
    rng, kills = random.Random(6), 0
    for _ in range(6):
        child = case.subprocess.Popen([case.PROGRAM, "log", "import", "killed", "long.log"], env=case.ENV,
                                      stdout=case.subprocess.DEVNULL, stderr=case.subprocess.DEVNULL)
        try:
            child.wait(rng.uniform(0.05, 1))
        except case.subprocess.TimeoutExpired:
            child.kill()
            kills += child.wait() == -9
    case.run("grouperfish", "log", "import", "killed", "-", stdin=line(1, "10.0.0.0") + "\n")
    summary = json.loads(case.run("grouperfish", "log", "import", "killed", "long.log", "--format", "json"))
    case.equal(summary["lines"] + summary["known"], 100000, "lines of the import that went on")
    case.run("grouperfish", "verify")  # holds the roll-ups against the lines
    rows, urls = compare_entries("killed")
    case.equal(sorted(number for _, number in rows), list(range(100001)), "numbers")
    case.equal(len(urls), 100001, "different lines")
    print("%d imports killed, the last one added %d lines" % (kills, summary["lines"]))
    before, kills = case.run("grouperfish", "log", "report", "killed", "--by", "ip"), 0
    for _ in range(6):
        child = case.subprocess.Popen([case.PROGRAM, "log", "delete", "killed", "--before", "2009-07-14"], env=case.ENV,
                                      stdout=case.subprocess.DEVNULL, stderr=case.subprocess.DEVNULL)
        try:
            child.wait(rng.uniform(0.02, 0.2))
        except case.subprocess.TimeoutExpired:
            child.kill()
            kills += child.wait() == -9
        compare_entries("killed")
        case.run("grouperfish", "verify")
    case.run("grouperfish", "log", "delete", "killed", "--before", "2009-07-14")
    case.equal(len(compare_entries("killed")[0]), 0, "lines that are left")
    case.equal(case.run("grouperfish", "log", "report", "killed", "--by", "ip"), before, "counts of deleted lines")
    summary = json.loads(case.run("grouperfish", "log", "import", "killed", "long.log", "--format", "json"))
    case.equal(summary["lines"], 0, "deleted lines that came again")
    print("%d deletions killed" % kills)


def compare_entries(log):
    """Each line has an entry by its address, and each entry its line."""
    scan = ["grouperfish", "table", "scan"]
    rows, urls = {}, set()
    for row in map(json.loads, case.run(*scan, log, "--family", "http", "--format", "jsonl").splitlines()):
        rows[tuple(row["key"])] = row["cells"]["http"]["ip"]
        urls.add((row["key"][0], row["cells"]["http"]["url"]))
    entries = {}
    for row in map(json.loads, case.run(*scan, log + "-by", "ip", "--format", "jsonl").splitlines()):
        entries[tuple(row["key"][2:])] = row["key"][1]
    case.equal(entries == rows, True, "a line has an entry, and an entry its line")
    return rows, urls


def test_case_studies__check_5():
    buckets()
    one_second()
    damaged()
    killed()
    sums()


case.main(test_case_studies__check_5)
