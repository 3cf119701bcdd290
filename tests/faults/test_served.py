"""`serve` under load while calls of the system fail, or until it is killed, again and again on one store.

    test_served.py [--cases N] [--seed N]

After each round: the server has ended as it should; `verify` finds nothing; every document, tweet
and row that was acknowledged is there, every deleted one is gone, and no answer ever told otherwise.
"""
import http.client
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

import injected

SOURCE = os.environ["GROUPERFISH_SOURCE"]
for part in ("tests/support", "tests/server"):
    sys.path.insert(0, os.path.join(SOURCE, part))

from ledger import Ledger  # noqa: E402 (the path comes first)
from served import Served  # noqa: E402

ROUNDS, CLIENTS, SECONDS, IDS = 8, 6, 0.7, 40
WORDS = "engine wheel brake guitar chord string bread flour oven planet orbit comet".split()
# Calls, how seldom they fail, and how
PLANS = [("write", 60, "EIO ENOSPC EINTR SHORT TORN"), ("sync", 60, "EIO ENOSPC EINTR"), ("open", 30, "EIO EMFILE EINTR"),
         ("pread", 20, "EIO EINTR SHORT"), ("read", 20, "EIO SHORT"), ("rename", 3, "EIO"), ("unlink", 3, "EIO"), ("stat", 20, "EIO"),
         ("mmap", 5, "ENOMEM"), ("socket", 10, "EMFILE ENOMEM"), ("send", 40, "ECONNRESET EINTR"), ("receive", 40, "ECONNRESET EINTR"),
         ("close", 20, "EIO"), ("readdir", 50, "EIO"), ("truncate", 2, "EIO ENOSPC"), ("flush", 20, "ENOSPC"), ("thread", 5, "EAGAIN")]
KILLS = [("write", 400), ("sync", 300), ("open", 60), ("rename", 4), ("unlink", 20)]


