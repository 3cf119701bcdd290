"""Check 1: places, against a plain dictionary of who lies in what."""
import csv
import gzip
import json
import random

import case


def expected(places):
    """The table's rows from {id: (level, name, nearest parent or None)}."""
    rows = {}
    for id, (level, name, _) in places.items():
        rows[id] = {"name": {"name": name, "level": level}}
    for id, (level, _, nearest) in places.items():
        if nearest:
            rows[nearest].setdefault("child", {})[id] = level
        while nearest:
            rows[id].setdefault("parent", {})[nearest] = places[nearest][0]
            nearest = places[nearest][2]
    return rows


def compare(places, what):
    got, wanted = case.rows("locations"), expected(places)
    for id in sorted(set(got) | set(wanted)):
        case.equal(got.get(id), wanted.get(id), "%s: row %s" % (what, id))


def below(places, top):
    inside = {top}
    while True:
        more = {id for id, place in places.items() if place[2] in inside} - inside
        if not more:
            return inside
        inside |= more


def locations(*arguments, code=0):
    return case.run("locations", case.STORE, *arguments, code=code)


def small():
    """China (1), its states 2 to 6, and the cities 7 to 9; then Jinan (7) goes."""
    case.create("locations", "1-locations")
    places = {"1": ("nation", "China", None)}
    states = ("Beijing", "Shanghai", "Guangzhou", "Shandong", "Sichuan")
    places.update({str(i): ("state", name, "1") for i, name in enumerate(states, 2)})
    places.update({"7": ("city", "Jinan", "5"), "8": ("city", "Qingdao", "5"), "9": ("city", "Chengdu", "6")})
    for id, (level, name, within) in places.items():
        locations("add", id, level, name, *([within] if within else []))
    rows = case.rows("locations")
    case.equal(rows["1"]["child"], dict.fromkeys("23456", "state"), "children of China")
    case.equal(rows["5"]["parent"], {"1": "nation"}, "parents of 5")
    case.equal(rows["5"]["child"], {"7": "city", "8": "city"}, "children of 5")
    case.equal(rows["8"]["parent"], {"1": "nation", "5": "state"}, "parents of 8")
    case.equal(rows["9"]["parent"], {"1": "nation", "6": "state"}, "parents of 9")
    locations("delete", "7")
    case.equal(case.rows("locations")["5"]["child"], {"8": "city"}, "children of 5 without Jinan")
    del places["7"]
    compare(places, "without Jinan")
    for bad in (["move", "5", "5"], ["move", "1", "8"], ["add", "8", "city", "X", "6"], ["move", "5", "77"], ["add", "x", "city", "X", "77"],
                ["delete", "7"], ["subtree", "7"]):
        locations(*bad, code=1)
    locations("move", "5", code=2)
    compare(places, "after refusals")
    case.run("grouperfish", "table", "drop", "locations")


def read_places():
    places = {"0": ("nation", "China", None)}
    for level, file, within in (("province", "provinces", None), ("city", "cities", "provinceCode"),
                                ("area", "areas", "cityCode"), ("street", "streets", "areaCode")):
        with gzip.open(case.data("locations-china", file + ".csv.gz"), "rt", encoding="utf-8") as f:
            for row in csv.DictReader(f):
                places[row["code"]] = (level, row["name"], row[within] if within else "0")
    return places


def large():
    """The 44,703 divisions, and a nation around them."""
    places = read_places()
    case.equal(len(places), 44704, "places")
    case.create("locations", "1-locations")
    lines = [json.dumps({"key": id, "cells": cells}) for id, cells in expected(places).items()]
    case.run("grouperfish", "table", "import", "locations", "-", stdin="\n".join(lines) + "\n")
    compare(places, "loaded")
    printed = locations("subtree", "44").splitlines()
    case.equal(len(printed), len(below(places, "44")), "lines of Guangdong")
    case.equal({line.split()[0] for line in printed}, below(places, "44"), "subtree of Guangdong")
    rng = random.Random(1)
    for step in range(6):
        levels = ("area", "city", "province")
        inner = sorted(id for id in places if places[id][0] in levels)
        id, to = rng.choice(inner), rng.choice(inner)
        if step == 0:
            id, to = "37", "4403"  # Shandong, whole, into Shenzhen
        inside = below(places, id)
        if step % 3 == 2:
            locations("delete", id)
            for gone in inside:
                del places[gone]
        elif to in inside:
            locations("move", id, to, code=1)
        else:
            locations("move", id, to)
            places[id] = places[id][:2] + (to,)
        if step in (0, 2, 5):
            compare(places, "step %d: %s, %s" % (step, id, to))


def test_case_studies__check_1():
    small()
    large()


case.main(test_case_studies__check_1)
