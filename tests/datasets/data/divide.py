#!/usr/bin/env python3
"""Divide lines of standard input: every 20th to the second file, the others to the first.

    divide.py FIRST SECOND
"""
import sys

with open(sys.argv[1], "wb") as first, open(sys.argv[2], "wb") as second:
    for number, line in enumerate(sys.stdin.buffer):
        (second if number % 20 == 7 else first).write(line)
