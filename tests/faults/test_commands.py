"""Every command over a small store, with one call of the system that fails or at which it is killed.

    test_commands.py [--cases N] [--seed N] [--jobs N]
    test_commands.py --only put --fault write:7:1:ENOSPC        one case, as it was printed

Whatever fails: the command ends, with an exit code that is documented for it and some words; what it
acknowledged is there, and of the rest each record as before or as behind it; `verify` finds nothing;
a copy is whole or not there; and without faults the same command works.
"""
import argparse
import os
import sys
import time

import cases

CASES = 80
KNOWN = [("put", "thread:3:1:EAGAIN"), ("put", "pread:2:1:SHORT"), ("publish", "readdir:33:1:EIO"), ("upgrade", "stat:14:0:EIO"),
         ("table check-and-put", "stat:1:0:EIO"), ("restore", "readdir:131:0:EIO"), ("repair, damaged", "thread:1:1:EAGAIN"),
         ("put", "write:9:1:TORN"), ("rebuild", "sync:2:1:EIO"), ("backup", "open:60:0:EMFILE"), ("repair", "stat:20:1:EIO"), ("export to a file", "memory:4:0:ENOMEM"),
         ("assign", "write:1:0:EIO", True)]


def main(description=__doc__, count=CASES, choose=cases.House.choose, known=KNOWN):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=count)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GROUPERFISH_TEST_SEED", time.time())))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--fault")
    parser.add_argument("--everywhere", action="store_true", help="also on paths out of the folder, and on standard output")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    begun = time.monotonic()
    wrong, (n, happened, ends) = cases.run_cases(asked.cases, asked.seed, asked.only, asked.fault, asked.everywhere, asked.jobs,
                                                 lambda text: print(text, flush=True), choose, known)
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    met = f", {happened} met their fault" if happened else ""
    print(f"{n} commands in {time.monotonic() - begun:.0f} s{met}: {told}; {len(wrong)} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
