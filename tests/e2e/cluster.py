"""Shoal's real programs as processes on loopback: started on port 0, awaited by what they say, ended with the test.

Every wait has a deadline and watches for an event; the one polling loop is wait_until. Nothing outlives the test's own process
(setpriv --pdeathsig), and when a test fails the logs of all its processes are printed.
"""
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

BUILD = pathlib.Path(os.environ.get("SHOAL_BUILD", "build/dev")).resolve()
SEEDER = BUILD / "seeder/shoal-seeder"
TRACKER = BUILD / "tracker/shoal-tracker"
PEER = BUILD / "peer/shoal-peer"

KIB, MIB = 1024, 1024 * 1024
REVISION = re.compile(r"sha256:[0-9a-f]{64}")
DEADLINE = 30  # seconds, for what should take less than one or two

needs_root = unittest.skipUnless(os.geteuid() == 0, "needs root")


def wait_until(condition, what, deadline=DEADLINE):
    """The condition's first true value, within `deadline` seconds."""
    end = time.monotonic() + deadline
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what() if callable(what) else what}")
        time.sleep(0.02)
    return value


def as_user(uid):
    """Command prefix that drops root for `uid`, whose group is the same number."""
    return [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


@dataclasses.dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def last(self):
        """The last line of stderr, which says what failed."""
        lines = self.err.strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def events(self):
        """Of whole lines: the process may be writing the last one."""
        return [json.loads(line) for line in self.out.splitlines(keepends=True) if line.startswith("{") and line.endswith("\n")]

    def event(self, name):
        """The last event of this name, or None."""
        return next((event for event in reversed(self.events) if event["event"] == name), None)


class Process:
    """A running program. Its output goes to files, so that nobody has to read for it to go on."""

    def __init__(self, name, logs, command, user=None, env=None, umask=None, cwd=None):
        self.name = name
        self.out_path, self.err_path = logs / f"{name}.out", logs / f"{name}.err"
        prefix = ["setpriv", "--pdeathsig=KILL", *(as_user(user) if user is not None else [])]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")} | (env or {})
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            extra = {} if umask is None else {"umask": umask}
            self.popen = subprocess.Popen([*prefix, *map(os.fspath, command)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=cwd, **extra)

    @property
    def out(self):
        return self.out_path.read_text(errors="surrogateescape")

    @property
    def err(self):
        return self.err_path.read_text(errors="surrogateescape")

    def running(self):
        return self.popen.poll() is None

    def done(self):
        return Done(self.popen.returncode, self.out, self.err)

    def wait(self, deadline=DEADLINE):
        """How it ended, within `deadline` seconds."""
        try:
            self.popen.wait(deadline)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {deadline} s; its last line: {self.done().last}") from None
        return self.done()

    def wait_for(self, condition, what, deadline=DEADLINE):
        """The condition's first true value while the process lives."""

        def look():
            alive = self.running()  # before the look, so that a last word is not missed
            if value := condition():
                return value
            if not alive:
                raise AssertionError(f"{self.name} ended with {self.popen.returncode} before {what}: {self.done().last}")
            return None

        return wait_until(look, f"{self.name}: {what}", deadline)

    def wait_for_event(self, name, deadline=DEADLINE, **at_least):
        """The first event of that name whose fields are at least these."""

        def look():
            lines = self.out.splitlines(keepends=True)
            events = [json.loads(line) for line in lines if line.endswith("\n") and line.startswith("{")]
            return next((e for e in events if e["event"] == name and all(e[key] >= least for key, least in at_least.items())), None)

        return self.wait_for(look, f"event {name} {at_least or ''}", deadline)

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        """kill -9, and gone on return."""
        self.popen.kill()
        self.popen.wait(DEADLINE)

    def terminate(self, deadline=5):
        """SIGTERM: how it ended, within the five seconds that are promised."""
        self.signal(signal.SIGTERM)
        return self.wait(deadline)


class Server(Process):
    """A program that says `listening on ADDR:PORT` when it is ready."""

    def address(self, label="listening on"):
        pattern = re.compile(rf"^{label} (\S+:\d+)$", re.M)
        return self.wait_for(lambda: (match := pattern.search(self.err)) and match[1], f"'{label}' on stderr")

    @property
    def url(self):
        return "http://" + self.address()

    @property
    def http(self):
        return "http://" + self.address("http listening on")

    def get(self, path, base=None):
        """(status, body) of a GET."""
        try:
            with urllib.request.urlopen((base or self.url) + path, timeout=10) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


def counted(server, metric):
    """The sum of a server's metric over all labels."""
    lines = server.get("/metrics", server.http)[1].decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if re.match(rf"{metric}[{{ ]", line))


class Cluster:
    """A directory store and the processes around it, below one temporary directory."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="shoal-e2e-"))
        self.dir.chmod(0o755)
        self.logs = self.dir / "logs"
        self.logs.mkdir()
        self.store = self.dir / "store"
        self.store.mkdir()
        self.s3 = None  # the URL of another store in its place
        self.processes = []
        self.current_tracker = None

    @property
    def store_url(self):
        return self.s3 or f"file://{self.store}"

    def path(self, name):
        return self.dir / name

    # Processes

    def start(self, kind, name, command, **how):
        process = kind(f"{len(self.processes):02}-{name}", self.logs, command, **how)
        self.processes.append(process)
        return process

    def run(self, command, deadline=DEADLINE, **how):
        return self.start(Process, pathlib.Path(command[0]).name, command, **how).wait(deadline)

    def start_seeder_command(self, *args, store=None, **how):
        """shoal-seeder publish, ls, tag, ... on this store."""
        return self.start(Process, SEEDER.name, [SEEDER, *args, "--store", store or self.store_url], **how)

    def seeder_command(self, *args, deadline=DEADLINE, **how):
        return self.start_seeder_command(*args, **how).wait(deadline)

    def publish(self, source, *args, model="llama", **how):
        """The revision of a publish that has to succeed."""
        done = self.seeder_command("publish", source, "--model", model, *args, **how)
        if done.code != 0:
            raise AssertionError(f"publish exits {done.code}: {done.last}")
        return REVISION.search(done.out)[0]

    def start_tracker(self, *args, listen="127.0.0.1:0", prefix=(), **how):
        server = self.start(Server, "tracker", [*prefix, TRACKER, "serve", "--store", self.store_url, "--listen", listen, *args], **how)
        server.address()
        self.current_tracker = server
        return server

    def start_seeder(self, *args, prefix=(), **how):
        command = [*prefix, SEEDER, "serve", "--store", self.store_url, "--tracker", self.current_tracker.url, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        server = self.start(Server, "seeder", [*command, *args], **how)
        server.address()
        return server

    def start_servers(self, *tracker_args):
        self.start_tracker(*tracker_args)
        return self.start_seeder()

    def peer_command(self, dest, *args, model="llama", revision=None, tracker=None, listen="127.0.0.1:0", interval="100ms"):
        """A fetch with --json; it reports often, so that a test sees the middle of a short transfer."""
        what = ["--revision", revision] if revision else []
        where = ["--dest", dest] if dest else []
        tracker = tracker or (self.current_tracker.url if self.current_tracker else "http://127.0.0.1:1")
        return [PEER, "fetch", "--model", model, *what, *where, "--tracker", tracker, "--listen", listen, "--json", "--progress-interval", interval, *args]

    def start_fetch(self, dest, *args, prefix=(), how=None, **what):
        """`prefix`: a command that becomes the fetch; `how`: as Process takes it."""
        return self.start(Process, "peer", [*prefix, *self.peer_command(dest, *args, **what)], **(how or {}))

    def fetch(self, dest, *args, deadline=DEADLINE, **what):
        return self.start_fetch(dest, *args, **what).wait(deadline)

    # The end

    def close(self):
        """Ends everything and returns what the processes said."""
        for process in self.processes:
            if process.running():
                process.kill()
        said = [f"--- {p.name} (exit {p.popen.returncode}): {' '.join(map(str, p.popen.args))}\n{p.out[-2000:]}{p.err[-4000:]}" for p in self.processes]
        subprocess.run(["chmod", "-R", "u+rwx", str(self.dir)], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)
        return "\n".join(said)


class EndToEnd(unittest.TestCase):
    """A test with a cluster, whose logs are shown when it fails."""

    maxDiff = 2000

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.close_cluster)

    def close_cluster(self):
        self.said = self.cluster.close()

    def run(self, result=None):
        before = len(result.errors) + len(result.failures)
        super().run(result)
        if len(result.errors) + len(result.failures) > before:
            print(getattr(self, "said", ""), flush=True)

    def assert_exit(self, done, code, *words):
        """The exit code, and each word in the last line of stderr (which names what failed, on what, and what to do)."""
        self.assertEqual(done.code, code, done.err[-1000:])
        for word in words:
            self.assertIn(str(word), done.last)

    def assert_fetched(self, source, dest, *, without=()):
        """Every file of the source is at the destination, byte-equal, and nothing else but the marker."""
        expected = {path: digest for path, digest in tree(source).items() if path not in without}
        self.assertEqual(tree(dest), expected)
        self.assertTrue((pathlib.Path(dest) / ".shoal.json").is_file(), "the marker is missing")
        self.assertFalse((pathlib.Path(dest) / ".shoal").exists(), "the work directory is left")

    def assert_nothing_ready(self, dest):
        """No file under its final name, and no marker."""
        self.assertEqual(tree(dest) if pathlib.Path(dest).exists() else {}, {})
        self.assertFalse((pathlib.Path(dest) / ".shoal.json").exists())


def tree(directory):
    """Path to digest of each file below; paths as bytes, since a name may be any. Without Shoal's own .shoal* at the top."""
    top = os.fsencode(directory)
    found = {}
    for folder, folders, files in os.walk(top, followlinks=True):
        if folder == top:
            folders[:] = [name for name in folders if not name.startswith(b".shoal")]
        for name in files:
            path = os.path.join(folder, name)
            rel = os.path.relpath(path, top)
            if not rel.startswith(b".shoal"):
                with open(path, "rb") as file:
                    found[rel] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def write(path, content):
    """A file with this content (bytes, or a number of random ones that are the same each time), with its directories."""
    path = pathlib.Path(os.fsdecode(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else random.Random(os.fsencode(path.name)).randbytes(content))
    return path


def make_model(directory, *, weights=4 * MIB):
    """A small model of usual shape: two shards of no round size, some small files, an empty one."""
    directory = pathlib.Path(directory)
    write(directory / "model-00001-of-00002.bin", weights * 3 // 4 + 77)
    write(directory / "model-00002-of-00002.bin", weights // 4 + 1)
    write(directory / "config.json", b'{"architectures": ["X"]}\n')
    write(directory / "tokenizer/vocab.txt", 70 * KIB)
    write(directory / "tokenizer/empty", b"")
    return directory


def flip_byte(path, offset):
    """Another value at one offset; size and time of change stay, as with a failing disk."""
    state = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x40]))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def blobs(store):
    """All finished blobs of a directory store, the largest first."""
    return sorted((p for p in (pathlib.Path(store) / "blobs").rglob("[!.]*") if p.is_file()), key=lambda p: -p.stat().st_size)


def free_port():
    """A port that nobody listened on a moment ago."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
