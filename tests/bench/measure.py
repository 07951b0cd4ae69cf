"""What benchmarks measure with: processor time, wall time, memory groups, and data of any size made quickly."""
import contextlib
import dataclasses
import mmap
import os
import pathlib
import resource
import statistics
import subprocess
import time

MB, GB = 10**6, 10**9
TICKS = os.sysconf("SC_CLK_TCK")
MEMORY_GROUPS = pathlib.Path("/sys/fs/cgroup/memory")
NO_MEMORY_GROUPS = "NO CGROUP V1 MEMORY CONTROLLER TO WRITE TO: nothing is known of memory limits here"


@dataclasses.dataclass
class Spent:
    wall: float = 0.0
    cpu: float = 0.0  # user and system, of children that ended


@contextlib.contextmanager
def spending():
    """What passes and what ended children used inside the block."""

    def children():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    spent = Spent()
    wall, cpu = time.monotonic(), children()
    yield spent
    spent.wall, spent.cpu = time.monotonic() - wall, children() - cpu


def cpu_of(process):
    """Seconds that a running process has used."""
    fields = pathlib.Path(f"/proc/{process.popen.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def median_of(times, measure):
    return statistics.median(measure() for _ in range(times))


def make_file(path, size):
    """`size` bytes of which no two blocks are equal, at disk speed: one random block, numbered."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = bytearray(os.urandom(1 << 20))
    with open(path, "wb") as file:
        for number in range(0, size, len(block)):
            block[:8] = number.to_bytes(8, "little")
            block[16384:16392] = number.to_bytes(8, "big")
            file.write(block[: min(len(block), size - number)])
    return path


def warm_memory(size):
    """Free memory that the host of a virtual machine has taken back costs whoever touches it first, up to 2.5 s a GB: let that be nobody who is measured."""
    mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE).close()


def into_page_cache(directory):
    for path in pathlib.Path(directory).rglob("*"):
        if path.is_file():
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 22):
                    pass


def out_of_page_cache(directory):
    """So that reading is charged to who reads."""
    os.sync()
    for path in pathlib.Path(directory).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def can_limit_memory():
    """Whether there is a cgroup v1 memory controller to write to."""
    return os.access(MEMORY_GROUPS, os.W_OK) and (MEMORY_GROUPS / "memory.limit_in_bytes").exists()


class MemoryGroup:
    """A cgroup v1 with a limit, page cache included."""

    def __init__(self, name, limit):
        self.path = MEMORY_GROUPS / f"shoal-bench-{name}-{os.getpid()}"
        self.path.mkdir()
        (self.path / "memory.limit_in_bytes").write_text(str(limit))

    def prefix(self):
        """Command that enters the group and becomes what follows."""
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh"]

    def value(self, name):
        return int((self.path / f"memory.{name}").read_text())

    def kills(self):
        fields = dict(line.split() for line in (self.path / "memory.oom_control").read_text().splitlines())
        return int(fields.get("oom_kill", 0))

    def remove(self):
        with contextlib.suppress(OSError):
            self.path.rmdir()


def peak_resident(process):
    """VmHWM of a running process in bytes."""
    status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def run(command):
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
