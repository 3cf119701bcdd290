"""A store whose files are of two of its times, as an interrupted copy or a careless restore leaves it.

    test_mixed.py [--cases N] [--seed N]

Of each file there is the older one, the newer one or none. Whatever is asked of such a store ends with
a documented exit code and tells only documents that were there at one of the two times; what `repair`
makes of it is sound and can be clustered.
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time

import commands
import injected

CASES = 8
READS = [["status"], ["search", "feedback", "guitar"], ["clusters", "feedback"], ["tweets", "search", "rain"]]
CHANGES = [["put", "feedback", "IN/more.jsonl"], ["delete", "feedback", "1", "2"], ["rebuild", "--all", "--force"],
           ["tweets", "import", "IN/tweets.jsonl"], ["put", "big", "IN/more.jsonl"], ["collection", "delete", "big", "--purge"],
           ["log", "import", "web", "IN/more.log"], ["put", "feedback", "IN/first.jsonl"]]


def steady(row, collection=None):
    """A document as text; as the program gives it, or as it was put."""
    return json.dumps({"collection": collection, **row} if collection else row, sort_keys=True)


class Mixed:
    def __init__(self, folder, n, r):
        self.folder, self.r, self.wrong = os.path.join(folder, f"case-{n}"), r, []
        os.mkdir(self.folder)

    def run_program(self, *words, codes=(0, 1, 2, 4, 5, 6), store="store"):
        told = injected.run([*words, "--store", os.path.join(self.folder, store), "--format", "jsonl"])
        if told.crash() or told.code not in codes:
            self.wrong.append(f"{' '.join(words)}: {told.crash() or told.code}: {told.err[-400:]}")
        elif told.code not in (0, 1) and not told.err and not told.out:
            self.wrong.append(f"{' '.join(words)}: {told.code} without a word")
        return told

    def mix(self, old, new):
        """The paths of the store's files, each of one time."""
        store = os.path.join(self.folder, "store")
        shutil.copytree(new, store)
        share = self.r.choice([0.1, 0.5, 0.9])
        for part in (".", "db"):
            names = {name for side in (old, new) for name in os.listdir(os.path.join(side, part))}
            for name in sorted(names):
                if os.path.isdir(os.path.join(new, part, name)):
                    continue
                to = os.path.join(store, part, name)
                if self.r.random() > share:
                    continue
                if os.path.exists(to):
                    os.remove(to)
                if os.path.isfile(os.path.join(old, part, name)) and self.r.random() < 0.9:
                    shutil.copy(os.path.join(old, part, name), to)

    def rows(self, store="store"):
        told = self.run_program("export", "--all", "--documents", store=store)
        return {steady(row) for row in map(json.loads, told.out.splitlines()) if "text" in row}

    def run(self, old, new, known):
        self.mix(old, new)
        clean = self.run_program("verify").code == 0
        for words in READS:
            self.run_program(*words)
        strange = self.rows() - known
        if strange:
            self.wrong.append(f"{'verify is clean, ' if clean else ''}documents that never were: {sorted(strange)[:2]}")
        to = os.path.join(self.folder, "repaired")
        told = self.run_program("repair", "--to", to, codes=(0, 2, 4, 5, 6))
        if told.code == 0 and not os.path.exists(to):
            self.wrong.append("repair: exit code 0, and there is no store")
        if not os.path.exists(to):  # what it would make is not all there: only where that is said
            self.run_program("repair", "--drop-unreadable", "--to", to, codes=(0, 2, 4, 5, 6))
        if os.path.exists(to):
            self.run_program("verify", codes=(0,), store="repaired")
            self.run_program("rebuild", "--all", "--force", codes=(0,), store="repaired")
            strange = self.rows("repaired") - known
            if strange:
                self.wrong.append(f"repaired: documents that never were: {sorted(strange)[:2]}")
        return clean


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GROUPERFISH_TEST_SEED", time.time())))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    bad = clean = 0
    with tempfile.TemporaryDirectory(prefix="grouperfish-faults-") as folder:
        template = os.path.join(folder, "template")
        os.mkdir(template)
        commands.make_template(template)
        with open(f"{template}/in/first.jsonl", encoding="utf-8") as file:
            first = {steady(json.loads(line), "feedback") for line in file}
        for n in range(asked.cases):
            r = random.Random(f"{asked.seed} {n}")
            one = Mixed(folder, n, r)
            new = os.path.join(one.folder, "new")
            shutil.copytree(os.path.join(template, "store"), new)
            known = first | one.rows("new")
            for words in r.sample(CHANGES, r.randint(1, 4)):
                one.run_program(*(word.replace("IN/", template + "/in/") for word in words), codes=(0, 1, 2), store="new")
                known |= one.rows("new")
            clean += one.run(os.path.join(template, "store"), new, known)
            if one.wrong:
                bad += 1
                print(f"case {n}:\n    " + "\n    ".join(one.wrong), flush=True)
            shutil.rmtree(one.folder)
    print(f"{asked.cases} mixes of old and new files, {clean} of them sound; {bad} went wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
