"""Several seeders of one revision, and seeders that fall silent."""
import os
import signal
import subprocess
import time
import unittest

from cluster import MIB, PEER, SEEDER, EndToEnd, Process, Server, counted, make_model, needs_root, wait_until

STILL = 10  # seconds without a byte, at most, while another source is there


def last_progress(fetch):
    """Bytes."""
    return max((event["bytes"] for event in fetch.done().events if event["event"] == "progress"), default=0)


class Progress:
    """How long each of some fetches went without a byte. Only what is looked at is seen."""

    def __init__(self, fetches):
        self.fetches = fetches
        self.moved = [(0, time.monotonic()) for _ in fetches]
        self.longest = 0

    def look(self):
        now = time.monotonic()
        for i, fetch in enumerate(self.fetches):
            received = last_progress(fetch)
            if received > self.moved[i][0]:
                self.moved[i] = (received, now)
            elif fetch.running():
                self.longest = max(self.longest, now - self.moved[i][1])
        return [received for received, _ in self.moved]

    def wait(self, enough, deadline=60):
        """Until each has that many bytes, or has ended."""
        wait_until(lambda: all(received >= enough or not fetch.running() for received, fetch in zip(self.look(), self.fetches)), "the bytes are there", deadline)


class SeveralSeeders(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=48 * MIB)
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()

    def start(self, fetches, *limits):
        self.seeders = [self.cluster.start_seeder(*limits), self.cluster.start_seeder(*limits)]
        wait_until(lambda: all(seeder.get("/readyz", seeder.http)[0] == 200 for seeder in self.seeders), "both are ready")
        self.fetches = [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), revision=self.revision) for i in range(fetches)]
        return Progress(self.fetches)

    def all_are_fetched(self, progress):
        progress.wait(float("inf"), 120)
        for i, fetch in enumerate(self.fetches):
            self.assertEqual(fetch.wait().code, 0, fetch.err)
            self.assert_fetched(self.source, self.cluster.path(f"dest{i}"))
        return self.fetches[0].done().event("ready")["bytes"]

    def test_together_they_read_each_piece_once(self):
        size = self.all_are_fetched(self.start(4, "--upload-limit", "8MB/s"))
        read = [counted(seeder, "shoal_origin_bytes_total") for seeder in self.seeders]
        self.assertLess(sum(read), 1.03 * size)
        self.assertGreater(min(read), size / 4)

    def test_one_that_is_killed_costs_no_more_than_what_was_on_its_way(self):
        progress = self.start(3, "--upload-limit", "3MB/s")
        progress.wait(16 * MIB)
        read = counted(self.seeders[0], "shoal_origin_bytes_total")
        self.seeders[0].kill()
        size = self.all_are_fetched(progress)
        self.assertLess(progress.longest, STILL)
        self.assertLess(read + counted(self.seeders[1], "shoal_origin_bytes_total"), 1.08 * size)

    def test_one_that_is_stopped_is_replaced_by_the_other(self):
        progress = self.start(3, "--upload-limit", "3MB/s")
        progress.wait(24 * MIB)
        self.seeders[0].signal(signal.SIGSTOP)
        self.all_are_fetched(progress)
        self.assertLess(progress.longest, STILL)


class Interrupted(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=24 * MIB)
        self.revision = self.cluster.publish(self.source)

    def still(self, fetch, seconds):
        """No byte comes for so long."""
        begun = time.monotonic()
        last = []

        def is_over():
            last.append(last_progress(fetch))
            return time.monotonic() - begun > seconds

        wait_until(is_over, "the time is over", seconds + 5)
        self.assertTrue(fetch.running(), fetch.err)
        return last[-1]

    def test_the_only_seeder_is_stopped_and_goes_on(self):
        seeder = self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.cluster.path("dest"), "--download-limit", "4MB/s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=12 * MIB)
        seeder.signal(signal.SIGSTOP)
        self.still(fetch, 15)
        seeder.signal(signal.SIGCONT)
        self.assertEqual(fetch.wait(60).code, 0, fetch.err)
        self.assert_fetched(self.source, self.cluster.path("dest"))

    @needs_root
    def test_a_link_that_is_down_for_twenty_seconds(self):
        link = Link()
        self.addCleanup(link.close)
        tracker = self.cluster.start_tracker(listen=f"{link.here}:0")
        serve = [SEEDER, "serve", "--store", self.cluster.store_url, "--tracker", tracker.url, "--listen", f"{link.here}:0"]
        self.cluster.start(Server, "seeder", serve).address()
        command = self.cluster.peer_command(self.cluster.path("dest"), "--download-limit", "4MB/s", revision=self.revision, listen=f"{link.there}:0")
        fetch = self.cluster.start(Process, PEER.name, [*link.prefix, *command])
        fetch.wait_for_event("progress", bytes=8 * MIB)
        link.set("down")
        received = self.still(fetch, 20)
        self.assertLess(received, 16 * MIB)
        link.set("up")
        self.assertEqual(fetch.wait(90).code, 0, fetch.err)
        self.assert_fetched(self.source, self.cluster.path("dest"))


class Link:
    """A network namespace with one link to this one."""

    def __init__(self):
        self.name = f"shoal{os.getpid()}"
        net = f"10.79.{os.getpid() % 250}"
        self.here, self.there = f"{net}.1", f"{net}.2"
        self.prefix = ["nsenter", f"--net=/run/netns/{self.name}"]
        try:
            self.ip("netns", "add", self.name)
            self.ip("link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest(f"cannot make a network namespace with a link: {error.stderr.decode().strip()}") from error
        self.ip("addr", "add", f"{self.here}/24", "dev", self.name)
        self.ip("-n", self.name, "addr", "add", f"{self.there}/24", "dev", "eth0")
        self.ip("-n", self.name, "link", "set", "eth0", "up")
        self.set("up")

    def set(self, state):
        self.ip("link", "set", self.name, state)

    def close(self):
        self.ip("netns", "del", self.name)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()
