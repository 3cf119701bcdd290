"""Check 4: shortest paths, friends of friends and components against plain searches."""
import collections
import gzip
import random

import case


def breadth_first(graph, start):
    """Distances from start: one queue, no other end."""
    distance, queue = {start: 0}, collections.deque([start])
    while queue:
        at = queue.popleft()
        for other in graph[at]:
            if other not in distance:
                distance[other] = distance[at] + 1
                queue.append(other)
    return distance


def load(graph, info=()):
    """Both sides of each friendship; rows without friends for those of info."""
    case.batch([{"table": "users", "key": a, "cells": {"friend": {b: "" for b in graph[a]}}}
                for a in graph if graph[a]] +
               [{"table": "users", "key": a, "cells": {"info": {"name": a}}} for a in info])


def check_paths(graph, pairs, *options, shortest=True):
    """The paths from list to list: their lengths, unless they need not be the shortest, ends and edges."""
    distances = {}
    ends = [who for pair in pairs for who in pair]
    lines = case.run("friends_path", *options, case.STORE, *ends).splitlines()
    case.equal(len(lines), len(pairs), "paths")
    lengths = set()
    for (a, b), line in zip(pairs, lines):
        distance = distances.setdefault(a, breadth_first(graph, a)).get(b)
        if distance is None:
            case.equal(line, "%s cannot be reached from %s" % (b, a), "no path")
            continue
        length, _, way = line.partition(": ")
        way = way.split()
        case.equal(int(length), len(way) - 1, "length of %s" % line)
        if shortest:
            case.equal(int(length), distance, "shortest length of %s" % line)
        case.equal((way[0], way[-1]), (a, b), "ends of %s" % line)
        for one, other in zip(way, way[1:]):
            case.equal(other in graph[one], True, "%s - %s, an edge of %s" % (one, other, line))
        lengths.add(distance)
    return lengths


def check_near(graph, who):
    common = collections.Counter(c for b in graph[who] for c in graph[b] if c != who and c not in graph[who])
    wanted = ["%d %s" % (n, c) for c, n in sorted(common.items(), key=lambda x: (-x[1], x[0]))]
    case.equal(case.run("friends_near", case.STORE, who).splitlines(), wanted, "near %s" % who)


def check_components(graph):
    left, sets = set(graph), []
    while left:
        reached = set(breadth_first(graph, min(left)))
        sets.append((-len(reached), min(reached)))
        left -= reached
    wanted = ["%d %s" % (-n, first) for n, first in sorted(sets)]
    case.equal(case.run("friends_components", case.STORE).splitlines(), wanted, "components")
    return len(sets)


def edges_to_graph(edges, alone=()):
    graph = {who: set() for who in alone}
    for a, b in edges:
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)
    return graph


def small():
    """A-B-C-D and A-E-D: length 2, by E. X cannot be reached. A graph of sparse random pieces."""
    case.create("users", "4-friends")
    load(edges_to_graph(["AB", "BC", "CD", "AE", "ED"]), info="X")
    got = case.run("friends_path", case.STORE, *"ADDAACXAAXAAXX").splitlines()
    case.equal(got, ["2: A E D", "2: D E A", "2: A B C", "A cannot be reached from X",
                     "X cannot be reached from A", "0: A", "0: X"], "check 4")
    case.run("friends_path", case.STORE, "A", code=2)
    case.run("friends_near", "nowhere", "A", code=1)
    for seed in range(3):
        rng = random.Random(seed)
        case.run("grouperfish", "table", "drop", "users")
        case.create("users", "4-friends")
        people = ["p%d" % i for i in range(60)]
        edges = [rng.sample(people, 2) for _ in range(20 + 25 * seed)]
        graph = edges_to_graph(edges, people)
        load(graph, people)
        pairs = [(a, b) for a in people for b in people]
        check_paths(graph, pairs)
        check_paths(graph, pairs, "--two-sided")
        for who in people[:10]:
            check_near(graph, who)
        check_components(graph)
    case.run("grouperfish", "table", "drop", "users")


def one_sided():
    """Lists that have those who do not list back: what can be reached is, also where that is not said."""
    case.create("users", "4-friends")
    load({"A": {"B"}, "B": {"C"}, "C": set(), "E": {"C"}}, info="C")
    for options in ((), ("--two-sided",)):
        got = case.run("friends_path", *options, case.STORE, *"ABBAACCAAEAYYA").splitlines()
        case.equal(got, ["1: A B", "A cannot be reached from B", "2: A B C", "A cannot be reached from C",
                         "E cannot be reached from A", "there is no user Y", "there is no user Y"], "one-sided")
    case.run("grouperfish", "table", "drop", "users")
    for seed in range(3):
        rng = random.Random(10 + seed)
        case.create("users", "4-friends")
        people = ["p%d" % i for i in range(50)]
        graph = {who: set() for who in people}
        for _ in range(30 + 35 * seed):
            a, b = rng.sample(people, 2)
            graph[a].add(b)
            if rng.random() < 0.5:
                graph[b].add(a)
        load(graph, people)
        pairs = [(a, b) for a in people for b in people]
        check_paths(graph, pairs)
        check_paths(graph, pairs, "--two-sided", shortest=False)
        case.run("grouperfish", "table", "drop", "users")


def large():
    """The 88,234 friendships of 4,039 users: 500 pairs."""
    with gzip.open(case.data("friend-graph", "facebook_combined.txt.gz"), "rt") as f:
        edges = [line.split() for line in f]
    graph = edges_to_graph(edges)
    case.equal((len(edges), len(graph)), (88234, 4039), "the graph")
    case.create("users", "4-friends")
    load(graph)
    stored = {who: set(cells["friend"]) for who, cells in case.rows("users").items()}
    case.equal(stored == graph, True, "friends in one get")
    rng, people = random.Random(4), sorted(graph)
    starts = rng.sample(people, 50)
    pairs = [(rng.choice(starts), rng.choice(people)) for _ in range(500)]
    lengths = check_paths(graph, pairs, "--two-sided")
    check_paths(graph, pairs[:60])
    case.equal(max(lengths) >= 6, True, "long paths are among them")
    for who in rng.sample(people, 5):
        check_near(graph, who)
    print("components: %d, lengths %s" % (check_components(graph), sorted(lengths)))


def test_case_studies__check_4():
    small()
    one_sided()
    large()


case.main(test_case_studies__check_4)
