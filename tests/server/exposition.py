"""The text format of Prometheus (version 0.0.4), read as strictly as promtool does.

    families = read(text)            # ValueError says what is wrong
    families["x_total"].samples      # {(name, (("label", "value"), ...)): number}
"""
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|Inf|NaN)")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


class Family:
    def __init__(self, name):
        self.name, self.type, self.help, self.samples = name, None, None, {}


def read_labels(text, line):
    labels, at = [], 0
    while at < len(text):
        found = LABEL.match(text, at)
        if not found:
            raise ValueError(f"label: {line}")
        labels.append((found[1], found[2]))
        at = found.end()
        if at < len(text):
            if text[at] != ",":
                raise ValueError(f"between labels: {line}")
            at += 1
    if len({name for name, _ in labels}) != len(labels):
        raise ValueError(f"a label twice: {line}")
    return tuple(sorted(labels))


def read_sample(line):
    found = re.fullmatch(r"([^ {]+)(?:\{(.*)\})? (\S+)", line)
    if not found or not NAME.fullmatch(found[1]) or not NUMBER.fullmatch(found[3]):
        raise ValueError(f"sample: {line}")
    return found[1], read_labels(found[2] or "", line), float(found[3])


def belongs(name, family):
    if family.type in ("histogram", "summary"):
        return name in (family.name + "_bucket", family.name + "_sum", family.name + "_count")
    return name == family.name


def check_histogram(family):
    series = {}
    for (name, labels), value in family.samples.items():
        rest = tuple(label for label in labels if label[0] != "le")
        one = series.setdefault(rest, {"buckets": []})
        if name.endswith("_bucket"):
            one["buckets"].append((float(dict(labels)["le"]), value))
        else:
            one[name[len(family.name):]] = value
    for labels, one in series.items():
        bounds, counts = zip(*one["buckets"])
        if list(bounds) != sorted(set(bounds)) or bounds[-1] != float("inf"):
            raise ValueError(f"{family.name}{labels}: bounds {bounds}")
        if list(counts) != sorted(counts) or counts[-1] != one["_count"] or "_sum" not in one:
            raise ValueError(f"{family.name}{labels}: counts {one}")


def check(family):
    if not family.type or not family.help:
        raise ValueError(f"{family.name} lacks a type or help")
    if (family.type == "counter") != family.name.endswith("_total"):
        raise ValueError(f"{family.name} is a {family.type}")
    if re.search(r"_(milliseconds|ms|minutes|kb|mb|kilobytes|count|sum|bucket)$", family.name):
        raise ValueError(f"{family.name}: a unit that is not a base one, or a name that is kept")
    if family.type == "histogram":
        check_histogram(family)
    if family.type == "counter" and min(family.samples.values(), default=0) < 0:
        raise ValueError(f"{family.name} is below 0")


def read(text):
    if not text.endswith("\n"):
        raise ValueError("no line end at the end")
    families, now = {}, None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP ") or line.startswith("# TYPE "):
            kind, name, what = line[2:].split(" ", 2)
            if not NAME.fullmatch(name) or not what:
                raise ValueError(line)
            if name not in families:
                families[name] = Family(name)
            elif families[name] is not now:
                raise ValueError(f"{name} is in two places")
            now = families[name]
            if now.samples or getattr(now, kind.lower()):
                raise ValueError(f"twice, or behind samples: {line}")
            if kind == "TYPE" and what not in TYPES:
                raise ValueError(line)
            setattr(now, kind.lower(), what)
        elif not line or line.startswith("#"):
            raise ValueError(f"an empty line, or a comment: {line!r}")
        else:
            name, labels, value = read_sample(line)
            if not now or not belongs(name, now):
                raise ValueError(f"not of the family before it: {line}")
            if (name, labels) in now.samples:
                raise ValueError(f"twice: {line}")
            now.samples[name, labels] = value
    for family in families.values():
        check(family)
    return families
