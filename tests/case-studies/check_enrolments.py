"""Check 2: both sides of an enrolment are equal, whatever was done, and when it was killed."""
import os
import random
import subprocess

import case

STUDENTS, COURSES, LINES, KILLS = 500, 100, 10000, 8


def sides():
    """{(student, course): type} as the students have it; the courses must have the same."""
    students = {(s, c): t for s, cells in case.rows("students").items() for c, t in cells.get("course", {}).items()}
    courses = {(s, c): t for c, cells in case.rows("courses").items() for s, t in cells.get("student", {}).items()}
    case.equal(students == courses, True, "both sides equal")
    return students


def one():
    """s1 in c9 as "major"."""
    case.create("students", "2-students-and-courses")
    case.create("courses", "2-students-and-courses")
    case.run("grouperfish", "table", "put", "students", "s1", "--set", "name=Li")
    case.run("grouperfish", "table", "put", "courses", "c9", "--set", "title=Databases")
    case.run("enrolments", case.STORE, stdin="enrol s1 c9 major\n")
    case.equal(case.rows("students")["s1"]["course"], {"c9": "major"}, "s1")
    case.equal(case.rows("courses")["c9"]["student"], {"s1": "major"}, "c9")
    case.run("enrolments", case.STORE, stdin="withdraw s1 c9\n")
    case.equal(sides(), {}, "withdrawn")
    bad = "enrol s1 c7 major\nenrol s2 c9 major\nwithdraw s1\nleave s3\nenrol s1 c9 minor\n"
    case.equal(case.run("enrolments", case.STORE, stdin=bad, code=1), "5 enrol s1 c9 minor\n", "refusals")
    case.equal(sides(), {("s1", "c9"): "minor"}, "the good one of them")
    for table in ("students", "courses"):
        case.run("grouperfish", "table", "drop", table)


def after(lines):
    """What should be there."""
    wanted = {}
    for words in map(str.split, lines):
        if words[0] == "enrol":
            wanted[words[1], words[2]] = words[3]
        elif words[0] == "withdraw":
            wanted.pop((words[1], words[2]), None)
        else:
            wanted = {pair: kind for pair, kind in wanted.items() if pair[0] != words[1]}
    return wanted


def killed():
    """Runs over the lines, each killed somewhere and begun again behind what was printed."""
    case.create("students", "2-students-and-courses")
    case.create("courses", "2-students-and-courses")
    case.batch([{"table": "students", "key": "s%d" % i, "cells": {"info": {"name": "x"}}} for i in range(STUDENTS)] +
               [{"table": "courses", "key": "c%d" % i, "cells": {"info": {"title": "x"}}} for i in range(COURSES)])
    rng = random.Random(2)
    lines, left = [], ["s%d" % i for i in range(STUDENTS)]
    while len(lines) < LINES:
        student, course, chance = rng.choice(left), "c%d" % rng.randrange(COURSES), rng.random()
        if chance < 0.9:
            lines.append("enrol %s %s %s" % (student, course, rng.choice(["major", "minor"])))
        elif chance < 0.99:
            lines.append("withdraw %s %s" % (student, course))
        else:
            lines.append("leave " + student)
            left.remove(student)
    with open("lines", "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))
    done, stops = 0, []
    for kill in range(KILLS):
        goal = done + rng.randrange(1, 2 * (LINES - done) // (KILLS - kill + 1))
        with open("rest", "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in lines[done:]))
        with open("rest", encoding="utf-8") as f:
            child = subprocess.Popen([os.path.join(case.PROGRAMS, "enrolments"), case.STORE], stdin=f,
                                     stdout=subprocess.PIPE, text=True, env=case.ENV)
        printed = 0
        for _ in child.stdout:
            printed += 1
            if done + printed == goal:
                child.kill()
        case.equal(child.wait(), -9, "killed")
        done += printed
        got = sides()
        if got == after(lines[:done + 1]):  # written, and killed before it was told
            done += 1
        else:
            case.equal(got == after(lines[:done]), True, "what was printed is there, after line %d" % done)
        stops.append(done)
    case.run("enrolments", case.STORE, stdin="".join(line + "\n" for line in lines[done:]))
    case.equal(sides() == after(lines), True, "all lines")
    case.equal(set(case.rows("students")), set(left), "students that have not left")
    case.run("grouperfish", "verify")
    print("killed behind lines %s of %d" % (stops, LINES))


def test_case_studies__check_2():
    one()
    killed()


case.main(test_case_studies__check_2)
