"""What a pod finds around it: a termination log, leftovers of others, filesystems that lack things, little memory."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from cluster import MIB, EndToEnd, free_port, make_model, needs_root, write

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from measure import NO_MEMORY_GROUPS, MemoryGroup, can_limit_memory, make_file, out_of_page_cache  # noqa: E402

UNKNOWN = "sha256:" + "0" * 64
NOBODY, OTHER, SHARED_GROUP = 65534, 20001, 20002


def skip_unless(test, command, why):
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode:
        test.skipTest(f"{why}: {tried.stderr.strip()}")


@needs_root
class TerminationLog(EndToEnd):
    """A /dev of our own, with a /dev/termination-log as the kubelet binds it there: made by root, writable for all."""

    def setUp(self):
        super().setUp()
        self.revision = self.cluster.publish(make_model(self.cluster.path("source")))
        self.cluster.start_servers()
        self.log = write(self.cluster.path("termination-log"), b"of an earlier run, and longer than what comes" * 300)
        self.log.chmod(0o666)
        dev = self.cluster.path("dev")
        dev.mkdir()
        script = f"""set -e; mount -t tmpfs none {dev}; cd {dev}
            for name in null urandom random termination-log; do touch $name; done
            for name in null urandom random; do mount --bind /dev/$name $name; done
            mount --bind {self.log} termination-log; mount --move {dev} /dev; cd {self.cluster.dir}; exec "$@" """
        self.pod = ["unshare", "--mount", "sh", "-c", script, "sh"]
        skip_unless(self, self.pod, "cannot make a /dev")
        self.dropped = [*self.pod, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        self.volume = self.cluster.path("volume")
        self.volume.mkdir(mode=0o777)
        self.volume.chmod(0o777)

    def test_C53_holds_the_last_line_of_a_failure(self):
        done = self.cluster.fetch(self.volume / "llama", prefix=self.dropped, revision=UNKNOWN)
        self.assert_exit(done, 3, UNKNOWN)
        self.assertEqual(self.log.read_text(), done.last)

    def test_C53_has_at_most_4096_bytes_of_it(self):
        trackers = ",".join(f"http://127.0.0.1:{free_port()}/{i:0400}" for i in range(40))
        done = self.cluster.fetch(self.volume / "llama", "--timeout", "2s", prefix=self.dropped, revision=UNKNOWN, tracker=trackers)
        self.assertEqual(done.code, 7, done.err[-2000:])
        self.assertGreater(len(done.last), 4096)
        self.assertEqual(self.log.read_text(), done.last[:4096])

    def test_C53_says_nothing_of_a_success(self):
        self.log.write_bytes(b"")
        done = self.cluster.fetch(self.volume / "llama", prefix=self.dropped, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.log.read_bytes(), b"")


@needs_root
class Leftovers(EndToEnd):
    """C45: a fetch that died, and its successor on the same volume."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=8 * MIB)
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        self.volume = self.cluster.path("volume")
        self.volume.mkdir()
        self.volume.chmod(0o777)
        self.dest = self.volume / "llama"

    def start(self, *args, **what):
        return self.cluster.start_fetch(None, "--root", self.volume, *args, revision=self.revision, **what)

    def died(self, **what):
        fetch = self.start("--download-limit", "6MB/s", **what)
        fetch.wait_for_event("progress", bytes=3 * MIB)
        fetch.kill()

    def goes_on(self, fetch):
        done = fetch.wait(40)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)
        return done.event("ready")

    def test_C45_the_claim_of_a_dead_pod_is_taken_over(self):
        """Its process ids mean nothing here: only time tells that it is dead."""
        pod = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"]
        skip_unless(self, pod, "no pid namespaces here")
        self.died(prefix=pod)
        self.assertGreaterEqual(self.goes_on(self.start())["reused"], 3 * MIB)

    def test_C45_files_of_another_user_are_gone_on_with_or_it_is_said_what_to_remove(self):
        self.died()
        fetch = self.start(how={"user": NOBODY})
        done = fetch.wait()
        self.assert_exit(done, 4, self.volume / ".shoal", "remove")
        self.assertFalse(self.dest.exists())
        self.remove_as_said(done.last)
        self.goes_on(self.start(how={"user": NOBODY}))

    def remove_as_said(self, line):
        said = line.partition("remove ")[2].split()[0].rstrip(";,.")
        self.assertTrue(said.startswith(str(self.volume / ".shoal")), line)
        shutil.rmtree(said)

    def test_C45_another_user_of_the_volumes_group_goes_on(self):
        """fsGroup: the volume is the group's, and each pod has a uid of its own."""
        os.chown(self.volume, 0, SHARED_GROUP)
        self.volume.chmod(0o2775)
        first, second = (["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={SHARED_GROUP}"] for uid in (OTHER, NOBODY))
        self.died(prefix=first)
        self.assertGreaterEqual(self.goes_on(self.start(prefix=second))["reused"], 3 * MIB)


