#!/usr/bin/env python3
"""Tweets in HBase: imports that are killed at any moment and run again, two at once, deletions, tables that others filled."""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

import namespaces
from command import PROGRAM, check, run

RUNS = int(os.environ.get("GROUPERFISH_HBASE_RUNS", "6"))
EACH = 300  # tweets of a run
WORDS = "rain sun snow wind fog storm cloud frost heat hail leipzig berlin #weather #today @ada".split()


def tweet(number, chance):
    at = time.gmtime(1462458600 + chance.randrange(1200))
    made = {"created_at": time.strftime("%a %b %d %H:%M:%S +0000 %Y", at), "id_str": str(number), "text": " ".join(chance.choices(WORDS, k=6)),
            "lang": chance.choice(["en", "de", "fr"]), "user": {"id_str": str(number % 7), "name": f"User {number % 7}", "screen_name": f"user{number % 7}"}}
    if number % 2:
        made["coordinates"] = {"coordinates": [chance.uniform(-20, 20), chance.uniform(40, 60)]}
    return json.dumps(made)


def answers(store):
    asked = [("tweets", "export"), ("tweets", "stats"), ("tweets", "frequency"), ("tweets", "top", "--limit", "0"), ("tweets", "grid", "--level", "8"), ("tweets", "search", "rain", "--limit", "0"),
             ("tweets", "search", "user3", "--field", "user", "--limit", "0"), ("tweets", "map", "--box=-10,45,10,55", "--limit", "0"), ("tweets", "highscore")]
    return {" ".join(words): run(*words, store=store) for words in asked}


def feed(to, lines, pause):
    try:
        for line in lines:
            to.write(line + "\n")
            to.flush()
            time.sleep(pause)
        to.close()
    except BrokenPipeError:
        pass


