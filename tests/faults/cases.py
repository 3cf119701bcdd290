"""Cases: a command, a fault, and what is to be true afterwards."""
import concurrent.futures
import os
import random
import resource
import shutil
import tempfile
import threading

import commands
import injected

NEVER = 999999999
FOR_EVER = {"EIO", "ENOSPC", "EMFILE", "ENOMEM", "EACCES", "ENOLCK"}  # errors that may stay
FAILED = {4, 6, 7}  # exit codes of what could not be done


class House:
    """The template, what commands count without faults, and what they leave behind."""

    def __init__(self, folder, only=None):
        self.folder, self.lock, self.n = folder, threading.Lock(), 0
        self.template = os.path.join(folder, "template")
        os.mkdir(self.template)
        commands.make_template(self.template)
        self.commands = [c for c in commands.COMMANDS if not only or c.name == only]
        self.before, self.after, self.counted = {}, {}, {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.learn, self.commands))

    def new_folder(self):
        with self.lock:
            self.n += 1
            to = os.path.join(self.folder, f"case-{self.n}")
        shutil.copytree(self.template, to)
        return to

    def state(self, command, folder):
        """{probe: rows} of what the command is about; None where there is no such store."""
        store = os.path.join(folder, command.store or "to")
        if not os.path.exists(os.path.join(store, "grouperfish.store")):
            return None
        return {name: commands.probe(name, store) for name in command.probes}

    def learn(self, command):
        folder = self.new_folder()
        self.before[command.name] = self.state(command, folder)
        told = injected.run(command.line(folder), f"open:{NEVER}:1:EIO", f"{folder}/*", folder)
        if told.code not in command.good:
            raise RuntimeError(f"{command.name}: exit code {told.code}: {told.err}")
        self.after[command.name] = self.state(command, folder)
        counted = {call: n for call, n in told.counted.items() if n}
        shutil.rmtree(folder)
        if injected.MEMORY:
            folder = self.new_folder()
            counted["memory"] = injected.run(command.line(folder), f"memory:{NEVER}:1:ENOMEM", None, folder).counted["memory"]
            shutil.rmtree(folder)
        self.counted[command.name] = counted

    def choose(self, r):
        """A command and a fault; each kind of call is as likely as any other."""
        command = r.choice(self.commands)
        counted = self.counted[command.name]
        call = r.choice(sorted(counted))
        error = r.choice(injected.ERRORS[call].split())
        times = 0 if error in FOR_EVER and r.random() < 0.25 else 1
        everywhere = call in ("write", "flush", "memory") and r.random() < 0.2
        nth = r.randint(1, counted[call] + (counted[call] // 4 if everywhere else 0))
        return Case(command, f"{call}:{nth}:{times}:{error}", everywhere)


class Case:
    """fault: as FAULTS has it, or limit:NAME:VALUE, a limit of the system's that the command runs under."""

    def __init__(self, command, fault, everywhere=False):
        self.command, self.fault, self.everywhere = command, fault, everywhere
        self.wrong, self.outcome = [], None

    def words(self):
        return f'--only "{self.command.name}" --fault {self.fault}' + (" --everywhere" if self.everywhere else "")

    # ---- judging ---------------------------------------------------------------------------------

    def done(self):
        """Whether the command says that it has done its work; a sanitizer that fails ends it with exit code 1, which is no answer."""
        return self.outcome.code in self.command.good and not self.outcome.failed_in_sanitizer()

    def complain(self, text):
        self.wrong.append(text)

    def judge_end(self):
        outcome = self.outcome
        if "memory:" in self.fault and (outcome.code == -11 or "internal error in libarchive" in outcome.err.lower()):
            return  # LevelDB's cache and libarchive's strings do not ask whether they got memory
        if self.fault.startswith("memory:") and int(self.fault.split(":")[1]) <= 64 and outcome.code == -6 and (
                "std::bad_alloc" in outcome.err):
            return  # libsimdjson chooses its kernels when it is first used, and may not fail there
        if outcome.crash():
            self.complain(outcome.crash())
        elif not outcome.killed() and not self.done():
            if outcome.code == 127 and "shared libraries" in outcome.err:
                pass  # it has not even begun
            elif outcome.failed_in_sanitizer():
                pass  # the sanitizer had no descriptor for a pipe, and ended the program
            elif outcome.code == 130 and ":EINTR" in self.fault:
                pass  # a call that is interrupted counts as a request to stop
            elif outcome.code not in FAILED:
                self.complain(f"exit code {outcome.code}: {outcome.err[-400:].strip()}")
            elif not outcome.err.strip():
                self.complain(f"exit code {outcome.code} without a word")

    def judge_state(self, house, state):
        before, after = house.before[self.command.name], house.after[self.command.name]
        if self.done():
            if state != after:
                self.complain(f"exit code {self.outcome.code}, and not what it does: {difference(after, state)}")
        elif state is None or before is None:
            if before is not None:
                self.complain("the store is gone")
            elif state is not None:
                self.judge_between({name: [] for name in state}, after, state)
        elif self.command.whole:
            for name, rows in state.items():
                if rows not in (before[name], after[name]):
                    self.complain(f"{name}: neither as before nor as behind it: {difference(before, state)}")
        else:
            self.judge_between(before, after, state)

    def judge_between(self, before, after, state):
        """Each row is one from before or from behind, and none is lost that is in both."""
        for name, rows in state.items():
            strange = set(rows) - set(before[name]) - set(after[name])
            lost = set(before[name]) & set(after[name]) - set(rows)
            if strange and self.command.again:
                self.complain(f"{name}: rows that never were: {sorted(strange)[:2]}")
            if lost:
                self.complain(f"{name}: {len(lost)} rows are lost: {sorted(lost)[:2]}")

    def judge_store(self, store, what):
        told = injected.run(["verify", "--store", store])
        if told.code != 0 or told.crash():
            self.complain(f"verify of {what}: {told.crash() or told.code}: {(told.out + told.err)[-400:].strip()}")

    def judge_copy(self, folder, house):
        """A store that was made of another is there whole, or not at all."""
        to = os.path.join(folder, "to")
        if not os.path.exists(to):
            if self.done():
                self.complain(f"exit code {self.outcome.code}, and there is no copy")
            return
        if not self.done() and not self.outcome.killed() and not self.outcome.failed_in_sanitizer():
            self.complain(f"exit code {self.outcome.code}, and there is a copy")
        self.judge_store(to, "the copy")
        rows = commands.probe("documents", to)
        if rows != house.copied(self.command):
            self.complain(f"the copy has {len(rows)} documents, not those of {self.command.name}: {rows[:1]}")

    def judge_again(self, folder, house, state):
        """Without faults the same command works."""
        after = house.after[self.command.name]
        told = injected.run(self.command.line(folder))
        done_before = state == after or self.command.to and os.path.exists(os.path.join(folder, "to"))
        if told.crash() or told.code not in self.command.good and not (done_before and told.code in (0, 1, 2, 3)):
            self.complain(f"the same again: {told.crash() or told.code}: {told.err[-400:].strip()}")
        elif self.command.again and house.state(self.command, folder) != after:
            self.complain(f"the same again is not what it does: {difference(after, house.state(self.command, folder))}")

    def run(self, house):
        folder = house.new_folder()
        if self.fault.startswith("limit:"):
            self.outcome = injected.run(self.command.line(folder), None, None, folder, limit(self.fault))
        else:
            path = None if self.everywhere else f"{folder}/*"
            self.outcome = injected.run(self.command.line(folder), self.fault, path, folder)
        self.judge_end()
        state = house.state(self.command, folder)
        self.judge_state(house, state)
        store = os.path.join(folder, self.command.store or "to")
        if self.command.store != "damaged" and state is not None:
            self.judge_store(store, "the store")
        if self.command.to in ("copy", "repaired"):
            self.judge_copy(folder, house)
        self.judge_again(folder, house, state)
        if self.wrong and os.environ.get("GROUPERFISH_KEEP"):
            print(f"kept: {folder}", flush=True)
        else:
            shutil.rmtree(folder)
        return self


def limit(text):
    """What a child is to call before it becomes the program."""
    _, name, value = text.split(":")
    kind = {"files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS, "size": resource.RLIMIT_FSIZE}[name]
    return lambda: resource.setrlimit(kind, (int(value), int(value)))


def choose_limit(house, r):
    command = r.choice(house.commands)
    name = r.choice(["files", "size"] + ["memory"] * bool(injected.MEMORY))
    value = {"files": r.randint(3, 40), "size": r.choice([0, 1, r.randint(1, 200000)]), "memory": r.randint(30, 400) << 20}[name]
    return Case(command, f"limit:{name}:{value}")


def difference(wanted, found):
    if wanted is None or found is None:
        return "there is no store" if found is None else "there is a store"
    for name, rows in wanted.items():
        if rows != found[name]:
            return f"{name}: not there {sorted(set(rows) - set(found[name]))[:1]}, there {sorted(set(found[name]) - set(rows))[:1]}"
    return "nothing"


class Copies(House):
    """With what copies hold: documents of the source, or what is sound of them."""

    def copied(self, command):
        with self.lock:
            if command.name not in self.__dict__.setdefault("copies", {}):
                self.copies[command.name] = None
        if self.copies[command.name] is None:
            folder = self.new_folder()
            injected.run(command.line(folder))
            self.copies[command.name] = commands.probe("documents", os.path.join(folder, "to"))
            shutil.rmtree(folder)
        return self.copies[command.name]


def run_cases(n, seed, only=None, fault=None, everywhere=False, jobs=2, tell=print, choose=House.choose, known=()):
    """Run n cases, and those known, (command, fault) and True where it is everywhere; those that went wrong, and (cases, faults that happened, by how they ended)."""
    r, wrong, ends, happened = random.Random(seed), [], {}, 0
    with tempfile.TemporaryDirectory(prefix="grouperfish-faults-") as folder:
        house = Copies(folder, only)
        named = {command.name: command for command in house.commands}
        chosen = [Case(named[name], what, *wide) for name, what, *wide in known
                  if name in named and (injected.MEMORY or not what.startswith("memory"))]
        chosen += [choose(house, r) for _ in range(n)]
        if fault:
            chosen = [Case(named[only], fault, everywhere)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done, case in enumerate(pool.map(lambda c: c.run(house), chosen), 1):
                happened += case.outcome.done > 0
                key = "killed" if case.outcome.killed() else f"exit code {case.outcome.code}"
                ends[key] = ends.get(key, 0) + 1
                if case.wrong:
                    wrong.append(case)
                    tell(f"{case.words()}  [{case.outcome.last}] exit code {case.outcome.code}\n    " + "\n    ".join(w.replace("\n", "\n    ") for w in case.wrong))
                if done % 500 == 0:
                    tell(f"{done} of {len(chosen)} cases, {happened} faults, {len(wrong)} wrong")
    return wrong, (len(chosen), happened, ends)
