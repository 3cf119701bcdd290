"""What names in the tree keep to: names.py root [--report]

- A type name has one body.
- At least 90 % of a folder's public functions begin with gf_ and the name of their file, of its room or
  of the module that file and room make (put/flush.c: gf_put_flush_..., gf_flush_... or gf_put_...).
- Comments say of what they speak: nearly none begins with a pronoun without a noun.
- No code compares the name of an operation with a word: what is to be known of one is in its entry.
"""
import collections
import os
import re
import sys

FOLDERS = "base storage vectorize cluster formats engine api apps server cli".split()
LEAST_SHARE = 0.90
MOST_RIDDLES = 20


def sources(root, *endings):
    for folder in FOLDERS + ["include"]:
        for place, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if f not in ("node_modules", "built")]
            for name in sorted(files):
                if name.endswith(endings):
                    path = os.path.join(place, name)
                    with open(path, encoding="utf-8") as f:
                        yield os.path.relpath(path, root), f.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def types_with_two_bodies(root):
    bodies = collections.defaultdict(set)
    for path, text in sources(root, ".c", ".h", ".cpp"):
        for name in re.findall(r"^(?:typedef )?(?:struct|enum|union) (gf_\w+) \{", text, flags=re.M):
            bodies[name].add(path)
    return {name: paths for name, paths in bodies.items() if len(paths) > 1}


def stems(path):
    """What the public functions of a file may begin with."""
    parts = path[: path.rindex(".")].split("/")
    folder, rooms, name = parts[0], parts[1:-1], parts[-1]
    allowed = {name, *rooms, "_".join(rooms + [name])}
    # A collection's row: gf_collection_..., of collections.c; tweets/: gf_tweet_...
    allowed |= {stem + "s" for stem in allowed} | {stem[:-1] for stem in allowed if stem.endswith("s")}
    allowed |= {stem[:-3] + "y" for stem in allowed if stem.endswith("ies")}
    return allowed


def public_functions(root):
    """(path, name) of the functions that a source defines and other sources may call."""
    for path, text in sources(root, ".c", ".cpp"):
        bare = without_comments(text)
        for found in re.finditer(r"^(?!static|typedef|extern)[A-Za-z_][\w \*]*?\b(gf_\w+)\([^;{}]*\)\s*\{",
                                 bare, flags=re.M):
            yield path, found.group(1)


def badly_named(root):
    counts = collections.Counter()
    bad = []
    for path, name in public_functions(root):
        folder = path.split("/")[0]
        counts[folder] += 1
        if not any(name == "gf_" + s or name.startswith("gf_" + s + "_") for s in stems(path)):
            bad.append((path, name))
    return counts, bad


RIDDLE = re.compile(r"(?:/\*\*?|//)\s*\*?\s*(What|Whatever|Of|Where|Wherever|Those|Whoever|That|Which)\b")


def riddles(root):
    for path, text in sources(root, ".c", ".h", ".cpp"):
        for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, flags=re.S):
            if RIDDLE.match(comment.group(0)):
                yield path, text.count("\n", 0, comment.start()) + 1, comment.group(0).split("\n")[0]


def operation_names(root):
    names = set()
    for path, text in sources(root, ".c"):
        names |= set(re.findall(r'^const gf_operation \w+ = \{\s*\.name = "([a-z -]+)"', text, flags=re.M))
    return names


def comparisons(root):
    names = operation_names(root)
    assert len(names) > 50, names
    for path, text in sources(root, ".c"):
        if path.split("/")[0] not in ("api", "apps", "server", "cli"):
            continue
        for found in re.finditer(r'(?:strcmp|strncmp|GF_SLICE|gf_slice_str)\([^;]*?"([a-z][a-z -]*)"', text):
            context = text[max(0, found.start() - 80): found.end()]
            if found.group(1) in names and re.search(r"(operation|route|\bo|\bc|command)->name", context):
                yield path, text.count("\n", 0, found.start()) + 1, found.group(1)


def main():
    root, report = sys.argv[1], "--report" in sys.argv
    wrong = False
    for name, paths in sorted(types_with_two_bodies(root).items()):
        wrong = True
        print(f"{name} has more than one body: {', '.join(sorted(paths))}")
    counts, bad = badly_named(root)
    of = collections.Counter(path.split("/")[0] for path, _ in bad)
    for folder, n in sorted(counts.items()):
        share = 1 - of[folder] / n
        if report or share < LEAST_SHARE:
            print(f"{folder}: {share:.0%} of {n} public functions begin with their file's name")
        if share < LEAST_SHARE:
            wrong = True
            for path, name in bad:
                if path.startswith(folder + "/"):
                    print(f"    {path}: {name}")
    found = list(riddles(root))
    if report or len(found) >= MOST_RIDDLES:
        print(f"{len(found)} comments begin with a pronoun without a noun")
    if len(found) >= MOST_RIDDLES:
        wrong = True
        for path, line, text in found:
            print(f"    {path}:{line}: {text}")
    for path, line, name in comparisons(root):
        wrong = True
        print(f'{path}:{line}: compares the name of an operation with "{name}"')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
