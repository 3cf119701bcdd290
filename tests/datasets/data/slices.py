#!/usr/bin/env python3
"""The posts of some days in a row, by their time: day-01.jsonl, day-02.jsonl and so on.

    slices.py reddit-posts.jsonl.zst FIRST DAYS     FIRST: the first day, 2013-06-03, in UTC
"""
import datetime
import json
import subprocess
import sys

first = datetime.datetime.fromisoformat(sys.argv[2] + "T00:00:00+00:00").timestamp()
days = [[] for _ in range(int(sys.argv[3]))]
with subprocess.Popen(["zstd", "-dc", sys.argv[1]], stdout=subprocess.PIPE) as source:
    for line in source.stdout:
        day = (json.loads(line)["time"] - first) // 86400
        if 0 <= day < len(days):
            days[int(day)].append(line)
for number, lines in enumerate(days, 1):
    with open("day-%02d.jsonl" % number, "wb") as out:
        out.writelines(lines)
