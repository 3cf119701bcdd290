"""Programs run with faults (faults.h), and what became of them.

Environment: GROUPERFISH_PROGRAM, the program; GROUPERFISH_INJECTOR, the library of calls that fail;
GROUPERFISH_INJECTOR_MEMORY, that of memory, unset where the program has a sanitizer.
"""
import os
import re
import struct
import subprocess
import tempfile

PROGRAM = os.environ["GROUPERFISH_PROGRAM"]
INJECTOR = os.environ["GROUPERFISH_INJECTOR"]
MEMORY = os.environ.get("GROUPERFISH_INJECTOR_MEMORY")
# LevelDB leaks where an opening fails.
SANITIZERS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
# A sanitizer finds out by a pipe whether memory can be read: there may be no descriptor for it.
SANITIZERS_OWN = "<memory cannot be printed>"
LONGEST = 120  # seconds until a command counts as hanging

CALLS = ("open read pread write sync flush close rename unlink mkdir link stat truncate mmap readdir lock "
         "thread socket send receive memory").split()
TOLD = struct.Struct(f"{len(CALLS)}QQ232s")

# What each call may end with. KILL and KILLED end the process before it and behind it.
ERRORS = {
    "open": "EIO EMFILE EACCES ENOSPC EINTR KILL", "read": "EIO EINTR SHORT", "pread": "EIO EINTR SHORT",
    "write": "EIO ENOSPC EINTR SHORT TORN KILL KILLED", "sync": "EIO ENOSPC EINTR KILL KILLED",
    "flush": "ENOSPC KILL", "close": "EIO", "rename": "EIO ENOSPC EACCES KILL KILLED",
    "unlink": "EIO EACCES KILL KILLED", "mkdir": "EIO ENOSPC EACCES KILL KILLED", "link": "EIO EMFILE",
    "stat": "EIO EACCES ENOMEM", "truncate": "EIO ENOSPC KILL", "mmap": "ENOMEM", "readdir": "EIO",
    "lock": "ENOLCK EIO EINTR", "thread": "EAGAIN", "socket": "EMFILE ENOMEM", "send": "ECONNRESET EINTR",
    "receive": "ECONNRESET EINTR", "memory": "ENOMEM"}
REPORTS = re.compile(r"Sanitizer|runtime error:|terminate called|[Aa]ssertion|Segmentation|stack smashing")


class Outcome:
    def __init__(self, code, out, err, counted, done, last):
        self.code, self.out, self.err = code, out, err  # code: None where it hung
        self.counted, self.done, self.last = counted, done, last

    def killed(self):
        return self.code == -9 and self.last.split()[2:3] in (["KILL"], ["KILLED"])

    def failed_in_sanitizer(self):
        return SANITIZERS_OWN in self.err

    def crash(self):
        """What is wrong with the way that it ended; None."""
        if self.code is None:
            return "it hangs"
        if self.code < 0 and not self.killed():
            return f"it ended by signal {-self.code}: {self.err[-600:]}"
        if REPORTS.search(self.err) and not self.failed_in_sanitizer():
            return f"it says {self.err[:2000]}"
        return None


def environment(faults, told, path=None, seed=1, within=None):
    """Of a program that is to meet faults; within: they come while that file is there."""
    libraries = [library for library in (MEMORY if "memory" in faults else INJECTOR,) if library]
    options = SANITIZERS["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    more = {"LD_PRELOAD": ":".join(libraries), "ASAN_OPTIONS": options, "FAULTS": faults, "FAULTS_TOLD": told,
            "FAULTS_SEED": str(seed)}
    if path:
        more["FAULTS_PATH"] = path
    if within:
        more["FAULTS_WHILE"] = within
    return {**os.environ, **more}


def new_told(folder=None):
    fd, name = tempfile.mkstemp(prefix="told-", dir=folder)
    os.write(fd, bytes(TOLD.size))
    os.close(fd)
    return name


def read_told(name):
    with open(name, "rb") as file:
        *counted, done, last = TOLD.unpack(file.read())
    return dict(zip(CALLS, counted)), done, last.split(b"\0")[0].decode(errors="replace")


def end_of(process, seconds=LONGEST):
    """(exit code or None, standard output, standard error) of a process, which is gone then."""
    try:
        out, err = process.communicate(timeout=seconds)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return None, out, err


def run(words, faults=None, path=None, folder=None, limits=None):
    """Run the program; without faults as it is."""
    told = new_told(folder) if faults else None
    how = environment(faults, told, path) if faults else {**os.environ, **SANITIZERS}
    process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=how, cwd=folder, preexec_fn=limits)
    code, out, err = end_of(process)
    out, err = out.decode(errors="replace"), err.decode(errors="replace")
    outcome = Outcome(code, out, err, *(read_told(told) if told else ({}, 0, "")))
    if told:
        os.remove(told)
    return outcome
