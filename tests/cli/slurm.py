"""A Slurm of one node, in a folder of its own, for as long as a test runs."""
import os
import shutil
import socket
import subprocess
import time

SETTINGS = """ClusterName=grouperfish
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP
"""
SERVERS = {"munged": "/usr/sbin/munged", "slurmctld": "/usr/sbin/slurmctld", "slurmd": "/usr/sbin/slurmd"}


def is_missing():
    """What of it is not installed; None where all is."""
    for program in ("srun", "sinfo"):
        if not shutil.which(program):
            return program
    for name, path in SERVERS.items():
        if not os.path.exists(path):
            return name
    return None


def free_ports(n):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class NotHere(Exception):
    """Slurm is installed, and does not work on this machine."""


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.settings = os.path.join(folder, "slurm.conf")
        self.running = []

    def start(self):
        for name in ("munge", "state", "spool"):
            os.makedirs(os.path.join(self.folder, name), mode=0o700)
        key = os.path.join(self.folder, "munge", "key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o400)
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        with open(self.settings, "w", encoding="ascii") as file:
            file.write(SETTINGS.format(host=socket.gethostname().split(".")[0], user=user, folder=self.folder,
                                       ports=free_ports(2), processors=os.cpu_count()))
        at = os.path.join(self.folder, "munge", "")
        self.serve("munged", "--foreground", "--force", f"--key-file={at}key", f"--socket={at}socket",
                   f"--pid-file={at}pid", f"--log-file={at}log", f"--seed-file={at}seed")
        self.serve("slurmctld", "-D")
        self.serve("slurmd", "-D")
        self.wait_for_the_node()
        if "pmix" not in self.answer("srun", "--mpi=list"):
            raise NotHere("its plugin for PMIx is missing")
        self.answer("srun", "-n", "1", "true")

    def answer(self, *words):
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=self.environment())
        except subprocess.TimeoutExpired:
            raise NotHere(f"{' '.join(words)} takes more than a minute{self.said()}") from None
        if done.returncode:
            raise NotHere(f"{' '.join(words)} fails: {done.stderr}{self.said()}")
        return done.stdout + done.stderr

    def serve(self, name, *words):
        log = open(os.path.join(self.folder, name + ".said"), "wb")
        self.running.append(subprocess.Popen([SERVERS[name], *words], stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=subprocess.STDOUT, env=self.environment()))
        log.close()

    def environment(self):
        return {**os.environ, "SLURM_CONF": self.settings}

    def wait_for_the_node(self, seconds=60):
        end = time.monotonic() + seconds
        while True:
            told = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True,
                                  env=self.environment())
            if told.stdout.strip() == "idle":
                return
            if time.monotonic() > end:
                raise NotHere(f"its node is not there: {told.stdout}{told.stderr}{self.said()}")
            time.sleep(0.1)

    def said(self):
        text = ""
        for name in SERVERS:
            with open(os.path.join(self.folder, name + ".said"), encoding="utf-8", errors="replace") as file:
                text += f"\n{name}: " + file.read()[-1000:]
        return text

    def stop(self):
        for server in reversed(self.running):
            server.terminate()
        for server in reversed(self.running):
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
