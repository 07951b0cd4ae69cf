"""Disks that are full, that fail, that are limited: a clear error, the right exit code, nothing lost."""
import contextlib
import subprocess

from cluster import MIB, SEEDER, EndToEnd, Process, make_model, needs_root, write


@needs_root
class FullDisk(EndToEnd):
    """The destination on a small tmpfs of its own."""

    def setUp(self):
        super().setUp()
        self.volume = self.cluster.path("volume")
        self.volume.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", self.volume], capture_output=True, text=True)
        if mounted.returncode:
            self.skipTest(f"cannot mount a tmpfs: {mounted.stderr}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.volume], check=False))
        self.source = make_model(self.cluster.path("source"), weights=8 * MIB)
        self.dest = self.volume / "llama"
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()

    def test_no_space_before_the_first_byte(self):
        hog = write(self.volume / "hog", bytes(6 * MIB))
        done = self.cluster.fetch(self.dest, "--stall-timeout", "2s", revision=self.revision)
        self.assert_exit(done, 5, self.volume)
        self.assert_nothing_ready(self.dest)
        hog.unlink()
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def fetch_without_preallocation(self, *args):
        """On a filesystem that cannot reserve space (NFS and others), simulated by failing the call."""
        command = self.cluster.peer_command(self.dest, *args, revision=self.revision)
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fallocate", "-e", "inject=fallocate:error=EOPNOTSUPP"]
        if subprocess.run([*strace, "true"], capture_output=True).returncode:
            self.skipTest("strace cannot inject errors here")
        return self.cluster.start(Process, "peer", [*strace, *command])

    def test_C46_no_space_during_the_transfer_is_waited_out(self):
        fetch = self.fetch_without_preallocation("--download-limit", "2MB/s", "--stall-timeout", "30s")
        fetch.wait_for_event("progress", bytes=MIB)
        hog = self.fill_the_volume()
        fetch.wait_for(lambda: "space" in fetch.err.lower(), "it says that space is missing")
        hog.unlink()
        done = fetch.wait(60)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def test_C46_no_space_for_too_long_is_5_and_the_next_run_resumes(self):
        fetch = self.fetch_without_preallocation("--download-limit", "2MB/s", "--stall-timeout", "5s")
        fetch.wait_for_event("progress", bytes=2 * MIB)
        hog = self.fill_the_volume()
        self.assert_exit(fetch.wait(60), 5)
        self.assert_nothing_ready(self.dest)
        hog.unlink()
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assertGreaterEqual(done.event("ready")["reused"], MIB)
        self.assert_fetched(self.source, self.dest)

    def fill_the_volume(self):
        hog = self.volume / "hog"
        with open(hog, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        return hog

    def test_a_full_store_is_an_error_of_publish(self):
        store = self.volume / "store"
        store.mkdir()
        hog = write(self.volume / "hog", bytes(6 * MIB))
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama", store=f"file://{store}")
        self.assert_exit(done, 5, store)
        self.assertFalse(any((store / "models").rglob("*")) if (store / "models").exists() else False)
        hog.unlink()
        self.assertEqual(self.cluster.publish(self.source, store=f"file://{store}"), self.revision)

@needs_root
class FailingDisk(EndToEnd):
    """A disk that takes writes into the page cache and loses some of them afterwards: its blocks lie in a file for which its own volume has no room."""

    def setUp(self):
        super().setUp()
        backing, self.volume = self.cluster.path("backing"), self.cluster.path("volume")
        backing.mkdir()
        self.volume.mkdir()
        self.hog = backing / "hog"
        self.image = image = backing / "image"
        self.run_or_skip("mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs", backing)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", backing], check=False))
        self.run_or_skip("truncate", "-s", "200M", image)
        self.run_or_skip("mkfs.ext2", "-q", "-m0", image)
        self.run_or_skip("mount", "-o", "loop", image, self.volume)
        self.addCleanup(lambda: subprocess.run(["umount", self.volume], check=False))
        self.source = make_model(self.cluster.path("source"), weights=80 * MIB)
        self.dest = self.volume / "llama"
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()

    def run_or_skip(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f"cannot make a disk that fails: {command[0]}: {done.stderr}")

    def repair(self):
        self.run_or_skip("umount", self.volume)
        subprocess.run(["e2fsck", "-fy", self.image], capture_output=True, check=False)  # 1: it mended something
        self.run_or_skip("mount", "-o", "loop", self.image, self.volume)

    def loses_writes(self, *args, recovers=False):
        write(self.hog, bytes(110 * MIB))
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "30MB/s", *args, revision=self.revision)
        if recovers:
            with contextlib.suppress(AssertionError):  # it may give up before
                fetch.wait_for_event("progress", bytes=40 * MIB)
            self.hog.unlink()
        done = fetch.wait()
        self.assertNotEqual(done.code, 0, "took a disk that lost bytes for one that holds them")
        self.assert_nothing_ready(self.dest)
        self.hog.unlink(missing_ok=True)
        done = self.cluster.fetch(self.dest, *args, revision=self.revision)
        if "Structure needs cleaning" in done.err:  # the filesystem lost blocks of its own: to refuse it until it is repaired is right
            self.assertNotEqual(done.code, 0)
            self.assert_nothing_ready(self.dest)
            self.repair()
            done = self.cluster.fetch(self.dest, *args, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.run_or_skip("sync")
        with open("/proc/sys/vm/drop_caches", "w") as caches:
            caches.write("3")
        self.assert_fetched(self.source, self.dest)

    def test_is_never_taken_for_one_that_holds_the_model_with_the_cache_kept(self):
        self.loses_writes("--page-cache", "keep")

    def test_is_never_taken_for_one_that_holds_the_model_with_the_cache_dropped(self):
        self.loses_writes("--page-cache", "drop")

    def test_that_takes_all_again_after_a_while_has_lost_what_it_lost(self):
        self.loses_writes("--page-cache", "drop", recovers=True)


class FileSizeLimit(EndToEnd):
    """ulimit -f: a write beyond it is an error that names the limit and the place, not the end of the process."""

    def test_is_told_by_publish_and_fetch(self):
        source = make_model(self.cluster.path("source"))
        limited = ["prlimit", "--fsize=1000000"]
        done = self.cluster.run([*limited, SEEDER, "publish", source, "--model", "llama", "--store", self.cluster.store_url])
        self.assert_exit(done, 5, "ulimit -f", self.cluster.store, "blobs/", ";")
        self.assertEqual([path for path in self.cluster.store.rglob(".shoal-tmp-*")], [])
        revision = self.cluster.publish(source)
        self.cluster.start_servers()
        dest = self.cluster.path("dest")
        done = self.cluster.start_fetch(dest, "--stall-timeout", "3s", prefix=limited, revision=revision).wait()
        self.assert_exit(done, 5, "File too large", dest)
        self.assert_nothing_ready(dest)
