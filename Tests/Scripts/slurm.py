"""A Slurm controller and node on this machine for a test, with their own files and ports."""
import os
import shutil
import socket
import subprocess
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue"]
CONFIGURATION = """ClusterName=ffmount
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """Slurm cannot run here. The text is the reason."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm:
    """Slurm until the `with` ends. Needs root and the Debian packages slurmctld, slurmd, slurm-client and munge."""

    def __init__(self, folder):
        if os.geteuid() != 0:
            raise Unavailable("it needs root")
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        missing = [program for program in PROGRAMS if not shutil.which(program)]
        if missing:
            raise Unavailable(f"{missing[0]} is missing (apt install slurmctld slurmd slurm-client munge)")
        self.folder = os.path.join(folder, "slurm")
        self.processes = []

    def __enter__(self):
        for name in ("state", "spool"):
            os.makedirs(os.path.join(self.folder, name))
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(os.urandom(128))
        configuration = os.path.join(self.folder, "slurm.conf")
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=self.folder, cpus=os.cpu_count(),
                                            controller=free_port(), node=free_port()))
        self.environment = {**os.environ, "SLURM_CONF": configuration}
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed", f"--log-file={self.folder}/munged.log")
        self.until(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged does not start")
        self.start("slurmctld", "-D", "-f", configuration)
        self.start("slurmd", "-D", "-f", configuration, "-N", socket.gethostname().split(".")[0])
        self.until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T"), "slurmd does not become idle")
        return self

    def start(self, *words):
        with open(os.path.join(self.folder, words[0] + ".out"), "w") as out:
            self.processes.append(subprocess.Popen(words, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL))

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True).stdout.strip()

    def until(self, is_true, reason):
        for _ in range(300):
            if is_true():
                return
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(.1)
        self.__exit__()
        raise Unavailable(reason + ": " + self.last_words())

    def last_words(self):
        """The last lines of the logs."""
        lines = []
        for name in ("munged.out", "munged.log", "slurmctld.log", "slurmctld.out", "slurmd.log", "slurmd.out"):
            try:
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    lines += file.read().splitlines()[-2:]
            except OSError:
                pass
        return " | ".join(lines)[-600:]

    def array(self, count, script):
        """Runs a script as the tasks 1 to `count` of an array job, to their end. Returns the IDs of those that failed."""
        path = os.path.join(self.folder, "job.sh")
        with open(path, "w") as file:
            file.write(f"#!/bin/bash\n{script}\ncode=$?\necho $code >{self.folder}/task.$SLURM_ARRAY_TASK_ID\nexit $code\n")
        for task in range(1, count + 1):
            try:
                os.remove(f"{self.folder}/task.{task}")
            except FileNotFoundError:
                pass
        job = self.run("sbatch", "--parsable", "--wait", "--export=ALL", f"--array=1-{count}", f"--output={self.folder}/job.%a.out", path)
        failed = []
        for task in range(1, count + 1):
            try:
                with open(f"{self.folder}/task.{task}") as file:
                    if file.read().strip() != "0":
                        failed.append(task)
            except FileNotFoundError:
                failed.append(task)
        if not job:
            failed = list(range(1, count + 1))
        return failed

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        self.processes = []
