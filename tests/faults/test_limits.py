"""Every command over a small store with few descriptors, little memory, or files that may not grow, judged
as test_commands.py judges those whose calls fail.

    test_limits.py [--cases N] [--seed N] [--jobs N]
    test_limits.py --only put --fault limit:files:12        one case, as it was printed

Address space is limited only where the program has no sanitizer, which takes terabytes of it.
"""
import sys

import cases
import test_commands

KNOWN = [("put", "limit:size:0"), ("backup", "limit:size:1000"), ("rebuild", "limit:files:20"), ("export to a file", "limit:size:100"),
         ("table check-and-put", "limit:files:8")]

if __name__ == "__main__":
    sys.exit(test_commands.main(__doc__, 25, cases.choose_limit, KNOWN))
