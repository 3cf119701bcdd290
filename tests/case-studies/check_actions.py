"""Check 3: a user's newest actions, against a sorted list; then a million of them."""
import random
import re

import case

T = 1247443200000


def add(events):
    case.run("actions", case.STORE, "add", stdin="".join("%s %d %s %s\n" % e for e in events))


def newest(user, *numbers):
    return case.run("actions", case.STORE, "newest", user, *map(str, numbers)).splitlines()


def wanted(events, user, n, offset):
    mine = sorted((e for e in events if e[0] == user), key=lambda e: (-e[1], e[2]))
    return ["%d %s %s" % e[1:] for e in mine[offset:offset + n]]


def small():
    case.create("actions", "3-user-actions")
    add([("u", T, "e", "at"), ("u", T + 1, "e", "behind")])
    keys = [line.split('"')[5] for line in case.run("grouperfish", "table", "scan", "actions").splitlines()]
    case.equal(keys, ["7ffffedd8e9757fe", "7ffffedd8e9757ff"], "bytes of t + 1 and t, in their order")
    case.run("grouperfish", "table", "delete", "actions", "u", keys[0], "e")
    case.run("grouperfish", "table", "delete", "actions", "u", keys[1], "e")
    events = [("u1", T + 7 * i, "e%d" % i, "action %d" % i) for i in range(35)]
    events += [("u10", T + 7 * i + 1, "f%d" % i, "other %d" % i) for i in range(35)]
    random.Random(3).shuffle(events)
    add(events)
    case.equal(newest("u1", 10, 20), ["%d e%d action %d" % (T + 7 * i, i, i) for i in range(14, 4, -1)],
               "the 21st to 30th newest of 35")
    for user, n, offset in (("u1", 100, 0), ("u10", 100, 0), ("u1", 10, 30), ("u1", 10, 40), ("u", 9, 0), ("u10", 1, 34)):
        case.equal(newest(user, n, offset), wanted(events, user, n, offset), "%s %d %d" % (user, n, offset))
    twice = [("u2", T, "b", "second"), ("u2", T, "a", "first"), ("u2", 0, "z", "1970"),
             ("u2", 2**63 - 1, "y", "the end")]
    add(twice)
    case.equal(newest("u2", 9), wanted(twice, "u2", 9, 0), "two of one millisecond")
    for bad in ("u3 x e n\n", "u3 5 e\n", "u3 -5 e n\n"):
        case.run("actions", case.STORE, "add", stdin=bad, code=1)
    case.equal(newest("u3", 9), [], "nothing of lines that are none")
    case.run("grouperfish", "table", "drop", "actions")


def large():
    """A million events of 1,000 users; the list of one is compared whole, and all answers are timed."""
    case.create("actions", "3-user-actions")
    rng = random.Random(5)
    users = ["user%d" % i for i in range(1000)]
    events = [(rng.choice(users), T + rng.randrange(10**9), "e%d" % i, "action %d" % (i % 17)) for i in range(10**6)]
    add(events)
    one = rng.choice(users)
    case.equal(newest(one, 10**6), wanted(events, one, 10**6, 0), "all of " + one)
    case.equal(newest(one, 10, 500), wanted(events, one, 10, 500), "ten of them")
    rng.shuffle(users)
    for offset in (0, 20):
        line = case.run("actions", case.STORE, "time", "10", str(offset), stdin="\n".join(10 * users)).strip()
        print("limit 10, offset %d: %s" % (offset, line))
        answers, rows, median = map(int, re.match(r"(\d+) answers, (\d+) rows: median (\d+) us", line).groups())
        case.equal((answers, rows), (10000, 100000), "answers and rows")
        case.equal(median < 1000, True, "microseconds")


def test_case_studies__check_3():
    small()
    large()


case.main(test_case_studies__check_3)