class Round:
    def __init__(self, folder, n, ledgers, r):
        self.folder, self.n, self.ledgers, self.r, self.wrong = folder, n, ledgers, r, []
        self.ends, self.acknowledged = threading.Event(), 0

    def plan(self):
        """(faults, whether they end the server)"""
        r = self.r
        if r.random() < 0.3:
            call, most = r.choice(KILLS)
            return f"{call}:{r.randint(1, most)}:1:{r.choice(['KILL', 'KILLED'])}", True
        faults = []
        for call, rate, errors in r.sample(PLANS, r.choice([1, 1, 2, 3])):
            faults.append(f"{call}:~{r.choice([rate, rate * 5])}:{r.choice([0, 1, 3])}:{r.choice(errors.split())}")
        return ",".join(faults), False

    # ---- clients ---------------------------------------------------------------------------------

    def client(self, number, server):
        r, connection = random.Random(f"{self.n} {number}"), None
        while not self.ends.is_set():
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                self.step(r, number, connection)
            except TimeoutError as error:
                self.wrong.append(f"no answer: {error}")
                return
            except (OSError, http.client.HTTPException):
                if connection:
                    connection.close()
                connection = None
                if server.process.poll() is not None:
                    return
                time.sleep(0.01)

    def ask(self, connection, method, path, body=None):
        connection.request(method, path, body=body)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def settle(self, ledger, values, status, told):
        """Of a change that was asked for: done, certainly not done, or nobody knows."""
        if status in (200, 201):
            self.acknowledged += 1
            for key, value in values.items():
                ledger.acknowledged(key, value)
        elif status not in (500, 503, 507):
            self.wrong.append(f"an answer {status}: {told[:200]!r}")

    def step(self, r, number, connection):
        what = r.random()
        documents, rows = self.ledgers
        values = {f"{number}-{r.randrange(IDS)}": f"{' '.join(r.choices(WORDS, k=12))} {self.n}" for _ in range(r.choice([1, 1, 1, 20]))}
        if what < 0.5:
            for id, text in values.items():
                documents.asked(id, text)
            body = "\n".join(json.dumps({"id": id, "text": text}) for id, text in values.items())
            self.settle(documents, values, *self.ask(connection, "POST", "/v1/collections/c/documents", body))
        elif what < 0.6:
            values = dict.fromkeys(values)
            for id in values:
                documents.asked(id, None)
            self.settle(documents, values, *self.ask(connection, "DELETE", "/v1/collections/c/documents?" + "&".join(f"id={id}" for id in values)))
        elif what < 0.7:
            key, value = f"{number}-{r.randrange(IDS)}", f"{self.n} {r.random()}"
            rows.asked(key, value)
            self.settle(rows, {key: value}, *self.ask(connection, "PUT", f"/v1/tables/t/row?key={key}&set=main:v={value.replace(' ', '+')}"))
        elif what < 0.72:
            self.ask(connection, "POST", "/v1/collections/c/builds?force")
        else:
            id = next(iter(values))
            may = documents.may.get(id, (None,))
            status, told = self.ask(connection, "GET", f"/v1/collections/c/documents/{id}")
            found = json.loads(told)["text"] if status == 200 else None
            if status in (200, 404) and found not in may:
                self.wrong.append(f"{id}: {status} {found!r}, not {may}")

    # ---- a round ---------------------------------------------------------------------------------

    def run(self):
        faults, kills = self.plan()
        there, told = os.path.join(self.folder, "there"), injected.new_told(self.folder)
        how = injected.environment(faults, told, None if "socket" in faults or "send" in faults or "receive" in faults else f"{self.folder}/store/*",
                                   self.r.randrange(1 << 30), there)
        changed = [f"{key}={value}" for key, value in how.items() if os.environ.get(key) != value]
        server = Served(folder=self.folder, within=("env", *changed))
        try:
            server.__enter__()
        except RuntimeError as error:
            self.wrong.append(f"the server does not start: {error}")
            return faults, 0
        if self.n == 0:
            server.json("PUT", "/v1/tables/t", '{"key": [{"name": "id", "type": "text"}], "families": [{"name": "main", "columns": {"v": "text"}}]}')
            server.json("PUT", "/v1/collections/c")
        open(there, "w").close()
        clients = [threading.Thread(target=self.client, args=(number, server), daemon=True) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            server.process.wait(SECONDS * (4 if kills else 1))
        except injected.subprocess.TimeoutExpired:
            pass
        self.ends.set()
        if self.r.random() < 0.5:
            os.remove(there)
        for client in clients:
            client.join(90)
            if client.is_alive():
                self.wrong.append("a client waits for ever")
        self.judge_end(server, told, faults)
        if os.path.exists(there):
            os.remove(there)
        self.judge_store()
        return faults, injected.read_told(told)[1]

    def judge_end(self, server, told, faults):
        try:
            code = server.stop()
        except AssertionError as error:
            self.wrong.append(str(error)[-1000:])
            return
        log = "".join(server.log)
        outcome = injected.Outcome(code, "", log, *injected.read_told(told))
        if outcome.crash():
            self.wrong.append(outcome.crash())
        elif not outcome.killed() and code not in (0, 6, 7):
            self.wrong.append(f"the server ended with {code}: {log[-400:]}")

    def judge_store(self):
        store = os.path.join(self.folder, "store")
        told = injected.run(["verify", "--store", store])
        if told.code != 0:
            self.wrong.append(f"verify: {told.code}: {(told.out + told.err)[-400:]}")
        documents, rows = self.ledgers
        told = injected.run(["export", "c", "--documents", "--format", "jsonl", "--store", store])
        found = {row["id"]: row["text"] for row in map(json.loads, told.out.splitlines())}
        self.judge_ledger("documents", documents, found)
        told = injected.run(["table", "scan", "t", "--format", "jsonl", "--store", store])
        found = {row["key"][0]: row["cells"]["main"]["v"] for row in map(json.loads, told.out.splitlines())}
        self.judge_ledger("rows", rows, found)

    def judge_ledger(self, what, ledger, found):
        wrong = ledger.differences(found.get)
        if wrong:
            self.wrong.append(f"{len(wrong)} {what} are not as acknowledged: {wrong[:2]}")
        for key in list(ledger.may):  # what is there now stays
            ledger.acknowledged(key, found.get(key))


def main():
    import argparse
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=ROUNDS, help="rounds")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GROUPERFISH_TEST_SEED", time.time())))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    folder, ledgers, bad, faults, acknowledged = tempfile.mkdtemp(prefix="grouperfish-faults-"), (Ledger(), Ledger()), 0, 0, 0
    for n in range(asked.cases):
        one = Round(folder, n, ledgers, random.Random(f"{asked.seed} {n}"))
        plan, done = one.run()
        faults, acknowledged = faults + done, acknowledged + one.acknowledged
        if one.wrong:
            bad += 1
            print(f"round {n}, {plan}, {done} faults:\n    " + "\n    ".join(one.wrong[:10]), flush=True)
        if n % 100 == 99:
            print(f"{n + 1} rounds, {faults} faults and kills, {acknowledged} acknowledged changes, {bad} rounds wrong", flush=True)
    shutil.rmtree(folder)
    print(f"{asked.cases} rounds, {faults} faults and kills, {acknowledged} acknowledged changes; {bad} rounds went wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