def start(url, lines, pause=0.004):
    """An import that gets its tweets by and by, so that it writes many batches."""
    importing = subprocess.Popen([PROGRAM, "tweets", "import", "-", "--store", url, "--format", "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    feeding = threading.Thread(target=feed, args=(importing.stdin, lines, pause))
    feeding.start()
    return importing, feeding


def end(importing, feeding):
    feeding.join()
    importing.stdin = None
    said, told = importing.communicate(timeout=600)
    return importing.returncode, said, told


def differences(store, folder):
    there, wanted = answers(store), answers(folder)
    return [words for words in wanted if there[words] != wanted[words]]


def kills(url, folder, chance):
    """After each kill the same tweets again: nothing counts twice, and nothing is left in part."""
    killed = 0
    for number in range(RUNS):
        lines = [tweet(number * EACH + i, chance) for i in range(EACH)]
        importing, feeding = start(url, lines)
        time.sleep(chance.uniform(.3, 3))
        importing.kill()
        code = end(importing, feeding)[0]
        killed += code != 0
        begun = time.time()
        told = run("tweets", "import", "-", store=url, text="\n".join(lines))[0]
        run("tweets", "import", "-", store=folder, text="\n".join(lines))
        print(f"run {number}: ended with {code}; again {told['new']} new, {told['unchanged']} were there, in {time.time() - begun:.1f} s", flush=True)
        if told["new"] + told["unchanged"] != EACH or told["tweets"] != (number + 1) * EACH:
            sys.exit(f"failed: counts {told}")
        state = run("tweets", "reindex", store=url)[0]
        if state["state"] != "unchanged":
            sys.exit(f"failed: an index is not as its tweets: {state}")
    check(f"{killed} of {RUNS} imports were killed, and each table is as its tweets", True)
    check("answers are a folder's", not differences(url, folder), differences(url, folder))


def two_at_once(url, folder, chance):
    """Two imports of which each has half of the other's tweets, and one that is killed beside a third."""
    lines = [tweet(100000 + i, chance) for i in range(3 * EACH)]
    both = [start(url, lines[:2 * EACH], .002), start(url, lines[EACH:], .002)]
    told = [end(*one) for one in both]
    check("both end well", all(code == 0 for code, _, _ in told), told)
    new = sum(json.loads(said)["new"] for _, said, _ in told)
    check("each tweet is new to one of them", new == 3 * EACH, told)
    run("tweets", "import", "-", store=folder, text="\n".join(lines))
    check("the indexes are as the tweets", run("tweets", "reindex", store=url)[0]["state"] == "unchanged")
    more = [tweet(200000 + i, chance) for i in range(EACH)]
    dies, lives = start(url, more), start(url, more[::-1])
    time.sleep(chance.uniform(.5, 1.5))
    dies[0].kill()
    end(*dies)
    check("one goes on where another has died", end(*lives)[0] == 0)
    run("tweets", "import", "-", store=folder, text="\n".join(more))
    check("and nothing counts twice", run("tweets", "reindex", store=url)[0]["state"] == "unchanged" and not differences(url, folder), differences(url, folder))


def deletions(url, folder):
    """A stream's deletions hold, and what is deleted is gone from all tables."""
    lines = [json.dumps({"delete": {"status": {"id_str": str(n)}}}) for n in (3, 4, 100007)]
    for store in (url, folder):
        told = run("tweets", "import", "-", store=store, text="\n".join(lines))[0]
        check("deletions find their tweets", told["deleted"] == 3, told)
        told = run("tweets", "delete", "--user", "user5", store=store)[0]
        check("those of a user go", told["deleted"] > 10, told)
    check("the same is left", not differences(url, folder), differences(url, folder))
    check("in all tables", run("tweets", "reindex", store=url)[0]["state"] == "unchanged")


def of_others(url):
    """Tables that another program has made and filled are worked on in place."""
    json_text = '{"created_at":"Fri Apr 29 09:05:55 +0000 2016","id":725974381906804738,"id_str":"725974381906804738","text":"Das sage ich dir gleich, das funktioniert doch nie! #haselnuss","user":{"id":179905182,"name":"Peter Tosh","screen_name":"PeTo"}}'
    row = "00000000572323f32dac6e8a"  # murmur3
    run("table", "create", "RawTwitterData", "--key", "row:bytes", "--family", "t:wide", store=url)
    run("table", "create", "TermIndex", "--key", "term", "--family", "text:wide,qualifier=bytes", "--family", "user:wide,qualifier=bytes", store=url)
    run("table", "create", "TweetFrequency", "--key", "minute", "--family", "language:wide", store=url)
    run("table", "create", "GeoTemporalIndex", "--key", "row:bytes", "--family", "tweets:wide,qualifier=bytes,type=bytes", store=url)
    run("table", "put", "RawTwitterData", row, "--set", f"t:={json_text}", store=url)
    run("table", "put", "TermIndex", "sage", "--set", f"text:{row}=", store=url)
    run("table", "put", "TweetFrequency", "201604290905", "--set", "language:und=1", store=url)
    before = namespaces.tables("gftweetsother")
    check("others' tweets are found", [t["row"] for t in run("tweets", "search", "Sage", store=url)] == [row])
    stats = run("tweets", "stats", store=url)[0]
    check("and counted, with their hash", stats["tweets"] == 1 and stats["hash"] == "murmur3", stats)
    check("asking makes no tables", namespaces.tables("gftweetsother") == before)
    told = run("tweets", "import", "-", store=url, text=json_text)[0]
    check("one of theirs is not new", told["unchanged"] == 1 and told["tweets"] == 1, told)
    told = run("tweets", "import", "-", store=url, text=json_text.replace("gleich", "bald"))[0]
    check("others come beside it, with the same hash", told["new"] == 1 and told["tweets"] == 2 and told["hash"] == "murmur3", told)
    check("its minute counts both", run("tweets", "frequency", store=url)[0]["data"] == {"und": [2]})
    run("tweets", "import", "-", "--hash", "murmur2", store=url, text=json_text, code=2)
    check("reindex makes what they lacked", run("tweets", "reindex", store=url)[0]["state"] in ("mended", "reindexed") and len(run("tweets", "search", "das", store=url)) == 2)


def main():
    seed = int(os.environ.get("GROUPERFISH_HBASE_SEED", "0")) or random.randrange(1 << 31)
    print("GROUPERFISH_HBASE_SEED:", seed)
    chance = random.Random(seed)
    url = namespaces.make("gftweets")
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "store")
        of_others(namespaces.make("gftweetsother"))
        kills(url, folder, chance)
        two_at_once(url, folder, chance)
        deletions(url, folder)


if __name__ == "__main__":
    main()