@needs_root
class PoorFilesystem(EndToEnd):
    """A ramfs, which reserves no space, has no attributes and reports neither size nor inodes; links and modes are refused to the process by strace."""

    def setUp(self):
        super().setUp()
        self.volume = self.cluster.path("volume")
        self.volume.mkdir()
        mounted = subprocess.run(["mount", "-t", "ramfs", "none", self.volume], capture_output=True, text=True)
        if mounted.returncode:
            self.skipTest(f"cannot mount a ramfs: {mounted.stderr}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.volume], check=False))
        lacking = ["link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat:error=EPERM", "setxattr,lsetxattr,fsetxattr,fallocate,renameat2:error=EOPNOTSUPP"]
        self.strace = ["strace", "-f", "-qq", "-o", "/dev/null", *(word for each in lacking for word in ("-e", f"inject={each}"))]
        skip_unless(self, self.strace, "strace cannot inject errors here")
        self.source = make_model(self.cluster.path("source"))
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        self.dest = self.volume / "llama"

    def fetch(self, *args, **what):
        done = self.cluster.fetch(self.dest, *args, prefix=self.strace, **({"revision": self.revision} | what))
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)
        return done.event("ready")

    def test_C56_without_links_reservations_attributes_and_modes_a_fetch_works(self):
        broken_off = self.cluster.start_fetch(self.dest, "--download-limit", "2MB/s", prefix=self.strace, revision=self.revision)
        broken_off.wait_for_event("progress", bytes=2 * MIB)
        broken_off.kill()
        self.assertGreaterEqual(self.fetch()["reused"], 2 * MIB)
        again = self.fetch()
        self.assertEqual(again["reused"], again["bytes"])
        write(self.source / "config.json", b"{}")
        self.revision = self.cluster.publish(self.source)
        self.assertGreater(self.fetch("--replace")["reused"], 3 * MIB)


@needs_root
@unittest.skipUnless(can_limit_memory(), NO_MEMORY_GROUPS)
class LittleMemory(EndToEnd):
    """256 MiB for a process, page cache included."""

    LIMIT = 256 * MIB

    def setUp(self):
        self.groups = {name: MemoryGroup(f"e2e-{name}", self.LIMIT) for name in ("seeder", "peer")}
        for group in self.groups.values():
            self.addCleanup(group.remove)  # after the processes in it
        super().setUp()

    def test_C49_a_model_of_three_times_the_limit(self):
        model = make_file(self.cluster.path("model/weights.bin"), 3 * self.LIMIT).parent
        revision = self.cluster.publish(model, "--in-place", deadline=60)
        out_of_page_cache(model)
        self.cluster.start_tracker()
        seeder = self.cluster.start_seeder(prefix=self.groups["seeder"].prefix())
        done = self.cluster.fetch(self.cluster.path("dest"), prefix=self.groups["peer"].prefix(), revision=revision, deadline=90)
        self.assertEqual(done.code, 0, done.err)
        self.assertTrue(seeder.running())
        self.assertEqual([group.kills() for group in self.groups.values()], [0, 0])


if __name__ == "__main__":
    unittest.main()
